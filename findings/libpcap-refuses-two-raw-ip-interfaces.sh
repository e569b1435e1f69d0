#!/usr/bin/env bash
# libpcap 1.10.3 (Debian 12 package libpcap0.8 1.10.3-1), as used by tcpdump and most readers.
# Expected: a pcapng file of several interfaces is read as long as all have one link type (a libpcap
# handle has only one).
# Seen: a file with two interfaces of LINKTYPE_RAW (101, IP packets without a link header: tun,
# WireGuard, PPP) opens, then gives NO packet but an error that calls their types different: the
# first one's 101 was mapped to its DLT 12, the second one's is compared with that unmapped. Two
# Ethernet, Linux cooked v2 or IPv4 interfaces are read whole, and so is a single raw-IP one.
# It matters to a capture tool for calls: a capture of two VPN interfaces is valid (Wireshark reads
# it) and looks damaged to libpcap programs. Write LINKTYPE_IPV4 (228) and LINKTYPE_IPV6 (229).
# Output, after the version:
#   2 x Ethernet (1): DLT 1, 4 of 4 packets, end of file
#   (the same for 2 x Linux cooked v2 (276), 2 x IPv4 (228) and 1 x raw IP (101))
#   2 x raw IP (101): DLT 12, 0 of 4 packets, an interface has a type 101 different from the type
#   of the first interface
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download \
    libpcap0.8=1.10.3-1 libdbus-1-3=1.14.10-1~deb12u1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes as C, glob, struct, sys

libs = "root/usr/lib/*/", "root/lib/*/"
def find(name):
    return next(p for d in libs for p in glob.glob(d + name))
C.CDLL(find("libdbus-1.so.3"), mode=C.RTLD_GLOBAL)
P = C.CDLL(find("libpcap.so.0.8"))
P.pcap_open_offline.restype = C.c_void_p
P.pcap_lib_version.restype = P.pcap_geterr.restype = C.c_char_p
for f in (P.pcap_geterr, P.pcap_datalink, P.pcap_close):
    f.argtypes = [C.c_void_p]
P.pcap_next_ex.argtypes = [C.c_void_p, C.c_void_p, C.c_void_p]

def block(kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size

# An RTP packet in UDP in IPv4, with the link header that each type asks for.
rtp = struct.pack("!BBHII", 0x80, 0, 1, 160, 1) + b"\xff" * 160
udp = struct.pack("!HHHH", 40000, 40002, 8 + len(rtp), 0) + rtp
ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                 b"\x7f\0\0\1", b"\x7f\0\0\1") + udp
header = {1: bytes(12) + b"\x08\0", 276: b"\x08\0" + bytes(18), 228: b"", 101: b""}

def run(name, link, interfaces):
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", link, 0, 65535)) * interfaces
    data = header[link] + ip
    for k in range(4):
        us = 1700000000 * 10**6 + k * 20000
        out += block(6, struct.pack("<IIIII", k % interfaces, us >> 32, us & 0xFFFFFFFF,
                                    len(data), len(data)) + data)
    with open("calls.pcapng", "wb") as f:
        f.write(out)
    why = C.create_string_buffer(256)
    p = P.pcap_open_offline(b"calls.pcapng", why)
    assert p, why.value
    head, body, count = C.c_void_p(), C.c_void_p(), 0
    while (result := P.pcap_next_ex(p, C.byref(head), C.byref(body))) == 1:
        count += 1
    end = "end of file" if result == -2 else P.pcap_geterr(p).decode()
    print("%d x %s (%d): DLT %d, %d of 4 packets, %s"
          % (interfaces, name, link, P.pcap_datalink(p), count, end))
    P.pcap_close(p)
    return count, end

print(P.pcap_lib_version().decode())
whole = [run(*a)[0] for a in (("Ethernet", 1, 2), ("Linux cooked v2", 276, 2), ("IPv4", 228, 2),
                              ("raw IP", 101, 1))]
count, end = run("raw IP", 101, 2)
if whole != [4] * 4 or count != 0 or "type 101 different" not in end:
    sys.exit("CHANGED: two raw-IP interfaces in one pcapng file are no longer refused")
PY
python3 run.py
