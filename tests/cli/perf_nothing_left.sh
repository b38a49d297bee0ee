"$strobe" perf -q "$examples/perf/decoder_wormhole" --id-range 90000- 2>&1; echo "plain: $?"
"$strobe" perf --compat "$examples"/perf/decoder_wormhole/*.csv --id-range 90000- 2>&1; echo "compat: $?"
