#!/usr/bin/env bash
# Package: loudgain 0.6.8 (Debian 12 packages loudgain 0.6.8+ds-3+b1 and libebur128-1 1.2.6-1+b1); the files
# are made with flac and opusenc (opus-tools 0.2-1+b1) of Debian 12.
# Expected: loudness is measured in blocks of 400 ms (ITU-R BS.1770-4, annex 1), so a shorter sound has none. A
# tool that levels a folder of files then says so and writes no gain, or pads the sound, or leaves the level
# alone. R128_TRACK_GAIN is a decimal number from -32768 to 32767 (RFC 7845 section 5.2.1); a gain of
# ReplayGain is a number of dB. The manual has no word about short files.
# Instead: with a sound shorter than 400 ms loudgain takes its loudness for minus infinity and writes a gain
# of "inf dB" into the file, "-nan dB" with -k, which is to prevent clipping, and in Opus files
# R128_TRACK_GAIN=-2147483648. It ends with 0. From 400 ms on all is right.
# Why it matters: the digits and "yes", "and", "o'clock" of which a telephone system puts its announcements
# together are 200 to 400 ms long, and levelling such a folder is what the tool is for. Whatever a player or
# the next tool makes of such a tag, no gain or infinity, just the short words come out at another loudness
# than all others. Look for "inf" and "nan" in the tags, or level short prompts by their peak or RMS.
# Output seen (a tone of 440 Hz; what stands in the files):
#   1000 ms: flac, exit 0: REPLAYGAIN_TRACK_GAIN=-3.29 dB; flac -k, exit 0: REPLAYGAIN_TRACK_GAIN=-3.29 dB;
#     opus, exit 0: R128_TRACK_GAIN=-2073
#    500 ms: flac, exit 0: REPLAYGAIN_TRACK_GAIN=-3.28 dB; flac -k, exit 0: REPLAYGAIN_TRACK_GAIN=-3.28 dB;
#     opus, exit 0: R128_TRACK_GAIN=-2072
#    390 ms: flac, exit 0: REPLAYGAIN_TRACK_GAIN=inf dB; flac -k, exit 0: REPLAYGAIN_TRACK_GAIN=-nan dB;
#     opus, exit 0: R128_TRACK_GAIN=-2147483648
#    300 ms: flac, exit 0: REPLAYGAIN_TRACK_GAIN=inf dB; flac -k, exit 0: REPLAYGAIN_TRACK_GAIN=-nan dB;
#     opus, exit 0: R128_TRACK_GAIN=-2147483648
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p debs/partial
# What is under test is pinned; the libraries that it needs besides come as Debian has them, and only those
# that this system lacks (nothing is installed).
apt-get -qq -o APT::Sandbox::User=root download loudgain=0.6.8+ds-3+b1 libebur128-1=1.2.6-1+b1 \
    opus-tools=0.2-1+b1 libopusenc0 libopusfile0 libopus0 flac libflac12 libogg0
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::Archives="$dir/debs/" \
    --no-install-recommends --download-only install loudgain=0.6.8+ds-3+b1 > /dev/null
for deb in debs/*.deb *.deb; do [ ! -e "$deb" ] || dpkg -x "$deb" root; done
cat > run.py <<'PY'
import array, math, os, re, struct, subprocess, sys, wave

RATE = 8000
folders = sorted({where for where, _, files in os.walk(os.path.abspath("root"))
                  if any(".so" in name for name in files)})
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders))

def make(name, ms):
    with wave.open(name + ".wav", "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(array.array("h", [round(9000 * math.sin(2 * math.pi * 440 * i / RATE))
                                           for i in range(RATE * ms // 1000)]).tobytes())
    for kind in "opus", "flac":
        tool = ["opusenc", "--quiet"] if kind == "opus" else ["flac", "--silent", "-o", name + ".flac"]
        last = [name + ".wav"] + ([name + ".opus"] if kind == "opus" else [])
        subprocess.run(["root/usr/bin/" + tool[0], *tool[1:], *last], env=env, check=True, timeout=20,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def tags(name):                            # NAME=value of the Vorbis comments, as they stand in the file
    with open(name, "rb") as file:
        data = file.read()
    found = {}
    for match in re.finditer(rb"(....)((?:REPLAYGAIN|R128)_TRACK_GAIN=)", data):
        size = struct.unpack("<I", match[1])[0]
        key, value = data[match.start(2):match.start(2) + size].decode().split("=")
        found[key] = value
    return found

ok = True
for ms in 1000, 500, 390, 300:
    name = "prompt%d" % ms
    make(name, ms)
    row = []
    for kind, words in ("flac", []), ("flac", ["-k"]), ("opus", []):
        copy = "copy." + kind
        with open(name + "." + kind, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        done = subprocess.run(["root/usr/bin/loudgain", "-q", *words, "-s", "i", copy], env=env, timeout=20,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        (key, value), = tags(copy).items()
        row.append((kind, words, done.returncode, key, value))
    print("%4d ms: %s" % (ms, "; ".join("%s%s, exit %d: %s=%s" % (kind, " -k" if words else "", code, key, value)
                                        for kind, words, code, key, value in row)), flush=True)
    values = [r[4] for r in row]
    ok &= all(r[2] == 0 for r in row)
    if ms >= 400:
        ok &= all(math.isfinite(float(v.split()[0])) for v in values) and abs(int(values[2])) < 32768
    else:
        ok &= not any(math.isfinite(float(v.split()[0])) for v in values[:2]) and abs(int(values[2])) > 32768
if not ok:
    sys.exit("CHANGED: what loudgain writes for prompts shorter than 400 ms")
print("as described")
PY
timeout 50 python3 run.py
