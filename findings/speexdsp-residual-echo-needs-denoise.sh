#!/usr/bin/env bash
# SpeexDSP 1.2.1 (Debian 12 package libspeexdsp1 1.2.1-1), 16 kHz, 20 ms frames, 200 ms filter.
# Expected: speex_preprocess.h: SPEEX_PREPROCESS_SET_ECHO_STATE links the echo canceller "so that
# residual echo suppression can be performed". Noise reduction (SET_DENOISE) is a switch of its own.
# Seen: with SET_DENOISE 0 the link is accepted and does nothing: the output is the same sample for
# sample. Only with the denoiser on is the residual echo suppressed, by 23 dB more than by it alone.
# It matters to a phone: a user who turns noise reduction off, say for music, turns this off too,
# and the far end hears itself. Leave SET_DENOISE on and set NOISE_SUPPRESS to 0 dB (last line).
# Output (only the far end speaks; the echo is slightly overdriven as in a small speaker):
#   far end -26.0 dBFS, echo at the microphone -27.8 dBFS; after cancelling, last 4 of 8 s:
#   denoise off, not linked               -50.4 dBFS
#   denoise off, linked                   -50.4 dBFS  (sample for sample the same)
#   denoise on, not linked                -52.0 dBFS
#   denoise on, linked                    -75.4 dBFS
#   denoise on at 0 dB, linked            -64.9 dBFS
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
cat > run.py <<'PY'
import ctypes as C, glob, math, random, sys

S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.speex_preprocess_state_init.restype = S.speex_echo_state_init.restype = C.c_void_p
RATE, FRAME = 16000, 320
ECHO_SET_RATE, DENOISE, NOISE_SUPPRESS, ECHO_SUPPRESS, ECHO_STATE = 24, 0, 18, 20, 24

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power else -200.0

# The far end: noise in three syllables a second. The echo: a short room, then a soft limit.
rnd = random.Random(5)
syllable = [max(0.0, math.sin(6 * math.pi * i / RATE)) for i in range(RATE * 8)]
far = [int(rnd.gauss(0, 3277) * a) for a in syllable]
room = [(80 + k, rnd.gauss(0, 0.25) * math.exp(-k / 60)) for k in range(0, 240, 3)]
sum_of_paths = [0.0] * len(far)
for delay, gain in room:
    for i in range(delay, len(far)):
        sum_of_paths[i] += gain * far[i - delay]
microphone = [int(8000 * math.tanh(v / 8000)) for v in sum_of_paths]

def run(denoise, linked, noise_db=None):
    echo = C.c_void_p(S.speex_echo_state_init(FRAME, RATE // 5))
    S.speex_echo_ctl(echo, ECHO_SET_RATE, C.byref(C.c_int(RATE)))
    pre = C.c_void_p(S.speex_preprocess_state_init(FRAME, RATE))
    settings = [(DENOISE, denoise), (ECHO_SUPPRESS, -60)]
    if noise_db is not None:
        settings.append((NOISE_SUPPRESS, noise_db))
    for request, value in settings:
        assert S.speex_preprocess_ctl(pre, request, C.byref(C.c_int(value))) == 0
    if linked:
        assert S.speex_preprocess_ctl(pre, ECHO_STATE, echo) == 0
    heard, out = [], (C.c_int16 * FRAME)()
    for at in range(0, len(far), FRAME):
        S.speex_echo_cancellation(echo, (C.c_int16 * FRAME)(*microphone[at:at + FRAME]),
                                  (C.c_int16 * FRAME)(*far[at:at + FRAME]), out)
        S.speex_preprocess_run(pre, out)
        heard.extend(out)
    S.speex_preprocess_state_destroy(pre)
    S.speex_echo_state_destroy(echo)
    return heard[RATE * 4:]

def show(name, x, note=""):
    print("%-36s %6.1f dBFS%s" % (name, dbfs(x), note))
    return dbfs(x)

print("far end %.1f dBFS, echo at the microphone %.1f dBFS; after cancelling, last 4 of 8 s:"
      % (dbfs(far), dbfs(microphone)))
off, off_linked = run(0, False), run(0, True)
same = off == off_linked
show("denoise off, not linked", off)
show("denoise off, linked", off_linked, "  (sample for sample the same)" if same else "")
alone = show("denoise on, not linked", run(1, False))
both = show("denoise on, linked", run(1, True))
zero = show("denoise on at 0 dB, linked", run(1, True, 0))
if not (same and both < alone - 15 and zero < dbfs(off) - 8):
    sys.exit("CHANGED: residual echo suppression no longer depends on the denoiser")
PY
python3 run.py
