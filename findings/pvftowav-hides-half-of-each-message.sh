#!/usr/bin/env bash
# Package: pvftowav and wavtopvf 0.9.32 (Debian 12 package mgetty-pvftools 1.2.1-1.2), the voice files of
# mgetty and vgetty; the WAV files are read with libsndfile 1.2.2 (in PyPI's soundfile 0.14.0), SoX (Debian 12
# sox 14.4.2+git20190427-3.5) and the module wave of Python.
# Expected: the size of a chunk, "data" too, counts octets (Multimedia Programming Interface and Data
# Specifications 1.0, IBM and Microsoft 1991, chapter 2: ckSize). A message of 2 s at 8000 Hz in 16 bits has
# 32000 of them, and comes out of the WAV file as long as it was.
# Instead: the header has the number of samples there, whatever their width. With -8, the default, that is
# right. With -16 all readers that believe the header stop in the middle; what they give until there is
# right, and they report no error. The rest of the sound is in the file, behind the size that it claims;
# with the sizes put right all of it is there. wavtopvf of the same package does not look at the size and
# gives back the whole, so a check with the package itself is content.
# Why it matters: it is the way from a modem's voice mail or an answering machine to the rest of the world,
# and -16 is what one adds for the sake of quality. Each message ends in mid-sentence as if the caller had
# hung up. Use -8, or put the sizes right (octets 4 and 40), or take "pvftolin -W -S -I" and SoX.
# Output seen (a message of 2 s):
#   pvftowav -8 : 16001 octets of sound, the header says 16001; libsndfile 2.00 s, SoX 2.00 s, wave 2.00 s
#   pvftowav -16: 32002 octets of sound, the header says 16001; libsndfile 1.00 s, SoX 1.00 s, wave 1.00 s
#   pvftowav -16, sizes put right: libsndfile 2.00 s, SoX 2.00 s, wave 2.00 s
#   pvftowav -16 and back with wavtopvf: 2.00 s; pvftolin -W -S -I: 2.00 s
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download mgetty-pvftools=1.2.1-1.2 \
    {sox,libsox3}=14.4.2+git20190427-3.5 libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" soundfile==0.14.0 numpy==2.2.6 typing-extensions==4.15.0 cffi==2.1.1 pycparser==3.12
cat > run.py <<'PY'
import array, glob, math, os, struct, subprocess, sys, wave
sys.path.insert(0, "py")
import soundfile

RATE, COUNT = 8000, 16000
sound = [round(8000 * math.sin(2 * math.pi * 440 * i / RATE)) for i in range(COUNT)]
libs = glob.glob(os.path.abspath("root/usr/lib/*-*-*")) + glob.glob(os.path.abspath("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(libs))

def run(tool, *words):
    return subprocess.run(["root/usr/bin/" + tool, *words], check=True, env=env, timeout=20,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

def by_libsndfile(name):
    with soundfile.SoundFile(name) as file:
        return array.array("h", bytes(file.buffer_read(dtype="int16")))

def by_sox(name):
    return array.array("h", run("sox", "-D", name, "-t", "raw", "-e", "signed", "-b", "16", "-L", "-"))

def by_wave(name):
    with wave.open(name) as file:
        width, data = file.getsampwidth(), file.readframes(file.getnframes())
    return array.array("h", data if width == 2 else [(v - 128) * 256 for v in data])

def seconds(samples, room):                # with the error, if the sound is not what it was
    worst = max(abs(x - y) for x, y in zip(samples, sound))
    return "%.2f s%s" % (len(samples) / RATE, "" if worst <= room else " (wrong by %d)" % worst)

def with_right_sizes(name):
    with open(name, "rb") as file:
        whole = file.read()
    assert whole[36:40] == b"data"
    with open("right.wav", "wb") as file:  # an even number of octets
        file.write(whole[:4] + struct.pack("<I", len(whole) - 8) + whole[8:40]
                   + struct.pack("<I", len(whole) - 44) + whole[44:])
    return "right.wav"

with open("in.pvf", "wb") as file:         # 32 bits, big end first, as the PVF tools have it
    file.write(b"PVF1\n1 %d 32\n" % RATE + struct.pack(">%di" % COUNT, *(v * 256 for v in sound)))
def read_all(name, room):
    return [seconds(read(name), room) for read in (by_libsndfile, by_sox, by_wave)]

def say(title, got, want):
    print("%s libsndfile %s, SoX %s, wave %s" % (title, *got), flush=True)
    return got == [want] * 3

ok = True
for bits, want in (8, "2.00 s"), (16, "1.00 s"):
    name = "out%d.wav" % bits
    run("pvftowav", "-%d" % bits, "in.pvf", name)
    with open(name, "rb") as file:
        whole = file.read()
    claimed, there = struct.unpack("<I", whole[40:44])[0], len(whole) - 44
    ok &= say("pvftowav -%-2d: %d octets of sound, the header says %d;" % (bits, there, claimed),
              read_all(name, 260 if bits == 8 else 2), want)
    ok &= abs(there - COUNT * bits // 8) < 20 and abs(claimed - COUNT) < 20
ok &= say("pvftowav -16, sizes put right:", read_all(with_right_sizes("out16.wav"), 2), "2.00 s")
run("wavtopvf", "out16.wav", "back.pvf")
with open("back.pvf", "rb") as file:
    back = (len(file.read()) - len(b"PVF1\n1 8000 32\n")) // 4 / RATE
linear = run("pvftolin", "-W", "-S", "-I", "in.pvf")
print("pvftowav -16 and back with wavtopvf: %.2f s; pvftolin -W -S -I: %.2f s" % (back, len(linear) / 2 / RATE))
ok &= abs(back - 2) < 0.01 and abs(len(linear) // 2 - COUNT) < 20
if not ok:
    sys.exit("CHANGED: the sizes in the WAV files of pvftowav")
print("as described")
PY
timeout 50 python3 run.py
