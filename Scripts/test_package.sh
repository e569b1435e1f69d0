#!/bin/bash
# Installs the package of .build/deb in a clean Debian of this release, makes calls with it as an ordinary user and as that user's
# service, upgrades it and purges it: what stays is the user's. Run as root.
set -euo pipefail
cd "$(dirname "$0")/.."
package=$(ls "$PWD"/.build/deb/sidetone_*_*.deb)
root=$PWD/.build/clean
say() { echo "== $*"; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { inside su - alice -c "$*"; }
release() {
  for folder in proc dev; do
    while mountpoint -q "$root/$folder"; do umount -l "$root/$folder"; done
  done
}

release
rm -rf --one-file-system "$root"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' "Created-By: Packages" | sed -n "s/ $suite\$//p" | head -1)
say "a clean Debian: $suite"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >.build/debootstrap.log ||
  { tail -20 .build/debootstrap.log; exit 1; }
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
trap release EXIT
cp /etc/resolv.conf "$root/etc/"
# A German locale: glibc 2.41 takes no other language with C.UTF-8.
inside apt-get install -y -qq --no-install-recommends locales systemd dbus-user-session >.build/apt.log 2>&1
inside localedef -i de_DE -f UTF-8 de_DE.UTF-8
inside useradd --create-home --shell /bin/bash alice
inside sh -c 'find / -xdev -not -path "/proc/*" | sort' >.build/files.before

install_package() {
  cp "$1" "$root/tmp/"
  inside apt-get install -y -qq --no-install-recommends "/tmp/$(basename "$1")" >.build/apt.log 2>&1 ||
    { tail -20 .build/apt.log; exit 1; }
  rm "$root/tmp/$(basename "$1")"
}
call() {
  as_user 'rm -f listen.log; sidetone listen --answer --once --headset null --listen 127.0.0.1:5060 > listen.log 2>&1 & \
    for pause in $(seq 50); do grep -q Listening listen.log && break; sleep 0.1; done
    sidetone call sip:alice@127.0.0.1 --listen 127.0.0.1:0 --headset null --duration 2 && wait && grep -q Encrypted listen.log'
}

say "install"
install_package "$package"
as_user 'sidetone --version && sidetone help call > /dev/null && sidetone devices'
for file in bin/sidetone lib/systemd/user/sidetone.service share/bash-completion/completions/sidetone \
  share/zsh/vendor-completions/_sidetone share/fish/vendor_completions.d/sidetone.fish \
  share/applications/org.sidetone.Sidetone.desktop share/dbus-1/services/org.sidetone.Sidetone.service share/locale/ja/LC_MESSAGES/sidetone.mo; do
  [ -s "$root/usr/$file" ] || { echo "/usr/$file is missing"; exit 1; }
done
# Otherwise libre does not find it, and a phone without descriptors takes a whole core.
nm -D --defined-only "$root/usr/bin/sidetone" | grep " accept$" >/dev/null
say "a call"
call
say "a call in German"
as_user 'LC_ALL=de_DE.UTF-8 timeout 10 sidetone call sip:alice@127.0.0.1:9 --headset null 2>&1 || true' |
  grep "wird angerufen"

say "a service, from a home without folders"
# What the restrictions leave of it: the folders of its own, no privileges, and calls.
Scripts/user_manager.sh "$root" alice '
  set -e
  rm -rf .local .config
  unit=$XDG_RUNTIME_DIR/systemd/user/sidetone.service.d
  mkdir -p "$unit"
  printf "[Service]\nExecStart=\nExecStart=/usr/bin/sidetone listen --answer --headset null --listen 127.0.0.1:5060\nStandardError=file:%%t/errors\n" >"$unit/test.conf"
  systemctl --user daemon-reload
  systemctl --user start sidetone
  port=:$(printf %04X 5060)
  for pause in $(seq 100); do grep -q "$port" /proc/net/udp && break; sleep 0.1; done
  sidetone call sip:alice@127.0.0.1 --listen 127.0.0.1:0 --headset null --duration 2
  systemctl --user is-active sidetone
  process=/proc/$(systemctl --user show --property MainPID --value sidetone)
  grep -Exc "NoNewPrivs:.1|Seccomp:.2|CapBnd:.0*" "$process/status" | grep -qx 3
  for file in letter .config/letter; do if touch "$process/root$HOME/$file" 2>/dev/null; then exit 1; fi; done
  touch "$process/root$HOME/.local/share/sidetone/letter"
  systemctl --user stop sidetone
  ! grep . "$XDG_RUNTIME_DIR/errors"
'

say "upgrade"
rm -rf .build/next
dpkg-deb --raw-extract "$package" .build/next
version=$(dpkg-deb --field "$package" Version)
sed -i "s/^Version: .*/Version: $version+next/" .build/next/DEBIAN/control
dpkg-deb --root-owner-group -Zgzip --build .build/next .build/next.deb >/dev/null
install_package "$PWD/.build/next.deb"
[ "$(inside dpkg-query -W -f '${Version}' sidetone)" = "$version+next" ]
as_user 'sidetone recents' | grep -q 127.0.0.1
call

say "purge"
inside apt-get purge -y -qq sidetone >.build/apt.log 2>&1
inside apt-get autoremove -y -qq --purge >.build/apt.log 2>&1
inside sh -c 'find / -xdev -not -path "/proc/*" | sort' >.build/files.after
left=$(comm -13 .build/files.before .build/files.after | grep -v '^/home/alice/' | grep -i sidetone || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
[ -s "$root/home/alice/.local/share/sidetone/calls.sqlite" ]
say "passed: installed, called, upgraded, purged"
