"$strobe" perf x.csv --group-by colour 2>&1
