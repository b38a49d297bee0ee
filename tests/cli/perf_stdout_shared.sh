# Only one thing can go to standard output; what is printed there is whole JSON, CSV or page.
report=$examples/perf/vision_blackhole
"$strobe" perf "$report" --json --csv - 2>&1; echo $?
"$strobe" perf --compat "$report" --json 2> /dev/null | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["ops"]))'
"$strobe" perf "$report" --html - 2> /dev/null | head -n 1
"$strobe" perf "$report" --html - 2> /dev/null | tail -n 1
