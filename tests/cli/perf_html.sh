# One page, nothing from outside, and names of ops are text, not markup.
sed 's/ReshardDeviceOperation/<script>alert(1)<\/script>/' "$examples"/perf/vision_blackhole/*.csv > report.csv
"$strobe" perf -q report.csv --html page.html --no-advice > /dev/null
grep -c '<script>alert' page.html
grep -c '&lt;script&gt;alert' page.html | awk '{ print ($1 > 0 ? "escaped" : "not escaped") }'
grep -oE '(src|href)="?https?:' page.html | wc -l
grep -oE "default-src 'none'" page.html
grep -c '<svg' page.html
