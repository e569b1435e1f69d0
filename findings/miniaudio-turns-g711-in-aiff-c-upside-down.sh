#!/usr/bin/env bash
# Package: miniaudio 1.71 (PyPI, with the C library miniaudio 0.11.25), decode_file() and wav_read_file_s16();
# for comparison libsndfile 1.2.2 (in PyPI's soundfile 0.14.0) and FFmpeg (in PyPI's av 18.1.0).
# Expected: G.711 says what each octet stands for (ITU-T G.711, tables 1a to 2b): with its first bit at 1 it
# is positive. AIFF-C holds the very octets ("ulaw" and "alaw" in its COMM chunk), so the sound is that of
# a WAV file with the same octets.
# Instead: from AIFF-C each sample comes with the other sign; from WAV, in the same process, with the
# right one. The library adds 128 to 8-bit samples of AIFF, which are signed, to make them unsigned,
# and does so with G.711 too, where it turns the sign over. 16 and 8 bits of PCM in AIFF are right, so
# tests with PCM see nothing. Level and length are right, and it sounds the same. (The C source can be
# compiled "libsndfile compatible", which turns the sign back; by default, and here, it is not.)
# Why it matters: it shows where two sounds are put together. The difference between a prompt and its
# recording is not silence but twice the prompt, their correlation is -1, and a copy from WAV mixed
# with one from AIFF-C leaves nothing at all. One looks for a wire with its ends swapped. Turn the
# samples, or read AIFF-C with soundfile.
# Output seen (a tone of -15 dBFS; the correlation with it, and the level of file and tone added up):
#   mu-law.wav   miniaudio +1.00, sum  -9.0 dBFS; libsndfile +1.00, sum  -9.0; FFmpeg +1.00, sum  -9.0
#   A-law.wav    miniaudio +1.00, sum  -9.0 dBFS; libsndfile +1.00, sum  -9.0; FFmpeg +1.00, sum  -9.0
#   16 bits.aifc miniaudio +1.00, sum  -9.0 dBFS; libsndfile +1.00, sum  -9.0; FFmpeg +1.00, sum  -9.0
#   8 bits.aifc  miniaudio +1.00, sum  -9.0 dBFS; libsndfile +1.00, sum  -9.0; FFmpeg +1.00, sum  -9.0
#   mu-law.aifc  miniaudio -1.00, sum -52.3 dBFS; libsndfile +1.00, sum  -9.0; FFmpeg +1.00, sum  -9.0
#   A-law.aifc   miniaudio -1.00, sum -52.5 dBFS; libsndfile +1.00, sum  -9.0; FFmpeg +1.00, sum  -9.0
#   mu-law from WAV and from AIFF-C, added up: largest sample 0
#   A-law from WAV and from AIFF-C, added up: largest sample 0
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
    --target "$dir/py" miniaudio==1.71 soundfile==0.14.0 cffi==2.1.1 pycparser==3.12 av==18.1.0
cat > run.py <<'PY'
import array, audioop, math, struct, sys
import av, miniaudio, soundfile

RATE, COUNT = 8000, 8000
tone = [round(8200 * math.sin(2 * math.pi * 440 * i / RATE)) for i in range(COUNT)]
linear = array.array("h", tone).tobytes()

def wav(name, tag, data):
    form = struct.pack("<HHIIHHH", tag, 1, RATE, RATE, 1, 8, 0)
    parts = (b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"fact" + struct.pack("<II", 4, COUNT)
             + b"data" + struct.pack("<I", len(data)) + data)
    with open(name, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(parts)) + parts)

def aifc(name, kind, bits, data):          # the rate is 8000 as an 80-bit float
    common = struct.pack(">hIh", 1, COUNT, bits) + bytes.fromhex("400bfa00000000000000") + kind + bytes(2)
    parts = b"".join(key + struct.pack(">I", len(part)) + part for key, part in (
        (b"FVER", struct.pack(">I", 0xA2805140)), (b"COMM", common), (b"SSND", bytes(8) + data)))
    with open(name, "wb") as file:
        file.write(b"FORM" + struct.pack(">I", 4 + len(parts)) + b"AIFC" + parts)

def by_decode_file(name):
    return miniaudio.decode_file(name, miniaudio.SampleFormat.SIGNED16, 1, RATE).samples

def by_wav_read(name):
    return miniaudio.wav_read_file_s16(name).samples

def by_libsndfile(name):
    with soundfile.SoundFile(name) as file:
        return array.array("h", bytes(file.buffer_read(dtype="int16")))

def by_ffmpeg(name):
    with av.open(name) as file:
        data = b""
        for frame in file.decode(audio=0):
            plane = bytes(frame.planes[0])
            data += audioop.lin2lin(audioop.bias(plane[:frame.samples], 1, 128), 1, 2) \
                if frame.format.name.startswith("u8") else plane[:2 * frame.samples]
        return array.array("h", data)

def level(sound):
    return 10 * math.log10(max(sum(x * x for x in sound) / COUNT / 32768 ** 2, 1e-12))

def measure(sound):
    assert len(sound) == COUNT
    both = sum(x * y for x, y in zip(sound, tone))
    return (both / math.sqrt(sum(x * x for x in sound) * sum(y * y for y in tone)),
            level([x + y for x, y in zip(sound, tone)]))

ulaw, alaw = audioop.lin2ulaw(linear, 2), audioop.lin2alaw(linear, 2)
wav("mu-law.wav", 7, ulaw)
wav("A-law.wav", 6, alaw)
aifc("mu-law.aifc", b"ulaw", 16, ulaw)
aifc("A-law.aifc", b"alaw", 16, alaw)
aifc("16 bits.aifc", b"NONE", 16, audioop.byteswap(linear, 2))
aifc("8 bits.aifc", b"NONE", 8, audioop.lin2lin(linear, 2, 1))
ok = miniaudio.lib_version() == "0.11.25"
for name in "mu-law.wav", "A-law.wav", "16 bits.aifc", "8 bits.aifc", "mu-law.aifc", "A-law.aifc":
    turned = name in ("mu-law.aifc", "A-law.aifc")
    seen = [measure(read(name)) for read in (by_decode_file, by_wav_read, by_libsndfile, by_ffmpeg)]
    print("%-12s miniaudio %+.2f, sum %5.1f dBFS; libsndfile %+.2f, sum %5.1f; FFmpeg %+.2f, sum %5.1f"
          % (name, *seen[0], *seen[2], *seen[3]), flush=True)
    for pair, sign in zip(seen, (-1 if turned else 1,) * 2 + (1, 1)):
        ok &= sign * pair[0] > 0.99 and (pair[1] < -40 if sign < 0 else abs(pair[1] + 9) < 0.5)
for kind in "mu-law", "A-law":
    up, down = by_decode_file(kind + ".wav"), by_decode_file(kind + ".aifc")
    rest = max(abs(x + y) for x, y in zip(up, down))
    print("%s from WAV and from AIFF-C, added up: largest sample %d" % (kind, rest), flush=True)
    ok &= rest == 0
if not ok:
    sys.exit("CHANGED: the sign of G.711 that miniaudio reads from AIFF-C")
print("as described")
PY
PYTHONPATH=$dir/py timeout 50 python3 -W ignore run.py
