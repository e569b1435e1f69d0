#!/bin/bash
# Runs commands of bash as a user of the Debian below ROOT, beside systemd's manager of that user; run as root. With namespaces
# of its own, so that all of it is gone afterwards. Usage: user_manager.sh ROOT USER COMMANDS
set -euo pipefail
if [ "${4:-}" != inside ]; then
  exec unshare --mount --pid --fork --kill-child "$0" "$1" "$2" "$3" inside
fi
root=$1 user=$2 commands=$3
# The root is a mount, since user namespaces are not to be had below one that was only changed to.
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 run run
pivot_root . mnt
umount --lazy mnt

# What the system's manager makes.
id=$(id -u "$user")
group=$(mktemp -d /sys/fs/cgroup/sidetone-XXXXXX)
mkdir -p /run/systemd/system /run/systemd/unit-root /run/user
install -d -o "$user" -m 700 "/run/user/$id"
chown -R "$user" "$group"
as_user() {
  setpriv --reuid="$id" --regid="$id" --clear-groups env -i USER="$user" HOME="/home/$user" PATH=/usr/bin:/bin \
    XDG_RUNTIME_DIR="/run/user/$id" DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$id/bus" "$@"
}
as_user unshare --user true || { echo "users get no user namespaces here"; exit 1; }
(
  echo $BASHPID >"$group/cgroup.procs"
  as_user /lib/systemd/systemd --user --log-target=console >/run/manager.log 2>&1
) &
for pause in $(seq 100); do [ -e "/run/user/$id/systemd/private" ] && break; sleep 0.1; done
code=0
cd "/home/$user"
as_user bash -c "$commands" || code=$?
[ $code = 0 ] || cat /run/manager.log
as_user systemctl --user exit || true
wait || true
find "$group" -depth -type d -exec rmdir {} + || true
exit $code
