#!/usr/bin/env bash
# sipgrep 2.1.0 (Debian 12 package sipgrep 2.1.0-2+b1), its options -f, -t and -c.
# Expected: "-f search user in From: header", "-t search user in To: header" and "-c search user in
# Contact: header" (its usage text and manual page).
# Seen: -f does what it says. -t also finds a user in Contact, where the sender of a request names
# itself, since the expression looks for "t:" (the compact form of To) anywhere, and "Contact:" ends
# in that, as "Subject:" does. -c finds everything: all messages come, whoever is named.
# It matters to a test or a watch that counts calls: "sipgrep -t amy" is to show whether somebody
# called amy, and shows the calls that amy made; with -c there is always something, so nobody can
# prove with it that a phone never used a wrong Contact. Standard error says nothing. Give an
# expression of one's own instead, such as "^To: .*amy@".
# Output (three calls to bob: amy's from the Contact amy, carol's from the Contact x9, dora's from
# the Contact amy2; the callers of the messages shown):
#   -f amy: amy
#   -f bob: nobody
#   -t bob: amy carol dora
#   -t amy: amy dora
#   -t x9: carol
#   -t nobody: nobody
#   -c x9: amy carol dora
#   -c nobody: amy carol dora
#   ^To: .*amy: nobody
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download sipgrep=2.1.0-2+b1 libpcap0.8=1.10.3-1 libpcre3 \
    libdbus-1-3 libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import re, socket, struct, subprocess, sys

def total(data):
    value = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while value >> 16:
        value = (value & 65535) + (value >> 16)
    return value

def packet(source, target, *lines):
    data = "\r\n".join([*lines, "Content-Length: 0", "", ""]).encode()
    udp = struct.pack("!HHHH", 5060, 5060, 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0x4000, 64, 17, 0,
                       socket.inet_aton(source), socket.inet_aton(target))
    return head[:10] + struct.pack("!H", 65535 - total(head)) + head[12:] + udp

A, B = "10.0.0.1", "10.0.0.2"
with open("in.pcap", "wb") as file:        # raw IP
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
    for second, (caller, contact) in enumerate((("amy", "amy"), ("carol", "x9"), ("dora", "amy2"))):
        def headers(method, tag, name):
            return (f"Via: SIP/2.0/UDP {A}:5060;branch=z9hG4bK{caller}{method}",
                    f"From: <sip:{caller}@{A}>;tag=1", f"To: <sip:bob@{B}>{tag}",
                    f"Call-ID: {caller}-call", f"CSeq: 1 {method}", f"Contact: <sip:{name}>")
        for number, part in enumerate((
                packet(A, B, f"INVITE sip:bob@{B} SIP/2.0",
                       *headers("INVITE", "", f"{contact}@{A}"), "Max-Forwards: 70"),
                packet(B, A, "SIP/2.0 200 OK", *headers("INVITE", ";tag=2", f"bob@{B}")),
                packet(A, B, f"ACK sip:bob@{B} SIP/2.0",
                       *headers("ACK", ";tag=2", f"{contact}@{A}"), "Max-Forwards: 70"))):
            file.write(struct.pack("<IIII", 1700000000 + second, number, len(part), len(part)))
            file.write(part)

def callers(*options):
    shown = subprocess.run(["root/usr/bin/sipgrep", "-C", "-R", "-I", "in.pcap", *options],
                           check=True, timeout=30, capture_output=True, text=True).stdout
    return " ".join(sorted(set(re.findall(r"Call-ID: (\w+)-call", shown)))) or "nobody"

good = True
for options, want in ((("-f", "amy"), "amy"), (("-f", "bob"), "nobody"),
                      (("-t", "bob"), "amy carol dora"), (("-t", "amy"), "amy dora"),
                      (("-t", "x9"), "carol"), (("-t", "nobody"), "nobody"),
                      (("-c", "x9"), "amy carol dora"), (("-c", "nobody"), "amy carol dora"),
                      (("^To: .*amy",), "nobody")):
    seen = callers(*options)
    print("%s: %s" % (" ".join(options), seen), flush=True)
    good = good and seen == want
if not good:
    sys.exit("CHANGED: whom sipgrep finds")
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
timeout 60 python3 run.py
