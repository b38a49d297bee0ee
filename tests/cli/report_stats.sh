# Where the time went, in the terminal and as files; a window between signposts.
python3 "$examples/../tests/report/make_logs.py" run --ops 6 --cores 3 --signposts
"$strobe" report run --no-date --stats 2> /dev/null
ls run/reports/stats
cat run/reports/stats/ops.csv
"$strobe" report run --no-date --stats --start-signpost middle --json 2> /dev/null | head -3
"$strobe" report run --no-date --stats --end-signpost nowhere 2>&1
echo "exit code $?"
