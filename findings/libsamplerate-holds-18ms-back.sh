#!/usr/bin/env bash
# libsamplerate 0.2.2 (Debian 12 package libsamplerate0 0.2.2-3), src_process() fed with blocks of
# 10 ms, against SpeexDSP 1.2.1 (Debian 12 libspeexdsp1 1.2.1-1).
# Expected: samplerate.h and the documentation give each converter's quality and speed, but no
# delay, and src_simple() returns aligned sound of the full length. So one counts with next to
# nothing, or with a call that tells, like speex_resampler_get_input_latency().
# Seen: "best" holds back some 143 samples of the lower of the two rates: 18 ms between 8000 and
# 48000 Hz in either direction (the first block gives nothing at all), 9 ms at 16000 Hz; "medium" a
# third, "fastest" a seventh. It is not silence at the start but output that is missing, so the
# sound lines up in files and the delay shows only in a running call. No function reports it.
# It matters to a phone that talks G.711 over a 48 kHz card: "best" for microphone and loudspeaker
# adds 36 ms to each mouth-to-ear path, about two packets, and an echo canceller told only of the
# card's delay looks in the wrong place. Take SRC_SINC_FASTEST, and count frames in and out.
# Output (delay in ms; in brackets what the first two blocks of 10 ms give):
#    8000 to 48000 Hz: best 18.0 (0, 97 of 480), medium 5.9, fastest 2.5; SpeexDSP 3: 3.0
#   48000 to  8000 Hz: best 17.9 (0, 17 of 80), medium 5.6, fastest 2.4; SpeexDSP 3: 3.0
#   16000 to 48000 Hz: best 9.0 (48, 480 of 480), medium 2.9, fastest 1.2; SpeexDSP 3: 1.5
#   48000 to 16000 Hz: best 8.9 (17, 160 of 160), medium 2.9, fastest 1.2; SpeexDSP 3: 1.5
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libsamplerate0=0.2.2-3 libspeexdsp1=1.2.1-1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes as C, glob, math, sys

S = C.CDLL(glob.glob("root/usr/lib/*/libsamplerate.so.0")[0])
X = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.src_new.restype = X.speex_resampler_init.restype = C.c_void_p

class Data(C.Structure):                   # SRC_DATA
    _fields_ = ([("data_in", C.c_void_p), ("data_out", C.c_void_p)]
                + [(n, C.c_long) for n in ("input_frames", "output_frames", "used", "made")]
                + [("end", C.c_int), ("ratio", C.c_double)])

def held(source, target, converter):       # ms, and the frames made of the first two blocks
    error = C.c_int()
    state = C.c_void_p(S.src_new(converter, 1, C.byref(error)))
    size, counts = source // 100, []
    for at in range(0, source, size):
        block = (C.c_float * size)(*[math.sin(i / 20) / 2 for i in range(at, at + size)])
        out = (C.c_float * (target // 50))()
        data = Data(C.addressof(block), C.addressof(out), size, target // 50, 0, 0, 0,
                    target / source)
        assert S.src_process(state, C.byref(data)) == 0 and data.used == size
        counts.append(data.made)
    return 1000 * (target - sum(counts)) / target, counts[:2]

def speex(source, target, quality):
    state = C.c_void_p(X.speex_resampler_init(1, source, target, quality, None))
    return 1000 * X.speex_resampler_get_input_latency(state) / source

lines = []
for source, target in (8000, 48000), (48000, 8000), (16000, 48000), (48000, 16000):
    best, medium, fastest = (held(source, target, k) for k in range(3))
    lines.append("%5d to %5d Hz: best %.1f (%d, %d of %d), medium %.1f, fastest %.1f; SpeexDSP 3: "
                 "%.1f" % (source, target, best[0], *best[1], target // 100, medium[0], fastest[0],
                    speex(source, target, 3)))
print("\n".join(lines))
if lines != [
        " 8000 to 48000 Hz: best 18.0 (0, 97 of 480), medium 5.9, fastest 2.5; SpeexDSP 3: 3.0",
        "48000 to  8000 Hz: best 17.9 (0, 17 of 80), medium 5.6, fastest 2.4; SpeexDSP 3: 3.0",
        "16000 to 48000 Hz: best 9.0 (48, 480 of 480), medium 2.9, fastest 1.2; SpeexDSP 3: 1.5",
        "48000 to 16000 Hz: best 8.9 (17, 160 of 160), medium 2.9, fastest 1.2; SpeexDSP 3: 1.5"]:
    sys.exit("CHANGED: libsamplerate holds back another number of samples")
PY
python3 run.py
