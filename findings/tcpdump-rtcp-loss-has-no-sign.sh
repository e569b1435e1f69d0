#!/usr/bin/env bash
# tcpdump 4.99.3 (Debian 12 tcpdump 4.99.3-1) with -T rtcp, against tshark 4.0.17 (Debian 12 tshark
# 4.0.17-0+deb12u3) on the same receiver reports.
# Expected: the cumulative number of packets lost is expected minus received packets, "and the loss
# may be negative if there are duplicates" (RFC 3550 section 6.4.1); it is a signed number of 24
# bits, from -0x800000 to 0x7fffff (section A.3).
# Seen: tcpdump prints it without the sign: 1, 3 and 200 duplicates become 16777215, 16777213 and
# 16777016 packets lost. It leaves out the fraction lost, which would show that none is. tshark
# prints the sign. Positive counts are right in both.
# It matters to someone who watches calls with tcpdump in scripts: one duplicate on a good line
# looks like millions of lost packets, a sum or a maximum over reports is useless, and a difference
# of two reports jumps by 2^24 whenever the count crosses zero. Take 2^24 off counts from 2^23 on.
# Output:
#   sent   120, fraction  25: tcpdump 120l, tshark 120 lost, fraction 25
#   sent     0, fraction   0: tcpdump 0l, tshark 0 lost, fraction 0
#   sent    -1, fraction   0: tcpdump 16777215l, tshark -1 lost, fraction 0
#   sent    -3, fraction   0: tcpdump 16777213l, tshark -3 lost, fraction 0
#   sent  -200, fraction   0: tcpdump 16777016l, tshark -200 lost, fraction 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 \
    {tshark,libwireshark16,libwiretap13,libwsutil14}=4.0.17-0+deb12u3 libssl3 libcap2 \
    libglib2.0-0 libbrotli1 libc-ares2 libgnutls30 libkrb5-3 libk5crypto3 libkrb5support0 \
    libkeyutils1 libcom-err2 libxml2 libicu72 liblua5.2-0 libnghttp2-14 libsmi2ldbl libsnappy1v5 \
    libdbus-1-3 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 libnettle8 libhogweed6 libgmp10 \
    libffi8
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import glob, os, re, struct, subprocess, sys

folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders), HOME=os.getcwd())
cases = (120, 25), (0, 0), (-1, 0), (-3, 0), (-200, 0)

with open("call.pcap", "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for k, (lost, fraction) in enumerate(cases):
        block = struct.pack("!IB3sIIII", 7, fraction, (lost & 0xFFFFFF).to_bytes(3, "big"),
                            5000, 80, 0, 0)
        report = struct.pack("!BBHI", 0x81, 201, 7, 8) + block
        udp = struct.pack("!HHHH", 40001, 40003, 8 + len(report), 0) + report
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                         b"\x7f\0\0\1", b"\x7f\0\0\1") + udp
        f.write(struct.pack("<IIII", 1700000000 + 5 * k, 0, len(ip), len(ip)) + ip)

def run(*command):
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()

text = run("root/usr/bin/tcpdump", "-Z", "root", "-n", "-r", "call.pcap", "-T", "rtcp")
fields = run("root/usr/bin/tshark", "-n", "-r", "call.pcap", "-d", "udp.port==40003,rtcp", "-T",
             "fields", "-e", "rtcp.ssrc.cum_nr", "-e", "rtcp.ssrc.fraction")
ok = len(text) == len(fields) == len(cases)
for (lost, fraction), line, row in zip(cases, text, fields):
    plain = re.search(r" rr .*?(-?\d+)l ", line).group(1)
    print("sent %5d, fraction %3d: tcpdump %sl, tshark %s lost, fraction %s"
          % (lost, fraction, plain, *row.split()))
    ok &= int(plain) == lost % 2**24 and row.split() == [str(lost), str(fraction)]
if not ok:
    sys.exit("CHANGED: tcpdump prints the cumulative loss of RTCP otherwise")
PY
python3 run.py
