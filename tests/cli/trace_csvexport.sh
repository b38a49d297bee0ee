# The names of the tools, and their command lines.
. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
ln -s "$strobe" tracy-csvexport
ln -s "$strobe" csvexport-release
./tracy-csvexport -f MAIN sample.tracy
./tracy-csvexport -ue sample.tracy
./csvexport-release -u -p main -x kid_func,other -f kid sample.tracy
./csvexport-release -u -t main -x kid_func -f kid sample.tracy
./csvexport-release -m -s ";" sample.tracy
./tracy-csvexport --truncated_mean=50 -f main sample.tracy
./tracy-csvexport -g sample.tracy
./tracy-csvexport nothing.tracy 2>&1
echo "exit $?"
./tracy-csvexport sample.tracy other.tracy 2>&1 | head -n 1
"$strobe" export -u sample.tracy -o rows.csv
head -n 2 rows.csv
