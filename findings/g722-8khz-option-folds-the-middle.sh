#!/usr/bin/env bash
# Package: G722 1.2.8 (PyPI, the module of libg722) and SpanDSP 0.0.6 (Debian 12 package libspandsp2
# 0.0.6+dfsg-2+b1), both with the option for linear audio at 8000 Hz.
# Expected: libg722's README says that the option serves interworking with narrowband telephony, "in
# this mode the codec is considerably faster, and still fully compatible with wideband terminals".
# So it gives or takes the sound as any converter between 8000 and 16000 Hz does: what lies above
# 4 kHz is filtered out, and nothing above 4 kHz is made up.
# Instead: the option just leaves out the filter bank and hands over the lower sub-band. The bank's
# two halves overlap widely and cancel their aliases only together (G.722 section 1.4, QMF). Decoded
# at 8000 Hz, sound of 4.3 kHz comes out at 3.7 kHz only 6 dB down, 5 kHz at 3 kHz 21 dB down.
# Encoded at 8000 Hz and decoded at 16000, 3.4 kHz gets a mirror image at 4.6 kHz, 10 dB below.
# Why it matters: a gateway or conference that joins G.722 and G.711 this way folds each s and f
# into the speech band, 4 to 20 dB down. It sounds like a bad microphone, and no filter behind
# it helps. Run the codec at 16000 Hz and resample.
# Output seen (tones, dB against what was put in):
#   G722     in at 16000 Hz, out at 8000 Hz: 4.1 as 3.9 kHz  -3.9, 4.3 as 3.7  -6.0, 5 as 3 -20.6
#   G722     in at 16000 Hz, out at 16000 Hz, 4.1, 4.3 and 5 kHz: as themselves 0.0 0.0 0.0
#   G722     in at 8000 Hz, out at 16000 Hz: 3.4 kHz  -0.4, its image at 4.6 kHz -10.7
#   SpanDSP  in at 16000 Hz, out at 8000 Hz: 4.1 as 3.9 kHz  -3.9, 4.3 as 3.7  -6.0, 5 as 3 -20.6
#   SpanDSP  in at 16000 Hz, out at 16000 Hz, 4.1, 4.3 and 5 kHz: as themselves 0.0 0.0 0.0
#   SpanDSP  in at 8000 Hz, out at 16000 Hz: 3.4 kHz  -0.4, its image at 4.6 kHz -10.7
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspandsp2=0.0.6+dfsg-2+b1 libtiff6 libwebp7 \
    libzstd1 liblzma5 libjbig0 libjpeg62-turbo libdeflate0 liblerc4
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*-*)
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:${LD_LIBRARY_PATH/usr\/lib/lib}
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" G722==1.2.8
cat > run.py <<'PY'
import array, cmath, ctypes as C, glob, math, sys
sys.path.insert(0, "py")
from G722 import G722

S = C.CDLL(glob.glob("root/usr/lib/*/libspandsp.so.2")[0])
S.g722_encode_init.restype = S.g722_decode_init.restype = C.c_void_p

def module(sound, rate_in, rate_out):
    data = G722(rate_in, 64000).encode(array.array("h", sound))
    return list(G722(rate_out, 64000, use_numpy=False).decode(data))

def spandsp(sound, rate_in, rate_out):
    flag = lambda rate: 1 if rate == 8000 else 0         # G722_SAMPLE_RATE_8000
    coder = C.c_void_p(S.g722_encode_init(None, 64000, flag(rate_in)))
    decoder = C.c_void_p(S.g722_decode_init(None, 64000, flag(rate_out)))
    data, out = (C.c_ubyte * 32000)(), (C.c_int16 * 32000)()
    size = S.g722_encode(coder, data, (C.c_int16 * len(sound))(*sound), len(sound))
    return out[:S.g722_decode(decoder, out, data, size)]

def level(run, rate_in, rate_out, tone, where):          # kHz; dB against the input
    sound = [round(8000 * math.sin(2 * math.pi * tone * 1000 * i / rate_in))
             for i in range(rate_in)]
    heard = run(sound, rate_in, rate_out)
    assert len(heard) == rate_out
    span = range(rate_out // 4, rate_out // 4 * 3)       # half a second, a whole number of waves
    turn = -2j * math.pi * where * 1000 / rate_out
    power = abs(sum(heard[i] * cmath.exp(turn * i) for i in span)) * 2 / len(span)
    return round(20 * math.log10(power / 8000), 1) + 0.0

ok = True
for name, run in ("G722    ", module), ("SpanDSP ", spandsp):
    folded = [level(run, 16000, 8000, f, 8 - f) for f in (4.1, 4.3, 5)]
    proper = [level(run, 16000, 16000, f, f) for f in (4.1, 4.3, 5)]
    image = [level(run, 8000, 16000, 3.4, f) for f in (3.4, 4.6)]
    print(name, "in at 16000 Hz, out at 8000 Hz: 4.1 as 3.9 kHz %5.1f, 4.3 as 3.7 %5.1f, "
          "5 as 3 %5.1f" % tuple(folded))
    print(name, "in at 16000 Hz, out at 16000 Hz, 4.1, 4.3 and 5 kHz: as themselves "
          "%.1f %.1f %.1f" % tuple(proper))
    print(name, "in at 8000 Hz, out at 16000 Hz: 3.4 kHz %5.1f, its image at 4.6 kHz %5.1f"
          % tuple(image))
    ok &= -5 < folded[0] < -3 and -7 < folded[1] < -5 and -22 < folded[2] < -19
    ok &= max(map(abs, proper)) < 0.2 and -12 < image[1] < -9
if not ok:
    sys.exit("CHANGED: the 8000 Hz option of G.722 no longer folds sound at 4 kHz this way")
PY
python3 run.py
