# On a terminal there are colours, unless NO_COLOR is set.
script -qec true /dev/null < /dev/null > /dev/null 2>&1 ||
    { echo "skipped: script(1) cannot make a terminal here"; exit 77; }
count() {
    script -qec "$1 '$strobe' perf -q '$examples/perf/decoder_wormhole' --top 3 --no-advice" /dev/null < /dev/null > out
    grep -q 'Performance Report' out && echo "$1: $(grep -c $'\e' out | sed 's/^[1-9].*/colours/; s/^0$/plain/')"
}
count env
count "env NO_COLOR=1"
count "env TERM=dumb"
