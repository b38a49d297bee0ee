# No output may replace an input or another output.
cp "$examples"/perf/vision_blackhole/*.csv rep.csv
for args in '--csv rep.csv' '--html rep.csv' '--summary-file rep' '--csv x.csv --html x.csv' '--csv x.csv --summary-file x'; do
    "$strobe" perf -q rep.csv $args 2>&1; echo $?
done
cmp rep.csv "$examples"/perf/vision_blackhole/*.csv && ls
