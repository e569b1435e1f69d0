#!/usr/bin/env bash
# SoX 14.4.2 (Debian 12 sox 14.4.2+git20190427-3.5), 16-bit samples converted to G.711.
# Expected: digital silence becomes one octet, 0xFF in mu-law and 0xD5 in A-law (G.711 tables 2a and
# 1a), and a sample that has exactly the value of a code becomes that code.
# Seen: sox counts mu-law as 14 bits and A-law as 13, takes that for a cut of the word length and
# adds dither by itself (its manual: where "the output file format supports only bit-depths lower
# than that of the input file format"). One octet in four of digital silence turns into 0x7E or
# 0xFE in mu-law, one in eight into 0x55 in A-law, otherwise in each run; and a mu-law file that
# goes through 16-bit WAV and back has other octets wherever it is quiet (the 30 octets next to
# zero). "sox -D" gives the exact codes.
# It matters to a phone's tests: prompts and "silent" tracks made with sox hold noise, so a check
# for dead air, a voice detector or a DTX that waits for digital silence behaves otherwise than
# on a really silent line, and a bit-exact check of a G.711 path fails for no fault.
# Output:
#   silence to mu-law           3 octets in use, 1 in 4 is not the silent one
#   silence to mu-law, -D       1 octet in use
#   silence to A-law            2 octets in use, 1 in 8 is not the silent one
#   silence to A-law, -D        1 octet in use
#   mu-law to PCM and back      quiet octets changed: 1 in 8, others: 0
#   mu-law to PCM and back, -D  quiet octets changed: 0, others: 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {sox,libsox3}=14.4.2+git20190427-3.5 \
    libltdl7 libgsm1 libmagic1 libgomp1 libpng16-16
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import glob, os, subprocess, sys

env = dict(os.environ, LD_LIBRARY_PATH=glob.glob("root/usr/lib/*-*-*")[0])
PCM = ["-t", "raw", "-r", "8000", "-c", "1", "-e", "signed-integer", "-b", "16"]
LAW = ["-t", "raw", "-r", "8000", "-c", "1", "-b", "8", "-e"]

def sox(data, source, target, exact):
    done = subprocess.run(["root/usr/bin/sox"] + ["-D"] * exact + source + ["-"] + target + ["-"],
                          env=env, input=data, capture_output=True, check=True, timeout=30)
    return done.stdout

lines = []
for law, shown, silent in ("mu-law", "mu-law", b"\xff"), ("a-law", "A-law", b"\xd5"):
    out = sox(bytes(4000000), PCM, LAW + [law], False)
    lines.append("silence to %-16s %d octets in use, 1 in %.0f is not the silent one"
                 % (shown, len(set(out)), len(out) / (len(out) - out.count(silent))))
    out = sox(bytes(32000), PCM, LAW + [law], True)
    assert set(out) == set(silent)
    lines.append("silence to %-16s 1 octet in use" % (shown + ", -D"))
octets = [o for o in range(256) if o & 0x7F != 0x7F] * 8000      # all but the two zeros
for exact in (False, True):
    pcm = sox(bytes(octets), LAW + ["mu-law"], PCM, exact)
    pairs = list(zip(octets, sox(pcm, PCM, LAW + ["mu-law"], exact)))
    quiet = [a != b for a, b in pairs if a & 0x70 == 0x70]
    other = sum(a != b for a, b in pairs if a & 0x70 != 0x70)
    share = "1 in %.0f" % (len(quiet) / sum(quiet)) if any(quiet) else "0"
    lines.append("mu-law to PCM and back%-5s quiet octets changed: %s, others: %d"
                 % (", -D" * exact, share, other))
print("\n".join(lines))
if lines != ["silence to mu-law           3 octets in use, 1 in 4 is not the silent one",
             "silence to mu-law, -D       1 octet in use",
             "silence to A-law            2 octets in use, 1 in 8 is not the silent one",
             "silence to A-law, -D        1 octet in use",
             "mu-law to PCM and back      quiet octets changed: 1 in 8, others: 0",
             "mu-law to PCM and back, -D  quiet octets changed: 0, others: 0"]:
    sys.exit("CHANGED: sox no longer dithers on the way to G.711")
PY
python3 run.py
