#!/usr/bin/env bash
# PipeWire 0.3.65 (Debian 12 packages 0.3.65-3+deb12u1, WirePlumber 0.4.13-1), null sinks of 48000
# Hz, one of two channels and one of one; no sound card and no D-Bus. Against alsa-lib 1.2.8.
# Expected: two channels into one are averaged, half of each, as in ALSA's "plug" and in FFmpeg: a
# voice that is in both, as nearly every voice is, keeps its level, and nothing can overflow.
# Seen: each gets 0.707. That keeps the power of two sounds that have nothing in common; two equal
# ones come out 3 dB louder. What is above -3 dBFS is then clipped, hard, and without a message. One
# channel into two is right (the same twice), so there and back is not the same.
# It matters to a phone that asks for one channel of a stereo microphone or headset, and to one that
# plays a stereo ring tone or prompt into a mono device: 3 dB more for the echo canceller, the level
# meter and the gain control than from the same device by ALSA alone, and clipped peaks that the
# device never gave. Set channelmix.normalize = true in the stream's properties (last line), or ask
# for the channels that the device has and average them in the program.
# Output (peak of a sine in the left and the right channel, and the peak that came out):
#   PipeWire, stereo sink recorded in stereo, 10000,     0: 10000
#   PipeWire, stereo sink recorded in stereo, 10000, 10000: 10000
#   PipeWire, stereo sink recorded in stereo, 30000, 30000: 30000
#   PipeWire, stereo sink recorded in mono,   10000,     0:  7071
#   PipeWire, stereo sink recorded in mono,   10000, 10000: 14142
#   PipeWire, stereo sink recorded in mono,   30000, 30000: 32767
#   PipeWire, stereo file into a mono sink,   10000,     0:  7071
#   PipeWire, stereo file into a mono sink,   10000, 10000: 14142
#   PipeWire, stereo file into a mono sink,   30000, 30000: 32767
#   ALSA, stereo file into a mono device,     10000, 10000: 10000
#   ALSA, stereo file into a mono device,     30000, 30000: 30000
#   the second group with channelmix.normalize: 5000, 10000 and 30000
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
# What is under test is pinned; glib, libsndfile and the like come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {pipewire-bin,libspa-0.2-modules}=0.3.65-3+deb12u1 \
    {libpipewire-0.3-0,libpipewire-0.3-modules}=0.3.65-3+deb12u1 \
    {wireplumber,libwireplumber-0.4-0}=0.4.13-1 alsa-utils=1.2.8-1 libasound2=1.2.8-1+b1 \
    libglib2.0-0 liblua5.4-0 libdbus-1-3 libsndfile1 libflac12 libvorbis0a libvorbisenc2 \
    libopus0 libogg0 libmpg123-0 libmp3lame0 libreadline8 libncurses6 libtinfo6
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-*-*)
mkdir -m 700 run conf conf/main.lua.d
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} PATH=$dir/root/usr/bin:$PATH
export HOME=$dir XDG_RUNTIME_DIR=$dir/run PIPEWIRE_CONFIG_DIR=$dir/conf
export SPA_PLUGIN_DIR=$lib/spa-0.2 PIPEWIRE_MODULE_DIR=$lib/pipewire-0.3
export WIREPLUMBER_MODULE_DIR=$lib/wireplumber-0.4 WIREPLUMBER_CONFIG_DIR=$dir/conf
export WIREPLUMBER_DATA_DIR=$dir/root/usr/share/wireplumber
export ALSA_CONFIG_PATH=$dir/alsa.conf
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
    { factory = adapter args = { factory.name = support.null-audio-sink node.name = mono
        media.class = Audio/Sink audio.position = [ MONO ] } }
    { factory = adapter args = { factory.name = support.null-audio-sink node.name = stereo
        media.class = Audio/Sink audio.position = [ FL FR ] } }
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
pcm.mono { type plug slave { format S16_LE channels 1 rate 48000 pcm { type file file "alsa.raw"
    format raw slave.pcm { type null } } } }
CONF

pipewire > server.log 2>&1 & server=$!
for _ in {1..100}; do [ -S run/pipewire-0 ] && break; sleep 0.1; done
wireplumber > manager.log 2>&1 & manager=$!
for _ in {1..100}; do
    pw-metadata 2> /dev/null | grep -q 'default.audio.sink' && break
    sleep 0.1
done
cat > run.py <<'PY'
import array, math, os, signal, subprocess, sys, time, wave

quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def wait(done):
    limit = time.monotonic() + 20
    while not done() and time.monotonic() < limit:
        time.sleep(0.02)

def write(left, right):                    # a second of 1 kHz; its samples hold its peaks
    with wave.open("sound.wav", "wb") as f:
        f.setparams((2, 2, 48000, 0, "NONE", ""))
        sine = [math.sin(2 * math.pi * k / 48) for k in range(48000)]
        frames = array.array("h", (round(a * v) for v in sine for a in (left, right)))
        f.writeframes(frames.tobytes())

def through_pipewire(sink, channels, *more):       # the peak that pw-record hears of pw-play
    if os.path.exists("heard.wav"):
        os.remove("heard.wav")
    recorder = subprocess.Popen(["pw-record", "--target", sink, "--channels", str(channels),
                                 "-P", "{ stream.capture.sink = true %s }" % " ".join(more),
                                 "heard.wav"], **quiet)
    wait(lambda: os.path.exists("heard.wav") and os.path.getsize("heard.wav") > 20000)
    subprocess.run(["pw-play", "--target", sink, "sound.wav"], check=True, timeout=20, **quiet)
    size = os.path.getsize("heard.wav")
    wait(lambda: os.path.getsize("heard.wav") > size + 2 * 16384)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(20)
    return max(array.array("h", open("heard.wav", "rb").read()[44:]))

def normalized(sink, channels):
    return through_pipewire(sink, channels, "channelmix.normalize = true")

def through_alsa(_sink, _channels):
    subprocess.run(["aplay", "-q", "-D", "mono", "sound.wav"], check=True, timeout=20, **quiet)
    return max(array.array("h", open("alsa.raw", "rb").read()))

ok = True
for name, way, sink, channels in (
        ("PipeWire, stereo sink recorded in stereo", through_pipewire, "stereo", 2),
        ("PipeWire, stereo sink recorded in mono", through_pipewire, "stereo", 1),
        ("PipeWire, stereo file into a mono sink", through_pipewire, "mono", 1),
        ("ALSA, stereo file into a mono device", through_alsa, "", 1),
        ("PipeWire, recorded in mono, normalized", normalized, "stereo", 1)):
    for left, right in ((10000, 0), (10000, 10000), (30000, 30000)):
        write(left, right)
        factor = 1 if channels == 2 else 0.5 ** 0.5 if way is through_pipewire else 0.5
        expected = min(32767, left if channels == 2 else factor * (left + right))
        for _ in range(3):                 # a busy machine may cost the recorder a cycle
            peak = way(sink, channels)
            if abs(peak - expected) < 30:
                break
        else:
            ok = False
        print("%-41s %5d, %5d: %5d" % (name + ",", left, right, peak), flush=True)
if not ok:
    sys.exit("CHANGED: how PipeWire or ALSA turns two channels into one")
PY
python3 run.py
