#!/usr/bin/env bash
# Package: sonic 0.2.0 (Debian 12 packages sonic and libsonic0 0.2.0-12), the tool that changes the speed
# of speech; libsonic itself is the control.
# Expected: "make wav files of speech faster or slower"; "-s 1.0 means no change" (sonic(1)). Nothing
# there speaks of the number of channels, and the library takes it (sonicCreateStream of sonic.h). So
# a file of two channels comes out with two, or is refused.
# Instead: the samples are right, first and second channel by turns, but the new header always says ONE
# channel. Whoever reads it takes the samples of the two for one row: twice the time, all an octave
# lower, both sides of the call on top of each other, and with each tone its mirror image from the
# upper end of the band. "-s 2" keeps the time as it was and halves the pitch. The status is 0 and
# there is no message. With the number of channels corrected in the header all is right.
# Why it matters: recordings of calls have one side in each channel, and a listener or a transcriber
# wants them slower or faster. What comes out sounds like a wrong sampling rate, and each pause is
# filled by the other side at half the pitch. Split the channels first.
# Output seen (2 s; 400 Hz in the first channel, 1000 Hz in the second):
#   mono, -s 1.0:                 status 0, 1 channel, 2.00 s, tones 400
#   mono, -s 2.0:                 status 0, 1 channel, 1.00 s, tones 400
#   stereo, -s 1.0:               status 0, 1 channel, 4.00 s, tones 200 500 3500 3800
#   stereo, -s 2.0:               status 0, 1 channel, 2.00 s, tones 200 500 3500 3800
#   the same, header put right:   2 channels, 1.00 s, tones 400 | 1000
#   libsonic, stereo, speed 2.0:  2 channels, 1.00 s, tones 400 | 1000
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {sonic,libsonic0}=0.2.0-12
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import array, cmath, ctypes as C, glob, math, struct, subprocess, sys, wave

RATE, COUNT = 8000, 16000

def tone(f):
    return [round(8000 * math.sin(2 * math.pi * f * i / RATE)) for i in range(COUNT)]

def write(name, *channels):
    with wave.open(name, "wb") as file:
        file.setparams((len(channels), 2, RATE, 0, "NONE", ""))
        file.writeframes(array.array("h", [x for pair in zip(*channels) for x in pair]).tobytes())

def tones(sound):                          # those within 20 dB of the strongest, in Hz
    part, power = sound[2000:3600], {}
    for f in range(50, RATE // 2, 50):     # each has whole cycles in these 1600 samples
        step, turn, total = cmath.exp(-2j * math.pi * f / RATE), 1, 0
        for x in part:
            total += x * turn
            turn *= step
        power[f] = abs(total)
    return " ".join(str(f) for f, a in power.items() if a > max(power.values()) / 10)

def describe(data, channels):
    sound = array.array("h", data)
    return "%d channel%s, %.2f s, tones %s" % (
        channels, "s" * (channels > 1), len(sound) / channels / RATE,
        " | ".join(tones(sound[c::channels]) for c in range(channels)))

def read(name):
    with wave.open(name) as file:
        assert file.getframerate() == RATE and file.getsampwidth() == 2
        return file.readframes(10 * COUNT), file.getnchannels()

ok = True
def say(title, seen, want):
    global ok
    print("%-29s %s" % (title + ":", seen), flush=True)
    ok &= seen == want

write("mono.wav", tone(400))
write("stereo.wav", tone(400), tone(1000))
for kind, speed, want in (
        ("mono", "1.0", "1 channel, 2.00 s, tones 400"), ("mono", "2.0", "1 channel, 1.00 s, tones 400"),
        ("stereo", "1.0", "1 channel, 4.00 s, tones 200 500 3500 3800"),
        ("stereo", "2.0", "1 channel, 2.00 s, tones 200 500 3500 3800")):
    done = subprocess.run(["root/usr/bin/sonic", "-s", speed, kind + ".wav", "out.wav"],
                          capture_output=True, timeout=20)
    say("%s, -s %s" % (kind, speed), "status %d, %s" % (done.returncode, describe(*read("out.wav"))),
        "status 0, " + want)
    ok &= not done.stderr

with open("out.wav", "rb") as file:
    whole = file.read()
assert whole[12:16] == b"fmt " and struct.unpack("<HIIH", whole[22:34]) == (1, RATE, 2 * RATE, 2)
with open("out.wav", "wb") as file:
    file.write(whole[:22] + struct.pack("<HIIH", 2, RATE, 4 * RATE, 4) + whole[34:])
say("the same, header put right", describe(*read("out.wav")), "2 channels, 1.00 s, tones 400 | 1000")

S = C.CDLL(glob.glob("root/usr/lib/*/libsonic.so.0")[0])
S.sonicCreateStream.restype = C.c_void_p
S.sonicSetSpeed.argtypes = [C.c_void_p, C.c_float]
S.sonicWriteShortToStream.argtypes = S.sonicReadShortFromStream.argtypes = [C.c_void_p, C.c_char_p, C.c_int]
S.sonicFlushStream.argtypes = S.sonicDestroyStream.argtypes = [C.c_void_p]
stream, room = S.sonicCreateStream(RATE, 2), C.create_string_buffer(8 * COUNT)
S.sonicSetSpeed(stream, 2)
assert S.sonicWriteShortToStream(stream, read("stereo.wav")[0], COUNT) and S.sonicFlushStream(stream)
got = S.sonicReadShortFromStream(stream, room, 2 * COUNT)
S.sonicDestroyStream(stream)
say("libsonic, stereo, speed 2.0", describe(room.raw[:4 * got], 2), "2 channels, 1.00 s, tones 400 | 1000")
if not ok:
    sys.exit("CHANGED: what sonic makes of two channels")
print("as described")
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
timeout 50 python3 run.py
