#!/usr/bin/env bash
# alsa-lib 1.2.8 (Debian 12 libasound2 1.2.8-1+b1), recorded from by arecord (alsa-utils 1.2.8-1),
# with and without libasound2-plugins 1.2.7.1-1, which Debian only suggests.
# Expected: the "rate" plugin (in "default", "plughw" and "plug") turns the card's rate into the
# one asked for; on the way down it takes out all above half the new rate, as converters do.
# Seen: without libasound2-plugins it falls back, with no message, to "linear": interpolation
# without any filter. Recorded at 8000 Hz from a 48000 Hz card, 5 and 7 kHz come back as 3 and
# 1 kHz at full level, not one dB down. With the package all that is 35 dB or more below.
# (The documentation of "rate" has a choice of converters, and no word of filters or folding.)
# It matters to a phone on a small system: one that asks ALSA for 8 or 16 kHz hears each s and each
# fan hiss folded into the speech band, which noise reduction and echo canceller then cannot tell
# from speech. Ask for 48000 Hz and resample in the program, or depend on libasound2-plugins.
# Output (where the recording has most power, and its level against the tone):
#   no plugins,          8000 Hz: tone of 1000 Hz comes back as 1000 Hz, -0.0 dB
#   no plugins,          8000 Hz: tone of 5000 Hz comes back as 3000 Hz, -0.0 dB
#   no plugins,          8000 Hz: tone of 7000 Hz comes back as 1000 Hz, -0.0 dB
#   no plugins,         16000 Hz: tone of 9000 Hz comes back as 7000 Hz, -0.0 dB
#   libasound2-plugins,  8000 Hz: tone of 1000 Hz comes back as 1000 Hz, -0.0 dB
#   libasound2-plugins,  8000 Hz: tone of 5000 Hz is gone (below -35 dB)
#   (the same for 7000 Hz, and for 9000 Hz at 16000 Hz)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download alsa-utils=1.2.8-1 libasound2=1.2.8-1+b1 \
    libasound2-plugins=1.2.7.1-1 libspeexdsp1=1.2.1-1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import glob, math, os, struct, subprocess, sys

CARD = 48000
libs = os.path.abspath(glob.glob("root/usr/lib/*-*-*")[0])
os.mkdir("none")

def record(plugins, rate, tone):
    with open("tone.raw", "wb") as f:
        f.write(b"".join(struct.pack("<h", round(10000 * math.sin(2 * math.pi * tone * i / CARD)))
                         for i in range(CARD * 3)))
    with open("alsa.conf", "w") as f:
        f.write('pcm.card { type file slave.pcm { type null } format raw file /dev/null '
                'infile "%s" }\n' % os.path.abspath("tone.raw"))
        f.write("pcm.mic { type rate slave { pcm card rate %d format S16_LE } }\n" % CARD)
    env = dict(os.environ, LD_LIBRARY_PATH=libs, ALSA_CONFIG_PATH=os.path.abspath("alsa.conf"),
               ALSA_PLUGIN_DIR=libs + "/alsa-lib" if plugins else os.path.abspath("none"))
    done = subprocess.run(["root/usr/bin/arecord", "-q", "-D", "mic", "-t", "raw", "-f", "S16_LE",
                           "-c", "1", "-r", str(rate), "-s", str(rate * 2), "-"],
                          env=env, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert plugins or not done.stderr, done.stderr
    x = struct.unpack("<%dh" % (len(done.stdout) // 2), done.stdout)[rate:rate + 1600]
    assert len(x) == 1600
    level = 10 * math.log10(sum(v * v for v in x) / len(x) / 5e7 + 1e-9)

    def power(f):
        w = 2 * math.pi * f / rate
        return abs(sum(v * complex(math.cos(w * i), math.sin(w * i)) for i, v in enumerate(x)))
    at = max(range(100, rate // 2, 100), key=power)
    what = "comes back as %d Hz, %.1f dB" % (at, level) if level > -35 else "is gone (below -35 dB)"
    print("%-19s %5d Hz: tone of %d Hz %s"
          % ("libasound2-plugins," if plugins else "no plugins,", rate, tone, what))
    return (at, round(level)) if level > -35 else None

cases = (8000, 1000), (8000, 5000), (8000, 7000), (16000, 9000)
got = [record(plugins, *case) for plugins in (False, True) for case in cases]
if got != [(1000, 0), (3000, 0), (1000, 0), (7000, 0), (1000, 0), None, None, None]:
    sys.exit("CHANGED: ALSA's rate plugin no longer folds what lies above half the rate")
PY
python3 run.py
