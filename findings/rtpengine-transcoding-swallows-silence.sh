#!/usr/bin/env bash
# rtpengine 10.5.3.5 (Debian 12 package rtpengine-daemon 10.5.3.5-1+deb12u1), userspace forwarding,
# as a plain relay and with codec transcoding, all else default.
# Expected: the RTP timestamp is the time of sampling, and goes on through a pause in which nothing is
# sent, and through lost packets (RFC 3550 section 5.1: it grows for a block "dropped as silent" as
# for one that is sent); the first packet after a pause has the marker (RFC 3551 section 4.1). A
# relay keeps both, with another codec too.
# Seen: it does as a plain relay. As soon as it transcodes, the timestamp counts the samples that were
# decoded and nothing else: a pause of half a second and two lost packets (the gap in the sequence
# numbers stays) go on as if no time had passed, and the marker is gone.
# It matters to a phone behind it: after each pause of a far end with silence suppression all packets
# are late by the length of the pause; a fixed jitter buffer throws them away or starts anew, an
# adaptive one grows to hold the pause, and interarrival jitter shows half a second that no network
# made. Let a buffer settle anew at a jump of delay even without a marker.
# Output (step of sequence number, of timestamp, and marker, over the gap; 160 = 20 ms):
#   relay,       no gap:          sequence +1, timestamp +160, marker 0
#   relay,       pause of 0.5 s:  sequence +1, timestamp +4160, marker 1
#   relay,       2 packets lost:  sequence +3, timestamp +480, marker 0
#   transcoding, no gap:          sequence +1, timestamp +160, marker 0
#   transcoding, pause of 0.5 s:  sequence +1, timestamp +160, marker 0
#   transcoding, 2 packets lost:  sequence +3, timestamp +160, marker 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial
# The program under test is pinned; FFmpeg's and other libraries come as Debian has them.
package=rtpengine-daemon=10.5.3.5-1+deb12u1
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::archives="$dir/deb" \
    --no-install-recommends --download-only install $package > /dev/null
(cd deb && apt-get -qq -o APT::Sandbox::User=root download $package)
for deb in deb/*.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import re, socket, struct, subprocess, sys, time

def encode(value):                         # bencode, as the control protocol wants it
    if isinstance(value, dict):
        return b"d" + b"".join(encode(k) + encode(value[k]) for k in sorted(value)) + b"e"
    if isinstance(value, list):
        return b"l" + b"".join(map(encode, value)) + b"e"
    return b"%d:" % len(value.encode()) + value.encode()

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

sock, spare = bound(), bound()
control = spare.getsockname()
spare.close()
daemon = subprocess.Popen(
    ["root/usr/bin/rtpengine", "--config-file=none", "--table=-1", "--interface=127.0.0.1",
     "--listen-ng=127.0.0.1:%d" % control[1], "--foreground", "--log-stderr", "--log-level=3",
     "--port-min=43000", "--port-max=43200", "--num-threads=1"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cookies = iter(range(1000))

def command(**what):
    """Returns rtpengine's port in the SDP that it answers with."""
    for _ in range(20):
        sock.sendto(b"%d " % next(cookies) + encode({k.replace("_", "-"): v for k, v in what.items()}), control)
        try:
            return int(re.search(rb"m=audio (\d+)", sock.recv(65535)).group(1))
        except (TimeoutError, ConnectionRefusedError):
            time.sleep(0.2)
    sys.exit("CHANGED or not run: rtpengine does not answer")

def sdp(port, payload_type):
    return "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                        f"m=audio {port} RTP/AVP {payload_type}", ""])

def over_gap(call, transcoding, pause, lost):
    """The far end sends PCMU, with a gap behind its 20th packet; what comes out over the gap."""
    phone, far = bound(), bound()
    more = {"codec": {"transcode": ["PCMU"]}} if transcoding else {}
    to_far = command(command="offer", call_id=call, from_tag="a",
                     sdp=sdp(phone.getsockname()[1], 8 if transcoding else 0), **more)
    command(command="answer", call_id=call, from_tag="a", to_tag="b", sdp=sdp(far.getsockname()[1], 0))
    for n in range(40):
        late = n >= 20
        if n == 20:
            time.sleep(pause + 0.02 * lost)
        number, stamp = n + lost * late, 160 * (n + lost * late) + int(8000 * pause) * late
        far.sendto(struct.pack("!BBHII", 0x80, (n == 20 and pause > 0) << 7, number, stamp, 7) + b"\xd5" * 160,
                   ("127.0.0.1", to_far))
        time.sleep(0.02)
    packets = []
    try:
        while len(packets) < 40:
            data = phone.recv(2048)
            packets.append((data[1] >> 7, data[1] & 127, *struct.unpack("!HI", data[2:8])))
    except TimeoutError:
        sys.exit("CHANGED: only %d packets came" % len(packets))
    before, after = packets[19:21]
    if {p[1] for p in packets} != {8 if transcoding else 0}:
        sys.exit("CHANGED: the payload type")
    return (f"sequence +{(after[2] - before[2]) % 2 ** 16}, timestamp +{(after[3] - before[3]) % 2 ** 32}, "
            f"marker {after[0]}")

got = []
try:
    for transcoding in (False, True):
        for title, pause, lost in (("no gap", 0, 0), ("pause of 0.5 s", 0.5, 0), ("2 packets lost", 0, 2)):
            got.append(over_gap(f"{transcoding}{title}", transcoding, pause, lost))
            print("%-12s %-16s %s" % ("transcoding," if transcoding else "relay,", title + ":", got[-1]), flush=True)
finally:
    daemon.kill()
    daemon.wait()
if got != [f"sequence +{s}, timestamp +{t}, marker {m}" for s, t, m in
           ((1, 160, 0), (1, 4160, 1), (3, 480, 0), (1, 160, 0), (1, 160, 0), (3, 160, 0))]:
    sys.exit("CHANGED: rtpengine's timestamps")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
timeout 55 python3 run.py
