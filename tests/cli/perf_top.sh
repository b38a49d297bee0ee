"$strobe" perf -q "$examples/perf/decoder_wormhole" --ignore-signposts --top 5 --no-advice 2>&1
