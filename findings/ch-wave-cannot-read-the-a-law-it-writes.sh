#!/usr/bin/env bash
# Package: ch_wave of the Edinburgh Speech Tools 2.5.0 (Debian 12 packages speech-tools and libestools2.5
# 1:2.5.0-13); to compare, libsndfile 1.2.2 (in PyPI's soundfile 0.14.0).
# Expected: its manual has "alaw" among the sample types for input (-istype) and for output (-ostype), and WAV
# files with tag 6 are A-law (RFC 2361, appendix A). The 256 codes have the values of G.711 (tables 1a and 1b).
# Instead: it writes A-law right but reads it wrong: not one of the 256 codes gets its value, neither raw nor
# from WAV. Codes next to each other come out at opposite ends of the range, so speech and the faint noise
# of a room become noise near full scale. There is no message and the exit status is 0. Mu-law is right both
# ways, and libsndfile reads what ch_wave wrote, so the file is not to blame.
# Why it matters: ch_wave is what scripts of speech laboratories, Festival voices and recognisers turn
# telephone recordings into 16 bits with. European recordings become noise of the right length, which a batch
# takes and trains on. Use SoX or libsndfile for A-law, or listen before.
# Output seen:
#   mulaw codes read right of 256: raw 256, WAV 256; a tone of -15 dBFS: -15 dBFS, noise -40 dB to it; a room
#     of -60: -60 dBFS
#   alaw  codes read right of 256: raw 0, WAV 0; a tone of -15 dBFS: -1 dBFS, noise +15 dB to it; a room of
#     -60: -6 dBFS
#   a tone written by ch_wave, noise to it: read by ch_wave -40 dB (mulaw), +15 dB (alaw), by libsndfile
#     -40 dB (mulaw), -34 dB (alaw)
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download {speech-tools,libestools2.5}=1:2.5.0-13 libtinfo6 libgomp1 \
    libasound2 libpulse0 libdbus-1-3 libsndfile1 libx11-xcb1 libx11-6 libxcb1 libxau6 libxdmcp6 libbsd0 \
    libmd0 libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1 libasyncns0 libflac12 \
    libvorbis0a libvorbisenc2 libopus0 libogg0 libmpg123-0 libmp3lame0
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" soundfile==0.14.0 numpy==2.2.6 typing-extensions==4.15.0 cffi==2.1.1 pycparser==3.12
cat > run.py <<'PY'
import array, math, os, random, struct, subprocess, sys
sys.path.insert(0, "py")
import soundfile

RATE = 8000
folders = sorted({where for where, _, files in os.walk(os.path.abspath("root"))
                  if any(".so" in name for name in files)})
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders))
rnd = random.Random(3)
room = [round(rnd.gauss(0, 33)) for _ in range(RATE)]             # -60 dBFS
tone = [round(8000 * math.sin(2 * math.pi * 440 * i / RATE)) for i in range(2 * RATE)]

def a_law(octet):                          # G.711, scaled to 16 bits
    octet ^= 0x55
    part, step = octet >> 4 & 7, octet & 15
    size = 16 * step + 8 if part == 0 else (16 * step + 264) << part - 1
    return size if octet & 128 else -size

def mu_law(octet):
    octet ^= 255
    size = ((2 * (octet & 15) + 33 << (octet >> 4 & 7)) - 33) * 4
    return -size if octet & 128 else size

def save(name, data):
    with open(name, "wb") as file:
        file.write(data)

def wav(tag, bits, data):
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, tag, 1, RATE,
                       RATE * bits // 8, bits // 8, bits, b"data", len(data)) + data

def ch_wave(*words):
    done = subprocess.run(["root/usr/bin/ch_wave", *words], env=env, timeout=20, capture_output=True)
    assert done.returncode == 0 and not done.stdout + done.stderr, done

def to_linear(*words):                     # 16 bits of the machine
    ch_wave(*words, "-otype", "raw", "-ostype", "short", "-o", "out.raw")
    with open("out.raw", "rb") as file:
        return list(array.array("h", file.read()))

def level(samples):
    return 10 * math.log10(sum(v * v for v in samples) / len(samples)) - 20 * math.log10(32768)

def noise(samples):
    return 10 * math.log10(sum((x - y) ** 2 for x, y in zip(tone, samples)) / sum(x * x for x in tone))

ok = True
for law, tag, value in ("mulaw", 7, mu_law), ("alaw", 6, a_law):
    true = [value(v) for v in range(256)]
    near = {v: min(range(256), key=lambda code: abs(true[code] - v)) for v in set(tone + room)}
    codes = bytes(near[v] for v in tone)
    save("codes.raw", bytes(range(256)))
    save("codes.wav", wav(tag, 8, bytes(range(256))))
    save("tone.wav", wav(tag, 8, codes))
    save("room.wav", wav(tag, 8, bytes(near[v] for v in room)))
    save("linear.wav", wav(1, 16, struct.pack("<%dh" % len(tone), *tone)))
    raw = to_linear("codes.raw", "-itype", "raw", "-istype", law, "-f", str(RATE))
    from_wav = to_linear("codes.wav")
    right = [sum(x == y for x, y in zip(true, got)) for got in (raw, from_wav)]
    read = to_linear("tone.wav")
    quiet = level(to_linear("room.wav"))
    ch_wave("linear.wav", "-otype", "riff", "-ostype", law, "-o", "written.wav")
    with soundfile.SoundFile("written.wav") as file:
        assert file.subtype == {"mulaw": "ULAW", "alaw": "ALAW"}[law]
        theirs = array.array("h", bytes(file.buffer_read(dtype="int16")))
    own = to_linear("written.wav")
    assert len(raw) == len(from_wav) == 256 and len(read) == len(theirs) == len(own) == len(tone)
    rows = (*right, level(read), noise(read), quiet, noise(own), noise(theirs))
    print("%-5s codes read right of 256: raw %d, WAV %d; a tone of -15 dBFS: %.0f dBFS, noise %+.0f dB to it; "
          "a room of -60: %.0f dBFS" % (law, *rows[:2], *rows[2:5]))
    print("      a tone written by ch_wave, noise to it: read by ch_wave %+.0f dB, by libsndfile %+.0f dB"
          % rows[5:], flush=True)
    if law == "mulaw":
        ok &= right == [256, 256] and rows[3] < -35 and quiet < -55 and max(rows[5:]) < -35
    else:
        ok &= right == [0, 0] and rows[3] > 3 and quiet > -12 and rows[5] > 3 and rows[6] < -30
if not ok:
    sys.exit("CHANGED: how ch_wave reads A-law")
print("as described")
PY
timeout 50 python3 run.py
