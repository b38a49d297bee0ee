"$strobe" perf nowhere.csv 2>&1
