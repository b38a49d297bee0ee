# Values that libstrobe cannot use are told in a line each, with what is taken instead; right ones are
# not mentioned. The program runs on in every case.
subject=$(dirname "$strobe")/client_subject
[ -x "$subject" ] || { echo "no program to record"; exit 77; }
export TRACY_NO_BROADCAST=1
for setting in STROBE_MEMORY=much STROBE_MEMORY=64X STROBE_MEMORY=99999999999999G \
    STROBE_EXIT_TIMEOUT=soon TRACY_PORT=abc TRACY_PORT=65536 STROBE_CLOCK=sun \
    STROBE_PROTOCOL=9999999999 STROBE_PROTOCOL=7 STROBE_PROTOCOL=66 \
    STROBE_MEMORY=64MiB STROBE_MEMORY=1g STROBE_EXIT_TIMEOUT=.5 STROBE_CLOCK=counter; do
    echo "$setting:"
    env STROBE_OUT=out.rec "$setting" "$subject" nothing 2>&1 | grep strobe
done

# A port that somebody else has.
python3 - "$subject" << 'EOF'
import os, socket, subprocess, sys
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = str(taken.getsockname()[1])
    found = subprocess.run([sys.argv[1], "nothing"], env={**os.environ, "TRACY_PORT": port},
                           capture_output=True, text=True)
    for line in found.stderr.splitlines():
        if line.startswith("strobe"):
            print(line.replace(port, "PORT"))
EOF
