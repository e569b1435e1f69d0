#!/usr/bin/env bash
# libopus 1.3.1 (Debian 12 package libopus0 1.3.1-3) and 1.6.1 (bundled in PyPI's opuscodec 0.1.3).
# Expected: opus_defines.h calls rates from 500 to 512000 bit/s meaningful, RFC 6716 section 2.1.1
# names 6 to 510 kbit/s; so 8 or 9 kbit/s should give poor sound, or the setting an error.
# Seen: with 2.5 ms frames every rate below 9600 bit/s (3 bytes in each of 400 packets a second) is
# accepted and read back unchanged, and then the encoder returns a packet of the TOC byte alone for
# EVERY frame, loud voice included; the receiver decodes digital silence. At 9600 a voice is there.
# It matters to a phone: such packets look like DTX, so a sender that leaves out packets of one or
# two bytes (as opus.h permits) sends nothing at all; a rate control that steps down under loss, or
# a peer's maxaveragebitrate (RFC 7587 section 6.1: from 6000), mutes the call.
# Output (-200 stands for nothing but zeros; libopus 1.6.1 prints the same three lines):
#   libopus 1.3.1   5.0 ms  9599 bit/s: packets of 3 to 10 bytes, in -22.0 dBFS, out  -22.3 dBFS
#   libopus 1.3.1   2.5 ms  9600 bit/s: packets of 3 to 7 bytes, in -22.0 dBFS, out  -23.0 dBFS
#   libopus 1.3.1   2.5 ms  9599 bit/s: packets of 1 to 1 bytes, in -22.0 dBFS, out -200.0 dBFS
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

RATE, VOIP, SET_BITRATE, GET_BITRATE = 48000, 2048, 4002, 4003

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power else -200.0

harmonics = [(140 * k, 1 / (1 + (140 * k / 700) ** 2)) for k in range(1, 28)]
voice = []
for i in range(RATE):
    t = i / RATE
    pulse = sum(g * math.sin(2 * math.pi * f * t) for f, g in harmonics)
    voice.append(max(0.0, math.sin(8 * math.pi * t)) * pulse)
scale = 32768 * 10 ** (-22 / 20) / math.sqrt(sum(v * v for v in voice) / len(voice))
voice = [round(v * scale) for v in voice]

def run(L, ms, rate):
    n, err, got = int(RATE * ms / 1000), C.c_int(), C.c_int()
    enc = C.c_void_p(L.opus_encoder_create(RATE, 1, VOIP, C.byref(err)))
    dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(err)))
    assert L.opus_encoder_ctl(enc, C.c_int(SET_BITRATE), C.c_int(rate)) == 0
    assert L.opus_encoder_ctl(enc, C.c_int(GET_BITRATE), C.byref(got)) == 0 and got.value == rate
    packet, out, heard, sizes = (C.c_ubyte * 1500)(), (C.c_int16 * n)(), [], []
    for at in range(0, RATE, n):
        size = L.opus_encode(enc, (C.c_int16 * n)(*voice[at:at + n]), n, packet, 1500)
        assert size > 0 and L.opus_decode(dec, packet, size, out, n, 0) == n
        sizes.append(size)
        heard.extend(out)
    print("%s  %4.1f ms %5d bit/s: packets of %d to %d bytes, in %.1f dBFS, out %6.1f dBFS"
          % (L.opus_get_version_string().decode(), ms, rate, min(sizes), max(sizes),
             dbfs(voice), dbfs(heard)))
    return max(sizes), dbfs(heard)

changed = False
for path in glob.glob("root/usr/lib/*/libopus.so.0") + glob.glob("py/opuscodec*.so"):
    L = C.CDLL(path)
    L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p
    L.opus_get_version_string.restype = C.c_char_p
    five, enough, below = run(L, 5, 9599), run(L, 2.5, 9600), run(L, 2.5, 9599)
    changed |= not (five[1] > -30 and enough[1] > -30 and below == (1, -200.0))
if changed:
    sys.exit("CHANGED: 2.5 ms frames below 9600 bit/s are no longer one-byte packets of silence")
PY
python3 run.py
