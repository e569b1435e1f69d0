#!/usr/bin/env bash
# libopus 1.3.1 (Debian 12 libopus0 1.3.1-3) against 1.6.1 (in PyPI's opuscodec 0.1.3). A tone,
# 32 kbit/s, frames of 2.5 or 10 ms (CELT), then opus_decode(NULL), a lost packet, for 300 ms.
# Expected: concealment that falls and stays down, as 1.3.1's (RFC 6716 section 4.4 leaves it open).
# Seen: 1.6.1 falls below -70 dBFS, with 2.5 ms frames to nothing at all, and then COMES BACK as
# noise of -31 or -41 dBFS exactly at 100 ms, where it goes over from repeating the pitch to noise
# of the last known spectrum, at its level from before the fade.
# It matters to a phone: a gap of 120 ms, or a far end that went away, ends in a puff of noise after
# an apparent silence, so a jitter buffer must count concealed time and mute by itself; a measure
# of where a sound ends goes wrong.
# Output (dBFS in each 20 ms after the last packet; -200 is nothing but zeros):
#   libopus 1.3.1   2.5 ms: -28 -46 -72 -94 -200 -200 -200 -200 -200 -200 -200 -200 -200 -200 -200
#   libopus 1.3.1  10.0 ms: -24 -30 -37 -39 -40 -40 -40 -40 -40 -40 -40 -40 -40 -40 -40
#   libopus 1.6.1   2.5 ms: -28 -71 -87 -101 -200 -41 -55 -81 -100 -200 -200 -200 -200 -200 -200
#   libopus 1.6.1  10.0 ms: -24 -30 -44 -64 -72 -31 -36 -36 -36 -36 -36 -38 -35 -38 -37
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
dpkg -x libopus0_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" opuscodec==0.1.3
cat > run.py <<'PY'
import ctypes as C, glob, math, sys

RATE, VOIP, SET_BITRATE = 48000, 2048, 4002

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power else -200.0

step = 2 * math.pi * 440 / RATE
tone = [int(3000 * math.sin(step * i) + 1500 * math.sin(2 * step * i)) for i in range(RATE // 2)]

def run(L, ms):
    n, err = int(RATE * ms / 1000), C.c_int()
    enc = C.c_void_p(L.opus_encoder_create(RATE, 1, VOIP, C.byref(err)))
    dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(err)))
    assert L.opus_encoder_ctl(enc, C.c_int(SET_BITRATE), C.c_int(32000)) == 0
    packet, out, tail = (C.c_ubyte * 1500)(), (C.c_int16 * n)(), []
    for at in range(0, len(tone), n):
        size = L.opus_encode(enc, (C.c_int16 * n)(*tone[at:at + n]), n, packet, 1500)
        assert size > 2 and L.opus_decode(dec, packet, size, out, n, 0) == n
    assert packet[0] >= 0x80               # CELT (RFC 6716 section 3.1)
    for _ in range(int(300 / ms)):
        assert L.opus_decode(dec, None, 0, out, n, 0) == n
        tail.extend(out)
    levels = [dbfs(tail[i:i + 960]) for i in range(0, len(tail), 960)]
    print("%s  %4.1f ms: %s" % (L.opus_get_version_string().decode(), ms,
                                " ".join("%.0f" % v for v in levels)))
    return levels

changed = False
for path in glob.glob("root/usr/lib/*/libopus.so.0") + glob.glob("py/opuscodec*.so"):
    L = C.CDLL(path)
    L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p
    L.opus_get_version_string.restype = C.c_char_p
    old = L.opus_get_version_string() == b"libopus 1.3.1"
    for ms in (2.5, 10):
        levels = run(L, ms)
        rise = max(levels[i] - levels[i - 1] for i in range(1, len(levels)))
        back = levels[4] < -60 and levels[5] > -50      # before and after 100 ms
        changed |= not (rise < 3 if old else back)
if changed:
    sys.exit("CHANGED: concealment of 1.6.1 no longer returns at 100 ms (or 1.3.1's now does)")
PY
python3 run.py
