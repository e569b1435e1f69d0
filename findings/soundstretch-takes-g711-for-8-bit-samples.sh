#!/usr/bin/env bash
# Package: soundstretch 2.3.2 (Debian 12 packages soundstretch and libsoundtouch1 2.3.2+ds1-1), the
# tool of SoundTouch that changes tempo and pitch.
# Expected: wFormatTag says what is in a WAV file: 1 PCM, 3 float, 6 A-law, 7 mu-law (RFC 2361). A
# program reads these or refuses. soundstretch does refuse: ADPCM and GSM give "Illegal wav file
# header format parameters" and status 255.
# Instead: it looks at the number of bits only. G.711 has 8, so mu-law and A-law are taken for 8-bit
# PCM; 32-bit floats are taken for integers. It works on that, writes a PCM file of the right length
# and pitch, says "Done!" and ends with 0. A tone is there, with noise as loud as itself, and 12 dB
# louder than before; a silent line is at the upper end of the range.
# Why it matters: recordings of calls are mostly G.711 in WAV, and making them slower for somebody to
# write down, or the voice higher to hide it, is what the tool is good for. The noise passes for a bad
# line or recorder. Floats are what sound laboratories keep. Turn the file into 16 bits first.
# Output seen (a tone of -15 dBFS, -tempo=10; level of all, tone to noise, and what silence becomes):
#   16-bit PCM  status 0, PCM of 16 bits, level -15.1 dBFS, tone to noise   75 dB, silence +0.00
#   8-bit PCM   status 0, PCM of  8 bits, level -14.9 dBFS, tone to noise   41 dB, silence +0.00
#   mu-law      status 0, PCM of  8 bits, level  -3.4 dBFS, tone to noise   -2 dB, silence +0.98
#   A-law       status 0, PCM of  8 bits, level  -3.4 dBFS, tone to noise    0 dB, silence +0.66
#   float       status 0, PCM of 32 bits, level  -5.9 dBFS, tone to noise    6 dB, silence +0.00
#   IMA ADPCM   status 255
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {soundstretch,libsoundtouch1}=2.3.2+ds1-1 libgomp1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import array, audioop, cmath, math, os, struct, subprocess, sys, wave

RATE, COUNT = 8000, 16000
tone = [0.25 * math.sin(2 * math.pi * 1000 * i / RATE) for i in range(COUNT)]

def wav(name, tag, bits, data):
    rest, block = {1: b"", 17: struct.pack("<HH", 2, 505)}.get(tag, bytes(2)), bits // 8 or 256
    speed = RATE * 256 // 505 if tag == 17 else RATE * block
    form = struct.pack("<HHIIHH", tag, 1, RATE, speed, block, bits) + rest
    parts = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    if tag != 1:
        parts += b"fact" + struct.pack("<II", 4, len(data) // 256 * 505 if tag == 17 else
                                       len(data) // block)
    parts += b"data" + struct.pack("<I", len(data)) + data
    with open(name, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", len(parts)) + parts)

def stretched(tag, bits, data):            # status, width of the output, its samples from -1 to 1
    wav("in.wav", tag, bits, data)
    if os.path.exists("out.wav"):
        os.remove("out.wav")
    done = subprocess.run(["root/usr/bin/soundstretch", "in.wav", "out.wav", "-tempo=10"],
                          capture_output=True, timeout=20)
    if done.returncode:
        return done.returncode, 0, []
    with wave.open("out.wav") as file:     # plain PCM, or this fails
        width, frames = file.getsampwidth(), file.readframes(COUNT)
    if width == 1:
        frames = audioop.bias(frames, 1, 128)
    wide = array.array("i", audioop.lin2lin(frames, width, 4))
    return 0, width, [x / 2 ** 31 for x in wide]

def measure(sound):                        # level, and the tone to all else
    part = sound[1600:9600]
    mean = sum(part) / len(part)
    energy = sum((x - mean) ** 2 for x in part) / len(part)
    step = cmath.exp(-2j * math.pi * 1000 / RATE)
    # pieces of 10 ms: the stretcher may shift the phase from one to the next
    power = sum(abs(sum(x * step ** i for i, x in enumerate(part[at:at + 80]))) ** 2 * 2 / 80 ** 2
                for at in range(0, 8000, 80)) / 100
    return 10 * math.log10(energy), 10 * math.log10(power / max(energy - power, 1e-9))

linear = array.array("h", (round(32767 * x) for x in tone)).tobytes()
zero = bytes(2 * COUNT)
def pcm8(data):
    return audioop.bias(audioop.lin2lin(data, 2, 1), 1, 128)

ok = True
for title, tag, bits, good, data, silence in (
        ("16-bit PCM", 1, 16, True, linear, zero), ("8-bit PCM", 1, 8, True, pcm8(linear), pcm8(zero)),
        ("mu-law", 7, 8, False, audioop.lin2ulaw(linear, 2), audioop.lin2ulaw(zero, 2)),
        ("A-law", 6, 8, False, audioop.lin2alaw(linear, 2), audioop.lin2alaw(zero, 2)),
        ("float", 3, 32, False, struct.pack("<%df" % COUNT, *tone), bytes(4 * COUNT))):
    status, width, sound = stretched(tag, bits, data)
    level, ratio = measure(sound)
    still = stretched(tag, bits, silence)[2]
    rest = sum(still[1600:9600]) / 8000
    print("%-10s  status %d, PCM of %2d bits, level %5.1f dBFS, tone to noise %4.0f dB, silence %+.2f"
          % (title, status, 8 * width, level, ratio, rest), flush=True)
    ok &= status == 0 and abs(len(sound) - COUNT / 1.1) < 10
    ok &= (abs(level + 15) < 0.3 and ratio > 20 and rest == 0 if good else
           level > -8 and ratio < 8 and (rest > 0.5 or tag == 3))
status = stretched(17, 4, bytes(8192))[0]
print("IMA ADPCM   status", status)
if not ok or status != 255:
    sys.exit("CHANGED: what soundstretch makes of G.711 and floats")
print("as described")
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
timeout 50 python3 -W ignore run.py
