#!/usr/bin/env bash
# voip-utils 0.5.0 (PyPI; the SIP of Home Assistant's Voice over IP), answer() of its SIP protocol.
# Expected: an answer has as many m= lines as the offer, port 0 in those that are not wanted (RFC
# 3264 section 6); an accepted one lists at least one of the offered formats (6.1), and sendonly is
# answered by recvonly. An offer without a codec in common gets 488 (RFC 3261 section 13.3.1.3).
# Seen: the answer is the same whatever was offered: one audio line, Opus, sendrecv. To an offer of
# PCMU and PCMA alone it accepts "123 opus", a number that the offer does not have; an offer with
# video gets one line back, and hold (sendonly) is answered by sendrecv.
# It matters to a phone without Opus, or with it turned off: its INVITE gets 200 and no error, then
# payload type 123 comes, which it has no name for. A phone that takes the answer's formats for its
# own to send in has none. Check that the answer is one to this offer, and hang up if it is not.
# Output (the m= lines of the offer and of the 200):
#   Opus: audio 111, sendrecv
#   Opus on hold (sendonly): audio 111, sendrecv
#   Opus and video: audio 111, sendrecv
#   PCMU and PCMA: audio 123, sendrecv
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

async def answer(number, media):
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: Callee(SdpInfo("callee", 1, "-", "1")), local_addr=("127.0.0.1", 0))
    callee = transport.get_extra_info("sockname")
    phone = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    phone.bind(("127.0.0.1", 0))
    phone.setblocking(False)
    here = "127.0.0.1:%d" % phone.getsockname()[1]
    body = "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", *media, ""])
    lines = [f"INVITE sip:callee@127.0.0.1:{callee[1]} SIP/2.0",
             f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{number}", "Max-Forwards: 70",
             "From: <sip:phone@127.0.0.1>;tag=1", "To: <sip:callee@127.0.0.1>", f"Call-ID: {number}",
             "CSeq: 1 INVITE", f"Contact: <sip:phone@{here}>",
             "Content-Type: application/sdp", f"Content-Length: {len(body)}", "", body]
    phone.sendto("\r\n".join(lines).encode(), callee)
    text = (await asyncio.wait_for(loop.sock_recv(phone, 65535), 10)).decode()
    phone.close()
    transport.close()
    if not text.startswith("SIP/2.0 200 "):
        return text.split("\r\n")[0]
    lines = [f"{kind} {'rejected' if port == '0' else formats}" for kind, port, formats in
             re.findall(r"(?m)^m=(\w+) (\d+) RTP/AVP (.*?)\r", text)]
    return ", ".join(lines + re.findall(r"(?m)^a=((?:send|recv)\w+|inactive)\r", text))

OPUS = ["m=audio 4000 RTP/AVP 111", "a=rtpmap:111 opus/48000/2"]

async def main():
    got = []
    for number, (title, media) in enumerate((
            ("Opus", OPUS), ("Opus on hold (sendonly)", OPUS + ["a=sendonly"]),
            ("Opus and video", OPUS + ["m=video 4002 RTP/AVP 96", "a=rtpmap:96 H264/90000"]),
            ("PCMU and PCMA", ["m=audio 4000 RTP/AVP 0 8"]))):
        got.append(await answer(number, media))
        print(f"{title}: {got[-1]}", flush=True)
    if got != ["audio 111, sendrecv"] * 3 + ["audio 123, sendrecv"]:
        sys.exit("CHANGED: what voip-utils answers")

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py"
