#!/usr/bin/env bash
# Package: scapy 2.8.0 (PyPI), its RTCP layer (scapy.contrib.rtcp).
# Expected: RTCP packets travel stacked in one datagram, a report first and an SDES with it (RFC
# 3550 section 6.1), each as long as its length field says (6.4.1); BYE lists SSRCs (6.6).
# Instead: scapy reads the first packet only and leaves the rest as raw bytes, so the SDES and
# the BYE of a normal compound are not seen. An SDES in front (reduced size, RFC 5506) reads on
# past its own end: the BYE behind it turns into bytes of the SDES chunk, or, when a single null
# ends the list, into an SDES item of length -127 (the BYE's first byte, 0x81, taken as signed).
# Why it matters: a test of a phone's RTCP with scapy (is there a CNAME, is there a BYE) passes or
# fails on the wrong grounds. Split the datagram by the length fields first, then hand over each.
# Output seen:
#   RR + SDES + BYE: packet type 201, then 24 bytes raw
#   SDES of 4 letters + BYE: items (1, 4) (0, 0), then 8 raw in the chunk
#   SDES of 5 letters + BYE: items (1, 5) (0, -127), then 7 raw in the chunk
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" scapy==2.8.0
cat > "$dir/run.py" <<'PY'
import struct, sys
from scapy.contrib.rtcp import RTCP

def check(good, text):
    print(text, flush=True)
    if not good:
        print("CHANGED: this line is not as described")
        sys.exit(1)

def sdes(cname):               # one chunk: a CNAME, the null item, and nulls up to 32 bits
    items = b"\x01" + bytes([len(cname)]) + cname
    items += bytes(4 - len(items) % 4)
    return struct.pack("!BBHI", 0x81, 202, 1 + len(items) // 4, 1) + items

rr, bye = struct.pack("!BBHI", 0x80, 201, 1, 1), struct.pack("!BBHI", 0x81, 203, 1, 1)
p = RTCP(rr + sdes(b"alice") + bye)
check((p.packet_type, len(p.payload)) == (201, 24),
      f"RR + SDES + BYE: packet type {p.packet_type}, then {len(p.payload)} bytes raw")
for cname, want, left in ((b"alic", [(1, 4), (0, 0)], 8), (b"alice", [(1, 5), (0, -127)], 7)):
    p = RTCP(sdes(cname) + bye)
    chunk = p.sdes_chunks[0]
    items, rest = [(i.chunk_type, i.length) for i in chunk.items], len(chunk.payload)
    check(items == want and rest == left and not len(p.payload),
          f"SDES of {len(cname)} letters + BYE: items {' '.join(map(str, items))}, then {rest} raw in the chunk")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
