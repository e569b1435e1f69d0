#!/usr/bin/env bash
# Package: sndfile-tools 1.5 (Debian 12 package sndfile-tools 1.5-2, with libsndfile1
# 1.2.0-1+deb12u1), its sndfile-mix-to-mono; for comparison SoX (Debian 12 sox 14.4.2+git20190427-3.5).
# Expected: "writes a single channel output file consisting of all of the input channels mixed
# together", in a format "determined by the filename extension of the output file" (its manual page).
# Instead: it opens the output, removes it from its folder, and then writes the sound into the file
# without a name. What is left is nothing: no file, no message, status 0. A file that was there under
# that name before is gone too. A second name (hard link) of the output shows that the mix was
# made, and rightly, but as WAV as the input was, though the name ends in .aiff.
# Only an input of one channel gets a message.
# Why it matters: recorders of calls keep the two sides as two channels, and transcription, quality
# measures and archives want one. In a script, with "&& rm call.wav" behind it, the call is lost; and
# a test that goes on with the earlier file of that name does not find it. Use sox with
# "-c 1", or ask whether the file is there.
# Output seen (two channels with 0.5 and 0.25 of a tone, 2 s):
#   into new.wav: status 0, no message
#   new.wav is there: False
#   into old.wav, which is there: status 0, no message
#   old.wav is still there: False
#   into mix.aiff, which has a second name: status 0, no message
#   mix.aiff is there: False
#   its second name: RIFF file, 1 channel, 16000 samples, the mean of both: True
#   sox -c 1: status 0, no message
#   sox -c 1: RIFF file, 1 channel, 16000 samples, the mean of both: True
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download sndfile-tools=1.5-2 libsndfile1=1.2.0-1+deb12u1 \
    {sox,libsox3}=14.4.2+git20190427-3.5 libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16 libflac12 \
    libvorbis0a libvorbisenc2 libvorbisfile3 libopus0 libogg0 libmpg123-0 libmp3lame0
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import array, math, os, subprocess, sys, wave

COUNT = 16000
left = [round(16384 * math.sin(2 * math.pi * 440 * i / 8000)) for i in range(COUNT)]
right = [round(8192 * math.sin(2 * math.pi * 440 * i / 8000)) for i in range(COUNT)]
with wave.open("call.wav", "wb") as file:
    file.setparams((2, 2, 8000, 0, "NONE", ""))
    file.writeframes(array.array("h", [x for pair in zip(left, right) for x in pair]).tobytes())

def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=20)
    return "status %d, %s" % (done.returncode, (done.stdout + done.stderr).decode() or "no message")

def mono(name):
    with open(name, "rb") as file:
        kind = file.read(4).decode()
    with wave.open(name) as file:
        heard = array.array("h", file.readframes(COUNT + 1))
        good = all(abs(x - (a + b) / 2) <= 1 for x, a, b in zip(heard, left, right))
        return "%s file, %d channel, %d samples, the mean of both: %s" % (
            kind, file.getnchannels(), len(heard), good)

ok = True
def told(title, value, want):
    global ok
    print("%s: %s" % (title, value), flush=True)
    ok &= value == want

TOOL = "root/usr/bin/sndfile-mix-to-mono"
QUIET, MIX = "status 0, no message", "RIFF file, 1 channel, %d samples, the mean of both: True" % COUNT
told("into new.wav", run(TOOL, "call.wav", "new.wav"), QUIET)
told("new.wav is there", os.path.exists("new.wav"), False)
with open("old.wav", "w") as file:
    file.write("what was there before")
told("into old.wav, which is there", run(TOOL, "call.wav", "old.wav"), QUIET)
told("old.wav is still there", os.path.exists("old.wav"), False)
open("mix.aiff", "w").close()
os.link("mix.aiff", "second-name")
told("into mix.aiff, which has a second name", run(TOOL, "call.wav", "mix.aiff"), QUIET)
told("mix.aiff is there", os.path.exists("mix.aiff"), False)
told("its second name", mono("second-name"), MIX)
told("sox -c 1", run("root/usr/bin/sox", "-D", "call.wav", "-c", "1", "sox.wav"), QUIET)
told("sox -c 1", mono("sox.wav"), MIX)
if not ok:
    sys.exit("CHANGED: what sndfile-mix-to-mono leaves behind")
print("as described")
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
timeout 50 python3 -W ignore run.py
