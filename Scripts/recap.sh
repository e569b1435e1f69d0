#!/bin/bash
# Runs a command that tests; when it fails, says last, in a few lines, what it found wrong.
#   recap.sh swift test
set -o pipefail
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$@" 2>&1 | tee "$output" && exit
status=$?
printf '\nWhat failed:\n'
grep -E -A2 'recorded an issue|Fatal error|unexpected signal|Time limit' "$output" | cut -c1-400 | tail -n 30
exit $status
