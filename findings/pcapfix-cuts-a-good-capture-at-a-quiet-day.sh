#!/usr/bin/env bash
# pcapfix 1.1.7 (Debian 12 package pcapfix 1.1.7-2), "a tool to repair broken pcap and pcapng
# files".
# Expected: a capture whose headers and lengths are all in order is left alone ("Nothing to fix").
# No rule of the pcap format limits the step of the time from one packet to the next, nor has it to
# be forward.
# Seen: a packet a day or more after the one before it, or some seconds before it, is taken for
# garbage, and so is all that follows. The copy holds the packets up to there, the tool reports
# "SUCCESS: 1 Corruption(s) fixed!" and exits 0. Readers have no trouble with the original.
# It matters to someone who looks after a call recorder that stores signalling alone, or a line with
# few calls: a weekend without calls is enough, and so is a clock that is set back at boot, or two
# captures put one after the other. A file that really was cut off by a power failure, which is what
# one repairs, loses every call after the first quiet day. Count the packets before and after, and
# split a capture at such steps before it is repaired.
# Output (100 packets, 20 ms apart; the step is between the 50th and the 51st):
#   step       0.0 s: Nothing to fix (exit 0)
#   step    3600.0 s: Nothing to fix (exit 0)
#   step   82800.0 s: Nothing to fix (exit 0)
#   step   90000.0 s: SUCCESS: 1 Corruption(s) fixed!, 50 of 100 packets are left (exit 0)
#   step  259200.0 s: SUCCESS: 1 Corruption(s) fixed!, 50 of 100 packets are left (exit 0)
#   step      -0.5 s: Nothing to fix (exit 0)
#   step      -3.0 s: SUCCESS: 1 Corruption(s) fixed!, 50 of 100 packets are left (exit 0)
#   step   -3600.0 s: SUCCESS: 1 Corruption(s) fixed!, 50 of 100 packets are left (exit 0)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download pcapfix=1.1.7-2
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import os, re, struct, subprocess, sys

def packets(path):
    with open(path, "rb") as f:
        data, at, count = f.read(), 24, 0
    while at < len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        count += 1
    return count if at == len(data) else -1

def repair(step):
    payload = bytes.fromhex("45000028000000004011000000000000") + bytes(24)
    with open("calls.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for n in range(100):
            us = n * 20000 + (round(step * 10**6) - 20000 if n >= 50 else 0)
            f.write(struct.pack("<IIII", 1700000000 + us // 10**6, us % 10**6,
                                len(payload), len(payload)))
            f.write(payload)
    if os.path.exists("fixed.pcap"):
        os.remove("fixed.pcap")
    done = subprocess.run(["root/usr/bin/pcapfix", "-o", "fixed.pcap", "calls.pcap"],
                          capture_output=True, text=True, timeout=20)
    fixed = packets("fixed.pcap") if os.path.exists("fixed.pcap") else None
    word = re.search("Nothing to fix|SUCCESS: [^\n]*|FAILED[^\n]*", done.stdout).group()
    print("step %9.1f s: %s%s (exit %d)" % (step, word, "" if fixed is None else
                                          ", %d of 100 packets are left" % fixed, done.returncode))
    return fixed, word.startswith("SUCCESS"), done.returncode

got = {s: repair(s) for s in (0.02, 3600, 82800, 90000, 259200, -0.5, -3, -3600)}
whole, cut = (None, False, 0), (50, True, 0)
if list(got.values()) != [whole, whole, whole, cut, cut, whole, cut, cut]:
    sys.exit("CHANGED: which captures pcapfix cuts")
PY
timeout 50 python3 run.py
