# What is wrong on the command line, and a folder without logs.
"$strobe" report a b 2>&1
echo "exit code $?"
"$strobe" report --device-only --no-device 2>&1
echo "exit code $?"
"$strobe" report --start-signpost a 2>&1
echo "exit code $?"
"$strobe" report -a no_such_thing . 2>&1
echo "exit code $?"
"$strobe" report nowhere 2>&1
echo "exit code $?"
"$strobe" report . 2>&1
echo "exit code $?"
for wrong in "-o ''" "-n .." "--top 3" "--setup test_noc --strict" "--stats ops.csv --compat" "--stats ops.csv -n name"; do
    touch ops.csv
    eval "\"\$strobe\" report $wrong" 2>&1 | head -1
done
