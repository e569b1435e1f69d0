#!/usr/bin/env bash
# Package: libsndfile 1.2.2 (in PyPI's soundfile 0.14.0), subtype ALAW; to compare, FFmpeg (in PyPI's av 18.1.0).
# Expected: a sound of 16-bit samples gives the same A-law octets whether the program hands it over as int16 or
# as floats (v / 32768, which floats hold exactly; libsndfile scales full range to full range). A value v of
# 0 to 15 is in the first interval, 16 to 31 in the second, and so on (G.711, table 1a), so no sample is
# further than 8 from what comes out while |v| is below 496.
# Instead: with floats libsndfile rounds v / 16 to the nearest interval number, but its table counts intervals
# from their lower ends, so it should cut. 9 to 15 become 24, 25 to 31 become 40: half of all samples are one
# code too far from zero, with an error of up to 15. That is 5.5 dB more noise, almost a bit of the eight,
# below -45 dBFS, and 1 to 3 dB still at -30 to -35. Above -20 it is gone. In mu-law it costs 1.4 dB at most.
# Why it matters: soundfile.read() gives floats unless it is asked for int16, so whatever Python has changed
# is written this way. Pauses, idle noise and quiet talkers are coarser than G.711 has to be; who measures the
# noise of an A-law path or compares octets with a phone's finds a difference that is not the phone's.
# (Reading and writing unchanged A-law is safe: the middles of the intervals stay where they are.)
# Give it int16: soundfile.write(name, numpy.int16(...)), or SoundFile.buffer_write(..., dtype="int16").
# Output seen:
#   samples 4 8 12 16 20 24 28 32 -12 -28
#   A-law of int16   8 8 8 24 24 24 24 40 -8 -24
#   A-law of float64 8 8 24 24 24 24 40 40 -24 -40
#   worst error of the samples -495 to 495: int16 8, float32 15, float64 15
#   ALAW, noise of -60 dBFS, signal to noise: int16 17.0, float32 11.7, float64 11.7; FFmpeg 16.0 dB
#   ALAW, noise of -50 dBFS, signal to noise: int16 27.0, float32 21.5, float64 21.5; FFmpeg 26.0 dB
#   ALAW, noise of -40 dBFS, signal to noise: int16 35.6, float32 31.0, float64 31.0; FFmpeg 34.9 dB
#   ALAW, noise of -35 dBFS, signal to noise: int16 37.1, float32 34.4, float64 34.4; FFmpeg 36.8 dB
#   ALAW, noise of -20 dBFS, signal to noise: int16 37.6, float32 37.4, float64 37.4; FFmpeg 37.7 dB
#   ULAW, noise of -60 dBFS, signal to noise: int16 22.9, float32 21.5, float64 21.5; FFmpeg 19.6 dB
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
    --target "$dir/py" soundfile==0.14.0 numpy==2.2.6 typing-extensions==4.15.0 cffi==2.1.1 pycparser==3.12 \
    av==18.1.0
cat > run.py <<'PY'
import array, math, random, sys
sys.path.insert(0, "py")
import av, soundfile

def a_law(octet):                          # G.711, scaled to 16 bits
    octet ^= 0x55
    part, step = octet >> 4 & 7, octet & 15
    size = 16 * step + 8 if part == 0 else (16 * step + 264) << part - 1
    return size if octet & 128 else -size

def mu_law(octet):
    octet ^= 255
    size = ((2 * (octet & 15) + 33 << (octet >> 4 & 7)) - 33) * 4
    return -size if octet & 128 else size

def by_libsndfile(samples, kind, law):
    data = array.array("h", samples) if kind == "int16" else array.array(
        "f" if kind == "float32" else "d", [v / 32768 for v in samples])
    with soundfile.SoundFile("out.raw", "w", 8000, 1, law, format="RAW") as file:
        file.buffer_write(data.tobytes(), dtype=kind)
    with open("out.raw", "rb") as file:
        return file.read()

def by_ffmpeg(samples, law):
    codec = av.CodecContext.create({"ALAW": "pcm_alaw", "ULAW": "pcm_mulaw"}[law], "w")
    codec.sample_rate, codec.layout, codec.format = 8000, "mono", "s16"
    frame = av.AudioFrame(format="s16", layout="mono", samples=len(samples))
    frame.sample_rate = 8000
    room = frame.planes[0].buffer_size
    frame.planes[0].update(array.array("h", samples).tobytes().ljust(room, b"\0"))
    return b"".join(bytes(p) for p in codec.encode(frame))[:len(samples)]

few = [4, 8, 12, 16, 20, 24, 28, 32, -12, -28]
print("samples", *few)
for kind in "int16", "float64":
    print("A-law of %-7s" % kind, *(a_law(v) for v in by_libsndfile(few, kind, "ALAW")))
every = list(range(-495, 496))
worst = {kind: max(abs(v - a_law(y)) for v, y in zip(every, by_libsndfile(every, kind, "ALAW")))
         for kind in ("int16", "float32", "float64")}
print("worst error of the samples -495 to 495: int16 %d, float32 %d, float64 %d" % tuple(worst.values()))
ok = worst == {"int16": 8, "float32": 15, "float64": 15}
codes = bytes(range(256))
middle = [a_law(v) for v in codes]
ok &= all(by_libsndfile(middle, kind, "ALAW") == codes for kind in worst)

rnd = random.Random(5)
unit = [rnd.gauss(0, 32768) for _ in range(40000)]
cost = {}
for law, value in ("ALAW", a_law), ("ULAW", mu_law):
    for loudness in -60, -50, -40, -35, -30, -20:
        sound = [round(v * 10 ** (loudness / 20)) for v in unit]
        power = sum(v * v for v in sound)
        ratio = [10 * math.log10(power / sum((v - value(y)) ** 2 for v, y in zip(sound, octets)))
                 for octets in (by_libsndfile(sound, "int16", law), by_libsndfile(sound, "float32", law),
                                by_libsndfile(sound, "float64", law), by_ffmpeg(sound, law))]
        print("%s, noise of %d dBFS, signal to noise: int16 %.1f, float32 %.1f, float64 %.1f; FFmpeg %.1f dB"
              % (law, loudness, *ratio), flush=True)
        cost[law, loudness] = ratio[0] - ratio[2]
        ok &= abs(ratio[1] - ratio[2]) < 0.1 and (law == "ULAW" or abs(ratio[0] - ratio[3]) < 1.5)
ok &= (all(cost["ALAW", v] > 4 for v in (-60, -50, -40)) and cost["ALAW", -35] > 2
       and cost["ALAW", -20] < 0.5 and all(cost["ULAW", v] < 1.6 for v in (-60, -50, -40, -35)))
if not ok:
    sys.exit("CHANGED: what libsndfile makes of floats in A-law")
print("as described")
PY
timeout 50 python3 run.py
