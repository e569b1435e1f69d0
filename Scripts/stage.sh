#!/bin/bash
# Puts everything that belongs to the installed program below DESTDIR, for use under PREFIX: the program, manual pages
# and completions made by itself, the user service, and what desktops want to know. Usage: stage.sh DESTDIR PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=$2 place=$1$2 built=.build/release
share=$place/share name=org.sidetone.Sidetone
# The same sources give the same files.
date=$(sed -n 's/^ -- .*>  //p' Packaging/debian/changelog | head -1)
date=$(date -u -d "$date" +%F)

install -D -m 755 "$built/sidetone" "$place/bin/sidetone"

# A page for each command, named as those of git: sidetone-account-add(1).
manual=$(mktemp -d)
trap 'rm -r "$manual"' EXIT
"$built/generate-manual" "$built/sidetone" --multi-page --date "$date" --output-directory "$manual" >/dev/null
rm "$manual/sidetone.help.1"
for page in "$manual"/sidetone*.1; do
  name_of_page=$(basename "$page" .1)
  sed -i -e '/^\.Xr sidetone\.help /d' -e "s/^\.Nm \"sidetone .*/.Nm ${name_of_page//./-}/" \
    -e ':again; s/^\(\.Xr sidetone[^ .]*\)\./\1-/; t again' -e ':title; s/^\(\.Dt SIDETONE[^ .]*\)\./\1-/; t title' "$page"
  install -D -m 644 "$page" "$share/man/man1/${name_of_page//./-}.1"
done

complete() {
  install -d "$share/$2"
  # It is read, not run.
  "$built/sidetone" --generate-completion-script "$1" | sed '1{/^#!/d}' >"$share/$2/$3"
}
complete bash bash-completion/completions sidetone
# Debian's zsh looks elsewhere than one that was built by hand.
[ "$prefix" = /usr ] && functions=zsh/vendor-completions || functions=zsh/site-functions
complete zsh "$functions" _sidetone
complete fish fish/vendor_completions.d sidetone.fish

for language in Packaging/po/*.po; do
  catalogue=$share/locale/$(basename "$language" .po)/LC_MESSAGES/sidetone.mo
  install -d "$(dirname "$catalogue")"
  msgfmt --check-format -o "$catalogue" "$language"
done

install -d "$place/lib/systemd/user"
sed "s:/usr/local:$prefix:" Packaging/sidetone.service >"$place/lib/systemd/user/sidetone.service"
install -d "$share/dbus-1/services"
sed "s:/usr/local:$prefix:" "Packaging/$name.service" >"$share/dbus-1/services/$name.service"
install -D -m 644 "Packaging/$name.desktop" "$share/applications/$name.desktop"
install -D -m 644 "Packaging/$name.svg" "$share/icons/hicolor/scalable/apps/$name.svg"
install -D -m 644 "Packaging/$name.metainfo.xml" "$share/metainfo/$name.metainfo.xml"
