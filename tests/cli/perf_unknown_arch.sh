. "$(dirname "$0")/header.inc"
{ echo "$header"; matmul 1 HiFi4 64 100000 | sed s/wormhole_b0/quasar/; } > report.csv
"$strobe" perf -q report.csv --no-advice --no-summary 2>&1
