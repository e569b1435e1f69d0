#!/usr/bin/env bash
# Package: sphfile 1.0.3 (PyPI; NIST SPHERE files, the form of collections of telephone calls as
# Switchboard and CallHome), write_wav(). To compare, libsndfile 1.2.2 (in PyPI's soundfile 0.13.1, numpy 2.2.6).
# Expected: such collections have one side of the call on each channel, often in mu-law ("sample_coding -s4 ulaw",
# one octet a sample). The package says that it does not support shortened files, "only the base ulaw encoding",
# and write_wav(name, start, stop) writes the seconds between the two times (its README has 111.29 and 123.57).
# Instead: a time is cut to a number of samples of all channels together, not of moments. If that number is odd, the two
# sides change places. It is odd for half of the times that are no whole sample, and, as 2.01 * 8000 * 2 is
# 32159.999999999996 in floating point, for 2.01 s and others of two digits. And mu-law octets go into the WAV file
# as they are, under a header of 8-bit linear samples: voices are distorted and silence is a full scale value.
# No warning.
# Why it matters: in a few cuts of many the caller's words are in the transcript of the callee, and with them whatever
# is counted by sides: who spoke, who interrupted, whose echo it was. Levels and pauses of mu-law files are
# wrong. Whoever tests with 16 bits and cuts at whole seconds sees all right. Read the files with soundfile.
# Output seen (side A is a tone of 400 Hz, side B one of 1000 Hz; the parts of each channel that are its tone):
#   16 bits, whole file:           WAV of 2 x 16 bits, channel 1 is A (100 %), channel 2 is B (100 %)
#   16 bits, from 2 s:             WAV of 2 x 16 bits, channel 1 is A (100 %), channel 2 is B (100 %)
#   16 bits, from 2.01 s:          WAV of 2 x 16 bits, channel 1 is B (100 %), channel 2 is A (100 %)
#   16 bits, from 2.0001 s:        WAV of 2 x 16 bits, channel 1 is B (100 %), channel 2 is A (100 %)
#   mu-law, whole file, sphfile:   WAV of 2 x 8 bits, channel 1 is A distorted (55 %), channel 2 is B distorted (35 %)
#   mu-law, whole file, soundfile: channel 1 is A (100 %), channel 2 is B (100 %)
#   starts at whole hundredths up to 100 s: 74 of 10000 change the sides; at 1000 other times: 501
#   silence in mu-law:             highest sample by sphfile 32512, by soundfile 0
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --only-binary=:all: --target tools setuptools==75.8.0 wheel==0.45.1
pip install --quiet --no-deps --only-binary=:all: --target lib numpy==2.2.6 soundfile==0.13.1 cffi==1.17.1 \
    pycparser==2.22
# The package is there as a source archive only; it is all Python and nothing is compiled.
PYTHONPATH="$dir/tools" pip install --quiet --no-deps --no-build-isolation --target lib sphfile==1.0.3
cat > run.py <<'PY'
import sys, warnings, wave
import numpy as np, soundfile
from sphfile import SPHFile

warnings.simplefilter("ignore")            # numpy about an old name that sphfile uses
RATE, TONES = 8000, {"A": 400, "B": 1000}
moments = np.arange(4 * RATE) / RATE
call = np.stack([np.rint(8000 * np.sin(2 * np.pi * f * moments)).astype(int) for f in TONES.values()], 1)

def mu_law(x):
    """G.711: the octet whose value is the nearest."""
    code = ~np.arange(256) & 255
    size = ((code & 15) << 3) + 132 << (code >> 4 & 7)
    values = np.where(code & 128, 132 - size, size - 132)
    return (255 - np.abs(np.asarray(x)[..., None] - values[::-1]).argmin(-1)).astype(np.uint8)

def sphere(name, data, coding):
    size = data.dtype.itemsize
    head = "\n".join(["NIST_1A", "   1024", "channel_count -i %d" % data.shape[1], "sample_count -i %d" % len(data),
                      "sample_rate -i %d" % RATE, "sample_n_bytes -i %d" % size, "sample_sig_bits -i %d" % (8 * size),
                      "sample_byte_format -s%d %s" % (size, "01" if size == 2 else "1"),
                      "sample_coding -s%d %s" % (len(coding), coding), "end_head", ""])
    with open(name, "wb") as file:
        file.write(head.encode().ljust(1024) + data.tobytes())

def by_sphfile(name, *times):
    """What write_wav() wrote, as samples of 16 bits, and the size of them in the file."""
    SPHFile(name).write_wav("out.wav", *times)
    with wave.open("out.wav") as file:
        size, raw = file.getsampwidth(), file.readframes(file.getnframes())
        channels = file.getnchannels()
    x = np.frombuffer(raw, "<i2" if size == 2 else np.uint8).astype(int)
    x = x if size == 2 else (x - 128) * 256
    return x[:len(x) // channels * channels].reshape(-1, channels), size

def sides(x):
    """Which tone each channel is, and its part of the power."""
    text = []
    for channel in range(2):
        power = np.abs(np.fft.rfft(x[:RATE, channel] * np.hanning(RATE)))**2
        part, name = max((power[f - 3:f + 4].sum() / power.sum(), name) for name, f in TONES.items())
        name += "" if part > 0.9 else " distorted"
        text.append("channel %d is %s (%.0f %%)" % (channel + 1, name, 100 * part))
    return ", ".join(text)

def check(name, text, ok):
    print(f"{name:<30} {text}", flush=True)
    if not ok:
        sys.exit("CHANGED: this line is not as described")

RIGHT, WRONG = "channel 1 is A (100 %), channel 2 is B (100 %)", "channel 1 is B (100 %), channel 2 is A (100 %)"
sphere("pcm.sph", call.astype("<i2"), "pcm")
sphere("ulaw.sph", mu_law(call), "ulaw")
for name, times, want in (("whole file:", (), RIGHT), ("from 2 s:", (2.0,), RIGHT),
                          ("from 2.01 s:", (2.01,), WRONG), ("from 2.0001 s:", (2.0001,), WRONG)):
    x, size = by_sphfile("pcm.sph", *times)
    check("16 bits, " + name, f"WAV of 2 x {8 * size} bits, " + sides(x), sides(x) == want)
x, size = by_sphfile("ulaw.sph")
check("mu-law, whole file, sphfile:", f"WAV of 2 x {8 * size} bits, " + sides(x),
      size == 1 and sides(x).count("distorted") == 2)
x = soundfile.read("ulaw.sph", dtype="int16")[0]
check("mu-law, whole file, soundfile:", sides(x), sides(x) == RIGHT)

file = SPHFile("pcm.sph")
round_ones = sum(file.seconds_to_offset(n / 100) % 2 for n in range(10000))
others = sum(file.seconds_to_offset(n * 0.0617031) % 2 for n in range(1, 1001))
check("starts at whole hundredths up to 100 s:",
      f"{round_ones} of 10000 change the sides; at 1000 other times: {others}",
      round_ones > 20 and 400 < others < 600)
sphere("silence.sph", mu_law(np.zeros((RATE, 2), int)), "ulaw")
got = [int(np.abs(x).max()) for x in (by_sphfile("silence.sph")[0], soundfile.read("silence.sph", dtype="int16")[0])]
check("silence in mu-law:", "highest sample by sphfile {}, by soundfile {}".format(*got), got == [32512, 0])
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
