# An export that takes long says on the terminal how far it is, and only there.
script -qec true /dev/null < /dev/null > /dev/null 2>&1 ||
    { echo "skipped: script(1) cannot make a terminal here"; exit 77; }
STROBE_OUT=run.strobe "$(dirname "$strobe")/client_subject" many 20000
mkfifo rows
# The rows do not fit into a pipe, so that nothing ends before somebody reads.
read_late() {
    { sleep 1.5; wc -l; } < rows
}
read_late > on_terminal.lines &
script -qec "'$strobe' export -u run.strobe -o rows" /dev/null < /dev/null > on_terminal
wait $!
read_late > elsewhere.lines &
"$strobe" export -u run.strobe -o rows 2> elsewhere
wait $!
grep -ao 'MB written' on_terminal | sort -u
wc -c < elsewhere
cat on_terminal.lines elsewhere.lines
