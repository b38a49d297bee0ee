"$strobe" perf -q "$examples/perf/decoder_wormhole" --top 8 --no-advice --color 2>&1
