#!/usr/bin/env bash
# Package: MediaInfoLib 24.12 (in PyPI's pymediainfo 7.0.1), the duration that it tells; for
# comparison libsndfile 1.2.2 (in PyPI's soundfile 0.14.0). The AMR files are of libopencore-amrnb0
# 0.1.6-1 (Debian 12).
# Expected: the header of an AU file has data size, encoding, rate and channels: the length is the
# size by all of them. Each frame of an AMR file says its type, and stands for 20 ms whether it is 32
# octets of speech, 6 of SID or 1 of NO_DATA (RFC 4867 sections 3.4 and 5.3).
# Instead: for AU it is data octets by rate alone. Only one channel of 8 bits comes out right. Two
# channels of mu-law are twice as long, 16-bit mono twice, 16-bit stereo four times, 32-bit
# stereo eight times. The bit rate is that of one octet each, and mu-law and A-law are "ADPCM".
# For AMR it is the file's size by the size of its first frame; a call with DTX is too short by about
# as much as its pauses, here 4.5 of 10 s, and its bit rate is "CBR". Without DTX it is right.
# No field of the result says that the figure is a guess.
# Why it matters: both sides of a call in one AU file (two channels), and AMR with DTX, as phones
# record it, are common. Someone who checks recordings against the call records finds twice or half
# the time and looks for the fault in the recorder. Ask libsndfile or sox, and count AMR's frames.
# Output seen (10 s of sound in each file):
#   AU, mu-law, 1 channel: MediaInfo 10.0 s (ADPCM), libsndfile 10.0 s
#   AU, mu-law, 2 channels: MediaInfo 20.0 s (ADPCM), libsndfile 10.0 s
#   AU, A-law, 2 channels: MediaInfo 20.0 s (ADPCM), libsndfile 10.0 s
#   AU, 16 bit, 1 channel: MediaInfo 20.0 s (PCM), libsndfile 10.0 s
#   AU, 16 bit, 2 channels: MediaInfo 40.0 s (PCM), libsndfile 10.0 s
#   AU, 24 bit, 1 channel: MediaInfo 30.0 s (PCM), libsndfile 10.0 s
#   AU, 32 bit, 2 channels: MediaInfo 80.0 s (PCM), libsndfile 10.0 s
#   AMR, DTX off: MediaInfo 10.0 s (CBR), 500 frames of 20 ms, of them 500 speech
#   AMR, DTX on: MediaInfo  5.4 s (CBR), 500 frames of 20 ms, of them 257 speech
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopencore-amrnb0=0.1.6-1
dpkg -x libopencore-amrnb0_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" pymediainfo==7.0.1 soundfile==0.14.0 cffi==2.1.1 pycparser==3.12
cat > run.py <<'PY'
import ctypes as C, glob, json, math, random, struct, sys
import pymediainfo, soundfile

RATE, SECONDS = 8000, 10

def told(name):                            # seconds, format, mode of the bit rate
    data = json.loads(pymediainfo.MediaInfo.parse(name, output="JSON"))
    assert data["creatingLibrary"]["version"] == "24.12", data["creatingLibrary"]
    track = next(t for t in data["media"]["track"] if t["@type"] == "Audio")
    whole = next(t for t in data["media"]["track"] if t["@type"] == "General")
    return float(track["Duration"]), track["Format"], whole.get("OverallBitRate_Mode", "")

ok = True
for title, encoding, width, channels in (
        ("mu-law", 1, 1, 1), ("mu-law", 1, 1, 2), ("A-law", 27, 1, 2), ("16 bit", 3, 2, 1),
        ("16 bit", 3, 2, 2), ("24 bit", 4, 3, 1), ("32 bit", 5, 4, 2)):
    data = bytes(RATE * SECONDS * width * channels)
    with open("call.au", "wb") as file:
        file.write(struct.pack(">4s5I4x", b".snd", 28, len(data), encoding, RATE, channels) + data)
    seconds, kind, _ = told("call.au")
    control = soundfile.info("call.au").duration
    print("AU, %s, %d channel%s: MediaInfo %4.1f s (%s), libsndfile %4.1f s"
          % (title, channels, "s" * (channels - 1), seconds, kind, control), flush=True)
    ok &= seconds == SECONDS * width * channels and control == SECONDS
    ok &= kind == ("ADPCM" if width == 1 else "PCM")

amr = C.CDLL(glob.glob("root/usr/lib/*/libopencore-amrnb.so.0")[0])
amr.Encoder_Interface_init.restype = C.c_void_p
amr.Encoder_Interface_Encode.argtypes = [C.c_void_p, C.c_int, C.c_char_p, C.c_char_p, C.c_int]
noise = random.Random(1)
sound = [round(noise.gauss(0, 8) + (2000 * math.sin(2 * math.pi * (300 + 100 * math.sin(i / 1000)) * i / RATE)
               * (1 + math.sin(i / 700)) if not 3 <= i / RATE < 8 else 0)) for i in range(RATE * SECONDS)]
SIZES = {0: 13, 1: 14, 2: 16, 3: 18, 4: 20, 5: 21, 6: 27, 7: 32, 8: 6, 15: 1}
for dtx in 0, 1:
    state, frames, room = amr.Encoder_Interface_init(dtx), [], C.create_string_buffer(64)
    for i in range(0, len(sound), 160):
        size = amr.Encoder_Interface_Encode(state, 7, struct.pack("<160h", *sound[i:i + 160]), room, 0)
        frames.append(room.raw[:size])
        assert size == SIZES[frames[-1][0] >> 3 & 15]
    with open("call.amr", "wb") as file:
        file.write(b"#!AMR\n" + b"".join(frames))
    seconds, _, mode = told("call.amr")
    speech = sum(frame[0] >> 3 & 15 == 7 for frame in frames)
    print("AMR, DTX %s: MediaInfo %4.1f s (%s), %d frames of 20 ms, of them %d speech"
          % (("off", "on")[dtx], seconds, mode, len(frames), speech), flush=True)
    ok &= len(frames) == 500 and (5 < seconds < 7 and speech < 330 if dtx else
                                  abs(seconds - SECONDS) < 0.1 and speech == 500)
if not ok:
    sys.exit("CHANGED: the lengths that MediaInfo tells")
print("as described")
PY
PYTHONPATH=$dir/py timeout 50 python3 run.py
