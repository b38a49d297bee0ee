# A report of an H200: peaks by precision, SMs for cores, and no advice that only other chips can follow.
. "$(dirname "$0")/header.inc"
# gpu CALL FIDELITY SMS DURATION TYPE M K N [GAP]
gpu() {
    local m="DEV_0_DRAM_INTERLEAVED"
    echo "MatmulDeviceOperation,tt_dnn_device,$1,0,h200,{},$2,$3,132,$1,${9:-1000},$4,1[1],1[1],$6,$7,$5,$m,1[1],1[1],$7,$8,$5,$m,1[1],1[1],$6,$8,$5,$m"
}
{
    echo "$header"
    gpu 1 '' 132 180000 BFLOAT16 4096 4096 4096
    gpu 2 '' 64 360000 BFLOAT16 4096 4096 4096
    gpu 3 '' 132 2400000 FLOAT32 4096 4096 4096
    gpu 4 TF32 132 400000 FLOAT32 4096 4096 4096
    gpu 5 '' 132 40000 BFLOAT16 16 8192 8192
    gpu 6 '' 132 70000 FLOAT32 16 8192 8192 20000
    gpu 7 HiFi4 132 95000 FLOAT8_E4M3 4096 4096 4096
    gpu 8 '' 16 500000 BFLOAT16 1024 1024 1024
    gpu 9 '' 132 500000 INT32 1024 1024 1024
} > report.csv
"$strobe" perf report.csv 2>&1
echo "exit $?"
"$strobe" perf -q report.csv --json > report.json
python3 -c '
import json
report = json.load(open("report.json"))
print(report["architecture"], report["worker_cores"], report["dram_bandwidth_gb_per_s"])
said = [report["verdict"]["what_to_do_first"], *(item for op in report["ops"] for item in op["advice"])]
others = [word for word in ("L1", "in0_block_w", "subblock", "shard", "Fi", "trace") if word in " ".join(said)]
print(len(said), "sentences; of other chips:", others)
'
echo "by name:"
for arch in H100 "NVIDIA H100 PCIe" a100 NVIDIA-A100-SXM4-40GB; do
    sed "s/,h200,/,$arch,/" report.csv | "$strobe" perf --no-advice --no-summary - 2>&1 | grep -E 'Architecture|^ 2 '
done
"$strobe" perf --compat --no-advice --no-summary report.csv 2>&1 | grep -c 'h200.*not known'
