#!/usr/bin/env bash
# Package: FFmpeg 7.1 (in PyPI's av 14.2.0), libswresample, as used by "-ac 2", aformat and every
# automatic conversion; against SoX (Debian 12 sox 14.4.2+git20190427-3.5).
# Expected: one channel into two gives the same samples twice, as in SoX and ALSA, and as an Opus
# decoder does with a mono packet. FFmpeg's wiki says of "-ac 2" that it will "simply place the same
# audio into both the left and right channels".
# Instead: each side gets 0.707 of it, as if mono were the centre of surround sound. Going down, two
# sides are averaged, so equal ones come back as they were. One trip from mono to stereo and back
# costs 3.0 dB, each further trip as much again. Nothing is logged, and the option for the centre's
# level (clev, center_mix_level) has no effect here.
# Why it matters: a prompt, a ring tone or a recorded call whose path has one stereo leg is 3 dB
# quieter than the same file by another way; loudness, echo loss and level tests of a phone with a
# 2-channel card and an FFmpeg step differ by just that, and AGC or gain tables get the blame. Copy
# the channel by name (pan=stereo|c0=c0|c1=c0), or set rematrix_volume to 1.414.
# Output seen (dB against the mono file):
#   SoX, mono to stereo:                        0.0
#   SoX, and back:                              0.0
#   FFmpeg, mono to stereo:                    -3.0
#   FFmpeg, stereo of equal sides to mono:      0.0
#   FFmpeg, mono to stereo to mono:            -3.0
#   FFmpeg, the same twice:                    -6.0
#   filter aformat=channel_layouts=stereo:     -3.0
#   filter aresample=ochl=stereo:clev=0:       -3.0
#   filter aresample=ochl=stereo:rmvol=1.414:   0.0
#   filter pan=stereo|c0=c0|c1=c0:              0.0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download sox=14.4.2+git20190427-3.5 \
    libsox3=14.4.2+git20190427-3.5 libgsm1 libltdl7 libmagic1 libpng16-16 libgomp1 libbz2-1.0 \
    liblzma5 zlib1g
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-*-*)
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" av==14.2.0 numpy==2.2.6
cat > run.py <<'PY'
import math, os, subprocess, sys
sys.path.insert(0, "py")
import av
import numpy as np

sound = np.round(8000 * np.sin(np.arange(48000) / 10)).astype("<i2")

def power(samples):
    return np.mean(np.asarray(samples, float)[10000:40000] ** 2)

def db(samples):
    return round(10 * math.log10(power(samples) / power(sound)), 1) + 0.0

def frame(samples, layout, rate=48000):
    made = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout=layout)
    made.sample_rate = rate
    return made

def swr(samples, source, target, rate=48000):
    tool = av.AudioResampler("s16", target, rate)
    out = tool.resample(frame(samples, source)) + tool.resample(None)
    return np.concatenate([f.to_ndarray()[0] for f in out])

def graph(text):                           # mono in
    g = av.filter.Graph()
    chain = [g.add_abuffer(sample_rate=48000, format="s16", layout="mono", time_base="1/48000")]
    chain += [g.add(*text.split("=", 1)), g.add("abuffersink")]
    g.link_nodes(*chain).configure()
    given = frame(sound, "mono")
    given.pts = 0
    g.push(given)
    out = g.pull()
    assert out.layout.nb_channels == 2
    return out.to_ndarray()[0]

def sox(samples, source, target):
    env = dict(os.environ, LD_LIBRARY_PATH=sys.argv[1])
    raw = lambda n: ["-t", "raw", "-r", "48000", "-e", "signed", "-b", "16", "-c", str(n), "-"]
    done = subprocess.run(["root/usr/bin/sox", "-D", *raw(source), *raw(target)], env=env,
                          input=samples.astype("<i2").tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, "<i2")

two = np.repeat(sound, 2)
once = swr(swr(sound, "mono", "stereo"), "stereo", "mono")
twice = swr(swr(once, "mono", "stereo"), "stereo", "mono")
rows = (("SoX, mono to stereo:                     ", sox(sound, 1, 2)[::2], 0),
        ("SoX, and back:                           ", sox(sox(sound, 1, 2), 2, 1), 0),
        ("FFmpeg, mono to stereo:                  ", swr(sound, "mono", "stereo")[::2], -3),
        ("FFmpeg, stereo of equal sides to mono:   ", swr(two, "stereo", "mono"), 0),
        ("FFmpeg, mono to stereo to mono:          ", once, -3),
        ("FFmpeg, the same twice:                  ", twice, -6),
        ("filter aformat=channel_layouts=stereo:   ", graph("aformat=channel_layouts=stereo")[::2],
         -3),
        ("filter aresample=ochl=stereo:clev=0:     ",
         graph("aresample=ochl=stereo:clev=0")[::2], -3),
        ("filter aresample=ochl=stereo:rmvol=1.414:",
         graph("aresample=ochl=stereo:rmvol=1.414")[::2], 0),
        ("filter pan=stereo|c0=c0|c1=c0:           ", graph("pan=stereo|c0=c0|c1=c0")[::2], 0))
ok = True
for name, samples, want in rows:
    got = db(samples)
    print(name, "%5.1f" % got)
    ok &= want is None or abs(got - want) < 0.1
if not ok:
    sys.exit("CHANGED: FFmpeg turns mono into stereo at another level")
PY
python3 run.py "$lib:${lib/usr\/lib/lib}"
