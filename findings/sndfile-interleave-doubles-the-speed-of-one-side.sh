#!/usr/bin/env bash
# Package: sndfile-interleave and sndfile-concat (Debian 12 package sndfile-programs 1.2.0-1+deb12u1, with
# libsndfile1 of that version); to compare, SoX (Debian 12 sox 14.4.2+git20190427-3.5).
# Expected: sndfile-interleave makes one file of several mono files. Its manual: "The audio parameters of the
# output file will be made so that the format can accommodate each of the mono inputs; for example, the
# samplerate will be the maximal samplerate occurring in the inputs." So a side with less is resampled, or
# else the tool refuses, as SoX does. sndfile-concat: "The only restriction is that the files must have the
# same number of channels."
# Instead: the rate of the file is the highest, the samples are copied as they are. With one side of a call
# at 8000 and the other at 16000 Hz, the first is played twice as fast, an octave too high, and is over at
# half time. sndfile-concat takes the rate of the first file: what follows at 16000 Hz behind 8000 is played
# at half speed. Neither says a word, and both end with 0.
# Why it matters: recorders and gateways write each side with the rate of its codec (G.711 and G.722 in one
# call). In the stereo file answers come before the questions, delays, overlaps and pauses are wrong, and so
# is every digit's frequency. Resample first ("sox in.wav -r 16000 out.wav"), then interleave.
# Output seen (both sides 2 s, a tone of 440 Hz):
#   sndfile-interleave a8.wav b8.wav: exit 0, 8000 Hz; 2.00 s of 440 Hz, 2.00 s of 440 Hz
#   sndfile-interleave a8.wav b16.wav: exit 0, 16000 Hz; 1.00 s of 880 Hz, 2.00 s of 440 Hz
#   sndfile-concat a8.wav b8.wav, behind the first: exit 0, 8000 Hz; 2.00 s of 440 Hz
#   sndfile-concat a8.wav b16.wav, behind the first: exit 0, 8000 Hz; 4.00 s of 220 Hz
#   sndfile-concat b16.wav a8.wav, behind the first: exit 0, 16000 Hz; 1.00 s of 880 Hz
#   sox -M a8.wav b16.wav: exit 1, Input files must have the same sample-rate
#   resampled first, then sndfile-interleave: exit 0, 16000 Hz; 2.00 s of 440 Hz, 2.00 s of 440 Hz
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {sndfile-programs,libsndfile1}=1.2.0-1+deb12u1 \
    libflac12 libvorbis0a libvorbisenc2 libopus0 libogg0 libmpg123-0 libmp3lame0 libasound2 \
    {sox,libsox3}=14.4.2+git20190427-3.5 libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import array, glob, math, os, subprocess, sys, wave

libs = glob.glob(os.path.abspath("root/usr/lib/*-*-*")) + glob.glob(os.path.abspath("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(libs))

def run(tool, *words):
    return subprocess.run(["root/usr/bin/" + tool, *words], env=env, timeout=20, capture_output=True, text=True)

def make(name, rate):
    with wave.open(name, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(array.array("h", [round(8000 * math.sin(2 * math.pi * 440 * i / rate))
                                           for i in range(2 * rate)]).tobytes())

def heard(name, start=0.0):                # for each channel: the length of its sound and the tone
    with wave.open(name) as file:
        rate, count = file.getframerate(), file.getnchannels()
        data = array.array("h", file.readframes(file.getnframes()))
    rows = []
    for channel in range(count):
        sound = data[channel::count][round(start * rate):]
        length = max(i for i, v in enumerate(sound) if v) + 1
        span = sound[:length * 9 // 10]
        rises = [i for i in range(1, len(span)) if span[i - 1] < 0 <= span[i]]
        rows.append((length / rate, (len(rises) - 1) * rate / (rises[-1] - rises[0])))
    return rate, rows

def show(title, done, rate, rows):
    print("%s: exit %d%s, %d Hz; %s" % (title, done.returncode, "" if not done.stdout + done.stderr else " (speaks)",
          rate, ", ".join("%.2f s of %.0f Hz" % row for row in rows)), flush=True)

def near(rows, *want):
    return len(rows) == len(want) and all(abs(a - c) < 0.02 and abs(b - d) < 2
                                          for (a, b), (c, d) in zip(rows, want))

make("a8.wav", 8000), make("b8.wav", 8000), make("b16.wav", 16000)
ok = True
for other, want, side in ("b8.wav", 8000, (2, 440)), ("b16.wav", 16000, (1, 880)):
    done = run("sndfile-interleave", "a8.wav", other, "-o", "both.wav")
    rate, rows = heard("both.wav")
    show("sndfile-interleave a8.wav " + other, done, rate, rows)
    ok &= rate == want and near(rows, side, (2, 440)) and done.returncode == 0 and not done.stdout + done.stderr
for first, other, want in (("a8.wav", "b8.wav", (2, 440)), ("a8.wav", "b16.wav", (4, 220)),
                           ("b16.wav", "a8.wav", (1, 880))):
    done = run("sndfile-concat", first, other, "joined.wav")
    rate, rows = heard("joined.wav", 2)
    show("sndfile-concat %s %s, behind the first" % (first, other), done, rate, rows)
    ok &= near(rows, want) and done.returncode == 0 and not done.stdout + done.stderr
done = run("sox", "-M", "a8.wav", "b16.wav", "sox.wav")
print("sox -M a8.wav b16.wav: exit %d, %s"
      % (done.returncode, done.stderr.strip().splitlines()[-1].rpartition("sox: ")[2]), flush=True)
ok &= done.returncode != 0 and "same sample-rate" in done.stderr
run("sox", "a8.wav", "-r", "16000", "a16.wav")
done = run("sndfile-interleave", "a16.wav", "b16.wav", "-o", "both.wav")
rate, rows = heard("both.wav")
show("resampled first, then sndfile-interleave", done, rate, rows)
ok &= rate == 16000 and near(rows, (2, 440), (2, 440))
if not ok:
    sys.exit("CHANGED: what sndfile-interleave and sndfile-concat do with two rates")
print("as described")
PY
timeout 50 python3 run.py
