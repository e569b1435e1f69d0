#!/bin/bash
# Runs commands on the committed tree in another release of Debian, below .build; run as root. What it built before is
# kept. Usage: on_debian.sh trixie make test
set -euo pipefail
cd "$(dirname "$0")/.."
suite=$1
shift
root=$PWD/.build/$suite
swift=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
# Packages may come from a folder of this machine.
mirrors=$(git config --get-regexp '^url\./.*\.insteadof$' | sed 's/^url\.\(.*\)\.insteadof .*/\1/' | sort -u || true)
mounted=()
release() {
  for ((index = ${#mounted[@]} - 1; index >= 0; index--)); do umount --lazy --recursive "${mounted[index]}"; done
}
attach() {
  mkdir -p "$root$1"
  mount --rbind --make-rslave "$1" "$root$1"
  mounted+=("$root$1")
}

if [ ! -e "$root/etc/debian_version" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' "Created-By: Packages" | sed -n 's/ bookworm$//p' | head -1)
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >.build/debootstrap.log ||
    { tail -20 .build/debootstrap.log; rm -rf --one-file-system "$root"; exit 1; }
fi
cp /etc/resolv.conf "$root/etc/"
git config --list | grep '^url\.' | sed 's/^\(url\..*\)=\(.*\)/\1 \2/' | while read -r key value; do
  git config --file "$root/etc/gitconfig" --replace-all "$key" "$value" "^$value\$"
done
trap release EXIT
# Network namespaces ask that the root be a mount.
mount --bind "$root" "$root"
mounted+=("$root")
for folder in /proc /dev /sys "$swift" $mirrors; do attach "${folder%/}"; done

inside() {
  chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${CI:+CI=$CI} \
    PATH="$swift/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@"
}
# What Swift itself needs, and `make`.
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends git make ca-certificates gcc libc6-dev libstdc++-14-dev binutils \
  libcurl4 libxml2 libedit2 libsqlite3-0 libncurses6 zlib1g-dev tzdata >/dev/null
git clone -q . "$root/src.new"
mkdir -p "$root/src/sidetone"
cp -r "$root/src.new/." "$root/src/sidetone/"
rm -r "$root/src.new"
inside git config --global --replace-all safe.directory '*'
inside git -C /src/sidetone clean -fdq
inside bash -c 'cd /src/sidetone && exec "$@"' bash "$@"
