#!/usr/bin/env bash
# Package: sfconvert 0.3.6 (Debian 12 packages audiofile-tools and libaudiofile1 0.3.6-5+deb12u1); to compare,
# libsndfile 1.2.2 (in PyPI's soundfile 0.14.0). The octets are decoded with this script's own table.
# Expected: A-law has one code for all of the first interval below zero, in 16 bits -1 to -15, and a decoder
# makes -8 of it (G.711, table 1b; 0x55 with the even bits inverted). Faint noise gets a little louder, no more.
# Instead: -1 to -7 become 0x5A, which is -248 to every decoder, sfconvert's own too. -8 to -15, all that is
# above zero and all of mu-law are right. So each sample just below zero is a click. Noise of a quiet room,
# 80 dB below full scale, is then a crackle at -48 dB, where a right coder gives -72. Loud sound hides it: a
# tone of -10 dB has the noise that A-law should have, so the usual check of a converter passes.
# Why it matters: "format next compression alaw" is how one makes prompts and test calls for European lines
# with it. All pauses in them crackle, and what looks for voice or judges noise and echo in such a call finds
# sfconvert. Let libsndfile or SoX (with -D) write A-law.
# Output seen:
#   samples -9 -8 -7 -4 -1 0 1 as A-law of sfconvert:  -8 -8 -248 -248 -248 8 8
#   samples -9 -8 -7 -4 -1 0 1 as A-law of libsndfile: -8 -8 -8 -8 -8 8 8
#   samples of -32000 to 32000 that A-law of sfconvert misses: -7 to -1
#   quiet room, dBFS: as it was -80.0; A-law of sfconvert -48.3, of libsndfile -72.3; mu-law of sfconvert -77.7
#   a tone of -10 dBFS, noise below it, dB: A-law of sfconvert -37.3, of libsndfile -37.3
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {audiofile-tools,libaudiofile1}=0.3.6-5+deb12u1 \
    libflac12 libogg0
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" soundfile==0.14.0 numpy==2.2.6 typing-extensions==4.15.0 cffi==2.1.1 pycparser==3.12
cat > run.py <<'PY'
import array, glob, math, os, random, struct, subprocess, sys
sys.path.insert(0, "py")
import soundfile

RATE = 8000
libs = glob.glob(os.path.abspath("root/usr/lib/*-*-*")) + glob.glob(os.path.abspath("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(libs))

def a_law(octet):                          # G.711, scaled to 16 bits
    octet ^= 0x55
    part, step = octet >> 4 & 7, octet & 15
    size = 16 * step + 8 if part == 0 else (16 * step + 264) << part - 1
    return size if octet & 128 else -size

def mu_law(octet):
    octet ^= 255
    size = ((2 * (octet & 15) + 33 << (octet >> 4 & 7)) - 33) * 4
    return -size if octet & 128 else size

def by_sfconvert(samples, law):
    data = array.array("h", samples).tobytes()
    with open("in.wav", "wb") as file:
        file.write(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1,
                               RATE, 2 * RATE, 2, 16, b"data", len(data)) + data)
    subprocess.run(["root/usr/bin/sfconvert", "in.wav", "out.au", "format", "next", "compression", law],
                   check=True, env=env, timeout=20, stdout=subprocess.DEVNULL)
    with open("out.au", "rb") as file:
        whole = file.read()
    start, size, kind = struct.unpack(">III", whole[4:16])
    assert kind == {"alaw": 27, "ulaw": 1}[law] and size == len(samples)
    return [{"alaw": a_law, "ulaw": mu_law}[law](v) for v in whole[start:start + size]]

def by_libsndfile(samples):
    with soundfile.SoundFile("out.raw", "w", RATE, 1, "ALAW", format="RAW") as file:
        file.buffer_write(array.array("h", samples).tobytes(), dtype="int16")
    with open("out.raw", "rb") as file:
        return [a_law(v) for v in file.read()]

def level(samples):                        # of what is not a constant, 0 is a full square wave
    middle = sum(samples) / len(samples)
    return 10 * math.log10(sum((v - middle) ** 2 for v in samples) / len(samples)) - 20 * math.log10(32768)

few = [-9, -8, -7, -4, -1, 0, 1]
ours, theirs = by_sfconvert(few, "alaw"), by_libsndfile(few)
print("samples -9 -8 -7 -4 -1 0 1 as A-law of sfconvert: ", *ours)
print("samples -9 -8 -7 -4 -1 0 1 as A-law of libsndfile:", *theirs)
ok = ours == [-8, -8, -248, -248, -248, 8, 8] and theirs == [-8, -8, -8, -8, -8, 8, 8]

every = list(range(-32000, 32001))
bad = [v for v, y in zip(every, by_sfconvert(every, "alaw")) if abs(v - y) > abs(v) / 16 + 17]
print("samples of -32000 to 32000 that A-law of sfconvert misses: %d to %d" % (bad[0], bad[-1]))
ok &= bad == [-7, -6, -5, -4, -3, -2, -1]

rnd = random.Random(4)
room = [round(rnd.gauss(0, 32768 * 10 ** (-80 / 20))) for _ in range(2 * RATE)]
rows = level(room), level(by_sfconvert(room, "alaw")), level(by_libsndfile(room)), level(by_sfconvert(room, "ulaw"))
print("quiet room, dBFS: as it was %.1f; A-law of sfconvert %.1f, of libsndfile %.1f; mu-law of sfconvert %.1f"
      % rows)
ok &= abs(rows[0] + 80) < 1 and rows[1] > -50 and rows[2] < -65 and rows[3] < -75

tone = [round(10000 * math.sin(2 * math.pi * 441 * i / RATE)) for i in range(2 * RATE)]
def noise(samples):
    return 10 * math.log10(sum((x - y) ** 2 for x, y in zip(tone, samples)) / sum(x * x for x in tone))
loud = noise(by_sfconvert(tone, "alaw")), noise(by_libsndfile(tone))
print("a tone of -10 dBFS, noise below it, dB: A-law of sfconvert %.1f, of libsndfile %.1f" % loud)
ok &= max(loud) < -36 and abs(loud[0] - loud[1]) < 1
if not ok:
    sys.exit("CHANGED: what sfconvert makes of quiet samples in A-law")
print("as described")
PY
timeout 50 python3 run.py
