#!/usr/bin/env bash
# PipeWire 0.3.65 (Debian 12 packages 0.3.65-3+deb12u1, WirePlumber 0.4.13-1), its ALSA plug-in
# (pipewire-alsa), recorded from with arecord (alsa-utils 1.2.8-1); no sound card and no D-Bus.
# Expected: a capture that falls behind is told so (-EPIPE, arecord's "overrun!!!"), and a buffer
# too small for the server is refused or enlarged (ALSA's PCM documentation).
# Seen: a buffer smaller than the graph's quantum is granted, and each cycle brings only that many
# frames: of 1024 a buffer of 480 keeps 480. Half of the sound is gone without any error or warning.
# pipewire.conf sets a floor of 1024 by itself in virtual machines (vm.overrides, min-quantum).
# It matters to a phone that asks ALSA for 2.5 ms periods and a 10 ms buffer: chopped speech while
# every counter says zero. Compare the frames read with the time passed, and enlarge the buffer.
# Output (3 s of recording each, 48 kHz; the shares vary by 1 to 4 % with the load):
#   quantum  256, buffer  480: 100 % of the frames, 0 overruns reported
#   quantum 1024, buffer 3840: 100 % of the frames, 0 overruns reported
#   quantum 1024, buffer  480:  47 % of the frames, 0 overruns reported
#   quantum 2048, buffer  480:  23 % of the frames, 0 overruns reported
set -euo pipefail
dir=$(mktemp -d)
server='' manager=''
stop() {
    for pid in $manager $server; do
        kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
    done
    rm -rf "$dir"
}
trap stop EXIT
cd "$dir"
# What is under test is pinned; glib, Lua and the like come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {pipewire-bin,pipewire-alsa,libspa-0.2-modules}=0.3.65-3+deb12u1 \
    {libpipewire-0.3-0,libpipewire-0.3-modules}=0.3.65-3+deb12u1 \
    {wireplumber,libwireplumber-0.4-0}=0.4.13-1 alsa-utils=1.2.8-1 libasound2=1.2.8-1+b1 \
    libglib2.0-0 liblua5.4-0 libdbus-1-3
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-*-*)
mkdir -m 700 run conf conf/main.lua.d
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} PATH=$dir/root/usr/bin:$PATH
export HOME=$dir XDG_RUNTIME_DIR=$dir/run PIPEWIRE_CONFIG_DIR=$dir/conf
export SPA_PLUGIN_DIR=$lib/spa-0.2 PIPEWIRE_MODULE_DIR=$lib/pipewire-0.3
export WIREPLUMBER_MODULE_DIR=$lib/wireplumber-0.4 WIREPLUMBER_CONFIG_DIR=$dir/conf
export WIREPLUMBER_DATA_DIR=$dir/root/usr/share/wireplumber
export ALSA_PLUGIN_DIR=$lib/alsa-lib ALSA_CONFIG_PATH=$dir/alsa.conf
unset DBUS_SESSION_BUS_ADDRESS PIPEWIRE_RUNTIME_DIR PIPEWIRE_REMOTE PIPEWIRE_LATENCY

cat > conf/pipewire.conf <<'CONF'
context.properties = { core.daemon = true core.name = pipewire-0 support.dbus = false
                       default.clock.rate = 48000 }
context.spa-libs = { audio.convert.* = audioconvert/libspa-audioconvert
                     support.* = support/libspa-support }
context.modules = [
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-metadata }
    { name = libpipewire-module-spa-node-factory }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-access }
    { name = libpipewire-module-adapter }
    { name = libpipewire-module-link-factory }
    { name = libpipewire-module-session-manager }
]
context.objects = [
    { factory = adapter args = { factory.name = support.null-audio-sink node.name = microphone
        media.class = Audio/Source/Virtual audio.position = [ MONO ] } }
]
CONF
cat > conf/client.conf <<'CONF'
context.properties = { support.dbus = false }
context.spa-libs = { audio.convert.* = audioconvert/libspa-audioconvert
                     support.* = support/libspa-support }
context.modules = [
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-adapter }
    { name = libpipewire-module-metadata }
]
CONF
cp conf/client.conf conf/client-rt.conf
# WirePlumber, which links streams to devices: only its default policy, no devices and no D-Bus.
cat > conf/wireplumber.conf <<'CONF'
context.properties = { support.dbus = false wireplumber.script-engine = lua-scripting }
context.spa-libs = { audio.convert.* = audioconvert/libspa-audioconvert
                     support.* = support/libspa-support }
context.modules = [
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-client-device }
    { name = libpipewire-module-adapter }
    { name = libpipewire-module-metadata }
    { name = libpipewire-module-session-manager }
]
wireplumber.components = [
    { name = libwireplumber-module-lua-scripting, type = module }
    { name = main.lua, type = config/lua }
    { name = policy.lua, type = config/lua }
]
CONF
cp -r root/usr/share/wireplumber/policy.lua.d conf/
cp root/usr/share/wireplumber/main.lua.d/00-functions.lua conf/main.lua.d/
cat > conf/main.lua.d/90-enable.lua <<'CONF'
load_module("metadata")
load_access("default", {})
load_module("default-nodes", { ["use-persistent-storage"] = false })
CONF
cat > alsa.conf <<'CONF'
pcm.phone { type pipewire }
CONF

pipewire > server.log 2>&1 & server=$!
for _ in {1..100}; do [ -S run/pipewire-0 ] && break; sleep 0.1; done
wireplumber > manager.log 2>&1 & manager=$!
for _ in {1..100}; do
    pw-metadata 2> /dev/null | grep -q 'default.audio.source' && break
    sleep 0.1
done
cat > run.py <<'PY'
import os, subprocess, sys, time

def record(quantum, period, size):
    subprocess.run(["pw-metadata", "-n", "settings", "0", "clock.force-quantum", str(quantum)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20)
    with open("arecord.log", "w+") as log:
        tool = subprocess.Popen(["arecord", "-D", "phone", "-t", "raw", "-f", "S16_LE", "-c", "1",
                                 "-r", "48000", "--period-size=%d" % period,
                                 "--buffer-size=%d" % size, "-"],
                                stdout=subprocess.PIPE, stderr=log)
        began, frames = None, 0
        limit = time.monotonic() + 15      # the first half second is not counted
        while (now := time.monotonic()) < limit and (began is None or now < began + 3.5):
            data = os.read(tool.stdout.fileno(), 4096)
            if not data:
                break
            began = began or now
            if now > began + 0.5:
                frames += len(data) // 2
        tool.kill()
        tool.wait()
        log.seek(0)
        overruns = log.read().count("overrun")
    assert began, open("arecord.log").read()
    share = frames / 48000 / 3
    print("quantum %4d, buffer %4d: %3.0f %% of the frames, %d overruns reported"
          % (quantum, size, 100 * share, overruns))
    return share, overruns

small = record(256, 120, 480)
large = record(1024, 480, 3840)
lost = record(1024, 120, 480)
most = record(2048, 120, 480)
if not (small[0] > 0.75 and large[0] > 0.9 and 0.35 < lost[0] < 0.6 and 0.1 < most[0] < 0.3
        and lost[1] == most[1] == 0):
    sys.exit("CHANGED: capture with a buffer below the quantum no longer loses frames in silence")
PY
python3 run.py
