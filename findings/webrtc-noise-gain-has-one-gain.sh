#!/usr/bin/env bash
# webrtc-noise-gain 1.3.0 (PyPI; noise suppression and automatic gain of WebRTC for voice
# assistants), 16 kHz, blocks of 10 ms, noise suppression off. numpy 2.2.6.
# Expected: its README has "auto_gain_dbfs = 3  # [0, 31]" with 0 for off. In WebRTC's interface
# that figure is a target: 3 asks for talk 3 dB below full scale, 31 for talk 28 dB fainter, and
# talk of -20 and of -50 dBFS come out at the same level.
# Seen: 1 to 31 give one output, bit for bit. It is no level but an addition: 5 to 7 dB more than
# went in, for faint talk as for loud. So talk of -50 dBFS stays at -44, and a setting that asks
# for less still makes loud talk louder.
# Why it matters: who tunes a microphone by this figure tunes nothing and sees the noise of the
# test as the effect. Faint talkers stay faint in front of a speech recogniser or codec. Apply a
# gain of one's own after it.
# Output seen (in each other second of 10):
#   talk at -20 dBFS, auto_gain_dbfs  0:  -20  -21  -21  -21  -21 dBFS
#   talk at -20 dBFS, auto_gain_dbfs  1:  -15  -15  -16  -16  -15 dBFS
#   talk at -20 dBFS, auto_gain_dbfs 31:  -15  -15  -16  -16  -15 dBFS
#       outputs that differ among 1 to 31: 1
#   talk at -35 dBFS, auto_gain_dbfs  0:  -35  -36  -36  -36  -36 dBFS
#   talk at -35 dBFS, auto_gain_dbfs  1:  -28  -29  -29  -29  -29 dBFS
#   talk at -35 dBFS, auto_gain_dbfs 31:  -28  -29  -29  -29  -29 dBFS
#       outputs that differ among 1 to 31: 1
#   talk at -50 dBFS, auto_gain_dbfs  0:  -50  -51  -51  -51  -51 dBFS
#   talk at -50 dBFS, auto_gain_dbfs  1:  -43  -44  -44  -44  -44 dBFS
#   talk at -50 dBFS, auto_gain_dbfs 31:  -43  -44  -44  -44  -44 dBFS
#       outputs that differ among 1 to 31: 1
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" webrtc-noise-gain==1.3.0 numpy==2.2.6
cat > run.py <<'PY'
import sys
sys.path.insert(0, "py")
import numpy as np
from webrtc_noise_gain import AudioProcessor

RATE, BLOCK, SECONDS = 16000, 160, 10
t = np.arange(SECONDS * RATE) / RATE   # gliding harmonics in syllables
glide = t + 0.05 * np.sin(4 * t)
talk = sum(np.sin(2 * np.pi * 130 * k * glide) / k for k in range(1, 40))
talk *= np.abs(np.sin(2 * np.pi * 2.2 * t))

def processed(level, gain):            # level in dBFS
    sound = np.round(talk / np.std(talk) * 32768 * 10 ** (level / 20)).astype(np.int16)
    processor = AudioProcessor(gain, 0)
    return np.concatenate([np.frombuffer(processor.Process10ms(block.tobytes()).audio, np.int16)
                           for block in sound.reshape(-1, BLOCK)])

def levels(sound):                     # each other second
    power = np.mean(sound.astype(float).reshape(SECONDS, RATE) ** 2, axis=1) / 32768 ** 2
    return 10 * np.log10(power[1::2])

ok = True
for level in -20, -35, -50:
    outputs = {gain: processed(level, gain) for gain in range(32)}
    kinds = {outputs[gain].tobytes() for gain in range(1, 32)}
    for name, gain in ("0", 0), ("1", 1), ("31", 31):
        print("talk at %d dBFS, auto_gain_dbfs %2s: %s dBFS" % (
            level, name, " ".join("%4.0f" % v for v in levels(outputs[gain]))))
    print("    outputs that differ among 1 to 31: %d" % len(kinds))
    ok &= len(kinds) == 1 and outputs[0].tobytes() not in kinds
if not ok:
    sys.exit("CHANGED: auto_gain_dbfs makes a difference between 1 and 31")
PY
python3 run.py
