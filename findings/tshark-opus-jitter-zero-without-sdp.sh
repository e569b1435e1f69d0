#!/usr/bin/env bash
# tshark 4.0.17 (Debian 12 package tshark 4.0.17-0+deb12u3), statistics "-z rtp,streams".
# Expected: each stream's jitter (RFC 3550 section 6.4.1) in ms. The RTP clock of Opus is always
# 48000 Hz (RFC 7587 section 4.1), so no SDP is needed to know it; or a sign that it is unknown.
# Seen: 500 packets, some 10 ms late, show 5 ms of jitter as PCMU. As payload type 111 without the
# call's SDP they show -1, 0 and 0 ms, which reads like a perfect line, and even "-d
# rtp.pt==111,opus" changes only the name. With the INVITE and its answer in the capture the jitter
# appears. It matters to someone who measures: a capture begun after the call was set up, or with
# encrypted signalling, gives 0.000 ms for a bad line, and a test "mean jitter below 5 ms" passes.
# Take a minimum of -1 for "not measured", or compute the jitter from the packets.
# Output (minimum, mean, maximum jitter in ms):
#   PCMU                             g711U        0.000  5.173  7.489
#   type 111                         RTPType-111 -1.000  0.000  0.000
#   type 111, -d rtp.pt==111,opus    opus        -1.000  0.000  0.000
#   type 111 after its SDP           opus         0.000  5.173  7.489
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
import glob, os, random, struct, subprocess, sys

def ip_udp(source, target, data):
    udp = struct.pack("!HHHH", source, target, 8 + len(data), 0) + data
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                       b"\x7f\0\0\1", b"\x7f\0\0\1") + udp

rnd = random.Random(1)
late = [rnd.choice((0, 10000)) for _ in range(500)]

def stream(kind, ticks):                   # 20 ms packets, some of them 10 ms late
    return [(10000 + 20000 * i + late[i],
             ip_udp(40000, 40002, struct.pack("!BBHII", 0x80, kind, 1000 + i, ticks * i, 7)
                    + b"\x78" + bytes(60))) for i in range(500)]

def sip(first, to_tag, port):
    sdp = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
           "m=audio %d RTP/AVP 111\r\na=rtpmap:111 opus/48000/2\r\n" % port)
    return ("%s\r\nVia: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK1\r\nMax-Forwards: 70\r\n"
            "From: <sip:a@127.0.0.1>;tag=1\r\nTo: <sip:b@127.0.0.1>%s\r\nCall-ID: 1\r\n"
            "CSeq: 1 INVITE\r\nContact: <sip:a@127.0.0.1:5070>\r\n"
            "Content-Type: application/sdp\r\nContent-Length: %d\r\n\r\n%s"
            % (first, to_tag, len(sdp), sdp)).encode()

setup = [(0, ip_udp(5070, 5060, sip("INVITE sip:b@127.0.0.1 SIP/2.0", "", 40000))),
         (1000, ip_udp(5060, 5070, sip("SIP/2.0 200 OK", ";tag=2", 40002)))]
tshark = os.path.abspath("root/usr/bin/tshark")
folders = map(os.path.abspath, glob.glob("root/usr/lib/*-*-*") + glob.glob("root/lib/*-*-*"))
env = dict(os.environ, LD_LIBRARY_PATH=":".join(folders), HOME=os.getcwd())

def run(name, packets, *options):
    with open("call.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for us, data in packets:
            f.write(struct.pack("<IIII", 1700000000 + us // 10**6, us % 10**6,
                                len(data), len(data)) + data)
    done = subprocess.run([tshark, "-n", "-r", "call.pcap", "-q", "-z", "rtp,streams", *options],
                          env=env, capture_output=True, text=True, timeout=50)
    rows = [line.split() for line in done.stdout.splitlines() if "127.0.0.1" in line]
    assert done.returncode == 0 and len(rows) == 1, done.stderr
    row = rows[0]                          # ... SSRC payload packets lost (%) 3 deltas 3 jitters
    assert row[8:11] == ["500", "0", "(0.0%)"], row
    low, mean, high = (float(v) for v in row[14:17])
    print("%-32s %-11s %6.3f %6.3f %6.3f" % (name, row[7], low, mean, high))
    return low, mean, high

as_rtp = "-d", "udp.port==40002,rtp"
pcmu = run("PCMU", stream(0, 160), *as_rtp)
bare = run("type 111", stream(111, 960), *as_rtp)
told = run("type 111, -d rtp.pt==111,opus", stream(111, 960), *as_rtp, "-d", "rtp.pt==111,opus")
sdp = run("type 111 after its SDP", setup + stream(111, 960))
if not (4 < pcmu[1] < 6 and bare == told == (-1, 0, 0) and sdp == pcmu):
    sys.exit("CHANGED: tshark no longer shows -1/0/0 ms for Opus without SDP")
PY
python3 run.py
