"$strobe" --help
"$strobe" help perf | head -n 3
