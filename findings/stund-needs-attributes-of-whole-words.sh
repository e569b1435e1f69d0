#!/usr/bin/env bash
# stund 0.97 (Debian 12 package stun-server 0.97~dfsg-2.1+b1), the STUN server that Debian has
# beside coturn. It sends XOR-MAPPED-ADDRESS, SOFTWARE and the magic cookie, so it looks like a
# server of RFC 5389 or 8489.
# Expected: an attribute's length is that of its value; padding, which is not counted, brings the
# next one to a multiple of four bytes (RFC 8489 section 14). Attributes of type 0x8000 and more
# that mean nothing to the server are skipped, whatever they hold.
# Seen: stund knows no padding. One attribute of another length than a multiple of four, of any
# type, and it drops the request, without an error response: SOFTWARE, the name that a client gives
# itself, is answered with 4 or 8 bytes in it and not with 5, 6 or 7.
# It matters to a phone: whether it learns its address hangs on the length of its own name and
# version. "phone-1.9.2" (11 bytes) gets nothing, after the full run of retransmissions takes that
# for "UDP is blocked" and goes over to a relay; "phone-1.10.2" is served. Leave SOFTWARE out of
# Binding requests, or fill it up with spaces.
# Output:
#   no attribute: answered, right address
#   SOFTWARE "phone-1.9.2": no answer to 3 requests
#   SOFTWARE "phone-1.10.2": answered, right address
#   SOFTWARE "phone-1.9.2 ": answered, right address
#   type 0x8055 (unknown), 4 bytes: answered, right address
#   type 0x8055 (unknown), 5 bytes: no answer to 3 requests
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download stun-server=0.97~dfsg-2.1+b1 libstdc++6 libgcc-s1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import os, socket, struct, subprocess, sys
MAGIC = 0x2112A442

def bound(address="127.0.0.1", port=0):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, port))
    return s

def two_ports():
    """Two ports that are free on both addresses that stund wants."""
    spares = [bound() for _ in range(2)]
    ports = [s.getsockname()[1] for s in spares]
    for s in spares:
        s.close()
    for port in ports:
        bound("127.0.0.2", port).close()
    return ports

def binding(attributes=b"", patience=1.0, tries=3):
    """A Binding request; tells what comes of it."""
    phone, transaction = bound(), os.urandom(12)
    phone.settimeout(patience)
    for _ in range(tries):
        head = struct.pack("!HHI", 1, len(attributes), MAGIC)
        phone.sendto(head + transaction + attributes, ("127.0.0.1", ports[0]))
        try:
            data = phone.recv(2048)
        except (TimeoutError, ConnectionRefusedError):
            continue
        at, found = 20, {}
        while at < len(data):
            kind, size = struct.unpack_from("!HH", data, at)
            found[kind] = data[at + 4:at + 4 + size]
            at += 4 + size + -size % 4
        xored = struct.unpack("!HI", found[0x20][2:8])
        right = (xored[0] ^ MAGIC >> 16, socket.inet_ntoa(struct.pack("!I", xored[1] ^ MAGIC)))
        right = right == phone.getsockname()[::-1]
        return f"answered, {'right' if right else 'wrong'} address"
    return f"no answer to {tries} requests"

def attribute(kind, value):
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)

ports = two_ports()
server = subprocess.Popen(
    ["root/usr/sbin/stund", "-h", "127.0.0.1", "-a", "127.0.0.2", "-p", str(ports[0]), "-o",
     str(ports[1])],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
GOOD, NONE = "answered, right address", "no answer to 3 requests"
software = lambda name: (f'SOFTWARE "{name}"', attribute(0x8022, name.encode()))
unknown = lambda size: (f"type 0x8055 (unknown), {size} bytes", attribute(0x8055, b"x" * size))
try:
    if binding(patience=0.2, tries=100) != GOOD:
        sys.exit("CHANGED or not run: stund does not answer")
    for (title, attributes), want in (
            (("no attribute", b""), GOOD), (software("phone-1.9.2"), NONE),
            (software("phone-1.10.2"), GOOD), (software("phone-1.9.2 "), GOOD),
            (unknown(4), GOOD), (unknown(5), NONE)):
        got = binding(attributes)
        print(f"{title}: {got}", flush=True)
        if got != want:
            sys.exit("CHANGED: this line is not as described")
finally:
    server.kill()
    server.wait()
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
timeout 50 python3 run.py
