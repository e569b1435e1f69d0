#!/usr/bin/env bash
# SpanDSP 0.0.6 (Debian 12 libspandsp2 0.0.6+dfsg-2+b1), g722_encode() at 56000 and 48000 bit/s,
# read as 64000 bit/s by SpanDSP and by FFmpeg 7.1 (in PyPI's av 14.2.0).
# Expected: G.722 is embedded: at 56 and 48 kbit/s the last one or two bits of each octet carry data
# and the first ones the same code as ever, so a decoder for 64 kbit/s hears the same sound with a
# little more noise, whatever the bits hold (G.722 sections 1.3 and 1.4: I_H1 is the first bit, I_L6
# the last). So the encoder should leave the LOW bits of each octet free.
# Seen: without the option G722_PACKED it gives one octet for two samples as at 64000, but the code
# sits at the right, with the HIGH bits zero. Read as 64 kbit/s that is noise louder than the voice.
# Shifted left by one or two bits it is right. (With G722_PACKED there are 7 or 6 octets for 16
# samples, which no 64 kbit/s decoder can take for its own.) SpanDSP's own decoder, set to the same
# rate, expects the code at the right, so a test with SpanDSP at both ends passes.
# It matters to a phone: RTP has G.722 at 64 kbit/s only (RFC 3551 section 4.5.2), and a gateway
# from ISDN (H.221) fills the low bits. Shift after encoding, and before decoding.
# Output (signal to noise of a tone with pauses and faint noise, in dB):
#   64000 bit/s: own decoder 27.9; read as 64000: SpanDSP  27.9, FFmpeg  27.9; shifted: FFmpeg 27.9
#   56000 bit/s: own decoder 27.3; read as 64000: SpanDSP -25.9, FFmpeg -26.5; shifted: FFmpeg 26.7
#   48000 bit/s: own decoder 25.4; read as 64000: SpanDSP -25.9, FFmpeg -26.5; shifted: FFmpeg 22.3
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspandsp2=0.0.6+dfsg-2+b1 libtiff6 libwebp7 \
    libzstd1 liblzma5 libjbig0 libjpeg62-turbo libdeflate0 liblerc4
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" av==14.2.0
cat > run.py <<'PY'
import ctypes as C, glob, math, os, random, struct, sys
sys.path.insert(0, "py")
import av

libs = os.path.abspath(glob.glob("root/usr/lib/*-*-*")[0])
if libs not in os.environ.get("LD_LIBRARY_PATH", ""):
    env = dict(os.environ, LD_LIBRARY_PATH=libs + ":" + libs.replace("/usr", ""))
    os.execve(sys.executable, [sys.executable] + sys.argv, env)
S = C.CDLL(libs + "/libspandsp.so.2")
S.g722_encode_init.restype = S.g722_decode_init.restype = C.c_void_p
DELAY = 22                                 # samples of the two filter banks

rnd = random.Random(2)
sound = [round(3000 * math.sin(2 * math.pi * 440 * i / 16000) * (i % 4000 < 2000)
               + rnd.gauss(0, 200)) for i in range(16000)]

def encode(rate):
    state = C.c_void_p(S.g722_encode_init(None, rate, 0))
    out = (C.c_ubyte * 16000)()
    return bytes(out[:S.g722_encode(state, out, (C.c_int16 * 16000)(*sound), 16000)])

def spandsp(data, rate=64000):
    state = C.c_void_p(S.g722_decode_init(None, rate, 0))
    out = (C.c_int16 * 16000)()
    return out[:S.g722_decode(state, out, (C.c_ubyte * len(data))(*data), len(data))]

def ffmpeg(data):
    codec = av.CodecContext.create("g722", "r")
    codec.sample_rate, codec.layout = 16000, "mono"
    raw = b"".join(bytes(f.planes[0])[:2 * f.samples] for f in codec.decode(av.Packet(data)))
    return struct.unpack("<%dh" % (len(raw) // 2), raw)

def ratio(heard):
    span = range(2000, 15000)
    noise = sum((sound[i] - heard[i + DELAY]) ** 2 for i in span)
    return round(10 * math.log10(sum(sound[i] ** 2 for i in span) / noise), 1)

got = []
for rate, shift in (64000, 0), (56000, 1), (48000, 2):
    data = encode(rate)
    assert len(data) == 8000 and max(data) < 256 >> shift
    moved = bytes(v << shift for v in data)
    row = (ratio(spandsp(data, rate)), ratio(spandsp(data)), ratio(ffmpeg(data)),
           ratio(ffmpeg(moved)))
    print("%d bit/s: own decoder %.1f; read as 64000: SpanDSP %5.1f, FFmpeg %5.1f; "
          "shifted: FFmpeg %.1f" % (rate, *row))
    got.append(row)
if got != [(27.9, 27.9, 27.9, 27.9), (27.3, -25.9, -26.5, 26.7), (25.4, -25.9, -26.5, 22.3)]:
    sys.exit("CHANGED: SpanDSP packs G.722 of 56 and 48 kbit/s otherwise")
PY
python3 run.py
