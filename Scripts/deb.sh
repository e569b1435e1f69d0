#!/bin/bash
# Makes the Debian package of what `make build` has built, in .build/deb, and shows it to lintian.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD work=.build/deb
rm -rf "$work"
mkdir -p "$work/sidetone"
cp -r Packaging/debian "$work/sidetone/debian"
cd "$work/sidetone"
SOURCE=$source dpkg-buildpackage --build=binary --no-sign --no-check-builddeps >../log 2>&1 || {
  tail -40 ../log
  exit 1
}
cd ..
rm -r sidetone
lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file ./*.changes
ls "$PWD"/*.deb
