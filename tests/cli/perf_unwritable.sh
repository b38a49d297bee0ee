"$strobe" perf -q "$examples/perf/decoder_wormhole" --csv nowhere/rows.csv 2>&1
