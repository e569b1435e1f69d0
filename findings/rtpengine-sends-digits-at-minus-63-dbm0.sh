#!/usr/bin/env bash
# Package: rtpengine 10.5.3.5 (Debian 12 package rtpengine-daemon 10.5.3.5-1+deb12u1), its "ng" command
# "play DTMF", which puts digits into a running call (for SIP INFO, or from a routing script), in a call
# with the flag "inject-DTMF" in offer and answer.
# Expected: "volume" is optional and "defaults to -8 dB" (its documentation of the ng protocol). In an
# event the volume is the level of the digit without its sign, 0 to 63 for 0 to -63 dBm0 (RFC 4733
# section 2.3.4); a receiver must take 0 to -36 dBm0, and must reject what lies below -55 dBm0 (RFC
# 2833, the text before it, section 3.5, after ITU-T Q.24).
# Instead: without "volume" each event says 63, the softest there is. Only a given volume is sent as it
# was asked for. For a far end without telephone-event the tone has a third level when none is asked
# for: about 7 dB below what "volume 8" gives. The result is "ok" in all cases.
# Why it matters: a far end that follows the old RFC drops every digit, one that plays the digits as tones
# (a gateway to ISDN or analogue lines) plays them 55 dB too soft for any detector, and one that looks
# at the event alone is fine: "some numbers do not take our digits". Tones in the audio work, so it
# shows only with a far end that has telephone-event. Name the volume in each "play DTMF".
# Output seen (volume in the events; highest sample of the tone in the audio, PCMU, of 32124):
#   volume not given: events with volume 63; as a tone 5884
#   volume 8:         events with volume 8; as a tone 12924
#   volume -8:        events with volume 8; as a tone 12924
#   volume 0:         events with volume 0; as a tone 32124
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
    if isinstance(value, list):
        return b"l" + b"".join(map(encode, value)) + b"e"
    if isinstance(value, int):
        return b"i%de" % value
    raw = value.encode()
    return b"%d:" % len(raw) + raw

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

def linear(code):
    """A PCMU byte as a sample of 16 bits."""
    code = ~code & 255
    size = ((code & 15) << 3) + 132 << (code >> 4 & 7)
    return size - 132

spare, sock = bound(), bound()
control = spare.getsockname()
spare.close()
daemon = subprocess.Popen(
    ["root/usr/bin/rtpengine", "--config-file=none", "--table=-1", "--interface=127.0.0.1",
     "--listen-ng=127.0.0.1:%d" % control[1], "--foreground", "--log-stderr", "--log-level=3",
     "--port-min=42400", "--port-max=42600", "--num-threads=1"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cookies = iter(range(1000))

def command(name, call, **more):
    cookie = b"%d" % next(cookies)
    what = encode({"command": name, "call-id": call, "from-tag": "a",
                   **{key.replace("_", "-"): value for key, value in more.items()}})
    for _ in range(20):                    # it may still be starting; a cookie is answered once
        sock.sendto(cookie + b" " + what, control)
        try:
            while not (answer := sock.recv(65535)).startswith(cookie + b" "):
                pass
        except (TimeoutError, ConnectionRefusedError):
            time.sleep(0.2)
            continue
        if b"6:result2:ok" not in answer:
            sys.exit("CHANGED: not ok")
        return answer.decode()
    sys.exit("CHANGED or not run: rtpengine does not answer")

def port(answer):
    return int(re.search(r"m=audio (\d+)", answer).group(1))

def digit(call, event, **volume):
    """What arrives of a digit 5: the volumes in its events, the highest sample of the audio."""
    caller, callee = bound(), bound()
    def sdp(end):
        return "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                            f"m=audio {end.getsockname()[1]} RTP/AVP 0" + " 101" * event,
                            *["a=rtpmap:101 telephone-event/8000"] * event, ""])
    flags = ["inject-DTMF"]
    callees = port(command("offer", call, sdp=sdp(caller), flags=flags))
    callers = port(command("answer", call, sdp=sdp(callee), flags=flags, to_tag="b"))
    start, packets = time.monotonic(), []
    for n in range(45):                    # silence, and the digit after 0.2 s of it
        time.sleep(max(0, start + 0.02 * n - time.monotonic()))
        for end, to, source in ((caller, callers, 7), (callee, callees, 8)):
            end.sendto(struct.pack("!BBHII", 0x80, 0, n, 160 * n, source) + b"\xff" * 160, ("127.0.0.1", to))
        if n == 10:
            command("play DTMF", call, code="5", duration=120, **volume)
    callee.settimeout(0.3)
    try:
        while True:
            packets.append(callee.recv(2048))
    except TimeoutError:
        pass
    command("delete", call)
    volumes = sorted({p[13] & 63 for p in packets if p[1] & 127 == 101 and p[12] == 5})
    return volumes, max((linear(x) for p in packets if p[1] & 127 == 0 for x in p[12:]), default=0)

try:
    for n, (name, volume, want, low, high) in enumerate((
            ("not given:", {}, 63, 5000, 7000), ("8:", {"volume": 8}, 8, 12000, 14000),
            ("-8:", {"volume": -8}, 8, 12000, 14000), ("0:", {"volume": 0}, 0, 31000, 32124))):
        events, beside = digit(f"event{n}", 1, **volume)
        none, tone = digit(f"tone{n}", 0, **volume)
        print("volume {:<10} events with volume {}; as a tone {}".format(
            name, " ".join(map(str, events)) or "none", tone), flush=True)
        if events != [want] or beside or none or not low <= tone <= high:
            sys.exit("CHANGED: this line is not as described")
    print("as described")
finally:
    daemon.kill()
    daemon.wait()
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
