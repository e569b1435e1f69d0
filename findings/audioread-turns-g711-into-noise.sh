#!/usr/bin/env bash
# Package: audioread 3.1.0 (PyPI; it opens sound files for beets, acoustid and others), audio_open()
# with Python 3.11; for comparison libsndfile 1.2.2 (in PyPI's soundfile 0.14.0).
# Expected: "16-bit little-endian signed integer PCM data" (its README) of what the file holds, or
# DecodeError for what it cannot read. AU and AIFF-C are known to hold G.711, WAV 8-bit samples,
# unsigned (WAVE of Multimedia Programming Interface and Data Specifications 1.0: up to 8 bits).
# Instead: what Python's aifc, sunau and wave give is taken wrongly. G.711 comes from them decoded, in
# the byte order of the machine, and audioread swaps the bytes: noise, 13 dB louder than the sound
# was. 24-bit AU and AIFF are cut to 16 bits in the wrong order: noise. A-law in AU comes
# undecoded from sunau, and two codes make one sample: noise, half as long. 8-bit WAV is taken for
# signed: silence is a steady -32768, and a voice leaps from end to end of the range. There is no
# error. 16-bit files and WAV of 24 bits are right, so a test with those shows nothing.
# Why it matters: prompts and recordings of telephone systems are just such files. Levels, pauses,
# fingerprints and words found in them are those of noise, and a muted line has the highest level.
# Read such files with soundfile or sox.
# Output seen (a tone of -20.0 dBFS; how far noise is below it, and the level of all):
#   16.wav     audioread 16000 samples: noise -83 dB, level -20.0; soundfile: noise -83 dB, level -20.0
#   24.wav     audioread 16000 samples: noise -83 dB, level -20.0; soundfile: noise -83 dB, level -20.0
#   16.au      audioread 16000 samples: noise -83 dB, level -20.0; soundfile: noise -83 dB, level -20.0
#   16.aiff    audioread 16000 samples: noise -83 dB, level -20.0; soundfile: noise -83 dB, level -20.0
#   8.wav      audioread 16000 samples: just noise,   level  -0.8; soundfile: noise -27 dB, level -20.0
#   24.au      audioread 16000 samples: just noise,   level  -5.3; soundfile: noise -83 dB, level -20.0
#   24.aiff    audioread 16000 samples: just noise,   level  -5.3; soundfile: noise -83 dB, level -20.0
#   ulaw.au    audioread 16000 samples: just noise,   level  -7.3; soundfile: noise -38 dB, level -20.0
#   alaw.au    audioread  8000 samples: just noise,   level  -4.2; soundfile: noise -36 dB, level -20.0
#   ulaw.aifc  audioread 16000 samples: just noise,   level  -7.3; soundfile: noise -38 dB, level -20.0
#   alaw.aifc  audioread 16000 samples: just noise,   level  -3.0; soundfile: noise -36 dB, level -20.0
#   8-bit WAV of silence: audioread -32768, soundfile 0
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" audioread==3.1.0 soundfile==0.14.0 cffi==2.1.1 pycparser==3.12
cat > run.py <<'PY'
import aifc, array, audioop, math, struct, sys, wave
import audioread, soundfile

RATE, COUNT = 8000, 16000
tone = [3277 * math.sqrt(2) * math.sin(2 * math.pi * 440 * i / RATE) for i in range(COUNT)]
linear = array.array("h", map(round, tone)).tobytes()
wide = audioop.lin2lin(linear, 2, 3)

def wav(name, width, data):
    with wave.open(name, "wb") as file:
        file.setparams((1, width, RATE, 0, "NONE", ""))
        file.writeframes(data)

def au(name, encoding, data):              # 1 mu-law, 3 16 bits, 4 24 bits, 27 A-law
    with open(name, "wb") as file:
        file.write(struct.pack(">4s5I4x", b".snd", 28, len(data), encoding, RATE, 1) + data)

def aiff(name, width, data, kind=b"NONE"):
    with aifc.open(name, "wb") as file:
        (file.aiff if kind == b"NONE" else file.aifc)()
        file.setparams((1, width, RATE, 0, kind, b""))
        file.writeframes(data)

def measure(data):                         # samples, signal to noise, level
    heard = array.array("h", data)
    count = min(len(heard), COUNT)
    energy = sum(x * x for x in heard) / len(heard)
    gain = sum(x * y for x, y in zip(heard, tone)) / sum(y * y for y in tone[:count])
    noise = sum((x - gain * y) ** 2 for x, y in zip(heard, tone)) / count
    signal = gain * abs(gain) * sum(y * y for y in tone[:count]) / count
    return (len(heard), 10 * math.log10(max(signal, 1e-3) / max(noise, 1e-3)),
            10 * math.log10(energy / 32768 ** 2))

def through_audioread(name):
    with audioread.audio_open(name) as file:
        return b"".join(file)

def through_soundfile(name):
    with soundfile.SoundFile(name) as file:
        return bytes(file.buffer_read(dtype="int16"))

swap = lambda data, width: audioop.byteswap(data, width)
wav("16.wav", 2, linear)
wav("24.wav", 3, wide)
wav("8.wav", 1, audioop.bias(audioop.lin2lin(linear, 2, 1), 1, 128))
wav("silence8.wav", 1, b"\x80" * COUNT)
au("16.au", 3, swap(linear, 2))
au("24.au", 4, swap(wide, 3))
au("ulaw.au", 1, audioop.lin2ulaw(linear, 2))
au("alaw.au", 27, audioop.lin2alaw(linear, 2))
aiff("16.aiff", 2, swap(linear, 2))
aiff("24.aiff", 3, swap(wide, 3))
aiff("ulaw.aifc", 2, linear, b"ulaw")
aiff("alaw.aifc", 2, linear, b"alaw")

def told(ratio):
    return "noise %3.0f dB," % -ratio if ratio > 10 else "just noise,  "

ok = True
for name in ("16.wav", "24.wav", "16.au", "16.aiff", "8.wav", "24.au", "24.aiff", "ulaw.au", "alaw.au",
             "ulaw.aifc", "alaw.aifc"):
    count, ratio, level = measure(through_audioread(name))
    _, control, plain = measure(through_soundfile(name))
    print("%-9s  audioread %5d samples: %s level %5.1f; soundfile: %s level %5.1f"
          % (name, count, told(ratio), level, told(control), plain), flush=True)
    if name in ("16.wav", "24.wav", "16.au", "16.aiff"):
        ok &= ratio > 80 and count == COUNT and abs(level + 20) < 0.1
    else:
        ok &= ratio < 0 and level > -10 and count == (COUNT // 2 if name == "alaw.au" else COUNT)
    ok &= control > 20 and abs(plain + 20) < 0.1
silence = [sorted(set(array.array("h", read("silence8.wav"))))
           for read in (through_audioread, through_soundfile)]
print("8-bit WAV of silence: audioread %s, soundfile %s" % tuple(
    ", ".join(map(str, values)) for values in silence))
if not ok or silence != [[-32768], [0]]:
    sys.exit("CHANGED: what audioread makes of G.711, 8 and 24 bits")
print("as described")
PY
PYTHONPATH=$dir/py timeout 50 python3 -W ignore run.py
