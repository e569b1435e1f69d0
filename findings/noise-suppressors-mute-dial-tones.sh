#!/usr/bin/env bash
# SpeexDSP 1.2.1 (Debian 12 libspeexdsp1 1.2.1-1), WebRTC's noise suppressor (PyPI webrtc-noise-gain
# 1.3.0) and RNNoise (PyPI pyrnnoise 0.4.5, its library only).
# Expected: a noise suppressor leaves a loud tone (-18 dBFS) without any noise around it alone.
# Seen: all three take a steady tone for noise. Dial tone (350 and 440 Hz) and a held DTMF 1 fall by
# 15 dB within two seconds in SpeexDSP (its default depth), by 6 to 20 dB within half a second in
# WebRTC (levels 1 to 4), and by 120 dB, as good as erased, in RNNoise.
# It matters to a phone: a DTMF key sent as sound dies while held; and a test of level, delay or
# frequency response with a sine measures the suppressor. Use speech-like or broken-up sounds.
# Output (dBFS in each half second, before it is -18; the lines for DTMF 1 differ by 5 dB at most):
#   dial tone  SpeexDSP         -18  -20  -30  -33  -33  -33  -33  -33
#   dial tone  WebRTC level 1   -24  -24  -24  -24  -24  -24  -24  -24
#   dial tone  WebRTC level 2   -30  -30  -30  -30  -31  -31  -31  -31
#   dial tone  WebRTC level 4   -38  -39  -39  -39  -40  -40  -40  -40
#   dial tone  RNNoise          -48 -138 -138 -139 -139 -139 -138 -138
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeexdsp1=1.2.1-1
dpkg -x libspeexdsp1_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" webrtc-noise-gain==1.3.0 pyrnnoise==0.4.5
cat > run.py <<'PY'
import array, ctypes as C, glob, math, sys
sys.path.insert(0, "py")
from webrtc_noise_gain import AudioProcessor

S = C.CDLL(glob.glob("root/usr/lib/*/libspeexdsp.so.1")[0])
S.speex_preprocess_state_init.restype = C.c_void_p
N = C.CDLL(glob.glob("py/pyrnnoise/librnnoise.so")[0])
N.rnnoise_create.restype = C.c_void_p
N.rnnoise_process_frame.restype = C.c_float

def dbfs(x):
    power = sum(v * v for v in x) / len(x)
    return 10 * math.log10(power / 32768**2) if power > 1e-9 else -180.0

def tone(rate, pair, seconds=4):
    a, b = (2 * math.pi * f / rate for f in pair)
    return [int(4096 * (math.sin(a * i) + math.sin(b * i))) for i in range(rate * seconds)]

def speex(x):
    state, out = C.c_void_p(S.speex_preprocess_state_init(320, 16000)), []
    assert S.speex_preprocess_ctl(state, 0, C.byref(C.c_int(1))) == 0     # SET_DENOISE
    for at in range(0, len(x), 320):
        block = (C.c_int16 * 320)(*x[at:at + 320])
        S.speex_preprocess_run(state, block)
        out.extend(block)
    return out

def webrtc(level):
    def process(x):
        apm, out = AudioProcessor(0, level), array.array("h")
        for at in range(0, len(x), 160):
            out.frombytes(apm.Process10ms(array.array("h", x[at:at + 160]).tobytes()).audio)
        return list(out)
    return process

def rnnoise(x):
    state, out = C.c_void_p(N.rnnoise_create(None)), []
    for at in range(0, len(x), 480):
        block = (C.c_float * 480)(*x[at:at + 480])
        N.rnnoise_process_frame(state, block, block)
        out.extend(block)
    return out

# What to run, and by how many dB the tone must fall at least.
tools = (("SpeexDSP", 16000, speex, 12), ("WebRTC level 1", 16000, webrtc(1), 4),
         ("WebRTC level 2", 16000, webrtc(2), 9), ("WebRTC level 4", 16000, webrtc(4), 15),
         ("RNNoise", 48000, rnnoise, 80))
ok = True
for name, pair in (("dial tone", (350, 440)), ("DTMF 1", (697, 1209))):
    for tool, rate, process, least in tools:
        x = tone(rate, pair)
        y, half = process(x), rate // 2
        levels = [dbfs(y[i:i + half]) for i in range(0, len(y), half)]
        print("%-10s %-15s %s" % (name, tool, " ".join("%4.0f" % v for v in levels)))
        ok &= dbfs(x) - levels[-1] > least
if not ok:
    sys.exit("CHANGED: a steady tone is no longer taken for noise by all three")
PY
python3 run.py
