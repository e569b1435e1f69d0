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
# Its metadata would have to name a page of the project, and there is none; not every lintian asks for that.
ignored=bad-distribution-in-changes-file
lintian-explain-tags appstream-metadata-validation-failed 2>&1 | grep '^W:' >/dev/null &&
  ignored+=,appstream-metadata-validation-failed
lintian --fail-on error,warning --suppress-tags "$ignored" ./*.changes
ls "$PWD"/*.deb
