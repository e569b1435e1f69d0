#!/usr/bin/env bash
# Package: aiosipua 0.7.1 with aiortp 0.8.0 (PyPI; SIP and RTP for Python's asyncio), its CallSession, which
# answers the SDP of a call and sends and hears its audio and digits, with all options as they are.
# Expected: the numbers in an offer are those that the offerer wants to get, so that one sends to it with
# its own number for telephone-event (RFC 3264 section 5.1); the answer should name a format by the number
# that it has in the offer (section 6.1), and a number stands for one format only.
# Instead: digits are always 101. The answer says "101 telephone-event" to an offer of 126, and to one in
# which 101 is Opus or an event of another clock, too; digits to the other side leave with 101, which the
# offer does not have or has for something else; and digits that come with the offered number, as from
# a phone that uses one number in both directions, are not heard. The audio itself keeps to the offer.
# Why it matters: 101 is what many phones use, and then all is well. From one with another number, as
# browsers and gateways have it (96, 110, 126), digits are lost in the direction to it, with no error; as
# Opus they are noise or an error of the decoder. Find the number in the offer and give it to CallSession
# as dtmf_payload_type, whose name is otherwise taken for a default.
# Output seen (a call offers PCMU and these events; then a digit each way):
#   101 events:             answer 101, sends 101; digit as 101 heard
#   126 events:             answer 101, sends 101; digit as 101 heard, as 126 not heard
#   101 Opus, 126 events:   answer 101, sends 101; digit as 101 heard, as 126 not heard
#   126 events, told so:    answer 126, sends 126; digit as 126 heard
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" aiosipua==0.7.1 aiortp==0.8.0
cat > "$dir/run.py" <<'PY'
import asyncio, re, socket, struct, sys
from aiosipua import CallSession, parse_sdp, serialize_sdp

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s

async def call(events, opus, options, sent):
    """The number in the answer, the numbers that digits have, and which numbers are heard."""
    phone = bound()
    with bound() as spare:
        here = spare.getsockname()
    numbers = [0] + [opus] * (opus > 0) + [events]
    offer = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
             f"m=audio {phone.getsockname()[1]} RTP/AVP " + " ".join(map(str, numbers)),
             *[f"a=rtpmap:{opus} opus/48000/2"] * (opus > 0),
             f"a=rtpmap:{events} telephone-event/8000", f"a=fmtp:{events} 0-15", ""]
    session = CallSession(local_ip=here[0], rtp_port=here[1], offer=parse_sdp("\r\n".join(offer)), **options)
    answer = re.findall(r"a=rtpmap:(\d+) telephone-event", serialize_sdp(session.sdp_answer))
    heard = []
    session.on_dtmf = lambda digit, duration: heard.append(digit)
    await session.start()
    session.send_dtmf("5")
    got = set()
    for _ in range(100):
        await asyncio.sleep(0.02)
        try:
            while True:
                packet = phone.recv(2000)
                if len(packet) == 16:                  # an event, not audio
                    got.add(packet[1] & 127)
        except BlockingIOError:
            if got:
                break
    known = []
    for number in sent:
        heard.clear()
        for n in range(8):                             # a digit 1 of 100 ms, its end three times
            phone.sendto(struct.pack("!BBHIIBBH", 0x80, number | (n == 0) << 7, 100 * number + n, 9000 * number,
                                     7, 1, (n > 4) << 7 | 10, 160 * min(n + 1, 6)), here)
            await asyncio.sleep(0.02)
        for _ in range(25):
            await asyncio.sleep(0.02)
            if heard:
                break
        known.append(f"as {number} " + ("heard" if heard == ["1"] else "not heard"))
    await session.close()
    phone.close()
    return "answer {}, sends {}; digit {}".format(
        " ".join(answer), " ".join(map(str, sorted(got))), ", ".join(known))

for title, events, opus, options, sent, want in (
        ("101 events:", 101, 0, {}, [101], "answer 101, sends 101; digit as 101 heard"),
        ("126 events:", 126, 0, {}, [101, 126],
         "answer 101, sends 101; digit as 101 heard, as 126 not heard"),
        ("101 Opus, 126 events:", 126, 101, {}, [101, 126],
         "answer 101, sends 101; digit as 101 heard, as 126 not heard"),
        ("126 events, told so:", 126, 101, {"dtmf_payload_type": 126}, [126],
         "answer 126, sends 126; digit as 126 heard")):
    got = asyncio.run(call(events, opus, options, sent))
    print(f"{title:<23} {got}", flush=True)
    if got != want:
        sys.exit("CHANGED: this line is not as described")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
