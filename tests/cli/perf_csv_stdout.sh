"$strobe" perf -q "$examples/perf/vision_blackhole" --csv - --no-advice | head -n 3 | tr -d '\r'
