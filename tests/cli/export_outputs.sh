# No output is written over the trace, nor over another output.
. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
cp sample.tracy copy.tracy
ln -s sample.tracy link.tracy
ln sample.tracy hard.tracy
"$strobe" export --perfetto sample.tracy sample.tracy 2>&1
echo "exit $?"
"$strobe" export --chrome link.tracy sample.tracy 2>&1
"$strobe" export -o hard.tracy sample.tracy 2>&1
"$strobe" export --compat -o sample.tracy sample.tracy 2>&1
"$strobe" export --perfetto both --chrome both sample.tracy 2>&1
"$strobe" export --perfetto both --json -o ./both sample.tracy 2>&1
"$strobe" export --perfetto - --chrome - sample.tracy 2>&1
"$strobe" export --chrome - --json sample.tracy 2>&1
# Options for rows do nothing to a file for a viewer, so they are refused there.
"$strobe" export -u --perfetto whole sample.tracy 2>&1
"$strobe" export --chrome whole -o rows.csv sample.tracy 2>&1
"$strobe" export --chrome whole --csv -u -o rows.csv sample.tracy 2>&1
echo "exit $?"
cmp sample.tracy copy.tracy && ls
