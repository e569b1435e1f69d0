#!/usr/bin/env bash
# arecord 1.2.8 (Debian 12 alsa-utils 1.2.8-1), read by libsndfile 1.2.2 (in PyPI's soundfile
# 0.14.0), SoX (Debian 12 sox 14.4.2+git20190427-3.5) and Python's wave module.
# Expected: the WAV file of "arecord -f S24_LE" reads well elsewhere. In WAV a sample that does not
# fill its container is left-justified (WAVEFORMATEXTENSIBLE); ALSA's S24_LE is right-justified.
# Seen: arecord writes ALSA's layout as it is, under a header of 24 bits and 4 bytes a frame.
# libsndfile takes it for 32-bit samples: right length, 48 dB too quiet. SoX and wave read 3 bytes
# each: one third more samples, nearly all rubbish. Nobody warns. S24_3LE and S32_LE are read well.
# It matters to a phone with a 24-bit sound card and to checks of its recordings: 48 dB look like a
# dead microphone, 4/3 of the length like a wrong clock. Record S32_LE or S24_3LE.
# Output (recorded: 48000 frames that start 1000, 2000, -3000, 4000), after six lines all right:
#   S24_LE   (align 4, bits 24) libsndfile 48000 frames, (3, 7, -12, 15)
#   S24_LE   (align 4, bits 24) sox        64000 frames, (1000, -12288, 0, -12)
#   S24_LE   (align 4, bits 24) python     64000 frames, (1000, -12288, 0, -12)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download alsa-utils=1.2.8-1 libasound2=1.2.8-1+b1 \
    {sox,libsox3}=14.4.2+git20190427-3.5 libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" soundfile==0.14.0
cat > run.py <<'PY'
import ctypes as C, glob, os, struct, subprocess, sys, wave

folder = os.path.abspath(glob.glob("root/usr/lib/*-*-*")[0])
env = dict(os.environ, LD_LIBRARY_PATH=folder, ALSA_CONFIG_PATH=os.path.abspath("alsa.conf"))
start, frames = (1000, 2000, -3000, 4000), 48000

# A "microphone" that delivers known samples: ALSA's file plug-in over its null device.
with open("alsa.conf", "w") as f:
    f.write('pcm.source { type file slave.pcm { type null } format raw file /dev/null '
            'infile "%s" }\n' % os.path.abspath("sound.raw"))

def record(kind, pack):
    with open("sound.raw", "wb") as f:
        f.write(b"".join(pack(v) for v in start) * (frames // 4 + 4000))
    name = kind + ".wav"
    subprocess.run(["root/usr/bin/arecord", "-q", "-D", "source", "-f", kind, "-r", "48000",
                    "-c", "1", "-s", str(frames), name], env=env, check=True, timeout=30)
    with open(name, "rb") as f:
        head = f.read(44)
    return name, *struct.unpack("<HH", head[32:36])

class Info(C.Structure):
    _fields_ = [("frames", C.c_int64)] + [(n, C.c_int) for n in
                ("rate", "channels", "format", "sections", "seekable")]

sf = C.CDLL(glob.glob("py/_soundfile_data/libsndfile*.so")[0])
sf.sf_open.restype, sf.sf_readf_short.restype = C.c_void_p, C.c_int64
sf.sf_readf_short.argtypes = [C.c_void_p, C.c_void_p, C.c_int64]

def libsndfile(name):
    info, out = Info(), (C.c_int16 * 4)()
    f = sf.sf_open(name.encode(), 0x10, C.byref(info))          # SFM_READ
    assert f and sf.sf_readf_short(f, out, 4) == 4
    return info.frames, tuple(out)

def sox(name):
    raw = subprocess.run(["root/usr/bin/sox", "-D", name, "-t", "s16", "-"], env=env, check=True,
                         capture_output=True, timeout=30).stdout
    return len(raw) // 2, struct.unpack("<4h", raw[:8])

def python(name):
    with wave.open(name) as f:
        width, raw = f.getsampwidth(), f.readframes(4)
    parts = [raw[i:i + width] for i in range(0, 4 * width, width)]
    as16 = [int.from_bytes(p, "little", signed=True) >> 8 * (width - 2) for p in parts]
    return f.getnframes(), tuple(as16)

got = {}
for kind, pack in (("S24_3LE", lambda v: struct.pack("<i", v << 8)[:3]),
                   ("S32_LE", lambda v: struct.pack("<i", v << 16)),
                   ("S24_LE", lambda v: struct.pack("<i", v << 8))):
    name, align, bits = record(kind, pack)
    for reader in (libsndfile, sox, python):
        got[kind, reader] = reader(name)
        print("%-8s (align %d, bits %d) %-10s %5d frames, %s"
              % (kind, align, bits, reader.__name__, *got[kind, reader]))
right = frames, start
bad = got["S24_LE", libsndfile], got["S24_LE", sox], got["S24_LE", python]
others = [got[k, r] for k, r in got if k != "S24_LE"]
if not (others == [right] * 6
        and bad[0] == (frames, (3, 7, -12, 15)) and bad[1][0] == bad[2][0] == frames * 4 // 3
        and bad[1][1] != start and bad[2][1] != start):
    sys.exit("CHANGED: a WAV file of arecord -f S24_LE is now read otherwise")
PY
python3 run.py
