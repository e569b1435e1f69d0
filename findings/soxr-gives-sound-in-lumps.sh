#!/usr/bin/env bash
# libsoxr 0.1.3 (Debian 12 package libsoxr0 0.1.3-4), soxr_process() fed with blocks of 10 ms; HQ is
# the recipe of soxr_create() by default, also in FFmpeg and in Python's soxr.
# Expected: a streaming resampler gives 10 ms for each 10 ms, after a fixed delay of a few ms for
# its filter. soxr.h calls what soxr_create() makes a "stream resampler"; of delay it has only
# soxr_delay(), the "current delay in output samples".
# Seen: HQ filters by FFT in blocks, which at low rates are long. Between 8000 and 48000 Hz it takes
# 15 blocks and gives nothing, then 160 ms at once; what it holds back sways between 13 and 175 ms.
# MQ does so with 80 ms, LQ with 40. At 16000 Hz HQ still lumps by 40 ms. QQ (cubic) never does.
# The sound itself is aligned and whole, so in files nothing shows.
# It matters to a phone or a bot that resamples a G.711 call: playback runs dry 6 times a second, or
# needs a buffer of 160 ms behind the resampler; a jitter buffer or a clock measured there sees 150
# ms of jitter on a perfect line. Use another resampler (SpeexDSP gives evenly) for small blocks.
# Output (after the first second; the last number is the longest run of blocks that gave nothing):
#    8000 to 48000 Hz, QQ: held back  0 to   0 ms, nothing for   0 ms
#    8000 to 48000 Hz, LQ: held back  5 to  57 ms, nothing for  30 ms
#    8000 to 48000 Hz, MQ: held back 15 to  94 ms, nothing for  70 ms
#    8000 to 48000 Hz, HQ: held back 14 to 175 ms, nothing for 150 ms
#   48000 to  8000 Hz, HQ: held back 13 to 158 ms, nothing for 150 ms
#   16000 to 48000 Hz, HQ: held back  6 to  36 ms, nothing for  30 ms
#   44100 to 48000 Hz, HQ: held back  2 to  21 ms, nothing for  20 ms
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libsoxr0=0.1.3-4 libgomp1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes as C, glob, math, sys

C.CDLL(glob.glob("root/usr/lib/*/libgomp.so.1")[0], mode=C.RTLD_GLOBAL)
S = C.CDLL(glob.glob("root/usr/lib/*/libsoxr.so.0")[0])

class Quality(C.Structure):                # soxr_quality_spec_t
    _fields_ = [(n, C.c_double) for n in ("precision", "phase", "passband", "stopband")] + [
        ("e", C.c_void_p), ("flags", C.c_ulong)]

S.soxr_quality_spec.restype, S.soxr_create.restype = Quality, C.c_void_p
S.soxr_quality_spec.argtypes = [C.c_ulong, C.c_ulong]
S.soxr_create.argtypes = [C.c_double, C.c_double, C.c_uint] + 4 * [C.c_void_p]
S.soxr_process.argtypes = [C.c_void_p, C.c_void_p, C.c_size_t, C.c_void_p,
                           C.c_void_p, C.c_size_t, C.c_void_p]
S.soxr_delete.argtypes = [C.c_void_p]

def run(source, target, recipe):
    quality = S.soxr_quality_spec(recipe, 0)
    state = S.soxr_create(source, target, 1, None, None, C.byref(quality), None)
    block, made, idle, longest, held = source // 100, 0, 0, 0, []
    out, used, done = (C.c_float * target)(), C.c_size_t(), C.c_size_t()
    for at in range(0, source * 3, block):
        data = (C.c_float * block)(*[math.sin(i / 9) / 2 for i in range(at, at + block)])
        S.soxr_process(state, data, block, C.byref(used), out, target, C.byref(done))
        assert used.value == block
        made += done.value
        idle = 0 if done.value else idle + 10
        longest = max(longest, idle)
        held.append(1000 * ((at + block) / source - made / target))
    S.soxr_delete(state)
    return longest, min(held[100:]), max(held[100:])

lines = []
for source, target, name, recipe in ((8000, 48000, "QQ", 0), (8000, 48000, "LQ", 1),
                                     (8000, 48000, "MQ", 2), (8000, 48000, "HQ", 4),
                                     (48000, 8000, "HQ", 4), (16000, 48000, "HQ", 4),
                                     (44100, 48000, "HQ", 4)):
    longest, least, most = run(source, target, recipe)
    lines.append("%5d to %5d Hz, %s: held back %2.0f to %3.0f ms, nothing for %3d ms"
                 % (source, target, name, least, most, longest))
print("\n".join(lines))
if lines != [" 8000 to 48000 Hz, QQ: held back  0 to   0 ms, nothing for   0 ms",
             " 8000 to 48000 Hz, LQ: held back  5 to  57 ms, nothing for  30 ms",
             " 8000 to 48000 Hz, MQ: held back 15 to  94 ms, nothing for  70 ms",
             " 8000 to 48000 Hz, HQ: held back 14 to 175 ms, nothing for 150 ms",
             "48000 to  8000 Hz, HQ: held back 13 to 158 ms, nothing for 150 ms",
             "16000 to 48000 Hz, HQ: held back  6 to  36 ms, nothing for  30 ms",
             "44100 to 48000 Hz, HQ: held back  2 to  21 ms, nothing for  20 ms"]:
    sys.exit("CHANGED: soxr gives its output in other lumps")
PY
python3 run.py
