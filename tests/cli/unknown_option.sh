"$strobe" perf --no-such-thing x.csv 2>&1
