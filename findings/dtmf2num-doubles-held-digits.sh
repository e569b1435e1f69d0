#!/usr/bin/env bash
# dtmf2num 0.1.1 (Debian 12 package dtmf2num 0.1.1-2), which reads the digits of a WAV file; here of
# 8000 Hz, clean tones of equal level and pauses of 200 ms. numpy 2.2.6 makes the files.
# Expected: a key gives one digit, however long it is held; only a pause ends it (ITU-T Q.24).
# Seen: digits of 80 ms are read right. Longer ones, with no break in the tone at all, are read
# twice or more: at 300 ms some digit in a third of the calls, at 1 s in most of them, at 5 s in
# all. Which digits depends on where they start, to the millisecond. A digit lost or changed was not
# seen, just more of the same one.
# Why it matters: people press keys for 200 to 500 ms, and phones play a digit while the key is
# down, so a recorded call reads as a wrong PIN or extension, and a test "each digit exactly once"
# fails though the phone is right. Tests with the usual 80 or 100 ms do not show it.
# Output seen (16 calls of "159D0" each, which start 10 ms later one after the other):
#     80 ms:  0 of 16 calls are read wrong, for example 159D0
#    150 ms:  2 of 16 calls are read wrong, for example 1159D0
#    300 ms:  6 of 16 calls are read wrong, for example 1559D0
#   1000 ms: 14 of 16 calls are read wrong, for example 1599D000
#   2000 ms: 15 of 16 calls are read wrong, for example 1159D0000
#   5000 ms: 16 of 16 calls are read wrong, for example 115599D000000
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download dtmf2num=0.1.1-2
dpkg -x dtmf2num_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" numpy==2.2.6
cat > run.py <<'PY'
import subprocess, sys, wave
sys.path.insert(0, "py")
import numpy as np

ROW, COLUMN, KEYS = (697, 770, 852, 941), (1209, 1336, 1477, 1633), "123A456B789C*0#D"
RATE, DIGITS = 8000, "159D0"

def call(digits, length, lead):        # seconds of each digit, and of silence before the first
    parts = [np.zeros(round(lead * RATE))]
    for digit in digits:
        key, t = KEYS.index(digit), np.arange(round(length * RATE)) / RATE
        parts += [6500 * (np.sin(2 * np.pi * ROW[key // 4] * t)
                          + np.sin(2 * np.pi * COLUMN[key % 4] * t)), np.zeros(RATE // 5)]
    return np.round(np.concatenate(parts + [np.zeros(RATE // 2)])).astype(np.int16)

def read(samples):
    with wave.open("call.wav", "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    out = subprocess.run(["root/usr/bin/dtmf2num", "call.wav"], capture_output=True, text=True)
    return next(line.split()[-1] for line in out.stdout.splitlines() if "DTMF numbers" in line)

def once(digits):                      # without repetitions
    return "".join(d for d, before in zip(digits, " " + digits) if d != before)

wrong, lost = {}, 0
for length in 0.08, 0.15, 0.3, 1, 2, 5:
    seen = [read(call(DIGITS, length, 0.3 + 0.01 * k)) for k in range(16)]
    wrong[length] = sum(digits != DIGITS for digits in seen)
    lost += sum(once(digits) != DIGITS for digits in seen)
    print("%4d ms: %2d of %d calls are read wrong, for example %s"
          % (1000 * length, wrong[length], len(seen), max(seen, key=len)))
if wrong[0.08] or lost or not 3 <= wrong[0.3] <= 12 or wrong[1] < 10 or wrong[5] < 15:
    sys.exit("CHANGED: dtmf2num reads held digits once (or loses some)")
PY
python3 run.py
