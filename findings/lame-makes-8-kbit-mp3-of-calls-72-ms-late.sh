#!/usr/bin/env bash
# Package: LAME 3.100 (Debian 12 packages lame and libmp3lame0 3.100-6), "lame call.wav call.mp3" and "lame
# --decode"; FFmpeg 7.1 (in PyPI's av 14.2.0, numpy 2.2.6) as a second decoder.
# Expected: without options the bit rate is that of the manual: 64 kbit/s for MPEG-2 (16 kHz) and 32 for MPEG-2.5 (8,
# 11.025 and 12 kHz), "32 and 16 respectively in case of mono". And an MP3 begins where the recording began: LAME
# writes its delay and padding into a tag frame, and decoders that read it give the input's length to the sample.
# Instead: at 8000 Hz it is 8 kbit/s for one channel and 24 for two, at 16 kHz 24 and 48; 11.025 and 12 kHz are as the
# manual says. With 8 kbit/s, all above 3.2 kHz is cut off. And at 8 and at 16 kbit/s a frame is too short for the
# tag, so there is none, without a word: decoded by lame the call begins 72 ms late and is 110 ms longer, by FFmpeg it
# begins 138 ms late. From 24 kbit/s on there is a tag, and both are exact.
# Why it matters: 8000 Hz and one channel is what telephone systems record, and "lame call.wav" is what their scripts
# run to store it. Whoever listens or transcribes gets half of the promised rate, 1/8 of G.711's. The times of words,
# and the offset of a caller's file to a callee's at another rate, are wrong by 72 or 138 ms. A test at 44.1 kHz
# shows none of it. Give -b 24 or more.
# Output seen:
#   rates without options (kbit/s), one and two channels:
#     8000 Hz 8 and 24, 11025 Hz 16 and 32, 12000 Hz 16 and 32, 16000 Hz 24 and 48
#   8000 Hz, one channel, 4 s with a click at 2 s (32000 samples, click at 16000):
#   no option   8 kbit/s, tone of 3300 Hz  -89 dB, lame: 32879 samples, click at 16576; FFmpeg: 33408, 17105
#   -b 8        8 kbit/s, tone of 3300 Hz  -89 dB, lame: 32879 samples, click at 16576; FFmpeg: 33408, 17105
#   -b 16      16 kbit/s, tone of 3300 Hz   -0 dB, lame: 32879 samples, click at 16576; FFmpeg: 33408, 17105
#   -b 24      24 kbit/s, tone of 3300 Hz   -0 dB, lame: 32000 samples, click at 16000; FFmpeg: 32000, 16000
#   -b 32      32 kbit/s, tone of 3300 Hz   -0 dB, lame: 32000 samples, click at 16000; FFmpeg: 32000, 16000
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download lame=3.100-6 libmp3lame0=3.100-6 libsndfile1 libflac12 libogg0 \
    libvorbis0a libvorbisenc2 libopus0 libmpg123-0 libtinfo6
for deb in *.deb; do dpkg -x "$deb" root; done
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --only-binary=:all: --target py av==14.2.0 numpy==2.2.6
cat > run.py <<'PY'
import glob, os, subprocess, sys, wave
import av
import numpy as np

folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders))
KBIT = 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160      # layer III of MPEG-2 and 2.5
RATE = 8000

def encode(samples, *options, rate=RATE, channels=1):
    """The bit rate in the header of the first frame."""
    with wave.open("in.wav", "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(np.repeat(np.rint(samples), channels).astype("<i2").tobytes())
    lame("--quiet", *options, "in.wav", "out.mp3")
    with open("out.mp3", "rb") as file:
        head = file.read(4)
    assert head[0] == 255 and head[1] >> 1 in (0b1110001, 0b1111001), "MPEG-2.5 or 2, layer III"
    return KBIT[head[2] >> 4]

def lame(*options):
    subprocess.run([os.path.abspath("root/usr/bin/lame"), *options], env=env, check=True, stdin=subprocess.DEVNULL)

def decoded():
    """The samples by LAME and by FFmpeg."""
    lame("--quiet", "--decode", "out.mp3", "out.wav")
    with wave.open("out.wav") as file:
        yield np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
    with av.open("out.mp3") as file:
        yield np.concatenate([frame.to_ndarray()[0] for frame in file.decode(audio=0)]).astype(float)

rates = {rate: [encode(np.zeros(rate), rate=rate, channels=n) for n in (1, 2)] for rate in (8000, 11025, 12000, 16000)}
print("rates without options (kbit/s), one and two channels:\n  "
      + ", ".join("%d Hz %d and %d" % (rate, *kbit) for rate, kbit in rates.items()), flush=True)
ok = rates == {8000: [8, 24], 11025: [16, 32], 12000: [16, 32], 16000: [24, 48]}

moments = np.arange(4 * RATE) / RATE
click = np.where(abs(moments - 2) < 0.0001, 20000.0, 0.0)
tone = 6000 * np.sin(2 * np.pi * 3300 * moments)
print("8000 Hz, one channel, 4 s with a click at 2 s (32000 samples, click at 16000):")
for options, kbit, late, cut in (((), 8, 576, True), (("-b", "8"), 8, 576, True), (("-b", "16"), 16, 576, False),
                                 (("-b", "24"), 24, 0, False), (("-b", "32"), 32, 0, False)):
    got = encode(tone, *options)
    level = 20 * np.log10(np.std(next(decoded())[RATE:3 * RATE]) / np.std(tone) + 1e-6)
    encode(click, *options)
    (one, at), (other, there) = [(len(x), int(abs(x).argmax())) for x in decoded()]
    print(f"{' '.join(options) or 'no option':<10} {got:>2} kbit/s, tone of 3300 Hz {level:4.0f} dB, "
          f"lame: {one} samples, click at {at}; FFmpeg: {other}, {there}", flush=True)
    ok &= got == kbit and (level < -40) == cut and abs(at - 16000 - late) <= 2 and (one == 32000) == (late == 0)
if not ok:
    sys.exit("CHANGED: not as described")
print("as described")
PY
PYTHONPATH="$dir/py" timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
