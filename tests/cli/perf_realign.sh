# One device lacks an op: it is named, and what follows still lines up.
"$strobe" perf "$examples/perf/vision_blackhole" --no-advice --no-summary --top 1 2>&1 | grep -E 'devices|missing'
"$strobe" perf -q "$examples/perf/vision_blackhole" --csv plain.csv --no-summary 2> /dev/null
"$strobe" perf --compat "$examples"/perf/vision_blackhole/*.csv --csv compat.csv --no-summary > /dev/null
echo "rows: $(($(wc -l < plain.csv) - 1)) aligned, $(($(wc -l < compat.csv) - 1)) in compat"
