#!/bin/bash
# Runs a command that tests, in a temporary directory and with a user's data of its own, which are
# removed afterwards; when it fails, says last, in a few lines, what it found wrong.
#   recap.sh swift test
set -o pipefail
TMPDIR=$(mktemp -d)
export TMPDIR XDG_DATA_HOME="$TMPDIR/data"
trap 'rm -rf "$TMPDIR"' EXIT
output="$TMPDIR/output"
"$@" 2>&1 | tee "$output" && exit
status=$?
printf '\nWhat failed:\n'
grep -E -A2 'recorded an issue|Fatal error|unexpected signal|Time limit' "$output" | cut -c1-400 | tail -n 30
exit $status
