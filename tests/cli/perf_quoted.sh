# Line breaks and terminal codes in a name do not reach the terminal.
. "$(dirname "$0")/header.inc"
{ echo "$header"; printf '"Soft\nmax\033[31m",tt_dnn_device,1,0,wormhole_b0,{},,64,64,1,0,5000\n'; } > report.csv
"$strobe" perf -q report.csv --no-advice --no-summary 2> /dev/null | tail -n 3 | head -n 1 | od -c | grep -c '033'
"$strobe" perf -q report.csv --no-advice --no-summary 2> /dev/null | grep -c 'Soft max'
# Nor do those in attributes, which halo rows show parts of.
{ echo "$header"; printf 'HaloDeviceOperation,tt_dnn_device,1,0,wormhole_b0,"window_hw=(3\033[31m;3)",,64,64,1,0,5000\n'; } > halo.csv
"$strobe" perf -q halo.csv --no-advice --no-summary 2> /dev/null | grep -c $'\033'
