#!/usr/bin/env bash
# SpanDSP 0.0.6 (Debian 12 package libspandsp2 0.0.6+dfsg-2+b1), echo_can_update(), adaption only,
# 256 taps. The echo is the plain far end 5 ms later and 20 dB weaker; nobody talks at the near end.
# Expected: "This module aims to provide G.168-2002 compliant echo cancellation" (echo.h). G.168
# tests convergence with far ends from -30 to 0 dBm0; a canceller must never add to the echo.
# Seen: talk with peaks 9 dB below full scale is cancelled by 14 dB in the first second and 30 dB
# later. The same talk at peaks of -3 dBFS, -15 dBm0 on average, makes the filter diverge: the
# canceller puts out 20 to 30 dB more than the echo that came in, louder than the far end itself.
# White noise with the same peaks, what cancellers are mostly tested with, is cancelled by 45 dB.
# Nothing but the level differs: far end and echo are scaled together.
# Besides, the packaged library prints one or two debug lines for each sample on the standard
# output ("echo is 0", "Narrowband score ..."): a program that writes sound there writes rubbish,
# and 8000 writes a second go to its log.
# Why it matters: a line that is fine in tests with noise, and with quiet talkers, roars as soon as
# a loud one comes, and it is the far end that hears it. Limit the far end's peaks to 1/4 of full
# scale before the canceller and the loudspeaker, or use another canceller.
# Output seen (dBFS in seconds 1 to 8):
#   talk, peak  -9 dBFS  echo     -47 -47 -47 -49 -47 -48 -47 -48
#   talk, peak  -9 dBFS  output   -61 -69 -74 -76 -78 -77 -80 -81
#   talk, peak  -3 dBFS  far end  -21 -21 -21 -23 -21 -22 -21 -22
#   talk, peak  -3 dBFS  echo     -41 -41 -41 -43 -41 -42 -41 -42
#   talk, peak  -3 dBFS  output   -58 -19 -13 -19 -17 -13 -11 -21
#   talk, peak   0 dBFS  echo     -38 -38 -38 -40 -38 -39 -38 -39
#   talk, peak   0 dBFS  output   -11  -8  -9 -10  -8 -10 -10 -11
#   noise, peak  -3 dBFS output   -51 -80 -81 -81 -81 -81 -81 -80
#   513296 lines printed for 256000 samples
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspandsp2=0.0.6+dfsg-2+b1 libtiff6 libwebp7 \
    libzstd1 liblzma5 libjbig0 libjpeg62-turbo libdeflate0 liblerc4
for deb in *.deb; do dpkg -x "$deb" root; done
libs=$(dirname root/usr/lib/*/libspandsp.so.2)
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" numpy==2.2.6
cat > run.py <<'PY'
import ctypes as C, glob, os, sys
sys.path.insert(0, "py")
import numpy as np

S = C.CDLL(glob.glob("root/usr/lib/*/libspandsp.so.2")[0])
S.echo_can_init.restype, S.echo_can_update.restype = C.c_void_p, C.c_int16
S.echo_can_update.argtypes = [C.c_void_p, C.c_int16, C.c_int16]
RATE, SECONDS, ADAPTION = 8000, 8, 1
results = os.fdopen(os.dup(1), "w")
os.dup2(os.open("spandsp.txt", os.O_WRONLY | os.O_CREAT), 1)      # what the library prints

def talk():                            # syllables of gliding pitch with two resonances
    rnd, count, at = np.random.default_rng(1), RATE * SECONDS, 0
    sound = np.zeros(count)
    while at < count:
        t, pitch = np.arange(int(RATE * rnd.uniform(0.1, 0.3))) / RATE, rnd.uniform(90, 180)
        near = lambda k: (np.exp(-((k * pitch - 500) / 400) ** 2)
                          + 0.4 * np.exp(-((k * pitch - 1800) / 600) ** 2))
        syllable = sum(near(k) * np.sin(2 * np.pi * k * pitch * (t + 0.1 * t * t))
                       for k in range(1, 30)) * np.sin(np.pi * np.arange(len(t)) / len(t))
        part = syllable[:count - at]
        sound[at:at + len(part)] += part
        at += len(t) + int(RATE * rnd.uniform(0, 0.15))
    return sound

def levels(sound):
    power = np.mean(sound.astype(float).reshape(SECONDS, RATE) ** 2, axis=1) / 32768 ** 2
    return np.round(10 * np.log10(power + 1e-12)).astype(int)

def cancelled(name, sound, peak):      # peak in dBFS; returns echo and output in dBFS
    far = np.round(sound / np.max(np.abs(sound)) * 32767 * 10 ** (peak / 20)).astype(int)
    echo = np.round(0.1 * np.concatenate([np.zeros(40), far[:-40]])).astype(int)
    state = C.c_void_p(S.echo_can_init(256, ADAPTION))
    out = np.array([S.echo_can_update(state, *pair) for pair in zip(far.tolist(), echo.tolist())])
    S.echo_can_free(state)
    for kind, what in ("far end", far), ("echo", echo), ("output", out):
        print("%-20s %-8s %s" % ("%s, peak %3d dBFS" % (name, peak), kind,
              " ".join("%3d" % v for v in levels(what))), file=results, flush=True)
    return levels(echo), levels(out)

noise = np.random.default_rng(2).normal(0, 1, RATE * SECONDS)
cases = [cancelled("talk", talk(), peak) for peak in (-9, -3, 0)] + [cancelled("noise", noise, -3)]
S.fflush = C.CDLL(None).fflush
S.fflush(None)
lines = sum(1 for _ in open("spandsp.txt", "rb"))
print("%d lines printed for %d samples" % (lines, len(cases) * RATE * SECONDS), file=results)
rises = [out - echo for echo, out in cases]
if (max(rises[0][1:]) > -10 or max(rises[3][1:]) > -30 or min(rises[2]) < 15
        or max(rises[1]) < 15 or lines < len(cases) * RATE * SECONDS):
    sys.exit("CHANGED: the canceller no longer diverges under loud talk (or now does elsewhere)")
PY
LD_LIBRARY_PATH=$PWD/$libs python3 run.py
