#!/usr/bin/env bash
# AMR and AMR-WB decoders: opencore-amr 0.1.6 (Debian 12 libopencore-amrnb0 and libopencore-amrwb0
# 0.1.6-1) and FFmpeg 7.1's own (in PyPI's av 14.2.0). The frames are from libopencore-amrnb0 and
# libvo-amrwbenc0 0.1.3-2.
# Expected: the header octet of a frame holds the Q bit. Q = 0 says that the frame is severely
# damaged (bit errors on the radio link) and that the receiver should take it as SPEECH_BAD or
# SID_BAD (RFC 4867 section 4.3.2), that is, conceal it.
# Seen: three of the four get the octet with the Q bit and decode damaged bits as if Q were 1, to
# the very same samples: noise of -10 or -20 dBFS where the voice is at -48. Only FFmpeg's AMR-WB
# decoder looks, and plays digital silence. opencore-amr conceals well, but its caller has to read
# the bit itself and set the argument "bfi", though the function gets the whole octet.
# It matters to a phone or a recorder behind a mobile gateway, which passes bad frames on with Q = 0
# instead of leaving them out: crashes of noise 30 dB above the voice, while no count of lost frames
# moves. Test bit 0x04 of the octet and pass bfi = 1, or treat the frame as lost.
# Output (dBFS while 20 frames are damaged; -200 is nothing but zeros):
#   AMR    opencore clean -48, Q = 1  -10, Q = 0  -10, Q = 0 and bfi = 1 -60
#   AMR    ffmpeg   clean -48, Q = 1  -10, Q = 0  -10
#   AMR-WB opencore clean -48, Q = 1  -20, Q = 0  -20, Q = 0 and bfi = 1 -68
#   AMR-WB ffmpeg   clean -49, Q = 1  -20, Q = 0 -200
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {libopencore-amrnb0,libopencore-amrwb0}=0.1.6-1 \
    libvo-amrwbenc0=0.1.3-2
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" av==14.2.0
cat > run.py <<'PY'
import ctypes as C, glob, math, random, struct, sys
sys.path.insert(0, "py")
import av
av.logging.set_level(av.logging.PANIC)

def library(name):
    return C.CDLL(glob.glob("root/usr/lib/*/" + name + ".so.0")[0])

NB, WB, VO = library("libopencore-amrnb"), library("libopencore-amrwb"), library("libvo-amrwbenc")
for f in NB.Encoder_Interface_init, NB.Decoder_Interface_init, VO.E_IF_init, WB.D_IF_init:
    f.restype = C.c_void_p
rnd = random.Random(1)
voice = [int(150 * math.sin(i * .15) * (1 + math.sin(i * .004)) + rnd.gauss(0, 20))
         for i in range(16000)]
BAD = range(40, 60)

def encode(wide):
    size = 320 if wide else 160
    pcm = [v for v in voice for _ in (0, 1)] if wide else voice
    state = C.c_void_p(VO.E_IF_init() if wide else NB.Encoder_Interface_init(0))
    for at in range(0, len(pcm), size):
        block, out = (C.c_int16 * size)(*pcm[at:at + size]), (C.c_ubyte * 64)()
        count = (VO.E_IF_encode(state, 8, block, out, 0) if wide
                 else NB.Encoder_Interface_Encode(state, 7, block, out, 0))
        assert out[0] & 4
        yield bytes(out[:count])

def opencore(frames, wide, bfi=0):
    state = C.c_void_p(WB.D_IF_init() if wide else NB.Decoder_Interface_init())
    decode, size = (WB.D_IF_decode, 320) if wide else (NB.Decoder_Interface_Decode, 160)
    out = []
    for k, frame in enumerate(frames):
        pcm = (C.c_int16 * size)()
        decode(state, frame, pcm, bfi if k in BAD else 0)
        out += pcm
    return out

def ffmpeg(frames, wide):
    codec = av.CodecContext.create("amrwb" if wide else "amrnb", "r")
    codec.sample_rate, codec.layout = 16000 if wide else 8000, "mono"
    out = []
    for frame in frames:
        for f in codec.decode(av.Packet(frame)):
            out += struct.unpack("<%df" % f.samples, bytes(f.planes[0])[:4 * f.samples])
    return [32768 * v for v in out]

def level(pcm):
    part = pcm[BAD[0] * len(pcm) // 100:BAD[-1] * len(pcm) // 100]
    power = sum(v * v for v in part) / len(part) / 32768 ** 2
    return round(10 * math.log10(power)) if power else -200

got = []
for wide in (False, True):
    frames = list(encode(wide))
    assert len(frames) == 100
    noise = random.Random(5)
    worse = [f[:1] + noise.randbytes(len(f) - 1) if k in BAD else f for k, f in enumerate(frames)]
    marked = [bytes([f[0] & ~4]) + f[1:] if k in BAD else f for k, f in enumerate(worse)]
    for decoder in opencore, ffmpeg:
        one, zero = decoder(worse, wide), decoder(marked, wide)
        row = [level(decoder(frames, wide)), level(one), level(zero), one == zero]
        line = "%-6s %-8s clean %d, Q = 1 %4d, Q = 0 %4d" % ("AMR-WB" if wide else "AMR",
                                                            decoder.__name__, *row[:3])
        if decoder is opencore:
            row.append(level(opencore(marked, wide, 1)))
            line += ", Q = 0 and bfi = 1 %d" % row[-1]
        print(line)
        got.append(row)
if got != [[-48, -10, -10, True, -60], [-48, -10, -10, True],
           [-48, -20, -20, True, -68], [-49, -20, -200, False]]:
    sys.exit("CHANGED: the AMR decoders treat the Q bit otherwise")
PY
python3 run.py
