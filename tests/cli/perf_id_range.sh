"$strobe" perf -q "$examples/perf/decoder_wormhole" --ignore-signposts --id-range 1,00-103 --no-advice --no-summary 2>&1
"$strobe" perf -q "$examples/perf/decoder_wormhole" --id-range 5 2>&1; echo "plain: $?"
"$strobe" perf -q "$examples/perf/decoder_wormhole" --id-range - 2>&1; echo "plain: $?"
"$strobe" perf --compat "$examples"/perf/decoder_wormhole/*.csv --id-range a-b 2>&1; echo "compat: $?"
