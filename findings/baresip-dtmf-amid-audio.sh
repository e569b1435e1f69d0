#!/usr/bin/env bash
# Package: baresip-python 0.5.2a3 (PyPI; it holds baresip and libre).
# Expected: the packets of a digit stand in the place of audio: they share its SSRC and sequence
# numbers, their timestamp is the start of the digit (RFC 4733 sections 2.2.1 and 2.5.1), and
# with the sender's own audio silent for that time, timestamps never go back in sequence order.
# Instead: baresip goes on with its audio at full rate and puts a packet of the digit behind each
# audio packet. So in sequence order the timestamp goes forth and back all through the digit, one
# packet further each time, and the packet rate doubles.
# Why it matters: a jitter buffer, a loss count or a jitter measure that reads timestamps in
# sequence order before it looks at the payload type takes each step for a jump of the stream.
# Keep the digits out of it, and do not take the first digit packet as the end of the audio.
# Output seen:
#   while the digit lasts: a packet of audio between any two of the digit
#   audio timestamps: no gap, 160 a packet
#   in sequence order the timestamp goes back by 1, 2, 3, ... packets of 20 ms
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" baresip-python==0.5.2a3 cffi==2.1.1 pycparser==3.12
cat > "$dir/run.py" <<'PY'
import asyncio, os, re, socket, struct, time
from baresip import Account, Config, Runtime, UserAgent

def changed(text):
    print("CHANGED:", text, flush=True)
    os._exit(1)

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s

sip, media, spare = bound(), bound(), bound()
here, there = sip.getsockname()[1], spare.getsockname()[1]
spare.close()                                     # the port for baresip

async def poll(sock, until, seconds):
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            data = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(sock, 65535), left)
        except asyncio.TimeoutError:
            return None
        got = until(data)
        if got:
            return got

def sdp(version, lines):
    return "\r\n".join(["v=0", f"o=- 1 {version} IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                        *lines]) + "\r\n"

class Dialog:
    def __init__(self):
        self.number, self.tag = 0, ""

    def send(self, method, body="", branch=None):
        lines = [f"{method} sip:callee@127.0.0.1:{there} SIP/2.0",
                 f"Via: SIP/2.0/UDP 127.0.0.1:{here};branch=z9hG4bK-{branch or method}-{self.number};rport",
                 "Max-Forwards: 70", "From: <sip:caller@127.0.0.1>;tag=caller",
                 f"To: <sip:callee@127.0.0.1>{self.tag}", "Call-ID: one@127.0.0.1",
                 f"CSeq: {self.number} {method}", f"Contact: <sip:caller@127.0.0.1:{here}>"]
        if body:
            lines.append("Content-Type: application/sdp")
        lines += [f"Content-Length: {len(body)}", "", body]
        sip.sendto("\r\n".join(lines).encode(), ("127.0.0.1", there))

    async def ask(self, method, body=""):
        """Sends a request in the dialog, tells its final response."""
        self.number += 1
        self.send(method, body)
        mine = f"CSeq: {self.number} {method}\r"
        def final(data):
            text = data.decode()
            return text if mine in text and re.match("SIP/2.0 [2-6]", text) else None
        text = await poll(sip, final, 10) or changed(f"no answer to {method}")
        self.tag = re.search(r"(?m)^To: .*?(;tag=[^\r;]+)", text).group(1)
        if method == "INVITE":
            self.send("ACK", branch=None if " 200 " in text.split("\r")[0] else "INVITE")
        return text

async def phone(*codecs):
    """Starts baresip on loopback, answering each call; gives the list of its calls."""
    runtime = Runtime()
    await runtime.start(Config(net_interface="127.0.0.1", native_log_level="error",
                               extra_config_text=f"sip_listen 127.0.0.1:{there}\n"))
    agent = await UserAgent.create(
        runtime, Account("callee", "127.0.0.1", "", reg_interval=0, audio_codecs=codecs))
    calls = []
    def incoming(call):
        calls.append(call)
        calls.append(asyncio.ensure_future(call.answer()))
    agent.on_incoming(incoming)
    return calls, (runtime, agent)

async def main():
    calls, keep = await phone("pcmu")
    call = Dialog()
    text = await call.ask("INVITE", sdp(1, [f"m=audio {media.getsockname()[1]} RTP/AVP 0 101",
                                            "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15"]))
    if " telephone-event/8000" not in text:
        changed("no digits negotiated")
    got = []                                      # of each packet: type, sequence, timestamp, payload
    def packet(d):
        if len(d) > 12 and d[1] & 127 in (0, 101):
            got.append((d[1] & 127, *struct.unpack("!HI", d[2:8]), d[12:]))
        return got and got[-1]
    for _ in range(10):
        await poll(media, packet, 5) or changed("no audio came")
    asyncio.ensure_future(calls[0].send_dtmf("5"))
    await poll(media, lambda d: packet(d) and got[-1][0] == 101 and got[-1][3][1] & 0x80, 10) \
        or changed("no end of the digit came")
    await call.ask("BYE")
    first = next(i for i, p in enumerate(got) if p[0] == 101)
    span = got[first:]                            # from the first packet of the digit to its first end
    if len(span) < 9 or any(p[0] != (0 if i % 2 else 101) for i, p in enumerate(span)):
        changed("audio and digit packets do not alternate: " + " ".join(str(p[0]) for p in span))
    print("while the digit lasts: a packet of audio between any two of the digit", flush=True)
    pairs = list(zip(span, span[1:]))
    if any((b[1] - a[1]) & 0xffff != 1 for a, b in pairs):
        changed("a packet was lost on loopback")
    audio = [p[2] for p in got if p[0] == 0]
    if any((b - a) & 0xffffffff != 160 for a, b in zip(audio, audio[1:])):
        changed("the audio has gaps")
    print("audio timestamps: no gap, 160 a packet", flush=True)
    steps = [(b[2] - a[2] + 2**31) % 2**32 - 2**31 for a, b in pairs]
    back = [-s // 160 for s in steps if s < 0]
    if len(back) < 3 or back != list(range(1, len(back) + 1)):
        changed(f"the timestamps step back by {back} packets")
    print("in sequence order the timestamp goes back by 1, 2, 3, ... packets of 20 ms", flush=True)
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
