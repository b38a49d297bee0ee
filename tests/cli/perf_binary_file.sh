head -c 2000 /dev/zero > zeros.csv
"$strobe" perf zeros.csv 2>&1
