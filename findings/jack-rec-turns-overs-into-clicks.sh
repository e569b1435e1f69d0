#!/usr/bin/env bash
# jack_rec of JACK 1.9.21 (Debian 12 package jackd2 1.9.21~dfsg-3), jack-play of jack-tools
# 20131226-1.1, libsndfile 1.2.0-1+deb12u1. The server runs with the dummy driver: no card.
# Expected: samples in JACK are floats, and a mix of two voices may well go beyond full scale; that
# is what floats are for. A recorder that writes 16 bits clips them there, as a card does.
# Seen: jack_rec lets them run over. With 16 and 24 bits a peak of +1.1 is written as -0.9, with 32
# bits as -1, and there is no message. A card would clip this sine with a distortion 28 dB below
# it; here each peak is a crack over the full range, from one sample to the next, and what is left
# of the sine itself is less than the cracks.
# (libsndfile does that unless SFC_SET_CLIPPING is set, which jack_rec does not; each C program
# that hands it floats has to. Recorders of floats, such as jack-record by default, are right.)
# It matters to a laboratory that listens to a phone through JACK (or PipeWire in its place): two
# people who talk at once, or a loud far end, sound broken in the recording although phone and card
# are in order, and measures of quality and echo built on such recordings accuse the phone. Record
# in floats, or keep the ports 6 dB below full scale.
# Output (a sine with peaks of 1.1, that is 0.8 dB over; largest step, and distortion to sine):
#   as it was, floats   : peaks 1.100, step 0.01, distortion -158 dB
#   clipped as by a card: peaks 1.000, step 0.01, distortion  -28 dB
#   jack_rec, 16 bits   : peaks 0.999, step 1.99, distortion   26 dB
#   jack_rec, 24 bits   : peaks 0.999, step 1.99, distortion   26 dB
#   jack_rec, 32 bits   : peaks 1.000, step 2.00, distortion    2 dB
set -euo pipefail
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server; wait; rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download {jackd2,libjack-jackd2-0}=1.9.21~dfsg-3 \
    jack-tools=20131226-1.1 libsndfile1=1.2.0-1+deb12u1 libsamplerate0 libdb5.3 libdbus-1-3 \
    libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1 libflac12 libogg0 \
    libvorbis0a libvorbisenc2 libopus0 libmpg123-0 libmp3lame0
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target lib numpy==2.2.6
lib=$(echo "$dir"/root/usr/lib/*-*-*)
cat > run.py <<'PY'
import math, os, struct, subprocess, sys, time
import numpy as np

RATE, TONE = 48000, 100
sine = 1.1 * np.sin(2 * np.pi * TONE * np.arange(60 * RATE) / RATE)
data = sine.astype("<f4").tobytes()
with open("sine.wav", "wb") as f:          # WAV of floats: format 3
    f.write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 3, 1,
                        RATE, 4 * RATE, 4, 32, b"data", len(data)) + data)

def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=40)

def show(name, sound):
    n = np.arange(len(sound))
    w = 2 * np.pi * TONE * n / RATE
    base = np.stack([np.sin(w), np.cos(w), np.ones(len(sound))], axis=1)
    fit = base @ np.linalg.lstsq(base, sound, rcond=None)[0]
    step = np.abs(np.diff(sound)).max()
    ratio = 10 * math.log10(max(np.mean((sound - fit) ** 2), 1e-16) / np.mean(fit ** 2))
    print("%-20s: peaks %.3f, step %.2f, distortion %4.0f dB"
          % (name, np.abs(sound).max(), step, ratio), flush=True)
    return step, ratio

def recorded(bits, port):
    done = tool("jack_rec", "-f", "rec.wav", "-d", "1", "-b", str(bits), port)
    with open("rec.wav", "rb") as f:
        wav = f.read()
    at = wav.index(b"data") + 8
    raw = wav[at:at + len(wav[at:]) // (bits // 8) * (bits // 8)]
    if bits == 24:
        raw = b"".join(b"\0" + raw[i:i + 3] for i in range(0, len(raw), 3))
    sound = np.frombuffer(raw, "<i2" if bits == 16 else "<i4")
    return sound / 2 ** (15 if bits == 16 else 31), done

player = subprocess.Popen(["jack-play", "-n", "voices", "sine.wav"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
try:
    limit = time.monotonic() + 20
    while not (ports := [p for p in tool("jack_lsp").stdout.split() if p.startswith("voices")]):
        if time.monotonic() > limit:
            sys.exit("jack-play has no port")
    time.sleep(0.5)
    right = show("as it was, floats", sine[:RATE]), show("clipped as by a card",
                                                         np.clip(sine[:RATE], -1, 1))
    wrong = []
    for bits in 16, 24, 32:
        sound, done = recorded(bits, ports[0])
        wrong.append(show("jack_rec, %d bits" % bits, sound[RATE // 4:3 * RATE // 4]))
        if "clip" in (done.stdout + done.stderr).lower():
            sys.exit("CHANGED: jack_rec speaks of clipping")
finally:
    player.kill()
    player.wait()
if not (right[0][0] < 0.03 and right[1][0] < 0.03 and right[1][1] < -20
        and all(step > 1.9 and ratio > -10 for step, ratio in wrong)):
    sys.exit("CHANGED: what jack_rec makes of overs")
PY
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib}:$lib/jack PATH=$dir/root/usr/bin:$PATH
export JACK_DRIVER_DIR=$lib/jack JACK_NO_AUDIO_RESERVATION=1 JACK_DEFAULT_SERVER=overs$$
unset DBUS_SESSION_BUS_ADDRESS
jackd -r -n "$JACK_DEFAULT_SERVER" -d dummy -r 48000 -p 1024 > jackd.log 2>&1 &
server=$!
PYTHONPATH=lib timeout 100 python3 run.py
