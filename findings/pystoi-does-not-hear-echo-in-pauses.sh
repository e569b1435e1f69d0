#!/usr/bin/env bash
# Package: pystoi 0.4.1 (PyPI, with numpy 2.2.6 and scipy 1.15.3): STOI and extended STOI.
# Expected: the README calls it an intelligibility measure for degraded speech, "a function of the
# clean and degraded speech signals". A call in which the own words come back as an echo, louder
# than the far end's, should score worse than one with faint room noise.
# Instead: it scores 1.000. All frames in which the clean signal is 40 dB or more below its loudest
# are taken out of both signals first, so what the degraded one holds there does not count,
# whatever it is and however loud. Faint room noise costs 0.03. The level does not count either: the
# call may be 40 dB too quiet.
# Why it matters: echo, comfort noise, clicks and howling in the pauses of a call are just what a
# phone's echo canceller and silence handling are tested for, and a change that lets echo through
# but removes some room noise "improves" the score. Score the pauses apart, by their level.
# Output seen (STOI, extended STOI; 16 s, talk and pauses of 2 s):
#   the clean signal itself          1.000 1.000
#   echo in the pauses, as loud      1.000 1.000
#   echo in the pauses, 20 dB louder 1.000 1.000
#   all of it 40 dB too quiet        1.000 1.000
#   room noise 35 dB below the talk  0.973 0.908
#   each first half second is lost   0.661 0.629
#   (the louder echo is 20 dB above the talk)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" pystoi==0.4.1 numpy==2.2.6 scipy==1.15.3
cat > run.py <<'PY'
import random, sys
sys.path.insert(0, "py")
import numpy as np
from pystoi import stoi

RATE = 16000

# Two seconds of syllables (gliding pitch, two resonances), two seconds of pause, four times.
rnd = random.Random(3)
clean = np.zeros(RATE * 16)
for start in range(0, 16, 4):
    at = start * RATE
    while at < (start + 2) * RATE - RATE // 3:
        length, pitch = int(RATE * rnd.uniform(0.12, 0.3)), rnd.uniform(90, 180)
        low, high = rnd.uniform(300, 800), rnd.uniform(900, 2300)
        ramp = np.arange(length) / length
        angle = np.cumsum(2 * np.pi * pitch * (1 + 0.1 * ramp) / RATE)
        near = lambda f, middle, width: 1 / (1 + ((f - middle) / width) ** 2)
        clean[at:at + length] += np.sin(np.pi * ramp) * sum(
            (near(k * pitch, low, 120) + 0.5 * near(k * pitch, high, 200)) * np.sin(k * angle)
            for k in range(1, 20))
        at += length + int(RATE * rnd.uniform(0.02, 0.1))
clean *= 0.1 / np.sqrt(np.mean(clean[clean != 0] ** 2))
second = np.arange(len(clean)) / RATE % 4
pause = (second > 2.1) & (second < 3.9)
echo = np.roll(clean[::-1], RATE // 10) * pause          # other words: the talk backwards
noise = np.random.default_rng(2).normal(0, 0.1, len(clean))

cases = (("the clean signal itself         ", clean, 1, 0.001),
         ("echo in the pauses, as loud     ", clean + echo, 1, 0.005),
         ("echo in the pauses, 20 dB louder", clean + 10 * echo, 1, 0.005),
         ("all of it 40 dB too quiet       ", clean / 100, 1, 0.001),
         ("room noise 35 dB below the talk ", clean + noise * 10 ** (-35 / 20), 0.97, 0.02),
         ("each first half second is lost  ",
          clean * (second > 0.5), 0.66, 0.1))
ok, scores = True, []
for name, heard, want, near in cases:
    plain, extended = (float(stoi(clean, heard, RATE, extended=e)) for e in (False, True))
    scores.append(plain)
    print("%s %.3f %.3f" % (name, plain + 0.0, extended + 0.0))
    ok &= abs(plain - want) < near
level = 10 * np.log10(np.mean((10 * echo)[pause] ** 2) / np.mean(clean[~pause] ** 2))
print("(the louder echo is %.0f dB above the talk)" % level)
if not ok or scores[2] <= scores[4] + 0.01 or level < 15:
    sys.exit("CHANGED: pystoi hears what stands in the pauses")
PY
python3 run.py
