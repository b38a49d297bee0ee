# Where the time went, in the terminal and as files; a window between signposts.
python3 "$examples/../tests/report/make_logs.py" run --ops 6 --cores 3 --signposts
"$strobe" report run --no-date --stats 2> /dev/null
ls run/reports/stats
cat run/reports/stats/ops.csv
"$strobe" report run -n window --no-date --stats --start-signpost middle --json 2> /dev/null | head -3
"$strobe" report run --no-date --stats --end-signpost nowhere -o elsewhere 2>&1
echo "exit code $?, nothing is written:" elsewhere*
"$strobe" report run --no-date --stats --json 2> /dev/null | python3 -c '
import json, sys
both = json.load(sys.stdin)
print(both["report"]["csv"], both["calls"])'
echo "of the report alone:"
"$strobe" report --stats run/reports/ops_perf_results.csv -o again -q
for table in ops kernels steps outliers; do
    # the last column of ops is the imbalance: the report rounds what it is made of
    cut -d, -f1-12 "run/reports/stats/$table.csv" > first.csv
    cut -d, -f1-12 "again/stats/$table.csv" | cmp - first.csv && echo "$table.csv is the same"
done
ls again/stats | grep -c cores
"$strobe" report run/reports/ops_perf_results.csv 2>&1 | head -1
"$strobe" report --stats run/.logs/profile_log_device.csv 2>&1
sed '3s/,.*//' run/reports/ops_perf_results.csv > short.csv
"$strobe" report --stats short.csv 2>&1 > /dev/null
echo "exit code $?"
echo "times that cannot be:"
printf '%s\n' "OP CODE,GLOBAL CALL COUNT,DEVICE KERNEL DURATION [ns]" A,1,5 A,2,nan A,3,1e300 A,4,soon A,5, > odd.csv
"$strobe" report --stats odd.csv --json 2>&1 > odd.json
echo "exit code $?"
python3 -c 'import json; print(json.load(open("odd.json"))["ops"][0]["kernel_total_ns"])'
