#!/usr/bin/env bash
# pyVoIP 1.6.8 (PyPI), a softphone in Python, its RTP client (RTP.RTPClient), with Python 3.11.
# Expected: payload type 8 carries PCMA, A-law, and type 0 PCMU, mu-law (RFC 3551 sections 4.5.14
# and 6). pyVoIP lists both as its codecs, and takes the first of an offer that is one of them.
# Seen: it writes the number of the chosen codec into the packets, but what is in them is mu-law
# either way. What it receives as PCMA it decodes rightly. So a call that came with "8 0" is clear
# in one direction; in the other a tone is 7 dB too quiet under noise that is 8 dB louder than it,
# and silence is a steady offset.
# It matters to a phone that calls such a peer: it looks as if its own A-law decoder were broken,
# with codec, payload type, length and timing all right. Only the bytes tell: silence in A-law is d5
# or 55, here it is ff. Calls that pyVoIP makes itself offer PCMU alone and are fine. Offer PCMU
# first to it.
# Output (a tone of half the full scale, and digital silence, as decoded from the packets sent):
#   PCMU, payload type 0, decoded as mu-law: tone  -8.9 dBFS, noise -38.1 dB; silence ff is 0
#   PCMA, payload type 8, decoded as A-law:  tone -15.6 dBFS, noise   7.7 dB; silence ff is 848
#   PCMA, payload type 8, decoded as mu-law: tone  -8.9 dBFS, noise -38.1 dB; silence ff is 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" pyVoIP==1.6.8
cat > "$dir/run.py" <<'PY'
import audioop, cmath, math, socket, struct, sys
from pyVoIP import RTP

def sent(codec, sound):
    """The packets that pyVoIP sends of 8-bit sound in this codec."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))
        peer.settimeout(10)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as spare:
            spare.bind(("127.0.0.1", 0))
            port = spare.getsockname()[1]
        client = RTP.RTPClient({int(codec): codec}, "127.0.0.1", port, "127.0.0.1",
                               peer.getsockname()[1], RTP.TransmitType.SENDRECV)
        client.write(sound)
        client.start()
        packets = [peer.recv(2000) for _ in range(len(sound) // 160)]
        client.stop()
    return {p[1] & 127 for p in packets}, b"".join(p[12:] for p in packets)

def heard(payload, decode):
    samples = struct.unpack("<%dh" % len(payload), decode(payload, 2))
    tone = sum(v * cmath.exp(-2j * math.pi * 400 * k / 8000) for k, v in enumerate(samples))
    tone = 2 * (abs(tone) / len(samples)) ** 2
    noise = sum(v * v for v in samples) / len(samples) - tone
    return 10 * math.log10(tone / 32768 ** 2), 10 * math.log10(tone / noise)

tone = bytes(128 + round(64 * math.sin(2 * math.pi * 400 * k / 8000)) for k in range(8000))
results = []
for codec, decode, law in ((RTP.PayloadType.PCMU, audioop.ulaw2lin, "mu-law"),
                           (RTP.PayloadType.PCMA, audioop.alaw2lin, "A-law"),
                           (RTP.PayloadType.PCMA, audioop.ulaw2lin, "mu-law")):
    types, payload = sent(codec, tone)
    level, clear = heard(payload, decode)
    still = sent(codec, b"\x80" * 1600)[1]
    silence = struct.unpack("<h", decode(still[:1], 2))[0]
    assert len(set(still)) == 1
    results.append((types, still[:1], silence))
    print("%s, payload type %s, decoded as %-7s tone %5.1f dBFS, noise %5.1f dB; silence %s is %d"
          % (codec, *types, law + ":", level, -clear, still[:1].hex(), silence))
    results[-1] += (level, clear)
right, wrong, told = results
if not (right[0] == {0} and right[2] == 0 and right[4] > 30
        and wrong[0] == {8} and wrong[2] == 848 and wrong[4] < 0
        and told[0] == {8} and told[2] == 0 and told[4] > 30):
    sys.exit("CHANGED: what pyVoIP sends as PCMA")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 -W ignore "$dir/run.py"
