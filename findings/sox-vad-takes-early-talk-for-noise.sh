#!/usr/bin/env bash
# sox 14.4.2 (Debian 12 packages sox, libsox3 14.4.2+git20190427-3.5), effect "vad" with its default
# settings. The speech is that of alsa-utils 1.2.8-1: single announcements such as "front left".
# Expected: "vad" trims "silence" and "quiet background sounds" from the ends of recordings of
# speech. Where talk begins at once, there is nothing to trim.
# Seen: the effect takes its first third of a second (-T, "boot time") for noise, whatever it holds.
# If someone speaks there, all that is no louder is noise from then on. At 8000 Hz nothing is left
# of any of the seven announcements: the files that come out are empty. At 48000 Hz the first word
# is gone, and two announcements are. Exit status 0, no warning. With half a second of silence in
# front of the same files most are whole. A shorter -T loses less, but a word still.
# It matters to who trims prompts, voice mail or recordings of calls, which do begin with the first
# packet and not with silence: "front left" becomes "left" or nothing, and a test that compares what
# was heard with what was said finds a phone that cuts beginnings. Put silence in front, or trim by
# level (effect "silence").
# Output (seconds of speech that are cut away, in seven announcements of 1.3 to 1.5 s):
#    8000 Hz, 0.0 s of silence in front: 1.44, 1.40, 1.28, 1.48, 1.33, 1.21, 1.41
#    8000 Hz, 0.5 s of silence in front: 0.61, 0.67, 0.00, 0.00, 0.00, 0.00, 1.41
#   48000 Hz, 0.0 s of silence in front: 0.63, 0.71, 1.28, 0.80, 0.71, 0.72, 1.41
#   48000 Hz, 0.5 s of silence in front: 0.00, 0.71, 0.00, 0.00, 0.00, 0.00, 0.00
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {sox,libsox3,libsox-fmt-base}=14.4.2+git20190427-3.5 alsa-utils=1.2.8-1 \
    libgsm1 libltdl7 libgomp1 libpng16-16 libmagic1
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --only-binary :all: \
    --target lib numpy==2.2.6 scipy==1.15.3
cat > run.py <<'PY'
import subprocess, sys, wave
import numpy as np
from scipy.signal import resample_poly

NAMES = ("Front_Left", "Front_Right", "Rear_Left", "Rear_Right", "Side_Left", "Side_Right", "Noise")

def announcement(name, rate):
    with wave.open("root/usr/share/sounds/alsa/%s.wav" % name) as w:
        assert w.getframerate() == 48000 and w.getnchannels() == 1
        sound = np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(float)
    return resample_poly(sound, rate, 48000) / 2

def cut(sound, lead, rate):
    start = np.argmax(np.abs(sound) > 0.02 * np.abs(sound).max())
    padded = np.concatenate([np.zeros(int(lead * rate)), sound])
    padded += np.random.default_rng(1).normal(0, 3, len(padded))
    with wave.open("in.wav", "wb") as w:
        w.setparams((1, 2, rate, 0, "NONE", ""))
        w.writeframes(np.round(padded).astype("<i2").tobytes())
    done = subprocess.run(["root/usr/bin/sox", "in.wav", "out.wav", "vad"], capture_output=True,
                          timeout=20)
    if done.returncode or done.stderr:
        sys.exit("CHANGED: sox says " + done.stderr.decode())
    with wave.open("out.wav") as w:
        gone = len(padded) - w.getnframes() - int(lead * rate) - start
    return max(gone / rate, 0)

got = {}
for rate in 8000, 48000:
    for lead in 0, 0.5:
        got[rate, lead] = [cut(announcement(name, rate), lead, rate) for name in NAMES]
        print("%5d Hz, %.1f s of silence in front: %s" % (
            rate, lead, ", ".join("%.2f" % g for g in got[rate, lead])), flush=True)
early, late = ([got[rate, lead] for rate in (8000, 48000)] for lead in (0, 0.5))
whole = [sum(g < 0.05 for g in gone) for gone in late]
if not (min(early[0]) > 1.1 and min(early[1]) > 0.5 and whole[0] >= 4 and whole[1] >= 5):
    sys.exit("CHANGED: what sox's vad cuts away")
PY
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*-*):$(echo "$dir"/root/lib/*-*-*)
export LD_LIBRARY_PATH
PYTHONPATH=lib timeout 100 python3 run.py
