#!/bin/bash
# Makes the documentation of the modules that have a DocC catalogue, below .build/documentation, from the debug build in
# a folder. A link that leads nowhere is an error. Usage: documentation.sh [BUILD-FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-.build}
work=.build/documentation
rm -rf "$work"
mkdir -p "$work"
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)",/\1/p')
flags=()
for map in Sources/System/*/module.modulemap "$build"/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap; do flags+=(-Xcc "-fmodule-map-file=$map"); done
read -ra found <<<"$(pkg-config --cflags alsa opus speexdsp libre dbus-1 libpcap sndfile sqlite3 libssl)"
for flag in "${found[@]}"; do flags+=(-Xcc "$flag"); done
for catalogue in Sources/*/*/*.docc; do
  module=$(basename "$catalogue" .docc)
  mkdir "$work/$module"
  swift symbolgraph-extract -module-name "$module" -target "$target" -I "$build/debug/Modules" "${flags[@]}" \
    -minimum-access-level public -output-dir "$work/$module"
  docc convert "$catalogue" --additional-symbol-graph-dir "$work/$module" \
    --fallback-display-name "$module" --fallback-bundle-identifier "org.sidetone.$module" \
    --output-dir "$work/$module.doccarchive" 2>&1 | tee "$work/$module.log"
  # A chapter may do without a picture.
  if grep -E '(warning|error):' "$work/$module.log" | grep -v 'Image'; then exit 1; fi
done
