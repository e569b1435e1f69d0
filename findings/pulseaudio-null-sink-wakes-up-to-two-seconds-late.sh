#!/usr/bin/env bash
# PulseAudio 16.1 (Debian 12 packages 16.1+dfsg1-2+b1), module-null-sink, pacat and parec with
# --latency-msec=20; no sound card and no D-Bus.
# Expected: a client that asks for 20 ms gets them from its first sample on. A sink that sleeps for
# longer is woken and takes back what it has prepared: that is what PulseAudio's rewinding is for.
# Seen: a null sink that nobody uses prepares two seconds of silence at a time, and a new stream has
# to wait until they are over, whatever latency it asks for: half a second of sound takes two and a
# half. A recording of the idle sink's monitor begins late, too, by up to two seconds. With the
# module's argument norewinds=1, or while something else with a low latency plays into the sink or
# records from it, all is at once.
# It matters to a laboratory without sound cards, where null sinks stand for them: the phone writes
# 40 ms and is then blocked for two seconds, its playout buffer overflows, the first words of each
# call are lost, ring tones and time to first sound are measured 2 s too long, and a second test
# that runs beside the first one makes all of it go away. Load the sink with norewinds=1.
# Output (shortest of three tries):
#   half a second into an idle null sink:              2.49 s
#   the same with its monitor being recorded:          0.52 s
#   half a second into one with norewinds=1:           0.53 s
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {pulseaudio,pulseaudio-utils,libpulse0}=16.1+dfsg1-2+b1 libspeexdsp1 \
    libsndfile1 libasyncns0 libdbus-1-3 libltdl7 libtdb1 liborc-0.4-0 libsoxr0 libx11-xcb1 \
    libx11-6 libxcb1 libxau6 libxdmcp6 libbsd0 libmd0 libcap2 libwrap0 libflac12 libvorbis0a \
    libvorbisenc2 libopus0 libogg0 libmpg123-0 libmp3lame0 libsystemd0 libgcrypt20 \
    libgpg-error0 liblz4-1 libzstd1 liblzma5 libgomp1 libtirpc3 libnsl2 libgssapi-krb5-2 \
    libkrb5-3 libk5crypto3 libkrb5support0 libkeyutils1 libcom-err2 libapparmor1
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-*-*)
modules=$(echo "$dir"/root/usr/lib/pulse-*/modules)
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib}:$lib/pulseaudio:$modules MODULES=$modules
export PATH=$dir/root/usr/bin:$PATH HOME=$dir/home XDG_RUNTIME_DIR=$dir/run
unset PULSE_SERVER PULSE_RUNTIME_PATH DBUS_SESSION_BUS_ADDRESS DISPLAY
mkdir -m 700 run home
cat > run.py <<'PY'
import os, subprocess, sys, time

quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
FORM = ["--raw", "--format=s16le", "--channels=1", "--rate=48000", "--latency-msec=20"]
server = subprocess.Popen(
    ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
     "--disable-shm=yes", "-p", os.environ["MODULES"], "-L", "module-native-protocol-unix",
     "-L", "module-null-sink sink_name=idle rate=48000 channels=1",
     "-L", "module-null-sink sink_name=awake rate=48000 channels=1 norewinds=1"], **quiet)

def played(sink):                          # the shortest time that half a second takes
    times = []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run(["pacat", "-d", sink, *FORM, "sound"], check=True, timeout=30, **quiet)
        times.append(time.monotonic() - began)
    return min(times)

try:
    limit = time.monotonic() + 20
    while subprocess.run(["pactl", "info"], **quiet).returncode and time.monotonic() < limit:
        time.sleep(0.05)
    with open("sound", "wb") as f:
        f.write(bytes(48000))
    alone = played("idle")
    print("half a second into an idle null sink:        %10.2f s" % alone, flush=True)
    recorder = subprocess.Popen(["parec", "-d", "idle.monitor", *FORM], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
    recorder.stdout.read(1)                # it has begun, up to two seconds late
    reader = subprocess.Popen(["cat"], stdin=recorder.stdout, **quiet)
    beside = played("idle")
    for tool in recorder, reader:
        tool.kill()
        tool.wait()
    print("the same with its monitor being recorded:    %10.2f s" % beside, flush=True)
    awake = played("awake")
    print("half a second into one with norewinds=1:     %10.2f s" % awake, flush=True)
finally:
    server.kill()
    server.wait()
if not (alone > 1.9 and beside < 1.4 and awake < 1.4):
    sys.exit("CHANGED: how long a null sink of PulseAudio takes to wake")
PY
timeout 100 python3 run.py
