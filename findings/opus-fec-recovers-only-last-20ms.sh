#!/usr/bin/env bash
# libopus 1.3.1 (Debian 12 libopus0 1.3.1-3) and 1.6.1 (in PyPI's opuscodec 0.1.3), in-band FEC on.
# Expected: a packet's FEC is a coarse copy of the packet before it (RFC 6716 section 2.1.7), so
# opus_decode(next packet, decode_fec=1) rebuilds a lost packet of 20, 40 or 60 ms.
# Seen: it does in SILK mode. In hybrid mode (full band) a 40 or 60 ms packet is two or three frames
# of 20 ms, and only the FEC of its FIRST frame is used: just the LAST 20 ms come back. All before
# is sample for sample the concealment of opus_decode(NULL). The call returns the full length all
# the same. It matters to a phone: long packets chosen for a bad link lose half to two thirds of
# their protection once the bit rate allows hybrid mode, and a count of "recovered" ones hides loss.
# Output (SILK packets not rebuilt from the start carry less FEC; 1.6.1 prints the same six lines):
#   libopus 1.3.1  SILK   20 ms: rebuilt from the start 17 of 17, first  0 ms never
#   libopus 1.3.1  SILK   40 ms: rebuilt from the start  8 of 10, first  0 ms never
#   libopus 1.3.1  SILK   60 ms: rebuilt from the start  6 of  7, first  0 ms never
#   libopus 1.3.1  hybrid 20 ms: rebuilt from the start 17 of 17, first  0 ms never
#   libopus 1.3.1  hybrid 40 ms: rebuilt from the start  0 of  9, first 20 ms never
#   libopus 1.3.1  hybrid 60 ms: rebuilt from the start  0 of  5, first 40 ms never
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

RATE, VOIP = 48000, 2048
BITRATE, FEC, LOSS, BANDWIDTH, SIGNAL, FRAMES = 4002, 4012, 4014, 4008, 4024, 4040
WIDE, FULL, VOICE, DURATION = 1103, 1105, 3001, {20: 5004, 40: 5005, 60: 5006}

# A voice-like sound over faint noise.
rnd = random.Random(1)
harmonics = [(140 * k, 1 / (1 + (140 * k / 700) ** 2)) for k in range(1, 28)]
sound = []
for i in range(RATE * 2):
    t = i / RATE
    pulse = sum(g * math.sin(2 * math.pi * f * t) for f, g in harmonics)
    sound.append(round(2000 * max(0.0, math.sin(8 * math.pi * t)) * pulse + rnd.gauss(0, 60)))

def run(L, name, bandwidth, rate, ms):
    n, err = RATE * ms // 1000, C.c_int()
    enc = C.c_void_p(L.opus_encoder_create(RATE, 1, VOIP, C.byref(err)))
    for request, value in ((BITRATE, rate), (FEC, 1), (LOSS, 20), (BANDWIDTH, bandwidth),
                           (SIGNAL, VOICE), (FRAMES, DURATION[ms])):
        assert L.opus_encoder_ctl(enc, C.c_int(request), C.c_int(value)) == 0
    packets, buffer = [], (C.c_ubyte * 1500)()
    for at in range(0, len(sound) - n + 1, n):
        size = L.opus_encode(enc, (C.c_int16 * n)(*sound[at:at + n]), n, buffer, 1500)
        packets.append(bytes(buffer[:size]))
    # Configurations 0 to 11 are SILK, 12 to 15 hybrid (RFC 6716 section 3.1).
    assert all(p[0] >> 3 in (range(12) if name == "SILK" else range(12, 16)) for p in packets[3:])

    def after(count, last, fec):           # decode `count` packets, then make up for the next
        dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(err)))
        out = (C.c_int16 * n)()
        for p in packets[:count]:
            assert L.opus_decode(dec, p, len(p), out, n, 0) == n
        assert L.opus_decode(dec, last, len(last) if last else 0, out, n, fec) == n
        return list(out)

    starts = []                            # ms of plain concealment before the FEC sets in
    for lost in range(6, len(packets) - 1, 3):
        with_fec, concealed = after(lost, packets[lost + 1], 1), after(lost, None, 0)
        k = 0
        while k < n and with_fec[k] == concealed[k]:
            k += 1
        if k < n:                          # this one carried FEC at all
            starts.append(k * 1000 // RATE)
    whole = sum(s < 10 for s in starts)
    print("%s  %-6s %d ms: rebuilt from the start %2d of %2d, first %2d ms never"
          % (L.opus_get_version_string().decode(), name, ms, whole, len(starts), min(starts)))
    return whole == 0 and min(starts) == ms - 20 if name == "hybrid" and ms > 20 else whole > 0

ok = True
for path in glob.glob("root/usr/lib/*/libopus.so.0") + glob.glob("py/opuscodec*.so"):
    L = C.CDLL(path)
    L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p
    L.opus_get_version_string.restype = C.c_char_p
    for ms in (20, 40, 60):
        ok &= run(L, "SILK", WIDE, 24000, ms)
    for ms in (20, 40, 60):
        ok &= run(L, "hybrid", FULL, 36000, ms)
if not ok:
    sys.exit("CHANGED: FEC of hybrid packets of 40 or 60 ms now covers more (or less) than 20 ms")
PY
python3 run.py
