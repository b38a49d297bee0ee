# The whole default output: table, advice, summary, verdict.
"$strobe" perf "$examples/perf/decoder_wormhole" 2>&1
