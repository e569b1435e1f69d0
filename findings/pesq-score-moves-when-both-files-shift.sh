#!/usr/bin/env bash
# PESQ (ITU-T P.862, P.862.2), PyPI pesq 0.0.4 with numpy 2.2.6, 16 kHz, wide and narrow band.
# Expected: PESQ aligns the two files in time, so the same silence put before BOTH (the same call,
# recorded a few ms earlier) leaves the score alone.
# Seen: it moves with a period of 16 ms, by 0.59 where 20 ms gaps come every 400 ms, by 0.19 where
# 20 gaps lie at random (wb). PESQ looks at 32 ms frames that begin each 16 ms from the start of the
# file, and how deep a gap cuts depends on where it falls; 400 ms is a multiple of 16, so all gaps
# fall alike. (Besides: a delay that grows by 60 ms in mid-call costs nothing.)
# It matters to a phone's tests: "0.3 better than before" can be a recording begun 5 ms earlier. Put
# loss at random places, shift both files over 0 to 15 ms, and take the mean.
# Output (both files later by 0, 2, 6, 10, 14, 16 ms; two more lines for nb):
#   wb, gap each 400 ms: 2.079 2.181 2.475 2.670 2.211 2.078
#   wb, gaps at random:  2.258 2.187 2.376 2.212 2.277 2.258
#   wb, delay grows by 20, 60, 200 ms and nothing is lost: 4.644 4.644 3.497
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --target "$dir/py" pesq==0.0.4 numpy==2.2.6
cat > run.py <<'PY'
import random, sys
sys.path.insert(0, "py")
import numpy as np
from pesq import pesq

RATE = 16000

# Eight seconds of a speech-like sound: syllables with a gliding pitch, two resonances, pauses.
rnd = random.Random(3)
parts, phase, total = [], 0.0, 0
while total < RATE * 8:
    length, pitch = int(RATE * rnd.uniform(0.12, 0.3)), rnd.uniform(90, 180)
    low, high = rnd.uniform(300, 800), rnd.uniform(900, 2300)
    ramp = np.arange(length) / length
    angle = phase + np.cumsum(2 * np.pi * pitch * (1 + 0.1 * ramp) / RATE)
    phase = float(angle[-1])
    near = lambda f, middle, width: 1 / (1 + ((f - middle) / width) ** 2)
    parts.append(np.sin(np.pi * ramp) * sum(
        (near(k * pitch, low, 120) + 0.5 * near(k * pitch, high, 200)) * np.sin(k * angle)
        for k in range(1, 20)))
    parts.append(np.zeros(int(RATE * rnd.uniform(0.02, 0.25))))
    total += length + len(parts[-1])
clean = np.concatenate(parts)[:RATE * 8]
clean *= 32768 * 10 ** (-26 / 20) / np.sqrt(np.mean(clean**2))

def lose(packets):                         # packets of 20 ms, 400 in all
    x = clean.copy()
    for p in packets:
        x[p * 320:(p + 1) * 320] = 0
    return x

def score(a, b, mode="wb"):
    return float(pesq(RATE, a.astype("int16"), b.astype("int16"), mode))

def late(x, samples):
    return np.concatenate([np.zeros(samples), x])

def jump(x, ms):                           # the delay grows in the middle of the call
    return np.concatenate([x[:RATE * 4], np.zeros(RATE * ms // 1000), x[RATE * 4:]])

even, scattered = lose(range(50, 400, 20)), lose(random.Random(7).sample(range(20, 390), 20))
ok = True
for mode in ("wb", "nb"):
    for name, lossy, least in (("gap each 400 ms:", even, 0.4),
                               ("gaps at random: ", scattered, 0.1)):
        got = [score(late(clean, ms * 16), late(lossy, ms * 16), mode)
               for ms in (0, 2, 6, 10, 14, 16)]
        print("%s, %s %s" % (mode, name, " ".join("%.3f" % v for v in got)))
        ok &= max(got) - min(got) > least and abs(got[0] - got[-1]) < 0.01
grown = [score(clean, jump(clean, ms)) for ms in (20, 60, 200)]
print("wb, delay grows by 20, 60, 200 ms and nothing is lost: %.3f %.3f %.3f" % tuple(grown))
if not (ok and min(grown[:2]) > 4.6 and grown[2] < 4):
    sys.exit("CHANGED: PESQ no longer depends on where both files begin")
PY
python3 run.py
