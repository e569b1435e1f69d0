#!/bin/bash
# Runs a command that tests, in a temporary directory and with a user's data of its own, which are
# removed afterwards; when it fails, says last, in a few lines, what it found wrong. Tests that hang are
# ended after 20 minutes, and named.
#   recap.sh swift test
set -o pipefail
TMPDIR=$(mktemp -d)
export TMPDIR XDG_DATA_HOME="$TMPDIR/data"
trap 'rm -rf "$TMPDIR"' EXIT
output="$TMPDIR/output"
timeout 1200 "$@" 2>&1 | tee "$output" && exit
status=$?
printf '\nWhat failed:\n'
grep -E -A2 'recorded an issue|Fatal error|unexpected signal|Time limit' "$output" | cut -c1-400 | tail -n 30
# Tests that started and did not end, unless there are more than a few. Cases of a test report only that they begin.
awk '/ Test case passing / { next }
     / Test .* started\.$/ { sub(/.* Test /, ""); sub(/ started\.$/, ""); running[$0] = 1 }
     / Test .* (passed|failed) after / { sub(/.* Test /, ""); sub(/ (with [0-9]+ test cases? )?(passed|failed) after .*/, ""); delete running[$0] }
     END { for (test in running) if (++count <= 20) print "did not end: " test }' "$output"
exit $status
