#!/usr/bin/env bash
# Package: speexenc and speexdec 1.2.1 (Debian 12 packages speex and libspeex1 1.2.1-2); FFmpeg 7.1's own Speex
# decoder and libopus (in PyPI's av 14.2.0, numpy 2.2.6) to compare.
# Expected: a recording with one side of a call on each channel stays that in a stereo file: speexenc's manual has
# "--stereo: Consider raw input as stereo", says nothing of a mixture, and it prints "narrowband mode (stereo)".
# Instead: the two channels are added up, coded as one, and given back with a balance (Speex calls it intensity
# stereo). If one side talks alone it looks right: the other channel has it 33 dB lower. When both talk, both are
# on both channels, with one and the same ratio: if A is 12 dB louder than B, A is also 12 dB louder on the channel
# of B. That is so at the highest quality (10) too, and not the decoder: FFmpeg's gives the same.
# Why it matters: such files are made of calls to tell who said what, who interrupted whom, and whether there was echo.
# Where both talk, each side's recognition hears the louder one, twice, and an echo measured between the channels
# is that of the file. Listening to a part where they take turns shows nothing. Store the sides as two
# mono files, or in Opus, whose stereo keeps them apart.
# Output seen (A a tone of 440 Hz on the left, B one of 1500 Hz on the right; levels in dB of full scale):
#   what                                       channel of A:  A      B     channel of B:  A      B
#   A alone, -12 dB, speexdec                               -11.8  -92.9                -45.5  -99.5
#   B alone, -12 dB, speexdec                               -99.7  -45.7                -91.1  -12.0
#   A -12 dB, B -12 dB, speexdec                            -14.9  -15.0                -14.9  -15.0
#   A -12 dB, B -24 dB, speexdec                            -12.3  -24.1                -24.2  -36.0
#   A -12 dB, B -24 dB, FFmpeg's decoder                    -12.3  -24.1                -24.2  -36.0
#   A -12 dB, B -24 dB, Opus                                -12.0  -99.6                -99.7  -24.0
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download speex=1.2.1-2 libspeex1=1.2.1-2 libspeexdsp1 libogg0
for deb in *.deb; do dpkg -x "$deb" root; done
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --only-binary=:all: --target py av==14.2.0 numpy==2.2.6
cat > run.py <<'PY'
import glob, os, subprocess, sys, wave
import av
import numpy as np

folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders))
RATE, TONES = 8000, (440, 1500)
moments = np.arange(4 * RATE) / RATE

def tool(name, *options):
    return subprocess.run([os.path.abspath("root/usr/bin/" + name), *options], env=env, check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

def by_ffmpeg(name):
    """Both channels, at the call's rate."""
    take = av.AudioResampler(format="fltp", layout="stereo", rate=RATE)
    with av.open(name) as file:
        blocks = [out.to_ndarray() for frame in file.decode(audio=0) for out in take.resample(frame)]
    return np.concatenate(blocks, 1)

def speex(call, decoder):
    with wave.open("in.wav", "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(np.rint(call.T * 32767).astype("<i2").tobytes())
    assert "narrowband mode (stereo)" in tool("speexenc", "--quality", "10", "in.wav", "out.spx")
    if decoder == "FFmpeg":
        return by_ffmpeg("out.spx")
    tool("speexdec", "out.spx", "out.wav")
    with wave.open("out.wav") as file:
        assert file.getnchannels() == 2
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).T / 32768

def opus(call, _):
    with av.open("out.opus", "w") as file:
        stream = file.add_stream("libopus", rate=48000, layout="stereo", options={"b": "64k"})
        frame = av.AudioFrame.from_ndarray(np.rint(call.T.reshape(1, -1) * 32767).astype(np.int16), "s16", "stereo")
        frame.sample_rate = RATE
        take = av.AudioResampler(format="s16", layout="stereo", rate=48000, frame_size=960)
        for one in take.resample(frame) + take.resample(None):
            file.mux(stream.encode(one))
        file.mux(stream.encode(None))
    return by_ffmpeg("out.opus")

print(f"{'what':<42} channel of A:  A      B     channel of B:  A      B")
for name, codec, decoder, a, b, mixed in (
        ("A alone, -12 dB, speexdec", speex, "", -12, -99, False),
        ("B alone, -12 dB, speexdec", speex, "", -99, -12, False),
        ("A -12 dB, B -12 dB, speexdec", speex, "", -12, -12, True),
        ("A -12 dB, B -24 dB, speexdec", speex, "", -12, -24, True),
        ("A -12 dB, B -24 dB, FFmpeg's decoder", speex, "FFmpeg", -12, -24, True),
        ("A -12 dB, B -24 dB, Opus", opus, "", -12, -24, False)):
    sides = [10 ** (level / 20) * np.sin(2 * np.pi * f * moments) for level, f in zip((a, b), TONES)]
    heard = codec(np.array(sides), decoder)[:, RATE:3 * RATE]
    power = np.abs(np.fft.rfft(heard * np.hanning(2 * RATE))) * 2 / RATE
    levels = [[20 * np.log10(power[channel, 2 * f - 4:2 * f + 5].max() + 1e-5) for f in TONES] for channel in (0, 1)]
    print(f"{name:<42} {'':<12}{levels[0][0]:6.1f} {levels[0][1]:6.1f} {'':<14}{levels[1][0]:6.1f} {levels[1][1]:6.1f}",
          flush=True)
    ratios = [one[0] - one[1] for one in levels]
    if mixed:
        ok = all(abs(ratio - (a - b)) < 3 for ratio in ratios)
    else:
        ok = (b == -99 or levels[1][1] - levels[0][1] > 20) and (a == -99 or levels[0][0] - levels[1][0] > 20)
    if not ok:
        sys.exit("CHANGED: this line is not as described")
print("as described")
PY
PYTHONPATH="$dir/py" timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
