# A row per op, a verdict, and the next command; data that is missing is labelled, exit code 3.
python3 "$examples/../tests/report/make_logs.py" run --ops 4 --cores 2 --signposts --fallback
"$strobe" report run --no-date 2>&1
cut -d, -f1-4 run/reports/ops_perf_results.csv | tr -d '\r'
sed 's/.*,//' run/reports/ops_perf_results.csv | tr -d '\r' | sort | uniq -c
ls run/reports
echo "without the firmware's end of one processor:"
grep -v '^0,2,1,NCRISC,.*,3072,,,NCRISC-FW,ZONE_END' run/.logs/profile_log_device.csv > log
cp log run/.logs/profile_log_device.csv
"$strobe" report run --no-date 2>&1
echo "exit code $?"
# Commands to copy have names as a shell needs them.
"$strobe" report run -o "it's here" --no-date 2> /dev/null | tail -1
