#!/usr/bin/env bash
# scapy 2.8.0 and python-pcapng 2.1.1 (PyPI), against libpcap 1.10.3 (Debian 12 package libpcap0.8
# 1.10.3-1) and dpkt 1.9.8 (PyPI).
# Expected: an interface block of pcapng may hold if_tsoffset (option 14), a number of seconds to be
# added to the time of each packet of that interface (pcapng specification, interface description
# block). It lets a probe write its own clock and put the offset to UTC beside it.
# Seen: libpcap and dpkt add it. scapy and python-pcapng read the file without an error and leave
# the offset out: their packets are that much too early. Without the option all four agree.
# It matters to someone who measures a call at two points with probes that count from a start of
# their own: times are decades off, and the delay between the two, or a call's length over a file
# of two interfaces, is wrong by the difference of the offsets, whole seconds (here -980 for 20 ms).
# Add the interface's option yourself, or let tshark or editcap write the file anew: they write
# absolute times.
# Output:
#   no option    libpcap        packet at 1700000000 s, delay   20 ms
#   (the same from dpkt, scapy and python_pcapng)
#   same offset  libpcap        packet at 1700000000 s, delay   20 ms
#   same offset  dpkt           packet at 1700000000 s, delay   20 ms
#   same offset  scapy          packet at 50 s, delay   20 ms
#   same offset  python_pcapng  packet at 50 s, delay   20 ms
#   two offsets  libpcap        packet at 1700000000 s, delay   20 ms
#   two offsets  dpkt           packet at 1700000000 s, delay   20 ms
#   two offsets  scapy          packet at 50 s, delay -980 ms
#   two offsets  python_pcapng  packet at 50 s, delay -980 ms
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download \
    libpcap0.8=1.10.3-1 libdbus-1-3=1.14.10-1~deb12u1
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" scapy==2.8.0 python-pcapng==2.1.1 dpkt==1.9.8
cat > run.py <<'PY'
import ctypes as C, glob, struct, sys
sys.path.insert(0, "py")
import dpkt
from pcapng import FileScanner
from pcapng.blocks import EnhancedPacket
from scapy.utils import PcapNgReader

START = 1700000000
libs = "root/usr/lib/*/", "root/lib/*/"
def find(name):
    return next(p for d in libs for p in glob.glob(d + name))
C.CDLL(find("libdbus-1.so.3"), mode=C.RTLD_GLOBAL)
P = C.CDLL(find("libpcap.so.0.8"))
P.pcap_open_offline.restype = C.c_void_p
P.pcap_next_ex.argtypes = [C.c_void_p, C.c_void_p, C.c_void_p]

def block(kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size

rtp = struct.pack("!BBHII", 0x80, 0, 1, 160, 1) + b"\xff" * 160
udp = struct.pack("!HHHH", 40000, 40002, 8 + len(rtp), 0) + rtp
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                 b"\x7f\0\0\1", b"\x7f\0\0\1") + udp

def write(name, seconds, offset):          # one packet; offset in whole seconds or None
    option = b"" if offset is None else struct.pack("<HHqHH", 14, 8, offset, 0, 0)
    ticks = round((seconds - (offset or 0)) * 10**6)
    with open(name, "wb") as f:
        f.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
                + block(1, struct.pack("<HHI", 228, 0, 65535) + option)
                + block(6, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF,
                                       len(ip), len(ip)) + ip))

class Head(C.Structure):
    _fields_ = [("sec", C.c_long), ("usec", C.c_long), ("caplen", C.c_uint32), ("len", C.c_uint32)]

def libpcap(name):
    p = C.c_void_p(P.pcap_open_offline(name.encode(), C.create_string_buffer(256)))
    head, data = C.POINTER(Head)(), C.c_void_p()
    assert P.pcap_next_ex(p, C.byref(head), C.byref(data)) == 1
    return head[0].sec + head[0].usec / 10**6

def dpkt_(name):
    with open(name, "rb") as f:
        return next(iter(dpkt.pcapng.Reader(f)))[0]

def scapy(name):
    return float(next(iter(PcapNgReader(name))).time)

def python_pcapng(name):
    with open(name, "rb") as f:
        return next(b.timestamp for b in FileScanner(f) if isinstance(b, EnhancedPacket))

lines, ok = [], True
for title, before, behind in (("no option", None, None), ("same offset", START - 50, START - 50),
                              ("two offsets", START - 50, START - 49)):
    write("before.pcapng", START + 0.5, before)
    write("behind.pcapng", START + 0.52, behind)
    for reader in libpcap, dpkt_, scapy, python_pcapng:
        a, b = reader("before.pcapng"), reader("behind.pcapng")
        lines.append("%-12s %-14s packet at %d s, delay %4.0f ms"
                     % (title, reader.__name__.strip("_"), a, 1000 * (b - a)))
        lost = reader in (scapy, python_pcapng)
        ok &= int(a) == START - (before or 0) * lost
        ok &= round(1000 * (b - a)) == 20 - 1000 * ((behind or 0) - (before or 0)) * lost
print("\n".join(lines))
if not ok:
    sys.exit("CHANGED: scapy or python-pcapng no longer leaves if_tsoffset out")
PY
python3 run.py
