"$strobe" perf --help
