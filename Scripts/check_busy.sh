#!/bin/bash
# Runs tests that start programs so many times: two in five beside four busy loops, one in five beside
# stress-ng, the others alone. Prints a line for each run; the output of a failed one stays in .build.
#   RECAP='... Scripts/recap.sh' TESTS='PROGRAM ARGUMENT...' check_busy.sh RUNS
set -uo pipefail
failures=0
# Background jobs of a script ignore Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null' EXIT
trap 'exit 1' INT TERM
for run in $(seq "$1"); do
  case $((run % 5)) in
  0 | 2) load="four busy loops"; for _ in 1 2 3 4; do while :; do :; done & done ;;
  4) load="stress-ng --vm 2 --io 2"; stress-ng --quiet --vm 2 --io 2 & ;;
  *) load="nothing" ;;
  esac
  begin=$SECONDS result=passed
  # shellcheck disable=SC2086
  LIMIT=3600 eval "$RECAP busy-$run $TESTS" >".build/busy-$run.recap" 2>&1 || { result=FAILED; failures=$((failures + 1)); }
  # shellcheck disable=SC2046
  [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null
  wait 2>/dev/null
  echo "run $run beside $load: $result after $((SECONDS - begin)) s"
  [ $result = passed ] || sed -n '/^What failed:/,$p' ".build/busy-$run.recap"
done
echo "$1 runs, $failures failed"
[ $failures = 0 ]
