#!/usr/bin/env bash
# libopus 1.6.1 (in PyPI's opuscodec 0.1.3) against 1.3.1 (Debian 12 libopus0 1.3.1-3), each as
# encoder and as decoder. VOIP, 24 kbit/s, 20 ms frames, OPUS_SET_DTX(1).
# Expected: in a pause a refresh every 400 ms (RFC 6716 section 2.1.9) and comfort noise between
# keep room noise of -57 dBFS at a steady level.
# Seen: with 1.3.1's decoder it stays; with 1.6.1's the same packets sink by 17 dB in five seconds
# and stay 14 dB too low, whoever encoded them. A refresh is coded as a difference from the frame
# before, and the newer decoder has faded meanwhile. OPUS_SET_PREDICTION_DISABLED(1) in the ENCODER
# cures it. It matters to a phone: once the far end's library is updated, one's own pauses fade away
# there and the room jumps back with the first word; a noise level measured in pauses is wrong.
# Output (dBFS in each second of the pause), then "of 400 packets sent: 19":
#   encoder 1.3.1, decoder 1.3.1: -58 -58 -58 -58 -58 -58 -57 -58 -57 -58
#   encoder 1.6.1, decoder 1.3.1: -58 -58 -58 -58 -58 -58 -57 -58 -57 -58
#   encoder 1.6.1 without prediction, decoder 1.6.1: -58 -59 -59 -59 -58 -58 -58 -58 -58 -58
#   encoder 1.3.1, decoder 1.6.1: -58 -61 -65 -70 -74 -72 -71 -71 -72 -71
#   encoder 1.6.1, decoder 1.6.1: -58 -61 -65 -70 -74 -72 -71 -71 -72 -71
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
dpkg -x libopus0_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" opuscodec==0.1.3
cat > run.py <<'PY'
import ctypes as C, glob, math, random, sys

RATE, VOIP, N = 48000, 2048, 960
SET_BITRATE, SET_DTX, SET_PREDICTION_DISABLED = 4002, 4016, 4042

def load(pattern, version):
    L = C.CDLL(glob.glob(pattern)[0])
    L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p
    L.opus_get_version_string.restype = C.c_char_p
    assert L.opus_get_version_string().decode() == "libopus " + version
    return L

lib = {"1.3.1": load("root/usr/lib/*/libopus.so.0", "1.3.1"),
       "1.6.1": load("py/opuscodec*.so", "1.6.1")}

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power else -200.0

# Two seconds of a voice-like sound in the room's noise, then ten seconds of the room alone.
rnd = random.Random(1)
harmonics = [(140 * k, 1 / (1 + (140 * k / 700) ** 2)) for k in range(1, 28)]
sound = []
for i in range(RATE * 12):
    t, v = i / RATE, rnd.gauss(0, 32768 * 10 ** (-57 / 20))
    if t < 2:
        pulse = sum(g * math.sin(2 * math.pi * f * t) for f, g in harmonics)
        v += 2000 * max(0.0, math.sin(8 * math.pi * t)) * pulse
    sound.append(round(v))

def encode(L, prediction_disabled=0):
    err, packets, buffer = C.c_int(), [], (C.c_ubyte * 1500)()
    enc = C.c_void_p(L.opus_encoder_create(RATE, 1, VOIP, C.byref(err)))
    for request, value in ((SET_BITRATE, 24000), (SET_DTX, 1),
                           (SET_PREDICTION_DISABLED, prediction_disabled)):
        assert L.opus_encoder_ctl(enc, C.c_int(request), C.c_int(value)) == 0
    for at in range(0, len(sound), N):
        size = L.opus_encode(enc, (C.c_int16 * N)(*sound[at:at + N]), N, buffer, 1500)
        packets.append(bytes(buffer[:size]))
    return packets

def decode(L, packets):
    err, heard, out = C.c_int(), [], (C.c_int16 * N)()
    dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(err)))
    for p in packets:                      # one or two bytes: not sent, so concealed
        sent = p if len(p) > 2 else None
        assert L.opus_decode(dec, sent, len(p) if sent else 0, out, N, 0) == N
        heard.extend(out)
    return heard

def run(encoder, decoder, prediction_disabled=0):
    packets = encode(lib[encoder], prediction_disabled)
    heard = decode(lib[decoder], packets)
    levels = [dbfs(heard[i:i + RATE]) for i in range(RATE * 2, RATE * 12, RATE)]
    sent.add(sum(len(p) > 2 for p in packets[200:]))
    print("encoder %s%s, decoder %s: %s"
          % (encoder, " without prediction" if prediction_disabled else "", decoder,
             " ".join("%.0f" % v for v in levels)))
    return levels

sent = set()
steady = [run("1.3.1", "1.3.1"), run("1.6.1", "1.3.1"), run("1.6.1", "1.6.1", 1)]
sinking = [run("1.3.1", "1.6.1"), run("1.6.1", "1.6.1")]
print("of 400 packets sent: %s" % ", ".join(map(str, sorted(sent))))
if not (all(abs(v + 57) < 4 for x in steady for v in x)
        and all(v < -65 for x in sinking for v in x[5:])):
    sys.exit("CHANGED: comfort noise of libopus 1.6.1 no longer sinks (or that of 1.3.1 now does)")
PY
python3 run.py
