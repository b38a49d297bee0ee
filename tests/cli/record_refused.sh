# A file that cannot be recorded to is told with the true reason, and the program runs on: this one
# does not know what to do, says so, and ends.
subject=$(dirname "$strobe")/client_subject
[ -x "$subject" ] || { echo "no program to record"; exit 77; }
export TRACY_NO_BROADCAST=1 TRACY_PORT=1
mkfifo pipe
for path in nowhere/a.rec pipe; do
    STROBE_OUT=$path "$subject" nothing 2>&1
    echo "exit $?"
done
