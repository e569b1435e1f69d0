#!/usr/bin/env bash
# libopus 1.3.1 (Debian 12 package libopus0 1.3.1-3), encoder with OPUS_SET_DTX(1), mono, 20 ms.
# Expected: either that DTX works, or that it "is only applicable to the LPC layer" (opus_defines.h)
# and OPUS_APPLICATION_AUDIO at 24 kbit/s and more, which is CELT, never pauses. In no case has it
# to do with OPUS_SET_COMPLEXITY, which trades processor time for quality.
# Seen: CELT does pause, but only with complexity 7 or more: its detector of speech belongs to the
# analysis of the signal, and that is off below 7, and at sampling rates of 8000 and 12000 Hz. With
# 7 the pauses are 95 % empty packets and 2 kbit/s. With 6 the same noise is sent in full, 32.5
# kbit/s, as if DTX were off; OPUS_GET_DTX says 1 both times.
# OPUS_APPLICATION_VOIP, which is SILK as long as it has no analysis, pauses with either. At 8000
# and 12000 Hz neither AUDIO nor RESTRICTED_LOWDELAY ever pauses.
# It matters to a phone: who lowers the complexity on weak devices (5 is common there) turns DTX off
# with it, and bandwidth, battery and the count of talkers in a conference change by the device. A
# test on the developers' machine with the default, 9, finds all in order.
# Output (faint noise after talk, from its third second on: empty packets, kbit/s):
#   48000 Hz, VOIP     32 kbit/s: complexity  6 95 %  1.5, complexity  7 95 %  2.0
#   48000 Hz, AUDIO    24 kbit/s: complexity  6  0 % 24.5, complexity  7 95 %  1.6
#   48000 Hz, LOWDELAY 32 kbit/s: complexity  6  0 % 32.5, complexity  7 95 %  2.0
#   16000 Hz, AUDIO    32 kbit/s: complexity  6  0 % 32.4, complexity  7 95 %  2.0
#    8000 Hz, AUDIO    32 kbit/s: complexity  6  0 % 32.4, complexity  7  0 % 32.4
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target lib numpy==2.2.6
cat > run.py <<'PY'
import ctypes as C, glob, sys
import numpy as np

BITRATE, COMPLEXITY, DTX, GET_DTX = 4002, 4010, 4016, 4017     # opus_defines.h: requests
APPLICATIONS = {"VOIP": 2048, "AUDIO": 2049, "LOWDELAY": 2051}
opus = C.CDLL(glob.glob("root/usr/lib/*/libopus.so.0")[0])
opus.opus_encoder_create.restype = C.c_void_p
opus.opus_encoder_create.argtypes = [C.c_int, C.c_int, C.c_int, C.c_void_p]
opus.opus_encode.argtypes = [C.c_void_p, C.c_char_p, C.c_int, C.c_char_p, C.c_int]
opus.opus_get_version_string.restype = C.c_char_p
print(opus.opus_get_version_string().decode())

def pauses(rate, application, bits, complexity):
    encoder = C.c_void_p(opus.opus_encoder_create(rate, 1, APPLICATIONS[application], None))
    for request, value in (BITRATE, bits), (COMPLEXITY, complexity), (DTX, 1):
        assert opus.opus_encoder_ctl(encoder, request, C.c_int(value)) == 0
    t, noise = np.arange(2 * rate) / rate, np.random.default_rng(0).normal(0, 30, 10 * rate)
    glide = t + 0.02 * np.sin(4 * t)       # two seconds of talk, eight of noise at -61 dBFS
    talk = sum(np.sin(2 * np.pi * 130 * k * glide) / k for k in range(1, 30))
    noise[:2 * rate] += 3000 * talk * np.abs(np.sin(4 * np.pi * t))
    block, room, sizes = rate // 50, C.create_string_buffer(1500), []
    for part in np.round(noise).astype("<i2").reshape(-1, block):
        sizes.append(opus.opus_encode(encoder, part.tobytes(), block, room, 1500))
    on = C.c_int()
    opus.opus_encoder_ctl(encoder, GET_DTX, C.byref(on))
    assert on.value == 1 and min(sizes) > 0
    opus.opus_encoder_destroy(encoder)
    late = sizes[4 * 50:]
    return 100 * sum(s <= 2 for s in late) / len(late), sum(late) * 8 / 20 / len(late)

wrong = []
for rate, application, bits in ((48000, "VOIP", 32000), (48000, "AUDIO", 24000),
                                (48000, "AUDIO", 64000), (48000, "LOWDELAY", 32000),
                                (16000, "AUDIO", 32000), (8000, "VOIP", 32000),
                                (8000, "AUDIO", 32000), (12000, "LOWDELAY", 32000)):
    got = {c: pauses(rate, application, bits, c) for c in (6, 7)}
    print("%5d Hz, %-8s %2d kbit/s: %s" % (rate, application, bits // 1000, ", ".join(
        "complexity %2d %2.0f %% %4.1f" % (c, *g) for c, g in got.items())), flush=True)
    for complexity, (empty, _) in got.items():
        paused = application == "VOIP" or rate > 12000 and complexity >= 7
        if empty < 60 if paused else empty > 5:
            wrong.append((rate, application, bits, complexity))
if wrong:
    sys.exit("CHANGED: when Opus pauses: %s" % wrong)
PY
PYTHONPATH=lib timeout 100 python3 run.py
