mkdir a b
cp "$examples"/perf/vision_blackhole/*.csv a/ops_perf_results.csv
cp "$examples"/perf/vision_blackhole/*.csv b/ops_perf_results.csv
"$strobe" perf -q a b --no-advice --no-summary --no-merge-devices --top 4 2>&1
"$strobe" perf -q a b --host-names left,right --csv rows.csv --no-summary && cut -d, -f1,5 rows.csv | head -n 2
tail -n 1 rows.csv | tr -d '\r' | grep -oE '(left|right)$'
"$strobe" perf -q a b --host-names left 2>&1
