# Zones of a kernel as an H200 recorded them (tests/cuda/battery.cu, case "everything"): 132 SMs with
# a block of eight warps each.
trace=$examples/../tests/fixtures/cuda/h200.tracy
"$strobe" info "$trace" | grep -E '^(program|devices|lanes|device zones)'
"$strobe" export -g "$trace" | tail -n +2 | cut -d, -f1 | sort | uniq -c
echo "on the timeline of another tool:"
"$strobe" export --chrome trace.json "$trace" 2> /dev/null
python3 - << 'PY'
import json
from collections import defaultdict
depth, last, lanes = defaultdict(int), defaultdict(float), set()
wrong = begun = 0
for event in json.load(open("trace.json"))["traceEvents"]:
    if event["ph"] not in "BE" or event["pid"] == 1:
        continue
    lane = event["pid"], event["tid"]
    lanes.add(lane)
    begun += event["ph"] == "B"
    depth[lane] += 1 if event["ph"] == "B" else -1
    wrong += depth[lane] < 0 or event["ts"] < last[lane]
    last[lane] = event["ts"]
print(begun, "zones in", len(lanes), "lanes;", wrong, "out of order,", sum(depth.values()), "open")
PY
