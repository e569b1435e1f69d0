#!/usr/bin/env bash
# rtpengine 10.5.3.5 (Debian 12 package rtpengine-daemon 10.5.3.5-1+deb12u1), its "ng" control
# protocol, "offer" with no flags at all.
# Expected: the address in c= and in o= may be a host name (RFC 8866 section 9: unicast-address
# may be an FQDN), and an offer may be one of no media at all (RFC 3264 section 5: "zero or more media
# streams"); such a call gets its media by a later offer.
# Seen: a host name in c= is refused with "Failed to parse SDP", even "localhost", in the session part
# as well as below m=. In o=, which rtpengine does not use, a name passes. Without m= lines the error
# is "Error rewriting SDP". In both cases nothing is said about the line that is at fault.
# It matters to a phone behind such a relay: a SIP proxy that then gives up refuses the call, and one
# that goes on sends the SDP as it was, past the relay, so that audio fails only where the two ends
# do not reach each other. Write addresses into c=, and at least one m= line.
# Output:
#   address in c= and o=:   ok, relay's port in m=
#   name in o=:             ok, relay's port in m=
#   name in session's c=:   error, Failed to parse SDP
#   name in media's c=:     error, Failed to parse SDP
#   no m= line:             error, Error rewriting SDP
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
import re, socket, subprocess, sys, time

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
    address, name = "IN IP4 127.0.0.1", "IN IP4 localhost"
    audio = "m=audio 4000 RTP/AVP 0"
    for number, (title, origin, session, media) in enumerate((
            ("address in c= and o=", address, ["c=" + address], [audio]),
            ("name in o=", name, ["c=" + address], [audio]),
            ("name in session's c=", address, ["c=" + name], [audio]),
            ("name in media's c=", address, [], [audio, "c=" + name]),
            ("no m= line", address, ["c=" + address], []))):
        sdp = ["v=0", "o=- 1 1 " + origin, "s=-", *session, "t=0 0", *media, ""]
        answer = command(b"%d" % number, {"command": "offer", "call-id": "call%d" % number,
                                          "from-tag": "a", "sdp": "\r\n".join(sdp)}).decode()
        ours = re.search(r"m=audio 42[0-9]{3} RTP/AVP 0\r\n", answer)
        result = "ok, relay's port in m=" if answer.endswith("6:result2:oke") and ours else answer
        fault = re.search(r"6:result5:error12:error-reason\d+:([A-Za-z ]+)e$", answer)
        got.append("error, " + fault.group(1) if fault else result)
        print("%-23s %s" % (title + ":", got[-1]), flush=True)
finally:
    daemon.kill()
    daemon.wait()
if got != ["ok, relay's port in m="] * 2 + ["error, Failed to parse SDP"] * 2 + ["error, Error rewriting SDP"]:
    sys.exit("CHANGED: what rtpengine takes for an SDP")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
timeout 50 python3 run.py
