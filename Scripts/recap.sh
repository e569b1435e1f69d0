#!/bin/bash
# Runs a command that tests, in a temporary directory and with a user's data of its own, which are
# removed afterwards. Shows what the tests print, but not that each began and passed; the whole output
# stays in .build/NAME.log. When it fails, says last, in a few lines, what it found wrong. Tests that
# hang are ended after LIMIT seconds, and named.
#
# Tests that lack packages print "skipped for lack of: PACKAGE...": what they lack is said last, and
# fails the run in CI.
#   LIMIT=1200 recap.sh NAME COMMAND...
set -o pipefail
TMPDIR=$(mktemp -d)
export TMPDIR XDG_DATA_HOME="$TMPDIR/data"
trap 'rm -rf "$TMPDIR"' EXIT
mkdir -p .build
output=.build/$1.log
shift
timeout "${LIMIT:-1200}" "$@" 2>&1 | tee "$output" |
  awk '/^skipped for lack of:/ { next }
       # Arguments of a test may take several lines.
       / Test case passing / && !/started\.$/ { isArgument = 1; next }
       isArgument { if (/started\.$/) isArgument = 0; next }
       / (Test|Suite) .*(started\.|passed after [0-9.]+ seconds\.)/ && !/Test run with/ { next }
       { print; fflush() }'
status=$?
lacking=$(sed -n 's/^skipped for lack of: //p' "$output" | tr ' ,' '\n\n' | sort -u | grep . | tr '\n' ' ')
if [ -n "$lacking" ]; then
  echo "$(grep -c '^skipped for lack of:' "$output") skipped; to run them as well: apt install ${lacking/root /}$(grep -q '\broot\b' <<<"$lacking" && echo ', as root')"
  [ -z "${CI:-}" ] || status=1
fi
[ $status = 0 ] && exit
printf '\nWhat failed:\n'
grep -E -A2 'recorded an issue|Fatal error|unexpected signal|Time limit' "$output" | cut -c1-400 | tail -n 30
# Tests that started and did not end, unless there are more than a few. Cases of a test report only that they begin.
awk '/ Test case passing / { next }
     / Test .* started\.$/ { sub(/.* Test /, ""); sub(/ started\.$/, ""); running[$0] = 1 }
     / Test .* (passed|failed) after / { sub(/.* Test /, ""); sub(/ (with [0-9]+ test cases? )?(passed|failed) after .*/, ""); delete running[$0] }
     END { delete running["run"]; for (test in running) if (++count <= 20) print "did not end: " test }' "$output"
exit $status
