#!/usr/bin/env bash
# libopus 1.3.1 (Debian 12 package libopus0 1.3.1-3), VOIP, 64 kbit/s, OPUS_SET_DTX(1).
# Expected: in a pause a refresh comes every 400 ms and concealment fills the time between, so that
# room noise of -57 dBFS comes out at about its own level (RFC 6716 section 2.1.9, RFC 7587 section
# 3.1.3). With 20 ms frames it does.
# Seen: with 2.5 ms frames (CELT only) the pause comes out up to 29 dB LOUDER than the room. CELT
# codes energy as a difference from the frame before; the encoder builds on frames that it did not
# send, the decoder on what it concealed and faded meanwhile, and the error adds up. (The refresh
# also comes every 52 ms.) OPUS_SET_PREDICTION_DISABLED(1) cures it with the same packets.
# It matters to a phone with 2.5 ms frames: DTX turns quiet pauses into swells of noise, which no
# test with 20 ms frames shows.
# Output:
#   libopus 1.3.1, noise in the pause: -57.0 dBFS
#   20.0 ms, default:          14 of  300 packets sent, out -57.8 dBFS, loudest 100 ms -57.0
#    2.5 ms, default:         114 of 2400 packets sent, out -39.1 dBFS, loudest 100 ms -28.0
#    2.5 ms, prediction off:  114 of 2400 packets sent, out -58.0 dBFS, loudest 100 ms -57.3
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
dpkg -x libopus0_*.deb root
cat > run.py <<'PY'
import ctypes as C, glob, math, random, sys

L = C.CDLL(glob.glob("root/usr/lib/*/libopus.so.0")[0])
L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p
L.opus_get_version_string.restype = C.c_char_p
RATE, VOIP = 48000, 2048
SET_BITRATE, SET_DTX, SET_PREDICTION_DISABLED = 4002, 4016, 4042

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power else -200.0

# Two seconds of a voice-like sound (syllables of a 140 Hz pulse), then eight of the room alone.
rnd = random.Random(1)
room = [rnd.gauss(0, 32768 * 10 ** (-57 / 20)) for _ in range(RATE * 10)]
harmonics = [(140 * k, 1 / (1 + (140 * k / 700) ** 2)) for k in range(1, 28)]
voice = []
for i in range(RATE * 2):
    t = i / RATE
    syllable = max(0.0, math.sin(8 * math.pi * t))
    pulse = sum(g * math.sin(2 * math.pi * f * t) for f, g in harmonics) if syllable else 0
    voice.append(2000 * syllable * pulse)
sound = [round(r + (voice[i] if i < len(voice) else 0)) for i, r in enumerate(room)]

def run(ms, prediction_disabled):
    n, err = int(RATE * ms / 1000), C.c_int()
    enc = C.c_void_p(L.opus_encoder_create(RATE, 1, VOIP, C.byref(err)))
    dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(err)))
    for request, value in ((SET_BITRATE, 64000), (SET_DTX, 1),
                           (SET_PREDICTION_DISABLED, prediction_disabled)):
        assert L.opus_encoder_ctl(enc, C.c_int(request), C.c_int(value)) == 0
    packet, out, heard, sent = (C.c_ubyte * 1500)(), (C.c_int16 * n)(), [], 0
    for at in range(0, len(sound), n):
        size = L.opus_encode(enc, (C.c_int16 * n)(*sound[at:at + n]), n, packet, 1500)
        assert size > 0
        if size > 2:                      # two bytes or fewer need not be sent (opus.h)
            assert L.opus_decode(dec, packet, size, out, n, 0) == n
            sent += at >= RATE * 4
        else:
            assert L.opus_decode(dec, None, 0, out, n, 0) == n
        heard.extend(out)
    pause = heard[RATE * 4:]
    loudest = max(dbfs(pause[i:i + RATE // 10]) for i in range(0, len(pause), RATE // 10))
    name = "prediction off:" if prediction_disabled else "default:"
    print("%4.1f ms, %-15s %4d of %4d packets sent, out %.1f dBFS, loudest 100 ms %.1f"
          % (ms, name, sent, len(pause) // n, dbfs(pause), loudest))
    return dbfs(pause), loudest

level = dbfs(room)
print("%s, noise in the pause: %.1f dBFS" % (L.opus_get_version_string().decode(), level))
long_frames, short, cured = run(20, 0), run(2.5, 0), run(2.5, 1)
if not (abs(long_frames[0] - level) < 3 and short[0] > level + 10 and short[1] > level + 20
        and cured[1] < level + 3):
    sys.exit("CHANGED: 2.5 ms frames with DTX no longer come out far louder than the room")
PY
python3 run.py
