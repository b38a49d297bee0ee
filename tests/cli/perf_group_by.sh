for how in op memory category; do
    "$strobe" perf -q "$examples/perf/vision_blackhole" --group-by $how --csv x.csv --summary-file $how --no-advice
    head -n 4 $how.csv
done
"$strobe" perf -q "$examples/perf/vision_blackhole" --no-merge-devices --group-by category --top 4 --no-advice 2>&1 | tail -n 14
