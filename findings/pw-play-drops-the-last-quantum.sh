#!/usr/bin/env bash
# Package: pw-play 0.3.65 (Debian 12 package pipewire-bin 0.3.65-3+deb12u1, WirePlumber 0.4.13-1),
# played into a null sink of 48000 Hz and recorded from its monitor; no sound card and no D-Bus.
# Expected: pw-play plays the whole file and then ends. It drains its stream; PipeWire's doc of
# pw_stream_flush() has "the drained callback will be called when all data is played".
# Instead: what does not fill a whole quantum of the graph at the end is thrown away. pw-play asks
# for a latency of 100 ms by default, for which the graph takes its largest quantum, 2048 frames or
# 43 ms. A shorter sound is not played at all; pw-play takes its time over it and exits 0. With
# --latency 5ms the quantum is 128 frames, and less is lost. aplay, by the ALSA plug-in of the same
# server, plays all.
# Why it matters: key clicks, DTMF tones and 20 ms test signals played with pw-play are cut short or
# missing, a test for the end of a prompt fails by a changing amount, and a loop-back measurement
# with one short pulse finds no path at all. Put 50 ms of silence at the end of the file.
# Output seen (frames in the file, frames of it that came out of the sink):
#   pw-play                 480 frames ( 10.0 ms):     0
#   pw-play                2000 frames ( 41.7 ms):     0
#   pw-play                5000 frames (104.2 ms):  4096
#   pw-play               12000 frames (250.0 ms): 10240
#   pw-play --latency 5ms   480 frames ( 10.0 ms):   384
#   pw-play --latency 5ms  2000 frames ( 41.7 ms):  1920
#   pw-play --latency 5ms  5000 frames (104.2 ms):  4992
#   pw-play --latency 5ms 12000 frames (250.0 ms): 11904
#   aplay                   480 frames ( 10.0 ms):   480
#   aplay                  2000 frames ( 41.7 ms):  2000
#   aplay                  5000 frames (104.2 ms):  5000
#   aplay                 12000 frames (250.0 ms): 12000
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
    {pipewire-bin,pipewire-alsa,libspa-0.2-modules}=0.3.65-3+deb12u1 \
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
    { factory = adapter args = { factory.name = support.null-audio-sink node.name = speaker
        media.class = Audio/Sink audio.position = [ MONO ] } }
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
    pw-metadata 2> /dev/null | grep -q 'default.audio.sink' && break
    sleep 0.1
done
cat > run.py <<'PY'
import array, os, signal, subprocess, sys, time, wave

env = dict(os.environ)
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def wait(done):
    limit = time.monotonic() + 20
    while not done() and time.monotonic() < limit:
        time.sleep(0.02)

def links():
    return subprocess.run(["pw-link", "-l"], capture_output=True, text=True).stdout

def played(frames, latency, *tool):        # how many of the frames the sink gave out
    with wave.open("sound.wav", "wb") as f:
        f.setparams((1, 2, 48000, 0, "NONE", ""))
        f.writeframes(array.array("h", range(1, frames + 1)).tobytes())
    recorder = subprocess.Popen(["pw-record", "--target", "speaker", "--channels", "1",
                                 "-P", "{ stream.capture.sink = true }", "--latency", latency,
                                 "heard.wav"], **quiet)
    wait(lambda: "speaker:monitor_MONO" in links() and os.path.exists("heard.wav")
         and os.path.getsize("heard.wav") > 10000)
    subprocess.run([*tool, "sound.wav"], check=True, timeout=20, **quiet)
    size = os.path.getsize("heard.wav")
    wait(lambda: os.path.getsize("heard.wav") > size + 2 * 16384)      # more than any quantum
    recorder.send_signal(signal.SIGINT)
    recorder.wait(20)
    data = array.array("h", open("heard.wav", "rb").read()[44:])
    return len(set(data) & set(range(1, frames + 1)))

ok = True
for name, *how in (("pw-play", "100ms", "pw-play", "--target", "speaker"),
                   ("pw-play --latency 5ms", "5ms", "pw-play", "--target", "speaker",
                    "--latency", "5ms"),
                   ("aplay", "100ms", "aplay", "-D", "phone")):
    for frames in 480, 2000, 5000, 12000:
        got = 0                            # a busy machine may cost the recorder a cycle
        for _ in range(4 if name == "aplay" else 2):
            got = max(got, played(frames, *how))
            if got == frames:
                break
        print("%-21s %5d frames (%5.1f ms): %5d" % (name, frames, frames / 48, got), flush=True)
        if name == "aplay":
            ok &= got == frames
        elif name == "pw-play":
            ok &= got < frames and (got == 0) == (frames < 2048)
        else:
            ok &= 0 < got < frames
if not ok:
    sys.exit("CHANGED: pw-play plays to the end of the file, or aplay does not")
PY
python3 run.py
