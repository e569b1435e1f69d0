#!/usr/bin/env bash
# rtpengine 10.5.3.5 (Debian 12 package rtpengine-daemon 10.5.3.5-1+deb12u1), its "ng" control
# protocol, "offer" with no flags at all.
# Expected: a=ptime is a number of milliseconds that may have a fraction (RFC 8866 section 6.4 with
# the grammar of section 9: non-zero-int-or-real); 2.5 ms is a real frame of Opus (RFC 6716 section
# 2.1.4). A relay that transcodes nothing passes the line on as it is.
# Seen: the offer goes on with the fraction cut off: 2.5 becomes 2, 7.5 becomes 7. maxptime is left
# alone, so "ptime:2.5 maxptime:2.5" stays half right. The answer is "ok", without a warning.
# It matters to a phone with short frames: the far end is asked for 2 ms of Opus, which no Opus
# encoder can make, and answers with its default, often 20 ms; both ends look right by themselves,
# and the delay of the call is longer than what was signalled. Ask for whole milliseconds (5, 10)
# through such a relay, or take the length from the packets that come.
# Output:
#   ptime:20    goes on as ptime:20
#   ptime:5     goes on as ptime:5
#   ptime:2.5   goes on as ptime:2
#   ptime:7.5   goes on as ptime:7
#   ptime:2.5, maxptime:2.5 goes on as maxptime:2.5, ptime:2
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
import socket, subprocess, sys, time

def encode(value):                         # bencode, as the control protocol wants it
    if isinstance(value, dict):
        return b"d" + b"".join(encode(k) + encode(value[k]) for k in sorted(value)) + b"e"
    raw = value.encode()
    return b"%d:" % len(raw) + raw

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

spare = bound()
control = spare.getsockname()
spare.close()
daemon = subprocess.Popen(
    ["root/usr/bin/rtpengine", "--config-file=none", "--table=-1", "--interface=127.0.0.1",
     "--listen-ng=127.0.0.1:%d" % control[1], "--foreground", "--log-stderr", "--log-level=3",
     "--port-min=42000", "--port-max=42200", "--num-threads=1"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def command(cookie, what):
    for _ in range(20):
        sock.sendto(cookie + b" " + encode(what), control)
        try:
            return sock.recv(65535)
        except (TimeoutError, ConnectionRefusedError):
            time.sleep(0.2)
    sys.exit("CHANGED or not run: rtpengine does not answer")

sock, got = bound(), []
try:
    for number, lines in enumerate((("ptime:20",), ("ptime:5",), ("ptime:2.5",), ("ptime:7.5",),
                                    ("ptime:2.5", "maxptime:2.5"))):
        sdp = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
               "m=audio 4000 RTP/AVP 111", "a=rtpmap:111 opus/48000/2", *("a=" + x for x in lines), ""]
        answer = command(b"%d" % number, {"command": "offer", "call-id": "call%d" % number,
                                          "from-tag": "a", "sdp": "\r\n".join(sdp)}).decode()
        passed = [x[2:] for x in answer.split("\r\n") if "ptime:" in x]
        got.append(passed)
        print("%-11s goes on as %s" % (", ".join(lines), ", ".join(passed) or "nothing"), flush=True)
finally:
    daemon.kill()
    daemon.wait()
if got != [["ptime:20"], ["ptime:5"], ["ptime:2"], ["ptime:7"], ["maxptime:2.5", "ptime:2"]]:
    sys.exit("CHANGED: the ptime that rtpengine passes on")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
timeout 50 python3 run.py
