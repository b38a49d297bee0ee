"$strobe" perf x.csv --csv --no-advice 2>&1
