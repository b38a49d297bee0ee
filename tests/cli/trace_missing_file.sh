# Every command on traces says which file it could not open, and nothing else.
for command in info stats export; do
    "$strobe" $command nothing.tracy 2>&1
    echo "exit $?"
done
"$strobe" convert nothing.tracy out.tracy 2>&1
echo "exit $?"
ls
