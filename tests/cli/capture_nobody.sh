# Where there is no program, --all says so and leaves nothing behind. A network of its own, so that
# programs of others are not found.
unshare -rn true 2> /dev/null || { echo "skipped: unshare(1) cannot make a network here"; exit 77; }
unshare -rn "$strobe" capture --all -o session --wait 0.3 2>&1
echo "exit $?"
mkdir mine
unshare -rn "$strobe" capture --all -o mine --wait 0.3 2>&1
echo "exit $?"
ls
