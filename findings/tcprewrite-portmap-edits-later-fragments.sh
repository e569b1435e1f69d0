#!/usr/bin/env bash
# Package: tcprewrite 4.4.3 (Debian 12 package tcpreplay 4.4.3-1), option --portmap.
# Expected: it rewrites "TCP/UDP ports" (its manual), here RTP ports 10000 to 19999 to 30000. The
# ports stand in the first fragment of a datagram; later fragments have no UDP header (RFC 791
# section 3.2, RFC 768). A SIP message from port 5060 to 5060 is none of its business.
# Instead: every fragment is taken for one that begins with a UDP header. Two ASCII characters read
# as a port number are often in the range of RTP ("16" is 12598), so text of the SIP message is
# overwritten with the new port, and two characters a little further on with a corrected "checksum".
# That makes up for the change, so the datagram's own checksum stays right: nothing notices. The
# tool says nothing and exits 0.
# Why it matters: an INVITE with video or ICE candidates is longer than 1472 bytes. In a captured
# call, with its RTP ports moved for a replay, the message then has two bad spots of two characters
# in the SDP: a phone refuses the call or sends to another port, and the capture looks right.
# Compare the SIP after rewriting, or map ports in captures without fragments only.
# Output seen (60 INVITEs of two fragments each, one byte longer every time):
#   INVITEs changed: 38 of 60; with a wrong UDP checksum: 0; RTP packets mapped: 10 of 10
#   second fragment sent b'15 198.5', rewritten b'u0 198\xea9'
#   second fragment sent b' UDP 169', rewritten b' Uu0 1\x05Y'
#   second fragment sent b'9170\r\na=', rewritten b'u0u0\r\n\xe7='
#   second fragment sent b' 10.0.0.', rewritten b' 1u00.\xeb+'
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download tcpreplay=4.4.3-1 libpcap0.8=1.10.3-1 \
    libdumbnet1=1.16.3-1 libdbus-1-3 libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 \
    libzstd1 liblz4-1
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*-*)
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:${LD_LIBRARY_PATH/usr\/lib/lib}
cat > run.py <<'PY'
import struct, subprocess, sys

A, B = b"\x0a\0\0\1", b"\x0a\0\0\2"

def total(data):
    data += b"\0" * (len(data) % 2)
    value = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while value >> 16:
        value = (value & 65535) + (value >> 16)
    return value

def right(udp):                            # is the checksum of this datagram?
    return total(A + B + struct.pack("!BBH", 0, 17, len(udp)) + udp) == 65535

def udp(port, data):
    head = struct.pack("!HHHH", port, port, 8 + len(data), 0)
    value = 65535 - total(A + B + struct.pack("!BBH", 0, 17, 8 + len(data)) + head + data)
    return head[:6] + struct.pack("!H", value or 65535) + data

def ip(number, at, part, more):            # one Ethernet frame
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(part), number,
                       more * 0x2000 | at // 8, 64, 17, 0, A, B)
    head = head[:10] + struct.pack("!H", 65535 - total(head)) + head[12:]
    return b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0" + head + part

def invite(extra):
    sdp = ("v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=-\r\nc=IN IP4 10.0.0.1\r\nt=0 0\r\n"
           "m=audio 49170 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n"
           + "".join("a=candidate:%d 1 UDP 1694498815 198.51.100.%d 49170 typ srflx raddr "
                     "10.0.0.1 rport 49170\r\n" % (i, i) for i in range(1, 17)))
    return ("INVITE sip:b@10.0.0.2 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK%d\r\n"
            "Max-Forwards: 70\r\nFrom: <sip:a@10.0.0.1>;tag=1\r\nTo: <sip:b@10.0.0.2>\r\n"
            "Call-ID: %d\r\nCSeq: 1 INVITE\r\nContact: <sip:a@10.0.0.1>\r\nUser-Agent: %s\r\n"
            "Content-Type: application/sdp\r\nContent-Length: %d\r\n\r\n%s"
            % (extra + 100, extra + 100, "x" * (extra + 1), len(sdp), sdp)).encode()

frames, sent = [], []
for number in range(60):
    datagram = udp(5060, invite(number))
    assert 1480 < len(datagram) <= 2960 and right(datagram)
    sent.append(datagram)
    frames += [ip(number, 0, datagram[:1480], 1), ip(number, 1480, datagram[1480:], 0)]
for number in range(10):
    frames.append(ip(100 + number, 0, udp(12000, struct.pack(
        "!BBHII", 0x80, 0, number, number * 160, 7) + b"\xff" * 160), 0))
with open("in.pcap", "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for i, frame in enumerate(frames):
        f.write(struct.pack("<IIII", 1700000000 + i, 0, len(frame), len(frame)) + frame)
subprocess.run(["root/usr/bin/tcprewrite", "--portmap=10000-19999:30000", "-i", "in.pcap",
                "-o", "out.pcap"], check=True, timeout=50)

data, out = open("out.pcap", "rb").read()[24:], []
while data:
    size = struct.unpack("<I", data[8:12])[0]
    out.append(data[16:16 + size])
    data = data[16 + size:]
got = [out[2 * i][34:] + out[2 * i + 1][34:] for i in range(60)]
changed = [i for i in range(60) if got[i] != sent[i]]
wrong = sum(not right(got[i]) for i in range(60))
mapped = sum(p[34:38] == struct.pack("!HH", 30000, 30000) for p in out[120:])
print("INVITEs changed: %d of 60; with a wrong UDP checksum: %d; RTP packets mapped: %d of 10"
      % (len(changed), wrong, mapped))
if len(changed) < 20 or wrong or mapped != 10:
    sys.exit("CHANGED: tcprewrite --portmap treats later fragments otherwise")
for i in changed[::12]:
    print("second fragment sent %r, rewritten %r" % (sent[i][1480:1488], got[i][1480:1488]))
PY
python3 run.py
