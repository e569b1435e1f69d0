#!/usr/bin/env bash
# Package: rtpengine 10.5.3.5 (Debian 12 package rtpengine-daemon 10.5.3.5-1+deb12u1), its "ng" command
# "play media", which plays a sound to one side of a running call (an announcement, a beep). To compare,
# the same with "block media" for the other side before and "unblock media" behind it.
# Expected: what a phone gets as one agreed stream stays one stream. The prompt takes the place of the
# far voice or is mixed with it, with one SSRC and one sequence (RFC 3550 sections 5.1 and 7: streams of
# several sources that become one stream are a mixer's work; section 8: the numbers of one SSRC go on).
# Instead: the far voice goes on, and the prompt comes beside it on the same port with another SSRC,
# numbers and timestamps of its own: twice as many packets, in turn one of the prompt and one of the voice.
# So it is as a plain relay and with transcoding. The result is "ok" and the duration is right. (The
# project has the question in its issue 1390, of 2021.)
# Why it matters: no telephone mixes two SSRCs of one stream. One that starts its jitter buffer anew
# with each new SSRC makes noise of both, one that keeps to the first SSRC does not play the prompt at
# all, and a recorder or a meter that ignores the SSRC sees the numbers jump by thousands at each step.
# When the far side is silent or has not answered yet, all is well, and so are most tests. Block the
# other side's media for the length of the prompt, whose duration is in the answer to "play media".
# Output seen (a prompt of 300 ms within 1 s of the far voice, as it comes to the caller):
#   relay:       65 packets, 15 of the prompt, SSRC changes to and fro
#   transcoding: 65 packets, 15 of the prompt, SSRC changes to and fro
#   far silent:  15 packets, 15 of the prompt, SSRC changes 0 times
#   far blocked: 15 of the prompt with none of the voice among them, SSRC changes 2 times
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
import io, math, re, socket, struct, subprocess, sys, time, wave

def encode(value):                         # bencode, as the control protocol wants it
    if isinstance(value, dict):
        return b"d" + b"".join(encode(k) + encode(value[k]) for k in sorted(value)) + b"e"
    if isinstance(value, list):
        return b"l" + b"".join(map(encode, value)) + b"e"
    raw = value if isinstance(value, bytes) else value.encode()
    return b"%d:" % len(raw) + raw

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

spare, sock = bound(), bound()
control = spare.getsockname()
spare.close()
daemon = subprocess.Popen(
    ["root/usr/bin/rtpengine", "--config-file=none", "--table=-1", "--interface=127.0.0.1",
     "--listen-ng=127.0.0.1:%d" % control[1], "--foreground", "--log-stderr", "--log-level=3",
     "--port-min=42800", "--port-max=42998", "--num-threads=1"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cookies = iter(range(1000))

def command(name, call, side, **more):
    cookie = b"%d" % next(cookies)
    what = encode({"command": name, "call-id": call, "from-tag": side,
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

def sdp(end, payload_type):
    return "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                        f"m=audio {end.getsockname()[1]} RTP/AVP {payload_type}", ""])

def port(answer):
    return int(re.search(r"m=audio (\d+)", answer).group(1))

def prompt():
    """A WAV file of 300 ms of a tone."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(b"".join(struct.pack("<h", round(16000 * math.sin(math.pi * n / 8))) for n in range(2400)))
    return file.getvalue()

FAR = 0x0fa40fa4

def call(name):
    """The SSRCs that come to the caller, one for each packet, None for those of the prompt."""
    caller, callee = bound(), bound()
    kind = 8 if name == "transcoding" else 0
    more = {"codec": {"transcode": ["PCMA"]}} if kind else {}
    callees = port(command("offer", name, "a", sdp=sdp(caller, 0), **more))
    callers = port(command("answer", name, "a", to_tag="b", sdp=sdp(callee, kind)))
    start = time.monotonic()
    for n in range(50):                    # 1 s, the prompt after 0.3 s of it
        time.sleep(max(0, start + 0.02 * n - time.monotonic()))
        caller.sendto(struct.pack("!BBHII", 0x80, 0, n, 160 * n, 7) + b"\xff" * 160, ("127.0.0.1", callers))
        if name != "far silent":
            callee.sendto(struct.pack("!BBHII", 0x80, kind, n, 160 * n, FAR) + b"\xd5" * 160,
                          ("127.0.0.1", callees))
        if n == 13 and name == "far blocked":
            command("block media", name, "b")
        if n == 15 and "i300e" not in command("play media", name, "a", blob=prompt()):
            sys.exit("CHANGED: the duration")
        if n == 42 and name == "far blocked":
            command("unblock media", name, "b")
    came, voice = [], None
    caller.settimeout(0.4)
    try:
        while True:
            packet = caller.recv(2048)
            came.append((struct.unpack_from("!I", packet, 8)[0], packet[1] & 127, len(set(packet[12:])) > 4))
    except TimeoutError:
        pass
    command("delete", name, "a")
    if {kind for _, kind, _ in came} != {0}:
        sys.exit("CHANGED: the payload type")
    tones, others = ({ssrc for ssrc, _, tone in came if tone is which} for which in (True, False))
    if len(tones) != 1 or tones & others or len(others) != (name != "far silent"):
        sys.exit("CHANGED: the SSRCs")
    return [tone for _, _, tone in came]

try:
    for name in ("relay", "transcoding", "far silent", "far blocked"):
        came = call(name)
        steps = sum(a != b for a, b in zip(came, came[1:]))
        if name == "far blocked":
            text = f"{sum(came)} of the prompt with none of the voice among them, SSRC changes {steps} times"
            good = sum(came) == 15 and steps == 2
        else:
            often = "to and fro" if steps > 5 else f"{steps} times"        # up to 30 times
            text = f"{len(came)} packets, {sum(came)} of the prompt, SSRC changes {often}"
            good = sum(came) == 15 and len(came) == (15 if name == "far silent" else 65)
            good = good and (steps == 0 if name == "far silent" else steps > 5)
        print(f"{name + ':':<12} {text}", flush=True)
        if not good:
            sys.exit("CHANGED: this line is not as described")
    print("as described")
finally:
    daemon.kill()
    daemon.wait()
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
