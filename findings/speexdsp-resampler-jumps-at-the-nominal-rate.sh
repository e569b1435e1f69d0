#!/usr/bin/env bash
# Package: SpeexDSP 1.2.1 (Debian 12 package libspeexdsp1 1.2.1-1), its resampler, with
# speex_resampler_set_rate_frac() called between blocks of 10 ms to follow a drifting clock.
# Expected: the call "sets (changes) the input/output sampling rates" of a running stream
# (speex_resampler.h): the pitch changes by some ppm, the sound goes on without a break.
# Instead: the position between two samples is kept as a fraction with the ratio's own reduced
# denominator and rounded down to the new one. 47990 to 48000 has the denominator 4800; 1 to 1 has
# 1, so each return to the nominal rate drops the fraction and jumps by up to a whole sample. From
# 8000 to 48000 Hz (denominator 6) it is a sixth of an input sample, one of the output. Between two
# rates that are both off the nominal one there is no jump.
# Why it matters: a phone that corrects the clocks of its card and of the network this way, and goes
# back to "no correction" when it is on time, clicks each time, at -18 dB under a tone of 1 kHz and
# louder above; a fixed correction, or a test without return to the nominal rate, is clean. Let
# the nominal rate be one with a large denominator, 480001 to 480000 instead of 1 to 1.
# Output seen (tone of 1 kHz, the largest of 40 changes after 10 to 400 ms; 1.000 = one sample of
# the output; the rounding to 16 bit alone makes 0.003):
#   no change: 47990 to 48000          jump of 0.003
#   from 47990 to 47980                jump of 0.003
#   from 47990 to 48010                jump of 0.003
#   from 47990 to 48000, the nominal   jump of 0.997
#   from 48011 to 48000, the nominal   jump of 0.987
#   8000 Hz in: from 7999 to 8000      jump of 0.977
#   from 479900 to 480001 in 480000    jump of 0.003
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
cat > run.py <<'PY'
import ctypes as C, glob, math, sys

S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.speex_resampler_init.restype = C.c_void_p
AMPLITUDE, TONE = 8000, 1000

def jump(source, target, first, second, blocks):         # ratios as (numerator, denominator)
    state = C.c_void_p(S.speex_resampler_init(1, source, target, 3, None))
    size, heard = source // 100, []
    for k in range(blocks + 4):
        if k in (0, blocks):
            ratio = second if k else first
            assert S.speex_resampler_set_rate_frac(state, *ratio, source, target) == 0
        block = (C.c_int16 * size)(*[round(AMPLITUDE * math.sin(2 * math.pi * TONE * i / source))
                                     for i in range(k * size, k * size + size)])
        out = (C.c_int16 * (target // 50))()
        used, made = C.c_uint(size), C.c_uint(target // 50)
        S.speex_resampler_process_int(state, 0, block, C.byref(used), out, C.byref(made))
        assert used.value == size
        heard.extend(out[:made.value])
        if k == blocks - 1:
            change = len(heard)
    S.speex_resampler_destroy(state)
    # A steady sine fulfils y[n + 1] + y[n - 1] = 2 cos(w) y[n]; a break in it does not.
    w = 2 * math.pi * TONE / target
    span = range(change - 200, len(heard) - 1)
    off = max(abs(heard[i + 1] + heard[i - 1] - 2 * math.cos(w) * heard[i]) for i in span)
    return off / (AMPLITUDE * w)

cases = ((48000, 48000, (47990, 48000), (47990, 48000), "no change: 47990 to 48000         ", 0),
         (48000, 48000, (47990, 48000), (47980, 48000), "from 47990 to 47980               ", 0),
         (48000, 48000, (47990, 48000), (48010, 48000), "from 47990 to 48010               ", 0),
         (48000, 48000, (47990, 48000), (48000, 48000), "from 47990 to 48000, the nominal  ", 1),
         (48000, 48000, (48011, 48000), (48000, 48000), "from 48011 to 48000, the nominal  ", 1),
         (8000, 48000, (7999, 48000), (8000, 48000), "8000 Hz in: from 7999 to 8000     ", 1),
         (48000, 48000, (479900, 480000), (480001, 480000),
          "from 479900 to 480001 in 480000   ", 0))
ok = True
for *case, name, breaks in cases:
    worst = max(jump(*case, blocks) for blocks in range(2, 42))
    print("%s jump of %.3f" % (name, worst))
    ok &= 0.5 < worst < 1.1 if breaks else worst < 0.02
if not ok:
    sys.exit("CHANGED: the resampler jumps at other changes of rate")
PY
python3 run.py
