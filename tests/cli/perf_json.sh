"$strobe" perf "$examples/perf/vision_blackhole" --json 2> /dev/null > report.json
python3 - <<'P'
import json
report = json.load(open("report.json"))
print(list(report))
print(report["schema"], report["schema_version"], report["complete"], report["totals"])
print(list(report["ops"][0]))
print(len(report["ops"]), len(report["summary"]), report["verdict"]["opportunity_us"] > 0)
P
