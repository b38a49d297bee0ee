mkdir empty && touch empty/other.txt
"$strobe" perf empty 2>&1
