#!/usr/bin/env bash
# LiveKit's AudioProcessingModule 1.2.1 (PyPI livekit; the AEC3 echo canceller of libwebrtc) with
# echo_cancellation alone, 48000 Hz, numpy 2.2.6. The caller wears a headset: no echo at all.
# Expected: nothing to cancel, so the caller is heard. AEC3 has a "transparent mode" for headsets.
# Seen: while the far end plays a steady sound (music on hold, a tone), the caller is 10 to 26 dB
# down for the first 6 seconds of it, and from then on untouched. Under talk the canceller finds out
# after 1 to 2 seconds, and with a far end that is silent there is no loss at all. Only time in
# which the far end is active counts: 20 silent seconds before do not shorten the 6 seconds. Music
# 10 dB below the caller still takes 5 dB.
# Why it matters: who picks up, or answers a menu, under music on hold or a ringback tone is not
# heard for 6 seconds, neither by people nor by a speech recogniser; a test call with talk, or one
# that is measured after a while, shows nothing. With a headset switch the canceller off.
# Output seen (level of the caller, dB against the same without processing, in seconds 1 to 8; far
# end as loud as the caller, except for the last line):
#   far end silent             0   0   0  -1   0   0   0   0
#   far end: other talk      -27  -4   0  -1   0   0   0  -1
#   far end: dial tone       -26 -25 -24 -23 -22 -21   0   0
#   far end: music           -18 -26 -17 -23 -15 -10   0   0
#   far end: music, 20 s in  -16 -20 -17 -18 -14  -9   0   0
#   far end: music, -10 dB    -5  -6  -7  -7  -5  -5   0   0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$dir/py" \
    livekit==1.2.1 numpy==2.2.6
cat > run.py <<'PY'
import sys
sys.path.insert(0, "py")
import numpy as np
from livekit import rtc

RATE, LENGTH = 48000, 10
BLOCK, COUNT = RATE // 100, RATE * LENGTH

def talk(seed):                        # syllables of gliding pitch with two resonances
    rnd, sound, at = np.random.default_rng(seed), np.zeros(COUNT), 0
    while at < COUNT:
        t, pitch = np.arange(int(RATE * rnd.uniform(0.1, 0.3))) / RATE, rnd.uniform(90, 180)
        near = lambda k: (np.exp(-((k * pitch - 500) / 400) ** 2)
                          + 0.4 * np.exp(-((k * pitch - 1800) / 600) ** 2))
        syllable = sum(near(k) * np.sin(2 * np.pi * k * pitch * (t + 0.1 * t * t))
                       for k in range(1, 30)) * np.sin(np.pi * np.arange(len(t)) / len(t))
        part = syllable[:COUNT - at]
        sound[at:at + len(part)] += part
        at += len(t) + int(RATE * rnd.uniform(0, 0.15))
    return sound

def music():                           # a new chord of three plucked notes each half second
    rnd, t, parts = np.random.default_rng(3), np.arange(RATE // 2) / RATE, []
    for _ in range(2 * LENGTH):
        notes = 220 * 2 ** (rnd.integers(0, 24, 3) / 12)
        parts.append(sum(np.sin(2 * np.pi * note * k * t) / k
                         for note in notes for k in range(1, 6)) * np.exp(-2 * t))
    return np.concatenate(parts)

def at_level(sound, level=1000):
    return np.clip(np.round(level * sound / np.std(sound)), -32768, 32767).astype(np.int16)

def heard(name, far, before=0):        # before: seconds of a silent far end at the start
    canceller, out = rtc.AudioProcessingModule(echo_cancellation=True), []
    quiet = np.zeros(RATE * before, np.int16)
    near = np.concatenate([caller[:RATE * min(before, 10)]] * (before // 10) + [caller])
    far = np.concatenate([quiet, far])
    for at in range(0, len(far) - BLOCK + 1, BLOCK):
        frame = rtc.AudioFrame(far[at:at + BLOCK].tobytes(), RATE, 1, BLOCK)
        canceller.process_reverse_stream(frame)
        frame = rtc.AudioFrame(near[at:at + BLOCK].tobytes(), RATE, 1, BLOCK)
        canceller.process_stream(frame)
        out.append(np.array(frame.data, np.int16))
    out = np.concatenate(out)[len(quiet):].astype(float)
    changes = []
    for second in range(8):
        part = slice(second * RATE, second * RATE + RATE)
        changes.append(round(20 * np.log10(np.std(out[part]) / np.std(caller[part].astype(float)))))
    print("%-23s %s" % (name, "".join("%4d" % v for v in changes)))
    return changes

caller = at_level(talk(1))
tone = np.sin(2 * np.pi * 425 * np.arange(COUNT) / RATE)
silent = heard("far end silent", np.zeros(COUNT, np.int16))
other = heard("far end: other talk", at_level(talk(77)))
steady = [heard("far end: dial tone", at_level(tone)), heard("far end: music", at_level(music())),
          heard("far end: music, 20 s in", at_level(music()), 20)]
faint = heard("far end: music, -10 dB", at_level(music(), 316))
if (min(silent + other[2:]) < -3 or any(max(case[:5]) > -8 or min(case[6:]) < -3 for case in steady)
        or max(faint[:5]) > -2 or min(faint[6:]) < -2):
    sys.exit("CHANGED: the canceller no longer mutes the caller for 6 s under tones and music")
PY
python3 run.py
