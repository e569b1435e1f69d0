#!/usr/bin/env bash
# alsa-lib 1.2.8 (Debian 12 package libasound2 1.2.8-1+b1), its "file" plugin with "infile", which
# makes a microphone of a file where there is none; recorded by arecord (alsa-utils 1.2.8-1).
# Expected: behind the end of the file there is silence, or what the slave device gives (here zeros,
# from "null"), or the stream ends with an error. The plugin's documentation has no word of it.
# Seen: the last piece, as long as what the program reads at a time, comes again and again without
# end: with reads of 20 ms a buzz of 50 Hz and its harmonics, as loud as the sound was. If the file
# ends within a read, the rest is what the read before had there. No call fails.
# It matters to a laboratory that feeds a phone in this way: when the sentence is over the phone
# never hears a pause. Silence suppression, noise estimate and gain control are tested on a buzz,
# and in a recording of the far end it looks as if a buffer of the phone had got stuck. Put silence
# at the end of the file, longer than the test.
# Output (files of samples that count from 1; the runs of samples recorded):
#   800 samples, read by 160: 1-800, 641-800, 641-800, 641-800, 641-800 (exit 0)
#   1000 samples, read by 160: 1-1000, 841-1000, 841-1000, 841-1000, 841-1000 (exit 0)
#   800 samples, read by 40: 1-800, 761-800, 761-800, 761-800, 761-800 (exit 0)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download alsa-utils=1.2.8-1 libasound2=1.2.8-1+b1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > alsa.conf <<'CONF'
pcm.microphone { type file file "/dev/null" infile "in.raw" format raw slave.pcm { type null } }
CONF
cat > run.py <<'PY'
import array, subprocess, sys

def recorded(length, period):              # runs of samples that count up
    with open("in.raw", "wb") as f:
        f.write(array.array("h", range(1, length + 1)).tobytes())
    tool = subprocess.run(["root/usr/bin/arecord", "-q", "-D", "microphone", "-t", "raw", "-c", "1",
                           "-f", "S16_LE", "-r", "8000", "--period-size=%d" % period,
                           "--buffer-size=%d" % (4 * period), "-s", str(length + 4 * period), "-"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
    samples = array.array("h", tool.stdout)
    runs = []
    for value in samples:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    runs = [tuple(r) for r in runs]
    print("%d samples, read by %d: " % (length, period)
          + ", ".join("%d-%d" % r for r in runs) + " (exit %d)" % tool.returncode)
    return runs, tool.returncode

whole = recorded(800, 160)
part = recorded(1000, 160)
short = recorded(800, 40)
again = [(641, 800)] * 4, [(841, 1000)] * 4, [(761, 800)] * 4
if [whole, part, short] != [([(1, end), *runs], 0)
                            for end, runs in zip((800, 1000, 800), again, strict=True)]:
    sys.exit("CHANGED: what ALSA's file plugin gives behind the end of its infile")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*) ALSA_CONFIG_PATH=$dir/alsa.conf
timeout 60 python3 run.py
