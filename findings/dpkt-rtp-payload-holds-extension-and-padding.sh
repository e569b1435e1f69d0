#!/usr/bin/env bash
# dpkt 1.9.8 and scapy 2.6.1 (PyPI), their RTP classes, on one G.711 packet in four forms.
# Expected: the payload is what is left after the CSRC list, the header extension (X bit, RFC 3550
# section 5.3.1) and, at the end, the padding (P bit, section 5.1: the last octet counts it).
# Seen: dpkt.rtp.RTP takes off the CSRC list and no more: with X set .data begins with the extension
# (here RFC 6464's audio level, 8 bytes), with P set it ends with the padding. scapy separates the
# extension but leaves the padding in the payload. Both show the two bits rightly and raise nothing.
# It matters to someone who cuts the sound out of a capture of browsers or IMS, whose packets all
# have an extension: G.711 gains 1 ms in every 20, clicks 50 times a second and comes out 5 % too
# long, which then passes for clock drift; Opus takes the first extension byte for its TOC.
# Output (payload bytes; 160 were sent):
#   plain      dpkt 160  scapy 160
#   CSRC       dpkt 160  scapy 160
#   extension  dpkt 168  scapy 160
#   padding    dpkt 164  scapy 164
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" dpkt==1.9.8 scapy==2.6.1
cat > run.py <<'PY'
import struct, sys
sys.path.insert(0, "py")
import dpkt.rtp
from scapy.layers.rtp import RTP

voice = b"\xd5" * 160                      # 20 ms of G.711
csrc = struct.pack("!I", 9)
level = struct.pack("!HH", 0xBEDE, 1) + b"\x10\x7f\0\0"     # one-byte extension: audio level
padding = b"\0\0\0\4"

def packet(p, x, with_csrc):
    first = 0x80 | p << 5 | x << 4 | with_csrc
    return (struct.pack("!BBHII", first, 8, 1, 160, 7) + (csrc if with_csrc else b"")
            + (level if x else b"") + voice + (padding if p else b""))

got = {}
for name, form in (("plain", (0, 0, 0)), ("CSRC", (0, 0, 1)), ("extension", (0, 1, 0)),
                   ("padding", (1, 0, 0))):
    raw = packet(*form)
    one, two = dpkt.rtp.RTP(raw), RTP(raw)
    assert (one.p, one.x, one.cc) == form == (two.padding, two.extension, two.numsync)
    got[name] = one.data, bytes(two.lastlayer())
    print("%-10s dpkt %3d  scapy %3d" % (name, len(got[name][0]), len(got[name][1])))
if got != {"plain": (voice, voice), "CSRC": (voice, voice), "extension": (level + voice, voice),
           "padding": (voice + padding, voice + padding)}:
    sys.exit("CHANGED: what dpkt or scapy call the payload of an RTP packet")
PY
python3 run.py
