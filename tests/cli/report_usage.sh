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
