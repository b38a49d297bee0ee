# What is wrong with a command line is said before anything is waited for.
"$strobe" capture 2>&1
echo "exit $?"
"$strobe" capture -o a.tracy -p 70000 2>&1
echo "exit $?"
"$strobe" capture -o a.tracy --protocol 57 2>&1
echo "exit $?"
"$strobe" capture -o a.tracy --memory much 2>&1
echo "exit $?"
"$strobe" capture -o a.tracy somewhere 2>&1
echo "exit $?"
touch there.tracy
"$strobe" capture -o there.tracy 2>&1
echo "exit $?"
"$strobe" capture -o b.tracy -p 1 --wait 0.2 2>&1
echo "exit $?"
# A program that can be recorded once must not be wasted on files that cannot be made.
touch left.tracy.journal
mkdir folder
for output in left.tracy folder nowhere/a.tracy ""; do
    "$strobe" capture -o "$output" -p 1 --wait 0.2 2>&1
    echo "exit $?"
done
"$strobe" capture -f -o folder -p 1 --wait 0.2 2>&1
echo "exit $?"
"$strobe" capture --all -p 1 2>&1
echo "exit $?"
