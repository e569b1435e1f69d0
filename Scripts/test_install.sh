#!/bin/bash
# `make install` and `make uninstall` leave nothing but folders.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -r "$place"' EXIT
make install DESTDIR="$place" >/dev/null
"$place/usr/local/bin/sidetone" --version
make uninstall DESTDIR="$place" >/dev/null
left=$(find "$place" -type f)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
