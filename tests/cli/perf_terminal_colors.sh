# On a terminal there are colours, unless NO_COLOR is set.
command -v script > /dev/null || { echo "skipped: no script(1) to make a terminal"; exit 77; }
count() {
    script -qec "$1 '$strobe' perf -q '$examples/perf/decoder_wormhole' --top 3 --no-advice" /dev/null < /dev/null > out
    grep -q 'Performance Report' out && echo "$1: $(grep -c $'\e' out | sed 's/^[1-9].*/colours/; s/^0$/plain/')"
}
count env
count "env NO_COLOR=1"
count "env TERM=dumb"
