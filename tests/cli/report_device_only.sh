# Without a host: a row per execution, and the time between them on each core.
python3 "$examples/../tests/report/make_logs.py" run --ops 3 --cores 2 --no-host
"$strobe" report run --no-date --compat 2>&1
cat run/reports/ops_perf_results.csv run/reports/per_core_op_to_op_times.csv | tr -d '\r'
ls run/reports
