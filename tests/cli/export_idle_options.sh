# What would change nothing is refused; the other tools' command lines are taken as they are.
. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
for options in "--json -u" "--json -f kid" "--json --csv" -p "-m -p" "-x kid_func" "-u -x kid_func" \
    "-u -t main" "-m -e" "-g -e" "-u --truncated-mean 50" "--truncated-mean 0" "--truncated-mean 100" \
    "--truncated-mean many" "-t 100" "-s \""; do
    "$strobe" export $options sample.tracy 2>&1 | head -n 1
    "$strobe" export $options sample.tracy > /dev/null 2>&1
    echo "exit $?"
done
"$strobe" export -s "" sample.tracy 2>&1 | head -n 1
"$strobe" export -m -f TWO sample.tracy
"$strobe" export -m -c -f TWO sample.tracy
ln -s "$strobe" tracy-csvexport
for options in -p "-m -p" "-m -f two" "-x kid_func" "-g -e" "--truncated_mean=100"; do
    ./tracy-csvexport $options sample.tracy | cksum
done
cmp <(./tracy-csvexport -u -t main -x kid_func sample.tracy) \
    <(./tracy-csvexport -u --special_parent_function main --special_functions kid_func sample.tracy)
