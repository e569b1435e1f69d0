#!/usr/bin/env bash
# sipgrep 2.1.0 (Debian 12 package sipgrep 2.1.0-2+b1), option -O, which writes the packets that
# match into a capture file.
# Expected: what matches is written as it came ("dump matched packets in pcap format").
# Seen: unless -a switches reassembly of fragments off, each packet, whether it is a fragment or
# not, is written with its link header but only as many octets as the IP header counts. So the last
# 14 octets are missing from Ethernet, 16 from Linux's cooked captures (link type 113), none
# from raw IP. The record says that it was that long, so it does not look cut short by a snap
# length. What sipgrep shows on the terminal is whole.
# It matters to whoever takes such a file for evidence of what a phone sent: the end of a message is
# the end of its SDP, and "a=sendonly" with its line end and the one before it is just 14 octets. In
# the file the phone puts nobody on hold, and its Content-Length looks wrong. Replayed, the message
# is refused or waited on. Use -a, or tcpdump.
# Output (a re-INVITE that ends in "a=ptime:20" and "a=sendonly"):
#   Ethernet: 14 octets missing, length on the wire off by 14; attributes ptime:20
#   Linux cooked: 16 octets missing, length on the wire off by 16; attributes ptime:
#   raw IP: 0 octets missing, length on the wire off by 0; attributes ptime:20 sendonly
#   Ethernet, -a: 0 octets missing, length on the wire off by 0; attributes ptime:20 sendonly
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download sipgrep=2.1.0-2+b1 libpcap0.8=1.10.3-1 libpcre3 \
    libdbus-1-3 libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import re, socket, struct, subprocess, sys

SDP = ("v=0\r\no=- 1 2 IN IP4 10.0.0.1\r\ns=-\r\nc=IN IP4 10.0.0.1\r\nt=0 0\r\n"
       "m=audio 25000 RTP/AVP 0\r\na=ptime:20\r\na=sendonly\r\n")
INVITE = ("INVITE sip:bob@10.0.0.2 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bK1\r\n"
          "Max-Forwards: 70\r\nFrom: <sip:amy@10.0.0.1>;tag=a\r\nTo: <sip:bob@10.0.0.2>;tag=b\r\n"
          "Call-ID: call1\r\nCSeq: 2 INVITE\r\nContact: <sip:amy@10.0.0.1>\r\n"
          "Content-Type: application/sdp\r\n"
          "Content-Length: %d\r\n\r\n%s" % (len(SDP), SDP)).encode()

def total(data):
    value = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while value >> 16:
        value = (value & 65535) + (value >> 16)
    return value

def packet():
    udp = struct.pack("!HHHH", 5060, 5060, 8 + len(INVITE), 0) + INVITE
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0x4000, 64, 17, 0,
                       socket.inet_aton("10.0.0.1"), socket.inet_aton("10.0.0.2"))
    return head[:10] + struct.pack("!H", 65535 - total(head)) + head[12:] + udp

def through(kind, link, *options):
    """What sipgrep writes of a file with this one packet: its record's lengths and octets."""
    frame = link + packet()
    with open("in.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, kind))
        file.write(struct.pack("<IIII", 1700000000, 0, len(frame), len(frame)) + frame)
    shown = subprocess.run(["root/usr/bin/sipgrep", "-C", "-R", *options, "-I", "in.pcap", "-O",
                            "out.pcap"], check=True, timeout=30, capture_output=True).stdout
    with open("out.pcap", "rb") as file:
        data = file.read()
    captured, length = struct.unpack("<II", data[32:40])
    assert len(data) == 40 + captured and b"a=sendonly" in shown
    assert struct.unpack("<I", data[20:24])[0] == kind and frame.startswith(data[40:])
    return len(frame), captured, length, data[40:]

ETHERNET = b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0"
COOKED = b"\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x08\0"
good = True
for title, kind, link, options, lost in (("Ethernet", 1, ETHERNET, (), 14),
                                         ("Linux cooked", 113, COOKED, (), 16),
                                         ("raw IP", 101, b"", (), 0),
                                         ("Ethernet, -a", 1, ETHERNET, ("-a",), 0)):
    before, captured, length, octets = through(kind, link, *options)
    attributes = " ".join(re.findall(r"(?m)^a=(\S*)", octets.decode("latin-1")))
    print("%s: %d octets missing, length on the wire off by %d; attributes %s"
          % (title, before - captured, before - length, attributes), flush=True)
    good = good and before - captured == before - length == lost
    good = good and attributes == {0: "ptime:20 sendonly", 14: "ptime:20", 16: "ptime:"}[lost]
if not good:
    sys.exit("CHANGED: what sipgrep writes")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
timeout 60 python3 run.py
