#!/usr/bin/env bash
# Package: tshark 4.0.17 (Debian 12 package tshark 4.0.17-0+deb12u3), statistics "-z rtp,streams".
# Expected: packets lost are those expected, from the first sequence number to the highest, less
# those received. A late packet from before the wrap of the 16-bit number does not turn the count of
# cycles once more (RFC 3550 sections A.1 and A.3). Swapped packets cost nothing in loss.
# Instead: each packet that the wrap overtakes counts as a whole further cycle. The numbers 65534,
# 0, 65535, 1 in that order, with no packet missing, give 65536 lost, 99.8 % of the stream; so does
# a packet ten places late. Two late ones give 131072. The same swap anywhere else gives 0.
# Why it matters: at 50 packets a second each stream wraps within 22 minutes, so long calls over a
# network with a little reordering "lose" 99 % now and then, and a mean over many calls is useless.
# Take a count of 65536 less n as n packets fewer lost, or count gaps in the numbers oneself.
# Output seen (100 packets of 20 ms, none missing but in the last line):
#   in order across the wrap            lost 0 (0.0%)
#   swapped 20 packets before the wrap  lost 0 (0.0%)
#   65535 comes after 0                 lost 65536 (99.8%)
#   65530 comes ten places late         lost 65536 (99.8%)
#   65534 and 65535 come after 0        lost 131072 (99.9%)
#   65535 comes twice, after 0 again    lost 65535 (99.8%)
#   65535 comes after 0, 10 missing     lost 65546 (99.9%)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# The program under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download \
    {tshark,libwireshark16,libwiretap13,libwsutil14}=4.0.17-0+deb12u3 \
    libpcap0.8 libglib2.0-0 libbrotli1 libc-ares2 libgnutls30 libkrb5-3 libk5crypto3 \
    libkrb5support0 libkeyutils1 libcom-err2 libxml2 libicu72 liblua5.2-0 libnghttp2-14 \
    libsmi2ldbl libsnappy1v5 libdbus-1-3 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 \
    libnettle8 libhogweed6 libgmp10 libffi8
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import glob, os, re, struct, subprocess, sys

folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders), HOME=os.getcwd())

def packet(number):                        # G.711, 20 ms; number goes on past 65535
    data = struct.pack("!BBHII", 0x80, 0, number & 65535, number * 160, 7) + b"\xff" * 160
    udp = struct.pack("!HHHH", 4000, 4002, 8 + len(data), 0) + data
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                       b"\x7f\0\0\1", b"\x7f\0\0\1") + udp

def lost(numbers):
    with open("call.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for i, number in enumerate(numbers):
            p = packet(number)
            f.write(struct.pack("<IIII", 1700000000 + i // 50, i % 50 * 20000, len(p), len(p)) + p)
    done = subprocess.run(["root/usr/bin/tshark", "-n", "-r", "call.pcap", "-q",
                           "-d", "udp.port==4002,rtp", "-z", "rtp,streams"],
                          env=env, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return re.search(r"g711U +\d+ +(-?\d+ \(\S+\))", done.stdout).group(1)

plain = list(range(65486, 65586))

def late(places, *numbers):                # these come so many places later
    order = {n: n + (places + 0.5 if n in numbers else 0) for n in plain}
    return sorted(plain, key=order.get)

again = late(1, 65535)
again.insert(again.index(65536), 65535)
cases = (("in order across the wrap", plain, "0 (0.0%)"),
         ("swapped 20 packets before the wrap", late(1, 65515), "0 (0.0%)"),
         ("65535 comes after 0", late(1, 65535), "65536 (99.8%)"),
         ("65530 comes ten places late", late(10, 65530), "65536 (99.8%)"),
         ("65534 and 65535 come after 0", late(2, 65534, 65535), "131072 (99.9%)"),
         ("65535 comes twice, after 0 again", again, "65535 (99.8%)"),
         ("65535 comes after 0, 10 missing",
          [n for n in late(1, 65535) if not 65500 <= n < 65510], "65546 (99.9%)"))
got = [lost(numbers) for _, numbers, _ in cases]
for (name, _, _), text in zip(cases, got):
    print("%-35s lost %s" % (name, text))
if got != [want for _, _, want in cases]:
    sys.exit("CHANGED: tshark counts the cycles of the sequence number otherwise")
PY
python3 run.py
