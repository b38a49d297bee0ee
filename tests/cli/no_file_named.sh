"$strobe" perf --no-advice 2>&1
