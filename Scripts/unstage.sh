#!/bin/bash
# Removes below DESTDIR what stage.sh puts there for PREFIX: it is put elsewhere once more, to know its names.
# Usage: unstage.sh DESTDIR PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."
staged=$(mktemp -d)
trap 'rm -r "$staged"' EXIT
Scripts/stage.sh "$staged" "$2"
(cd "$staged" && find . -type f) | while read -r file; do rm -f "$1/$file"; done
