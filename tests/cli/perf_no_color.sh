# Colours are for terminals: none here, none with --no-color even when asked for.
"$strobe" perf -q "$examples/perf/decoder_wormhole" --top 3 > plain 2>&1
"$strobe" perf -q "$examples/perf/decoder_wormhole" --top 3 --color --no-color > refused 2>&1
cmp plain refused && ! grep -q $'\e' plain && echo "no colours"
