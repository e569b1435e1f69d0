#!/bin/bash
# Runs targets of the fuzzer, all if none is named, each for so many seconds and as many at a time as there are
# processors. Inputs that reach new code are kept in .build/fuzz/corpus; what goes wrong is left in .build/fuzz/found.
#
#   Scripts/fuzz.sh PROGRAM SECONDS [TARGET...]
set -uo pipefail
program=$(realpath "$1") seconds=$2
shift 2
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(ls Tests/Fuzz/Corpus)
mkdir -p .build/fuzz/found

fuzz() {
  local target=$1 corpus=.build/fuzz/corpus/$1 log=.build/fuzz/$1.log
  # Files that a target reads; in memory where that can be, since some write one for each input.
  TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
  export TMPDIR
  # What is kept of earlier runs: only what each adds to the others.
  mkdir -p "$corpus" "$corpus.merged"
  FUZZ_TARGET=$target "$program" -merge=1 "$corpus.merged" "$corpus" "Tests/Fuzz/Corpus/$target" >"$log" 2>&1 &&
    rm -r "$corpus" && mv "$corpus.merged" "$corpus"
  FUZZ_TARGET=$target "$program" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=3000 \
    -print_final_stats=1 -artifact_prefix=".build/fuzz/found/$target-" "$corpus" >"$log" 2>&1
  local code=$?
  rm -rf "$TMPDIR"
  printf '%-14s %12s inputs, %s\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | sed 's/cov:/reached edges:/')"
  [ $code = 0 ] && return
  grep -E -A12 'ERROR|SUMMARY|Fatal error|Test unit written' "$log" | head -40
  echo "again: FUZZ_TARGET=$target $program .build/fuzz/found/$target-..."
  return 1
}
export -f fuzz
export program seconds
# Objects that live as long as the program are no leaks; what each input leaves behind is found by its growth.
export ASAN_OPTIONS=detect_leaks=0
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'fuzz {}'
