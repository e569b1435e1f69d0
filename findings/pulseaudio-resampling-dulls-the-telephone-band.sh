#!/usr/bin/env bash
# Package: PulseAudio 16.1 (Debian 12 packages pulseaudio, pulseaudio-utils and libpulse0
# 16.1+dfsg1-2+b1, with libspeexdsp1 1.2.1-1), a null sink of 48000 Hz, pacat and parec.
# Expected: a stream of another rate than the device's is converted by resample-method, by default
# speex-float-1 (pulse-daemon.conf(5), which says of the numbers only that 0 is fast and 10 good).
# That keeps what a telephone call holds: 300 to 3400 Hz at a rate of 8000 Hz, and to 7000 Hz at
# 16000 Hz, within a dB or so, as the usual converters do.
# Instead: the default falls off early: recorded at 8000 Hz, 3 kHz loses 1.4 dB and 3.4 kHz 6 dB,
# played at 8000 Hz 3.4 kHz loses 4; at 16000 Hz 7 kHz loses 8 dB when recorded and 6 when played.
# Microphone and loudspeaker together take 10 and 14 dB. With speex-float-5 nothing is lost.
# Why it matters: a phone that opens its streams at the codec's rate sounds dull with PulseAudio; as
# measured at its ends it misses the usual limits for a telephone, while the codec and the phone's
# own converter are flat. Open the device at 48000 Hz and resample in the phone, or set
# resample-method = speex-float-5 in daemon.conf.
# Output seen (dB against what was played; "card" is the null sink, 48000 Hz):
#   default       card to  8000 Hz: 1000 Hz  0.0, 3000 Hz -1.4, 3400 Hz -6.0
#   default        8000 Hz to card: 1000 Hz  0.0, 3000 Hz -0.8, 3400 Hz -4.2
#   default       card to 16000 Hz: 1000 Hz  0.0, 6000 Hz -1.4, 7000 Hz -7.9
#   default       16000 Hz to card: 1000 Hz  0.0, 6000 Hz -0.8, 7000 Hz -5.7
#   speex-float-5 card to  8000 Hz: 1000 Hz  0.0, 3000 Hz  0.0, 3400 Hz  0.0
#   speex-float-5  8000 Hz to card: 1000 Hz  0.0, 3000 Hz  0.0, 3400 Hz  0.0
#   speex-float-5 card to 16000 Hz: 1000 Hz  0.0, 6000 Hz  0.0, 7000 Hz -0.2
#   speex-float-5 16000 Hz to card: 1000 Hz  0.0, 6000 Hz  0.0, 7000 Hz  0.0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {pulseaudio,pulseaudio-utils,libpulse0}=16.1+dfsg1-2+b1 libspeexdsp1=1.2.1-1 \
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
import array, cmath, math, os, subprocess, sys, time

quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def start(method):
    command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
               "--disable-shm=yes", "-p", os.environ["MODULES"], "-L",
               "module-native-protocol-unix", "-L",
               "module-null-sink sink_name=card rate=48000 channels=1"]
    if method != "default":
        command.append("--resample-method=" + method)
    server = subprocess.Popen(command, **quiet)
    limit = time.monotonic() + 20
    while subprocess.run(["pactl", "info"], **quiet).returncode and time.monotonic() < limit:
        time.sleep(0.05)
    return server

def levels(source, target, tones):         # play at one rate, record at the other
    sound = array.array("h", [round(sum(6000 * math.sin(2 * math.pi * f * i / source)
                                        for f in tones)) for i in range(source)]).tobytes()
    as_is = ["--raw", "--format=s16le", "--channels=1", "--rate"]
    recorder = subprocess.Popen(["parec", "-d", "card.monitor", "--latency-msec=20", *as_is,
                                 str(target)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    player = subprocess.Popen(["pacat", "-d", "card", *as_is, str(source)],
                              stdin=subprocess.PIPE, **quiet)
    player.stdin.write(sound * 3)
    player.stdin.close()
    heard, first = array.array("h"), None
    while first is None or len(heard) < first + target:
        block = array.array("h", recorder.stdout.read(target // 100 * 2))
        assert block, "the recording ended"
        if first is None and max(map(abs, block)) > 100:
            first = len(heard)
        heard.extend(block)
    for tool in recorder, player:
        tool.kill()
        tool.wait()
    span = range(first + target // 2, first + target)       # half a second, whole waves
    return [round(20 * math.log10(2 / len(span) / 6000 * abs(sum(
        heard[i] * cmath.exp(-2j * math.pi * f * i / target) for i in span))), 1) + 0.0
        for f in tones]

narrow, wide = (1000, 3000, 3400), (1000, 6000, 7000)
cases = (48000, 8000, narrow), (8000, 48000, narrow), (48000, 16000, wide), (16000, 48000, wide)
want = {"default": [(1.4, 6.0), (0.8, 4.2), (1.4, 7.9), (0.8, 5.7)],
        "speex-float-5": [(0, 0), (0, 0), (0, 0.2), (0, 0)]}
ok = True
for method, losses in want.items():
    server = start(method)
    try:
        for (source, target, tones), (some, much) in zip(cases, losses):
            for _ in range(3):             # a gap in playing, on a busy machine, spoils a level
                got = levels(source, target, tones)
                good = all(abs(g + w) < 0.5 for g, w in zip(got, (0, some, much)))
                if good:
                    break
            ok &= good
            print("%-13s %s: %s" % (
                method, "card to %5d Hz" % target if source == 48000 else "%5d Hz to card" % source,
                ", ".join("%d Hz %4.1f" % pair for pair in zip(tones, got))), flush=True)
    finally:
        server.kill()
        server.wait()
if not ok:
    sys.exit("CHANGED: PulseAudio's default resampler has another frequency response")
PY
python3 run.py
