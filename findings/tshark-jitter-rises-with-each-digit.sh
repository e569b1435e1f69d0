#!/usr/bin/env bash
# tshark 4.0.17 (Debian 12 package tshark 4.0.17-0+deb12u3), statistics "-z rtp,streams", on calls
# with DTMF digits by RFC 4733.
# Expected: jitter is how far the spacing of arrivals strays from that of the RTP timestamps (RFC
# 3550 section 6.4.1). All packets of a digit carry the time of its start (RFC 4733 section 2.2.1),
# so their timestamps do not tell when they were sent; on a perfect line the jitter should stay 0.
# Seen: tshark names the packets "rtpevent" but takes each of them for 20 ms late. A digit of 100 ms
# on a line without any jitter shows a maximum of 8.75 ms, a key held for one second 65. The mean
# rises with the number of digits. With the digits left out the same capture shows 0.000.
# It matters to someone who measures: a call to a voice menu or a conference PIN "has jitter", one
# without digits has none; a limit of 30 ms fails on a long key press, and a jitter buffer chosen by
# the maximum gets too long. Take the digits out first, tshark -Y "rtp.p_type != 101" -w, for the
# jitter, and read the loss from the whole file (the digits' own packets are missing in the other).
# Output (minimum, mean, maximum jitter in ms; 10 s of PCMU, a packet each 20 ms sharp):
#   no digit                       0.000  0.000  0.000, lost 0
#   1 digit of 100 ms              0.000  0.281  8.750, lost 0
#   10 digits of 100 ms            0.000  3.276 12.736, lost 0
#   1 digit of 1 s                 0.000  2.084 65.000, lost 0
#   the same, digits left out      0.000  0.000  0.000, lost 52
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download \
    {tshark,libwireshark16,libwiretap13,libwsutil14}=4.0.17-0+deb12u3 \
    libpcap0.8 libglib2.0-0 libbrotli1 libc-ares2 libgnutls30 libkrb5-3 libk5crypto3 \
    libkrb5support0 libkeyutils1 libcom-err2 libxml2 libicu72 liblua5.2-0 libnghttp2-14 \
    libsmi2ldbl libsnappy1v5 libdbus-1-3 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 \
    libnettle8 libhogweed6 libgmp10 libffi8
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import glob, os, struct, subprocess, sys

folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders), HOME=os.getcwd())
TSHARK = os.path.abspath("root/usr/bin/tshark"), "-n", "-d", "udp.port==40002,rtp"

def packet(k, kind, timestamp, payload):
    rtp = struct.pack("!BBHII", 0x80, kind, k, timestamp, 7) + payload
    udp = struct.pack("!HHHH", 40000, 40002, 8 + len(rtp), 0) + rtp
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                     b"\x7f\0\0\1", b"\x7f\0\0\1") + udp
    return struct.pack("<IIII", 1700000000 + k // 50, k % 50 * 20000, len(ip), len(ip)) + ip

def call(digits, length):                  # a digit each 500 ms, its end sent three times
    with open("call.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for k in range(500):
            digit, place = divmod(k - 50, 25 if length <= 10 else 100)
            if 0 <= digit < digits and place < length + 2:
                event = struct.pack("!BBH", 1, 0x80 * (place >= length - 1) | 10,
                                    160 * min(place + 1, length))
                f.write(packet(k, 101, 160 * (k - place), event))
            else:
                f.write(packet(k, 0, 160 * k, b"\xff" * 160))

def run(*options):
    done = subprocess.run([*TSHARK, *options], env=env, capture_output=True, text=True, timeout=50)
    assert done.returncode == 0, done.stderr
    return done.stdout

def show(title, name="call.pcap"):
    rows = [r.split() for r in run("-r", name, "-q", "-z", "rtp,streams").splitlines()
            if "127.0.0.1" in r]
    assert len(rows) == 1
    row = [v for v in rows[0] if v != "X"]             # X: sequence numbers are missing
    lost = next(row[k - 1] for k, v in enumerate(row) if v.endswith("%)"))
    lines.append("%-28s %7s %6s %6s, lost %s" % (title, *row[-3:], lost))
    print(lines[-1])

lines = []
for digits, length, title in ((0, 5, "no digit"), (1, 5, "1 digit of 100 ms"),
                              (10, 5, "10 digits of 100 ms"), (1, 50, "1 digit of 1 s")):
    call(digits, length)
    show(title)
run("-r", "call.pcap", "-Y", "rtp.p_type != 101", "-w", "audio.pcap")
show("the same, digits left out", "audio.pcap")
if lines != ["no digit                       0.000  0.000  0.000, lost 0",
             "1 digit of 100 ms              0.000  0.281  8.750, lost 0",
             "10 digits of 100 ms            0.000  3.276 12.736, lost 0",
             "1 digit of 1 s                 0.000  2.084 65.000, lost 0",
             "the same, digits left out      0.000  0.000  0.000, lost 52"]:
    sys.exit("CHANGED: tshark counts the packets of digits otherwise")
PY
python3 run.py
