# Check values of real runs (rows, sum of times, sum of gaps, groups).
[ -d "$data/perf" ] || { echo "skipped: the real captures are not there"; exit 77; }
for name in bh_p100_dlv3 ops_perf_results_2025_09_18_11_39_20 wh_clip_encoder_2; do
    "$strobe" perf --compat "$data/perf/$name.csv" --ignore-signposts --csv rows.csv --summary-file sum > /dev/null
    python3 - $name <<'P'
import csv, sys
rows = list(csv.DictReader(open("rows.csv", newline="")))
total = lambda column: sum(float(row[column]) for row in rows if row[column])
bounds = sorted({(row["Bound"], sum(1 for r in rows if r["Bound"] == row["Bound"])) for row in rows if row["Bound"]})
groups = list(csv.reader(open("sum.csv")))
print(sys.argv[1], len(rows), f"{total('Device Time'):.3f}", f"{total('Op-to-Op Gap'):.3f}", bounds, len(groups) - 1)
print(*groups[1])
P
done
