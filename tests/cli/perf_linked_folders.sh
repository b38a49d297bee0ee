# Links between folders make no circles.
mkdir reports && cp "$examples"/perf/vision_blackhole/*.csv reports/
for i in 1 2 3 4 5 6 7 8; do ln -s . reports/loop$i; done
"$strobe" perf reports --top 1 --no-advice --no-summary 2>&1 | head -n 2
