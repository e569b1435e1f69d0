#!/usr/bin/env bash
# librem 0.6.0 (Debian 12 package librem0 0.6.0-4, with libre0 1.1.0-1+b2), the audio library of
# baresip: its resampler, auresamp_setup() and auresamp().
# Expected: a resampler keeps what both rates can carry: from 8000 to 16000 Hz or back all below
# some 3.5 kHz, from 16000 to 32000 Hz or back all below 7 kHz. A ratio that it cannot do is
# refused; this one does refuse ratios that are no whole number.
# Seen: it has two fixed filters, both designed for 48000 Hz, and takes the one for 8 kHz whenever
# the ratio is not 3. At another rate the filter's edge moves with the rate: a twelfth of the higher
# one. So 8000 to 16000 Hz and back lets pass 1.3 kHz, 16000 to 32000 Hz 2.7 kHz, and 24000 to 48000
# Hz 4 kHz. All of them return 0, and what is left sounds like a voice behind a wall. 8000 to 48000
# Hz and 16000 to 48000 Hz, for which the filters were made, are right within some dB. The libre in
# PyPI's baresip-python 0.5.2a3, which has taken librem in, has one for a ratio of 2.
# It matters to a phone that links librem, and to a laboratory that puts baresip between a card of
# 16000 Hz and G.711: every counter is good, and the words cannot be understood. Let librem work at
# 48000 Hz on one side, or resample with something else.
# Output (gain in dB by frequency in Hz; the sines are sent through in blocks of 20 ms):
#    8000 to 48000   500:   -1.2  1000:   -0.1  2000:    0.5  3000:   -3.8
#    8000 to 16000   500:    1.1  1000:   -1.9  2000:  -52.9  3000:  -45.0
#   16000 to  8000   500:    1.2  1000:   -1.7  2000:  -52.2  3000:  -43.4
#   16000 to 48000  1000:   -0.2  2000:    1.0  4000:   -2.2  6000:   -0.6
#   16000 to 32000  1000:    1.1  2000:   -1.9  4000:  -52.9  6000:  -45.0
#   24000 to 48000  1000:    0.1  3000:   -1.9  6000:  -52.9  9000:  -45.0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download librem0=0.6.0-4 libre0=1.1.0-1+b2 libssl3
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import cmath, ctypes, glob, math, sys

rem = ctypes.CDLL(glob.glob("root/usr/lib/*/librem.so.0")[0])
state = ctypes.create_string_buffer(4096)              # struct auresamp is far smaller

def gain(source, target, frequency):
    rem.auresamp_init(state)
    if rem.auresamp_setup(state, source, 1, target, 1):
        sys.exit("CHANGED: librem refuses these rates")
    count, heard = source // 50, []
    for block in range(25):
        sent = [round(10000 * math.sin(2 * math.pi * frequency * (block * count + k) / source))
                for k in range(count)]
        out = (ctypes.c_int16 * (target // 50 * 2))()
        length = ctypes.c_size_t(len(out))
        if rem.auresamp(state, out, ctypes.byref(length), (ctypes.c_int16 * count)(*sent),
                        ctypes.c_size_t(count)):
            sys.exit("CHANGED: librem reports an error")
        heard += out[:length.value]
    heard = heard[-target // 5:]                       # 200 ms: whole periods of all frequencies
    sine = sum(v * cmath.exp(-2j * math.pi * frequency * k / target) for k, v in enumerate(heard))
    return 20 * math.log10(max(abs(sine) * 2 / len(heard), 0.01) / 10000)

got = {}
for source, target, frequencies in ((8000, 48000, (500, 1000, 2000, 3000)),
                                    (8000, 16000, (500, 1000, 2000, 3000)),
                                    (16000, 8000, (500, 1000, 2000, 3000)),
                                    (16000, 48000, (1000, 2000, 4000, 6000)),
                                    (16000, 32000, (1000, 2000, 4000, 6000)),
                                    (24000, 48000, (1000, 3000, 6000, 9000))):
    got[source, target] = [gain(source, target, f) for f in frequencies]
    print("%5d to %5d " % (source, target), *("%5d: %6.1f" % (f, g)
                                              for f, g in zip(frequencies, got[source, target])))
good = all(g > -6 for rates in ((8000, 48000), (16000, 48000)) for g in got[rates])
cut = all(g > -6 for values in got.values() for g in values[:2]) and all(
    g < -35 for rates in ((8000, 16000), (16000, 8000), (16000, 32000), (24000, 48000))
    for g in got[rates][2:])
if not (good and cut):
    sys.exit("CHANGED: what librem's resampler lets pass")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
timeout 50 python3 run.py
