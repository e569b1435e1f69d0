#!/usr/bin/env bash
# SpeexDSP 1.2.1 (Debian 12 package libspeexdsp1 1.2.1-1), speex_preprocess_run().
# Expected: speex_preprocess.h says that it processes a frame, "in and out" in one buffer, and names
# no delay; with denoise, AGC, VAD and dereverberation off one expects the same samples back.
# Seen: they come back exactly one whole frame later, bit for bit, at every frame size and rate,
# even with everything off: the state works on overlapping windows of two frames. No request
# tells this delay. The echo canceller, run on the same frames just before, adds none.
# It matters to a phone: the header's advice of 10 to 20 ms frames costs 10 to 20 ms of delay at
# each end. Count it in a delay budget, and leave the call out when everything is off.
# Output:
#    8000 Hz, frames of 160 (20.0 ms), all off:    delay 160 samples = 20.0 ms, otherwise identical
#   16000 Hz, frames of 320 (20.0 ms), all off:    delay 320 samples = 20.0 ms, otherwise identical
#   16000 Hz, frames of 160 (10.0 ms), all off:    delay 160 samples = 10.0 ms, otherwise identical
#   48000 Hz, frames of 120 ( 2.5 ms), all off:    delay 120 samples =  2.5 ms, otherwise identical
#   16000 Hz, frames of 320 (20.0 ms), denoise on: delay 320 samples = 20.0 ms
#   16000 Hz, frames of 320 (20.0 ms), echo canceller only: delay 0 samples =  0.0 ms
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
cat > run.py <<'PY'
import ctypes as C, glob, random, sys

S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.speex_preprocess_state_init.restype = S.speex_echo_state_init.restype = C.c_void_p
SET_DENOISE = 0

# A voice-like sound would do as well; noise makes the delay unmistakable.
rnd = random.Random(1)

def run(rate, frame, denoise=0, echo_only=False):
    sound = [round(rnd.gauss(0, 3000)) for _ in range(frame * 40)]
    pre = C.c_void_p(S.speex_preprocess_state_init(frame, rate))
    on = C.c_int(denoise)
    assert S.speex_preprocess_ctl(pre, SET_DENOISE, C.byref(on)) == 0   # the rest is off anyway
    echo = C.c_void_p(S.speex_echo_state_init(frame, frame * 8))
    silence, heard = (C.c_int16 * frame)(), []
    for at in range(0, len(sound), frame):
        block = (C.c_int16 * frame)(*sound[at:at + frame])
        if echo_only:
            out = (C.c_int16 * frame)()
            S.speex_echo_cancellation(echo, block, silence, out)
            block = out
        else:
            S.speex_preprocess_run(pre, block)
        heard.extend(block)
    S.speex_echo_state_destroy(echo)
    S.speex_preprocess_state_destroy(pre)
    span = range(frame * 10, frame * 20)
    score = lambda d: sum(sound[i] * heard[i + d] for i in span)
    delay = max(range(frame * 3), key=score)
    same = heard[delay:] == sound[:len(sound) - delay]
    what = "echo canceller only:" if echo_only else "denoise on:" if denoise else "all off:   "
    print("%5d Hz, frames of %d (%4.1f ms), %s delay %d samples = %4.1f ms%s"
          % (rate, frame, frame * 1000 / rate, what, delay, delay * 1000 / rate,
             ", otherwise identical" if same else ""))
    return delay == (0 if echo_only else frame) and (same or denoise or echo_only)

ok = all([run(8000, 160), run(16000, 320), run(16000, 160), run(48000, 120),
          run(16000, 320, denoise=1), run(16000, 320, echo_only=True)])
if not ok:
    sys.exit("CHANGED: speex_preprocess_run no longer delays by exactly one frame")
PY
python3 run.py
