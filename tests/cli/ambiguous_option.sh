"$strobe" perf --no-s x.csv 2>&1
