#!/usr/bin/env bash
# Package: sndfile-convert 1.2.0 (Debian 12 packages sndfile-programs and libsndfile1
# 1.2.0-1+deb12u1), 16-bit WAV to Opus, Vorbis and float; against opusenc (opus-tools 0.2-1+b1).
# Expected: a conversion keeps the level. For anything else there is the option -normalize, which
# "normalizes the audio data in the output file" (sndfile-convert(1)); it is not given here.
# Instead: from integer samples to Opus, Vorbis or float the loudest sample is made 0 dBFS, whatever
# it was: a tone of -40 dBFS gains 40 dB, room noise of -60 dBFS becomes as loud as a shout. Integer
# to integer, and Opus or float to integer, keep the level; with a float WAV in between a mere
# change of format there and back has done it. No message says so.
# Why it matters: recorded calls packed into Opus this way lose their levels: a quiet caller sounds
# like a loud one, the two legs of a call no longer compare, "noise in the pause is -2 dBFS", and
# an Opus codec under test seems to have a gain. Encode with opusenc, which keeps the level.
# Output seen (the loudest sample in dBFS; Opus decoded by opusdec; the codec itself adds a few dB
# to the peaks of noise):
#   tone, -6 dBFS       : 24 bit  -6.0, float  0.0, Vorbis  0.0, Opus  0.0; opusenc and back  -5.7
#   tone, -40 dBFS      : 24 bit -40.0, float  0.0, Vorbis  0.0, Opus  0.0; opusenc and back -39.8
#   noise, peak -60 dBFS: 24 bit -59.9, float  0.0, Vorbis  0.0, Opus  0.0; opusenc and back -53.5
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {sndfile-programs,libsndfile1}=1.2.0-1+deb12u1 \
    opus-tools=0.2-1+b1 libopus0=1.3.1-3 libopusenc0 libopusfile0 libflac12 libogg0 \
    libvorbis0a libvorbisenc2 libmpg123-0 libmp3lame0
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import array, glob, math, os, random, subprocess, sys, wave

env = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(glob.glob("root/usr/lib/*-*-*")[0]))

def run(tool, *options):
    subprocess.run(["root/usr/bin/" + tool, *options], env=env, check=True, timeout=30,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def loudest(name):
    with wave.open(name) as f:
        assert (f.getsampwidth(), f.getnchannels()) == (2, 1)
        samples = array.array("h", f.readframes(f.getnframes()))
    return 20 * math.log10(max(map(abs, samples)) / 32768)

convert = lambda kind, source, target: run("sndfile-convert", "-" + kind, source, target)
decode = lambda source, target: run("opusdec", "--quiet", "--no-dither", source, target)

def ways(name):                            # each from sound.wav to its own 16-bit WAV
    convert("pcm24", "sound.wav", "deep.wav")
    convert("pcm16", "deep.wav", "a.wav")
    convert("float32", "sound.wav", "float.wav")
    convert("pcm16", "float.wav", "b.wav")
    convert("vorbis", "sound.wav", "c.ogg")
    convert("pcm16", "c.ogg", "c.wav")
    convert("opus", "sound.wav", "d.opus")
    decode("d.opus", "d.wav")
    run("opusenc", "--quiet", "sound.wav", "e.opus")
    convert("pcm16", "e.opus", "e.wav")    # from Opus it keeps the level
    return [loudest(part + ".wav") for part in "abcde"]

rnd = random.Random(1)
tone = lambda amplitude: [round(amplitude * math.sin(2 * math.pi * 440 * i / 48000))
                          for i in range(96000)]
sounds = (("tone, -6 dBFS", tone(16384)), ("tone, -40 dBFS", tone(328)),
          ("noise, peak -60 dBFS", [rnd.randint(-33, 33) for _ in range(96000)]))
ok = True
for name, samples in sounds:
    with wave.open("sound.wav", "wb") as f:
        f.setparams((1, 2, 48000, 0, "NONE", ""))
        f.writeframes(array.array("h", samples).tobytes())
    given, got = loudest("sound.wav"), ways(name)
    print("%-20s: 24 bit %5.1f, float %4.1f, Vorbis %4.1f, Opus %4.1f; opusenc and back %5.1f"
          % (name, *(round(v, 1) + 0.0 for v in got)))
    ok &= abs(got[0] - given) < 0.1 and abs(got[4] - given) < 9 and min(got[1:4]) > -3
if not ok:
    sys.exit("CHANGED: sndfile-convert no longer raises the level without -normalize")
PY
python3 run.py
