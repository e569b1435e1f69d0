#!/usr/bin/env bash
# FFmpeg 7.1's own Opus decoder, its default one (in PyPI's av 14.2.0), against libopus 1.3.1
# (Debian 12 libopus0 1.3.1-3). 24 kbit/s, 20 ms, DTX on; one-byte packets are decoded too.
# Expected: a packet of the TOC byte alone says "nothing sent", and the decoder fills the time with
# comfort noise like what went before (RFC 7587 section 3.1.3): room noise of -50 dBFS stays there.
# Seen: the number of samples is right, but 95 % of the pause rounds to zero in 16 bit and the
# refreshes, one each 400 ms, are faint ticks: the room falls by more than 30 dB. The decoder
# "libopus" in the same FFmpeg gives comfort noise (its newer libopus lets it sink by 10 dB).
# It matters to a phone's makers: a call kept as Ogg or Matroska and measured with a tool built on
# FFmpeg seems to cut out in every pause; noise level, echo loss and "dead air" alarms come out
# wrong, though the phone is right. Name the decoder: -c:a libopus before -i.
# Output (dBFS in each half second of the pause), after two lines about version and packets:
#   encoded:               288000 samples, dBFS -50 -50 -50 -50 -50 -50, zeros  0 %
#   libopus 1.3.1:         288000 samples, dBFS -52 -51 -51 -51 -51 -50, zeros  0 %
#   FFmpeg with libopus:   288000 samples, dBFS -54 -55 -56 -59 -59 -60, zeros  1 %
#   FFmpeg's own decoder:  288000 samples, dBFS -88 -85 -87 -88 -87 -89, zeros 95 %
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
dpkg -x libopus0_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --only-binary :all: --target "$dir/py" av==14.2.0
cat > run.py <<'PY'
import array, ctypes as C, glob, math, random, sys
sys.path.insert(0, "py")
import av

L = C.CDLL(glob.glob("root/usr/lib/*/libopus.so.0")[0])
L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p
RATE, VOIP, N = 48000, 2048, 960
SET_BITRATE, SET_DTX = 4002, 4016

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power else -200.0

# Two seconds of a voice-like sound in room noise of -50 dBFS, then four of the room alone.
rnd = random.Random(1)
harmonics = [(140 * k, 1 / (1 + (140 * k / 700) ** 2)) for k in range(1, 28)]
sound = []
for i in range(RATE * 6):
    t, v = i / RATE, rnd.gauss(0, 32768 * 10 ** (-50 / 20))
    if t < 2:
        pulse = sum(g * math.sin(2 * math.pi * f * t) for f, g in harmonics)
        v += 2000 * max(0.0, math.sin(8 * math.pi * t)) * pulse
    sound.append(round(v))

err = C.c_int()
enc = C.c_void_p(L.opus_encoder_create(RATE, 1, VOIP, C.byref(err)))
for request, value in ((SET_BITRATE, 24000), (SET_DTX, 1)):
    assert L.opus_encoder_ctl(enc, C.c_int(request), C.c_int(value)) == 0
packets, buffer = [], (C.c_ubyte * 1500)()
for at in range(0, len(sound), N):
    size = L.opus_encode(enc, (C.c_int16 * N)(*sound[at:at + N]), N, buffer, 1500)
    packets.append(bytes(buffer[:size]))

def reference():
    dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(err)))
    out, heard = (C.c_int16 * N)(), []
    for p in packets:
        assert L.opus_decode(dec, p, len(p), out, N, 0) == N
        heard.extend(out)
    return heard

def ffmpeg(name):
    dec = av.CodecContext.create(name, "r")
    dec.sample_rate, dec.layout = RATE, "mono"
    heard = []
    for p in packets:
        for frame in dec.decode(av.Packet(p)):
            raw = bytes(frame.planes[0])
            if frame.format.name.startswith("s16"):
                heard.extend(array.array("h", raw)[:frame.samples])
            else:
                heard.extend(v * 32768 for v in array.array("f", raw)[:frame.samples])
    return heard

def show(name, heard):
    half = [dbfs(heard[i:i + RATE // 2]) for i in range(RATE * 3, RATE * 6, RATE // 2)]
    pause = heard[RATE * 3:]
    zeros = 100 * sum(abs(v) < 0.5 for v in pause) / len(pause)
    print("%-22s %d samples, dBFS %s, zeros %2.0f %%"
          % (name + ":", len(heard), " ".join("%.0f" % v for v in half), zeros))
    return len(heard), half, zeros

rest = packets[150:]
version = ".".join(map(str, av.library_versions["libavcodec"]))
print("libavcodec %s, default decoder for Opus: %s" % (version, av.Codec("opus", "r").long_name))
print("%d of the last %d packets are one byte" % (sum(len(p) == 1 for p in rest), len(rest)))
show("encoded", sound)
ref = show("libopus 1.3.1", reference())
other = show("FFmpeg with libopus", ffmpeg("libopus"))
own = show("FFmpeg's own decoder", ffmpeg("opus"))
if not (ref[0] == other[0] == own[0] == len(sound) and all(abs(v + 50) < 4 for v in ref[1])
        and min(other[1]) > -70 and max(own[1]) < -75 and own[2] > 80):
    sys.exit("CHANGED: FFmpeg's own Opus decoder now fills DTX pauses with noise")
PY
python3 run.py
