#!/usr/bin/env bash
# SpeexDSP 1.2.1 (Debian 12 package libspeexdsp1 1.2.1-1), speex_echo_cancellation(), frames of
# 20 ms, a filter of 100 ms. numpy 2.2.6.
# Expected: speex_echo_state_init() takes lengths in samples and no rate. The request "Set sampling
# rate" (speex_echo.h) may matter to the speed of adaption, but without an echo the near end passes
# as it is.
# Seen: the canceller holds a high-pass filter against DC, which the header does not mention, with
# three coefficients: for rates below 12000, below 24000 and from there on. The default is 8000. So
# without the request a voice loses 10 dB at 200 Hz when the frames are of 16 kHz, and 22 dB at 300
# Hz and 4 dB at 1 kHz when they are of 48 kHz, even while the far end is silent. The echo is
# cancelled as well as with the rate set, so measures of echo do not show it. At 8000 Hz the filter
# that is meant to be takes 10 dB at 100 Hz; a rate of 16000 set there spares the voice at no cost.
# Why it matters: voices turn thin, and one looks for it in the microphone or the codec. Set the
# rate, even where all lengths in samples are right already.
# Output seen (near end alone, far end silent: dB at 50, 100, 200, 300, 500, 1000 and 3000 Hz; then
# an echo of noise, seconds 5 to 8):
#    8000 Hz, rate set       -21.9 -10.4  -2.4  -0.7  -0.2  -0.1  -0.0   echo -53 dB
#    8000 Hz, set to 16000    -1.0  -0.2  -0.0  -0.0  -0.0  -0.0  -0.0   echo -52 dB
#   16000 Hz, rate not set   -33.8 -21.9 -10.4  -4.9  -1.3  -0.2  -0.0   echo -52 dB
#   16000 Hz, rate set        -5.5  -1.0  -0.2  -0.1  -0.0  -0.0  -0.0   echo -52 dB
#   48000 Hz, rate not set   -52.9 -40.9 -28.8 -21.9 -13.3  -3.8  -0.2   echo -53 dB
#   48000 Hz, rate set        -9.3  -2.1  -0.3  -0.1  -0.0  -0.0  -0.0   echo -50 dB
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" numpy==2.2.6
cat > run.py <<'PY'
import ctypes as C, glob, sys
sys.path.insert(0, "py")
import numpy as np

S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.speex_echo_state_init.restype = C.c_void_p
SET_SAMPLING_RATE = 24                 # speex_echo.h
TONES = 50, 100, 200, 300, 500, 1000, 3000

def cancelled(near, far, rate, told):
    size = rate // 50
    state = C.c_void_p(S.speex_echo_state_init(size, rate // 10))
    if told:
        assert S.speex_echo_ctl(state, SET_SAMPLING_RATE, C.byref(C.c_int(told))) == 0
    out, block = [], (C.c_int16 * size)()
    for at in range(0, len(near) - size + 1, size):
        S.speex_echo_cancellation(state, (C.c_int16 * size)(*near[at:at + size].tolist()),
                                  (C.c_int16 * size)(*far[at:at + size].tolist()), block)
        out.extend(block)
    S.speex_echo_state_destroy(state)
    return np.array(out, float)

def measured(rate, told):
    t = np.arange(2 * rate) / rate
    losses = []
    for tone in TONES:
        near = np.round(8000 * np.sin(2 * np.pi * tone * t)).astype(int)
        out = cancelled(near, 0 * near, rate, told)
        losses.append(20 * np.log10(np.std(out[rate:]) / np.std(near[rate:])))
    rnd = np.random.default_rng(1)
    far = np.round(rnd.normal(0, 2000, 8 * rate)).astype(int)
    room = rnd.normal(0, 1, rate // 20) * np.exp(-np.arange(rate // 20) / (rate / 100))
    echo = np.convolve(far, 0.3 * room / np.sqrt(np.sum(room ** 2)))[:len(far)].round().astype(int)
    part = slice(4 * rate, 8 * rate)
    left = cancelled(echo, far, rate, told)
    taken = 20 * np.log10(np.std(echo[part]) / np.std(left[part]))
    print("%5d Hz, %-14s %s   echo -%.0f dB" % (rate, "rate set" if told == rate else "set to %d" %
          told if told else "rate not set", " ".join("%5.1f" % v for v in losses), taken))
    return np.array(losses), taken

results = {case: measured(*case) for case in
           ((8000, 8000), (8000, 16000), (16000, 0), (16000, 16000), (48000, 0), (48000, 48000))}
loss = lambda *case: dict(zip(TONES, results[case][0]))
if (loss(48000, 0)[300] > -18 or loss(48000, 0)[1000] > -3 or loss(48000, 48000)[300] < -1
        or loss(16000, 0)[200] > -8 or loss(16000, 16000)[200] < -1 or loss(8000, 8000)[100] > -8
        or loss(8000, 16000)[100] < -1
        or any(results[rate, 0][1] < results[rate, rate][1] - 3 for rate in (16000, 48000))):
    sys.exit("CHANGED: the canceller passes voices alike with and without its rate")
PY
python3 run.py
