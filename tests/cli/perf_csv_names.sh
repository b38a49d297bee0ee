# Where the summary goes follows from the name of the CSV.
report=$examples/perf/vision_blackhole
for name in out.csv a.b.csv table .csv; do "$strobe" perf -q "$report" --csv $name; done
"$strobe" perf -q "$report" --csv x.csv --summary-file sum.csv
"$strobe" perf -q "$report" --csv y.csv --no-summary
ls -A
