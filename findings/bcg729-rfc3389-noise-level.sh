#!/usr/bin/env bash
# bcg729 1.1.1 (Debian 12 package libbcg729-0 1.1.1-2), the G.729 of Linphone, rtpengine and
# Wireshark; its decoder also takes RFC 3389 comfort noise (argument rfc3389PayloadFlag).
# Expected: the first octet of a CN payload is the noise level in -dBov, 0 dBov being a full-scale
# square wave (RFC 3389 section 3.1): level 50 sounds as noise of -50 dBFS RMS.
# Seen: from 45 on the noise comes out 5 dB too loud. Levels 42 to 44 all give -39.5, where the gain
# is at its limit. From 41 down, all that is louder than -42 dBov gives nothing but zeros: a number
# overflows, and the code takes it for "too quiet".
# It matters to a phone whose far end sends CN beside G.729 (static payload type 13): a quiet room
# sounds nearly twice as loud in pauses, and a car or a busy office is cut to dead silence, where
# comfort noise is needed most. Add 5 to the level and let it be 45 at least, before the call.
# Output (dBFS over 3 s; CN every 200 ms, no spectral octets, or two, hardly matter):
#   level 20 (-20 dBov): -200.0, with two reflection coefficients -200.0
#   level 30 (-30 dBov): -200.0, with two reflection coefficients -200.0
#   level 41 (-41 dBov): -200.0, with two reflection coefficients -200.0
#   level 42 (-42 dBov):  -39.5, with two reflection coefficients  -39.3
#   level 45 (-45 dBov):  -39.6, with two reflection coefficients  -39.5
#   level 50 (-50 dBov):  -44.6, with two reflection coefficients  -44.5
#   level 60 (-60 dBov):  -54.7, with two reflection coefficients  -54.5
#   level 70 (-70 dBov):  -65.0, with two reflection coefficients  -64.5
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libbcg729-0=1.1.1-2
dpkg -x libbcg729-0_*.deb root
cat > run.py <<'PY'
import ctypes as C, glob, math, sys

B = C.CDLL(glob.glob("root/usr/lib/*/libbcg729.so.0")[0])
B.initBcg729DecoderChannel.restype = C.c_void_p

def noise(payload):
    state = C.c_void_p(B.initBcg729DecoderChannel())
    out, power = (C.c_int16 * 80)(), 0
    for frame in range(400):               # 10 ms each; the first second is not counted
        new = frame % 20 == 0
        B.bcg729Decoder(state, (C.c_uint8 * len(payload))(*payload) if new else None,
                        C.c_uint8(len(payload) if new else 0), C.c_uint8(not new),
                        C.c_uint8(new), C.c_uint8(new), out)
        if frame >= 100:
            power += sum(v * v for v in out) / 80 / 300
    B.closeBcg729DecoderChannel(state)
    return round(10 * math.log10(power / 32768 ** 2), 1) if power else -200.0

got = []
for level in (20, 30, 41, 42, 45, 50, 60, 70):
    plain, shaped = noise(bytes([level])), noise(bytes([level, 150, 120]))
    print("level %d (-%d dBov): %6.1f, with two reflection coefficients %6.1f"
          % (level, level, plain, shaped))
    got += [plain, shaped]
if got != [-200] * 6 + [-39.5, -39.3, -39.6, -39.5, -44.6, -44.5, -54.7, -54.5, -65.0, -64.5]:
    sys.exit("CHANGED: bcg729 gives RFC 3389 noise another level")
PY
python3 run.py
