# The table is printed also when a file beside it cannot be written.
"$strobe" perf -q "$examples/perf/vision_blackhole" --no-advice --html nowhere/x.html > out 2> errors; echo $?
cat errors
grep -c 'Performance Report\|Stacked report\|Biggest opportunity' out
