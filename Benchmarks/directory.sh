#!/bin/bash
# A call directory of two million entries: time to load, peak memory, time of a look-up.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$here/../.build/release/directory-load
mkdir -p "$work/sidetone/extensions"
printf '{"identifier":"two-million","executable":"%s"}' "$program" \
  >"$work/sidetone/extensions/two-million.json"
XDG_DATA_HOME=$work "$program"
