#!/usr/bin/env bash
# dpkt 1.9.8 (PyPI), dpkt.pcapng.Reader and dpkt.pcap.UniversalReader.
# Expected: in pcapng each interface block has its own time unit (option if_tsresol, microseconds
# without it), and a packet's time is in the unit of the interface that its number names.
# Seen: dpkt applies the FIRST interface's unit to all packets and ignores the interface number. A
# capture of one interface in microseconds and one in nanoseconds, as merged captures have, is read
# without an error, the second interface's packets 1000 times too far from 1970, or far too near.
# It matters to someone who measures delay or jitter: "before" and "after" a phone are exactly two
# interfaces. Compare if_tsresol first, or convert the file to one unit before dpkt reads it.
# Output:
#   written:            1700000000.000 1700000000.020 1700000000.040 1700000000.060
#   both us, dpkt:      1700000000.000 1700000000.020 1700000000.040 1700000000.060
#   us and ns, dpkt:    1700000000.000 1700000000020.000 1700000000.040 1700000000060.000
#   ns and us, dpkt:    1700000000.000 1700000.000 1700000000.040 1700000.000
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" dpkt==1.9.8
cat > run.py <<'PY'
import io, struct, sys
sys.path.insert(0, "py")
import dpkt

def block(kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size

def interface(digits):                     # raw IP; time unit 10^-digits s
    return block(1, struct.pack("<HHI", 101, 0, 65535)
                 + struct.pack("<HHB3x", 9, 1, digits) + struct.pack("<HH", 0, 0))

rtp = struct.pack("!BBHII", 0x80, 0, 1, 160, 1) + b"\xff" * 160
udp = struct.pack("!HHHH", 40000, 40002, 8 + len(rtp), 0) + rtp
data = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                   b"\x7f\0\0\1", b"\x7f\0\0\1") + udp
times_ms = [1700000000 * 1000 + 20 * k for k in range(4)]

def capture(units):                        # packets alternate between the two interfaces
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += b"".join(interface(u) for u in units)
    for k, ms in enumerate(times_ms):
        t = ms * 10 ** (units[k % 2] - 3)
        out += block(6, struct.pack("<IIIII", k % 2, t >> 32, t & 0xFFFFFFFF, len(data), len(data))
                     + data)
    return out

def show(name, times):
    print("%-19s %s" % (name, " ".join("%.3f" % t for t in times)))
    return times

def read(name, units):
    got = [t for t, _ in dpkt.pcapng.Reader(io.BytesIO(capture(units)))]
    same = [t for t, _ in dpkt.pcap.UniversalReader(io.BytesIO(capture(units)))]
    assert same == got
    return show(name, [float(t) for t in got])

true = show("written:", [ms / 1000 for ms in times_ms])
even = read("both us, dpkt:", (6, 6))
mixed = read("us and ns, dpkt:", (6, 9))
turned = read("ns and us, dpkt:", (9, 6))
right = lambda a, b: abs(a - b) < 0.001
if not (all(map(right, even, true)) and right(mixed[0], true[0]) and right(mixed[2], true[2])
        and mixed[1] > 1e12 and mixed[3] > 1e12 and turned[1] < 1e7 and turned[3] < 1e7):
    sys.exit("CHANGED: dpkt no longer reads all interfaces in the first one's time unit")
PY
python3 run.py
