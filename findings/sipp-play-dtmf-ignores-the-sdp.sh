#!/usr/bin/env bash
# SIPp 3.6.1 (Debian 12 package sip-tester 1:3.6.1-1+b2), the action <exec play_dtmf="12"/> in a
# call whose two SDPs both say "0 101" and "a=rtpmap:101 telephone-event/8000". Run it as root: SIPp
# plays through a raw socket.
# Expected: the digits come with the payload type of the far end's SDP (RFC 3264 section 5.1), here
# 101. Timestamps count at its clock of 8000 Hz (RFC 4733 sections 2.2.1 and 2.3.5), 160 for 20 ms,
# as the durations do, and sequence numbers grow by one from packet to packet (RFC 3550 section
# 5.1).
# Seen: digits always come as payload type 96, which nobody offered. Before them 0.4 s of four zero
# octets come as 97, with sequence numbers that grow by two: a receiver counts half of them lost.
# The timestamps count milliseconds: 20 for 20 ms. The durations do count at 8000 Hz, so the second
# digit begins, by its timestamp, 400 after the first, which lasts 1600: the digits overlap.
# It matters to a laboratory that tests a phone or a voice menu: no digit is heard, or only where
# the far end takes any payload type; loss and jitter are bad on a perfect line. Test digits with a
# recorded stream (play_pcap_audio) or another tool, or let the far end name 96 in its SDP.
# Output:
#   97: 20 packets, sequence steps 2, timestamp steps 20
#   96: digit 1, 13 packets, sequence steps 1, at 24400, lasts 1600
#   96: digit 2, 13 packets, sequence steps 1, at 24800, lasts 1600
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "not run: SIPp needs root for this"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# The program under test is pinned; the libraries that it needs come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download sip-tester=1:3.6.1-1+b2 \
    libgsl27 libgslcblas0 libsctp1 libpcap0.8 libdbus-1-3 libncursesw6 libtinfo6 libssl3
for deb in *.deb; do dpkg -x "$deb" root; done
cat > call.xml <<'XML'
<?xml version="1.0" encoding="ISO-8859-1" ?>
<scenario name="digits">
<send retrans="500"><![CDATA[
INVITE sip:b@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
Max-Forwards: 70
From: <sip:a@[local_ip]:[local_port]>;tag=[call_number]
To: <sip:b@[remote_ip]:[remote_port]>
Call-ID: [call_id]
CSeq: 1 INVITE
Contact: <sip:a@[local_ip]:[local_port]>
Content-Type: application/sdp
Content-Length: [len]

v=0
o=- 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [local_ip]
t=0 0
m=audio [media_port] RTP/AVP 0 101
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
]]></send>
<recv response="200"></recv>
<send><![CDATA[
ACK sip:b@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
Max-Forwards: 70
From: <sip:a@[local_ip]:[local_port]>;tag=[call_number]
To: <sip:b@[remote_ip]:[remote_port]>[peer_tag_param]
Call-ID: [call_id]
CSeq: 1 ACK
Content-Length: 0

]]></send>
<nop><action><exec play_dtmf="12"/></action></nop>
<pause milliseconds="4000"/>
</scenario>
XML
cat > run.py <<'PY'
import socket, struct, subprocess, sys

def bound(seconds):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(seconds)
    return s, s.getsockname()[1]

sip, port = bound(20)
rtp, media = bound(10)
_, local = bound(1)
_.close()
sipp = subprocess.Popen(["root/usr/bin/sipp", "127.0.0.1:%d" % port, "-sf", "call.xml", "-m", "1",
                         "-i", "127.0.0.1", "-p", str(local), "-mp", "26410", "-nostdin"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
packets = []
try:
    invite, caller = sip.recvfrom(65535)
    lines = invite.decode().split("\r\n")
    if "m=audio 26410 RTP/AVP 0 101" not in lines:
        sys.exit("CHANGED: SIPp's SDP")
    copied = [x for x in lines if x.startswith(("Via:", "From:", "To:", "Call-ID:", "CSeq:"))]
    copied = [x + ";tag=1" if x.startswith("To:") else x for x in copied]
    sdp = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
           "m=audio %d RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n"
           "a=fmtp:101 0-15\r\n" % media)
    answer = ["SIP/2.0 200 OK", *copied, "Contact: <sip:b@127.0.0.1:%d>" % port,
              "Content-Type: application/sdp", "Content-Length: %d" % len(sdp), "", sdp]
    sip.sendto("\r\n".join(answer).encode(), caller)
    while len(packets) < 46:
        data = rtp.recv(2000)
        packets.append((data[1] & 127, *struct.unpack("!HI", data[2:8]), data[12:]))
except TimeoutError:
    pass
finally:
    sipp.kill()
    sipp.wait()

def steps(values):
    return sorted({b - a for a, b in zip(values, values[1:])})

filler = [p for p in packets if p[0] == 97]
got = [(97, len(filler), steps([p[1] for p in filler]), steps([p[2] for p in filler]))]
print("97: %d packets, sequence steps %s, timestamp steps %s"
      % (len(filler), *(" ".join(map(str, s)) for s in got[0][2:])))
for digit in 1, 2:
    its = [p for p in packets if p[0] != 97 and len(p[3]) == 4 and p[3][0] == digit]
    types, starts = sorted({p[0] for p in its}), sorted({p[2] for p in its})
    lasts = max((int.from_bytes(p[3][2:], "big") for p in its), default=0)
    got.append((types, len(its), steps([p[1] for p in its]), starts, lasts))
    print("%s: digit %d, %d packets, sequence steps %s, at %s, lasts %d"
          % (*types, digit, len(its), *steps([p[1] for p in its]), *starts, lasts))
if got != [(97, 20, [2], [20]), ([96], 13, [1], [24400], 1600), ([96], 13, [1], [24800], 1600)]:
    sys.exit("CHANGED: what SIPp sends as digits")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
timeout 60 python3 run.py
