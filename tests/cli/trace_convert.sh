. "$(dirname "$0")/trace_sample.inc"
sample > sample.tracy
"$strobe" convert sample.tracy new.tracy --compression zstd --level 5 2>&1
"$strobe" info new.tracy | head -n 1
"$strobe" convert new.tracy back.tracy --tracy-version 0.10.0
"$strobe" info back.tracy | head -n 1
for mode in "" -u -g -m; do
    cmp <("$strobe" export $mode sample.tracy) <("$strobe" export $mode back.tracy)
done
# The file has one block, and a cut one cannot be decoded.
head -c 700 sample.tracy > cut.tracy
"$strobe" info cut.tracy 2>&1 | head -n 2
"$strobe" info cut.tracy > /dev/null 2>&1
echo "exit $?"
# A trace says what made it.
"$strobe" info back.tracy | grep -A1 '^application' | sed 's/strobe [0-9.]*/strobe VERSION/'
# A file is not written over while it is read.
"$strobe" convert sample.tracy ./sample.tracy 2>&1
echo "exit $?"
