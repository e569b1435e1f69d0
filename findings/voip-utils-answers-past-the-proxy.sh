#!/usr/bin/env bash
# voip-utils 0.5.0 (PyPI; the SIP of Home Assistant's Voice over IP), answer() of its SIP protocol.
# Expected: a response has all Via of its request and goes to the topmost one (RFC 3261 sections
# 8.2.6.2 and 18.2.2). A 200 to INVITE copies Record-Route, and its Contact is an address of the
# callee: the target of ACK and BYE (12.1.1).
# Seen: of several Via only the last is kept, and the 200 goes there: past the proxy, straight to the
# phone behind it, which drops it or not as its NAT decides. Record-Route is left out, and the
# Contact is a copy of the caller's: a caller that follows it sends ACK and BYE to itself.
# It matters to a phone: even without a proxy the call to such a peer is "answered" for ever, since
# no ACK comes to it and the BYE at the end reaches nobody; it works with callers that ignore the
# Contact. Take a Contact that is one's own address for what it is, and fall back on the source of
# the 200.
# Output:
#   no proxy: 200 to the phone, Via: phone, Record-Route: none, Contact: phone
#   one proxy: 200 to the phone, Via: phone, Record-Route: none, Contact: phone
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" voip-utils==0.5.0
cat > "$dir/run.py" <<'PY'
import asyncio, re, socket, sys
from unittest.mock import Mock
sys.modules["opuslib_next"] = Mock()      # the codec of its RTP part, which is not used here
from voip_utils.sip import SdpInfo, SipDatagramProtocol

class Callee(SipDatagramProtocol):
    def on_call(self, call_info):
        self.answer(call_info, 4100)

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s

phone, proxy = bound(), bound()
names = {s.getsockname()[1]: name for s, name in ((phone, "phone"), (proxy, "proxy"))}
port = {name: number for number, name in names.items()}
body = "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                    "m=audio 4000 RTP/AVP 111", "a=rtpmap:111 opus/48000/2", ""])

async def receive(sock):
    try:
        return (await asyncio.wait_for(asyncio.get_running_loop().sock_recv(sock, 65535), 2)).decode()
    except TimeoutError:
        return ""

def who(text, name):
    """Whose ports the header fields of this name have."""
    return ", ".join(names.get(int(n), n) for value in re.findall(rf"(?mi)^{name}: *(.*?)\r", text)
                     for n in re.findall(r"127\.0\.0\.1:(\d+)", value)) or "none"

async def one(path):
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Callee(SdpInfo("callee", 1, "-", "1")), local_addr=("127.0.0.1", 0))
    callee = transport.get_extra_info("sockname")
    lines = [f"INVITE sip:callee@127.0.0.1:{callee[1]} SIP/2.0",
             *(f"Via: SIP/2.0/UDP 127.0.0.1:{port[n]};branch=z9hG4bK-{n}" for n in path), "Max-Forwards: 69",
             *(f"Record-Route: <sip:127.0.0.1:{port[n]};lr>" for n in path[:-1]),
             "From: <sip:phone@127.0.0.1>;tag=1", f"To: <sip:callee@127.0.0.1>", f"Call-ID: {len(path)}",
             "CSeq: 1 INVITE", f"Contact: <sip:phone@127.0.0.1:{port['phone']}>",
             "Content-Type: application/sdp", f"Content-Length: {len(body)}", "", body]
    {"phone": phone, "proxy": proxy}[path[0]].sendto("\r\n".join(lines).encode(), callee)
    answers = await asyncio.gather(receive(phone), receive(proxy))
    transport.close()
    shown = [f"{text[8:11]} to the {name}, Via: {who(text, 'Via')}, Record-Route: {who(text, 'Record-Route')}, "
             f"Contact: {who(text, 'Contact')}" for name, text in zip(("phone", "proxy"), answers) if text]
    return "; ".join(shown) or "nothing"

async def main():
    got = [await one(["phone"]), await one(["proxy", "phone"])]
    print("no proxy:", got[0])
    print("one proxy:", got[1])
    if got != ["200 to the phone, Via: phone, Record-Route: none, Contact: phone"] * 2:
        sys.exit("CHANGED: how voip-utils answers an INVITE")

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py"
