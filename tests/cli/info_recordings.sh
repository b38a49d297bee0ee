# What is not a .tracy file is called what it is: a journal, or a recording of libstrobe's.
fixtures=$(dirname "$examples")/tests/fixtures/wire
subject=$(dirname "$strobe")/client_subject
file_of() {
    "$strobe" export --json "$1" 2> /dev/null |
        python3 -c 'import json, sys; f = json.load(sys.stdin)["file"]; print(f["format"], f["version"], f["protocol"], sep=" | ")'
}
"$strobe" info "$fixtures/protocol-82.journal" | grep -E 'format|size|^zones|Sections'
"$strobe" info "$fixtures/protocol-66-tenstorrent.journal" | grep -E '^format'
file_of "$fixtures/protocol-82.journal"
STROBE_OUT=run.strobe TRACY_ONLY_LOCALHOST=1 "$subject" many 7 > /dev/null
"$strobe" info run.strobe | sed 's/[0-9]* bytes/N bytes/' | grep -E 'format|size|^zones|Sections'
file_of run.strobe
