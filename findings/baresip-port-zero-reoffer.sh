#!/usr/bin/env bash
# Package: baresip-python 0.5.2a3 (PyPI; it holds baresip and libre).
# Expected: a new offer ends a stream by port 0, and the answer has to say port 0 too (RFC 3264
# section 8.2). An offer without a common codec gets 488, and a session goes on (RFC 3261, 14.2).
# Instead: baresip answers a re-INVITE with "m=audio 0" by its live port and a=inactive, as if it
# were hold. And where a first INVITE with G.729 alone gets 488, a re-INVITE gets 200 with port 0:
# the call stays up without audio.
# Why it matters: after ending a stream a phone must bear a port other than 0 and not send there.
# After a change of codec a 200 may have taken the audio away; only a re-INVITE brings it back.
# Output seen:
#   first INVITE, G.729 only: 488, no stream
#   INVITE, PCMU: 200, port live, sendrecv
#   re-INVITE, port 0: 200, port live, inactive
#   re-INVITE, PCMU: 200, port live, sendrecv
#   re-INVITE, G.729 only: 200, port 0, no direction
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

def told(title, text):
    body = text.partition("\r\n\r\n")[2]
    port = re.search(r"m=audio (\d+) ", body)
    way = re.search(r"a=(sendrecv|sendonly|recvonly|inactive)\r", body)
    result = (int(text.split(" ")[1]), port and ("0" if port.group(1) == "0" else "live"),
              way and way.group(1))
    return result, f"{title}: {result[0]}, " + (
        f"port {result[1]}, {result[2] or 'no direction'}" if port else "no stream")

async def main():
    calls, keep = await phone("pcmu", "pcma")
    lines = lambda port, pt: [f"m=audio {port} RTP/AVP {pt}", "a=sendrecv"]
    mine = media.getsockname()[1]
    call, shown = Dialog(), []
    for title, port, pt, want in (
            ("first INVITE, G.729 only", mine, 18, (488, None, None)),
            ("INVITE, PCMU", mine, 0, (200, "live", "sendrecv")),
            ("re-INVITE, port 0", 0, 0, (200, "live", "inactive")),
            ("re-INVITE, PCMU", mine, 0, (200, "live", "sendrecv")),
            ("re-INVITE, G.729 only", mine, 18, (200, "0", None))):
        got, line = told(title, await call.ask("INVITE", sdp(call.number + 1, lines(port, pt))))
        print(line, flush=True)
        if got != want:
            changed(f"{title}: {got} instead of {want}")
        if got[0] == 488:
            call.tag = ""
    await call.ask("BYE")
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
