: > empty.csv
"$strobe" perf empty.csv 2>&1
