#!/usr/bin/env bash
# rtpengine 10.5.3.5 (Debian 12 package rtpengine-daemon 10.5.3.5-1+deb12u1), its "ng" control
# protocol, "offer" and "answer" with no flags at all: a plain relay, in front of two phones.
# Expected: an answer SHOULD use the offer's payload type number for a codec, so it may use another
# one, and whoever sends uses the number from the other's SDP (RFC 3264 sections 5.1, 6.1 and 7). A
# relay that transcodes nothing passes such an answer on, or it renumbers the packets.
# Instead: it depends on what else is in the answer. Opus alone, offered as 111 and answered as 96, is
# told to the caller as 111, and the packets are renumbered in both directions: fine. As soon as one
# other codec (PCMU) is common, Opus vanishes from the answer, and the callee's packets with 96 are
# passed on all the same. telephone-event goes the same way. Both results are "ok".
# Why it matters: the callee believes that Opus was agreed on and sends it as 96; the caller was told
# "PCMU alone", does not know 96 and hears nothing, while its PCMU arrives: one-way sound, or no digits
# from the callee. Without the relay the same two phones understand each other. Answer with the
# offer's numbers, always, and take an unknown number of the far end for a sign of this.
# (Its makers think such an answer wrong; what is surprising is that it works with one codec.)
# Output seen (offer -> answer by the callee -> what the caller is told; what arrives as what):
#   111=opus       -> 111=opus       -> 111=opus      ; callee's 111 arrives as 111, caller's 111 as 111
#   111=opus       -> 96=opus        -> 111=opus      ; callee's 96 arrives as 111, caller's 111 as 96
#   111=opus 0     -> 111=opus 0     -> 111=opus 0    ; callee's 111 arrives as 111, caller's 0 as 0
#   111=opus 0     -> 96=opus 0      -> 0             ; callee's 96 arrives as 96, caller's 0 as 0
#   8 101=event    -> 8 101=event    -> 8 101=event   ; callee's 101 arrives as 101, caller's 8 as 8
#   8 101=event    -> 8 96=event     -> 8             ; callee's 96 arrives as 96, caller's 8 as 8
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial
# The program under test is pinned; FFmpeg's and other libraries come as Debian has them.
package=rtpengine-daemon=10.5.3.5-1+deb12u1
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::archives="$dir/deb" \
    --no-install-recommends --reinstall --download-only install $package > /dev/null
for deb in deb/*.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import re, socket, struct, subprocess, sys, time

def encode(value):                         # bencode, as the control protocol wants it
    if isinstance(value, dict):
        return b"d" + b"".join(encode(k) + encode(value[k]) for k in sorted(value)) + b"e"
    raw = value.encode()
    return b"%d:" % len(raw) + raw

def bound(seconds):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(seconds)
    return s

spare = bound(1)
control = spare.getsockname()
spare.close()
daemon = subprocess.Popen(
    ["root/usr/bin/rtpengine", "--config-file=none", "--table=-1", "--interface=127.0.0.1",
     "--listen-ng=127.0.0.1:%d" % control[1], "--foreground", "--log-stderr", "--log-level=3",
     "--port-min=42300", "--port-max=42600", "--num-threads=1"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
sock, cookie = bound(1), 0
NAMES = {"opus": "opus/48000/2", "event": "telephone-event/8000"}

def command(**what):
    """Sends a command; returns the SDP and the relay's port in it."""
    global cookie
    cookie += 1
    for _ in range(20):
        sock.sendto(b"%d " % cookie + encode({k.replace("_", "-"): v for k, v in what.items()}), control)
        try:
            answer = sock.recv(65535).decode()
        except (TimeoutError, ConnectionRefusedError):
            time.sleep(0.2)
            continue
        if not answer.endswith("6:result2:oke"):
            sys.exit("CHANGED: " + answer)
        return answer, int(re.search("m=audio ([0-9]+)", answer).group(1))
    sys.exit("CHANGED or not run: rtpengine does not answer")

def sdp(port, formats):
    """Formats like "111=opus 0"."""
    pairs = [f.split("=") for f in formats.split()]
    lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
             "m=audio %d RTP/AVP %s" % (port, " ".join(p[0] for p in pairs))]
    return "\r\n".join(lines + ["a=rtpmap:%s %s" % (p[0], NAMES[p[1]]) for p in pairs if p[1:]] + [""])

def formats(text):
    maps = dict(re.findall("a=rtpmap:([0-9]+) ([^\r]*)", text))
    short = {long: name for name, long in NAMES.items()}
    return " ".join(n + ("=" + short[maps[n]] if maps.get(n) in short else "")
                    for n in re.search("m=audio [0-9]+ RTP/AVP ([0-9 ]*)", text).group(1).split())

def arrives(sender, port, receiver, number):
    for i in range(5):
        sender.sendto(struct.pack("!BBHII", 0x80, number, i, 960 * i, 7) + b"\xf8\xff\xfe\x00",
                      ("127.0.0.1", port))
        time.sleep(0.02)
    numbers = {receiver.recv(2000)[1] & 127 for _ in range(5)}
    return " ".join(map(str, sorted(numbers)))

good = True
try:
    for call, (offer, answer, sent, back, told, came, went) in enumerate((
            ("111=opus", "111=opus", 111, 111, "111=opus", "111", "111"),
            ("111=opus", "96=opus", 96, 111, "111=opus", "111", "96"),
            ("111=opus 0", "111=opus 0", 111, 0, "111=opus 0", "111", "0"),
            ("111=opus 0", "96=opus 0", 96, 0, "0", "96", "0"),
            ("8 101=event", "8 101=event", 101, 8, "8 101=event", "101", "8"),
            ("8 101=event", "8 96=event", 96, 8, "8", "96", "8"))):
        caller, callee = bound(3), bound(3)
        same = dict(call_id="call%d" % call, from_tag="a")
        _, to_caller = command(command="offer", sdp=sdp(caller.getsockname()[1], offer), **same)
        text, to_callee = command(command="answer", to_tag="b",
                                  sdp=sdp(callee.getsockname()[1], answer), **same)
        got = formats(text), arrives(callee, to_caller, caller, sent), arrives(caller, to_callee, callee, back)
        print("%-14s -> %-14s -> %-14s; callee's %d arrives as %s, caller's %d as %s"
              % (offer, answer, got[0], sent, got[1], back, got[2]), flush=True)
        good = good and got == (told, came, went)
finally:
    daemon.kill()
    daemon.wait()
if not good:
    sys.exit("CHANGED: what becomes of an answer with other payload type numbers")
print("as described")
PY
folders=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
LD_LIBRARY_PATH="$folders" timeout 50 python3 run.py
