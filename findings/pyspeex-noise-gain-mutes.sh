#!/usr/bin/env bash
# pyspeex-noise 2.0.1 (PyPI; noise suppression and automatic gain of SpeexDSP for voice assistants)
# against SpeexDSP 1.2.1 itself (Debian 12 package libspeexdsp1 1.2.1-1). 16 kHz, blocks of 10 ms.
# Expected: AudioProcessor(auto_gain=4000, noise_suppression=-30), its defaults and the values in
# its README, brings talk to a level near 4000 and takes noise down by up to 30 dB.
# Seen: with any auto_gain but 0 the output is silence, 85 dB below the talk that went in, at 1 and
# 24000 as at 4000. With auto_gain 0 the talk passes. SpeexDSP with the same settings works, unless
# SPEEX_PREPROCESS_SET_AGC_LEVEL is given the 4000 as an integer: then it is silent just so.
# speex_preprocess.h says "(float)" of this request, but the call takes any pointer, and 4000 as an
# integer is 5.6e-42 as a float.
# Why it matters: a phone or assistant with it is deaf and no call fails; and who calls
# speex_preprocess_ctl() from another language meets the same trap. Check the level that comes out.
# Output seen (dBFS in seconds 1 to 6):
#   talk                                -25  -24  -25  -24  -25  -25
#   pyspeex-noise, defaults             -84 -107 -113 -109 -109 -113
#   pyspeex-noise, auto_gain 1          -84 -107 -113 -109 -109 -113
#   pyspeex-noise, auto_gain 24000      -84 -107 -113 -109 -109 -113
#   pyspeex-noise, auto_gain 0          -26  -27  -29  -28  -28  -29
#   SpeexDSP, level 4000 as a float     -30  -32  -33  -33  -33  -33
#   SpeexDSP, level 4000 as an int      -84 -107 -112 -109 -109 -113
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" pyspeex-noise==2.0.1 numpy==2.2.6
cat > run.py <<'PY'
import ctypes as C, glob, sys
sys.path.insert(0, "py")
import numpy as np
from pyspeex_noise import AudioProcessor

RATE, BLOCK, SECONDS = 16000, 160, 6
AGC, AGC_LEVEL, SUPPRESS = 2, 6, 8     # speex_preprocess.h: SPEEX_PREPROCESS_SET_...
S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.speex_preprocess_state_init.restype = C.c_void_p

t = np.arange(SECONDS * RATE) / RATE   # gliding harmonics in syllables, and faint noise
glide = t + 0.05 * np.sin(4 * t)
talk = sum(np.sin(2 * np.pi * 130 * k * glide) / k for k in range(1, 40))
talk *= 3000 * np.abs(np.sin(2 * np.pi * 2.2 * t))
talk = np.round(talk + np.random.default_rng(4).normal(0, 20, len(t))).astype(np.int16)
blocks = talk.reshape(-1, BLOCK)

def show(name, out):
    power = np.mean(out.astype(float).reshape(SECONDS, RATE) ** 2, axis=1) / 32768 ** 2
    levels = 10 * np.log10(power + 1e-12)
    print("%-34s %s" % (name, " ".join("%4.0f" % v for v in levels)))
    return levels

def packaged(name, *settings):
    processor = AudioProcessor(*settings)
    out = b"".join(processor.process_10ms(block.tobytes()) for block in blocks)
    return show(name, np.frombuffer(out, np.int16))

def by_hand(name, level):              # level: what AGC_LEVEL is given
    state, out = C.c_void_p(S.speex_preprocess_state_init(BLOCK, RATE)), []
    for request, value in (SUPPRESS, C.c_int(-30)), (AGC, C.c_int(1)), (AGC_LEVEL, level):
        assert S.speex_preprocess_ctl(state, request, C.byref(value)) == 0
    for block in blocks:
        samples = (C.c_int16 * BLOCK)(*block.tolist())
        S.speex_preprocess_run(state, samples)
        out.append(np.array(samples))
    return show(name, np.concatenate(out))

show("talk", talk)
silent = [packaged("pyspeex-noise, defaults"), packaged("pyspeex-noise, auto_gain 1", 1, -30),
          packaged("pyspeex-noise, auto_gain 24000", 24000, -30)]
off = packaged("pyspeex-noise, auto_gain 0", 0, -30)
right = by_hand("SpeexDSP, level 4000 as a float", C.c_float(4000))
wrong = by_hand("SpeexDSP, level 4000 as an int", C.c_int(4000))
if max(np.max(case[1:]) for case in (*silent, wrong)) > -80 or min(*off[1:], *right[1:]) < -45:
    sys.exit("CHANGED: pyspeex-noise with automatic gain is no longer silent (or others are)")
PY
python3 run.py
