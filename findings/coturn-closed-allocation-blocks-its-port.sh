#!/usr/bin/env bash
# coturn 4.6.1 (Debian 12 package coturn 4.6.1-1), long-term credentials, over UDP.
# Expected: a Refresh with LIFETIME 0 deletes the allocation (RFC 8656 section 8.2); once its success
# response is there, the 5-tuple is free, and an Allocate from the same socket makes a new one. 437
# (Allocation Mismatch) is for a 5-tuple that has one (7.2).
# Seen: for another one to two seconds the same socket gets 437 to Allocate, "wrong transaction ID";
# this error is the only response here without MESSAGE-INTEGRITY. After that the same request is
# first told that its nonce is stale (438), though no stale-nonce is set, and then succeeds.
# It matters to a phone that renews its relay on the socket that it has, as for an ICE restart or
# other credentials: the first try fails, and a 437 asks for another client address (7.4), which
# costs a new NAT binding and new candidates. Take a new socket for a new allocation, or try again
# after two seconds, and be ready for 438 in between.
# Output:
#   Allocate: success
#   Refresh with lifetime 0: success, lifetime 0
#   Allocate at once: 437, signed: False
#   Allocate after 4 s: 438, new nonce
#   Allocate with the new nonce: success
#   Allocate from a new socket: success
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download coturn=4.6.1-1 libhiredis0.14 libmariadb3 libpq5 libsqlite3-0 \
    libevent-core-2.1-7 libevent-extra-2.1-7 libevent-openssl-2.1-7 libevent-pthreads-2.1-7
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import hashlib, hmac, os, socket, struct, subprocess, sys, time
MAGIC = 0x2112A442
UDP = (0x0019, b"\x11\0\0\0")
ALLOCATE, REFRESH = 0x003, 0x004

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s

def attribute(kind, value):
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)

class Client:
    def __init__(self):
        self.sock, self.nonce = bound(), None

    def ask(self, method, *attributes):
        """Sends a request, signed once there is a nonce; returns error code (0: none), attributes."""
        body, transaction = b"".join(attribute(*a) for a in attributes), os.urandom(12)
        if self.nonce:
            body += attribute(6, b"user") + attribute(0x14, b"realm") + attribute(0x15, self.nonce)
            head = struct.pack("!HHI", method, len(body) + 24, MAGIC) + transaction
            key = hashlib.md5(b"user:realm:secret").digest()
            body += attribute(8, hmac.new(key, head + body, hashlib.sha1).digest())
        for _ in range(20):
            self.sock.sendto(struct.pack("!HHI", method, len(body), MAGIC) + transaction + body, address)
            self.sock.settimeout(1)
            try:
                data = self.sock.recv(2048)
                break
            except (TimeoutError, ConnectionRefusedError):
                time.sleep(0.1)
        else:
            sys.exit("CHANGED or not run: coturn does not answer")
        found, at = {}, 20
        while at < len(data):
            kind, size = struct.unpack_from("!HH", data, at)
            found[kind] = data[at + 4:at + 4 + size]
            at += 4 + size + -size % 4
        self.nonce = found.get(0x15, self.nonce)
        return found[9][2] * 100 + found[9][3] if 9 in found else 0, found

def show(title, value):
    text = f"{title}: {value}"
    got.append(text)
    print(text, flush=True)

spare = bound()
address = spare.getsockname()
spare.close()
with open("turn.conf", "w") as conf:
    conf.write(f"listening-ip=127.0.0.1\nrelay-ip=127.0.0.1\nlistening-port={address[1]}\nrealm=realm\n"
               "user=user:secret\nlt-cred-mech\nno-tls\nno-dtls\nno-tcp\nno-cli\nuserdb=users\n"
               "pidfile=pid\nlog-file=log\nsimple-log\nno-stdout-log\n")
server = subprocess.Popen(["root/usr/bin/turnserver", "-c", "turn.conf"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
name = lambda code: code or "success"
got = []
try:
    client = Client()
    client.ask(ALLOCATE, UDP)                                  # 401, brings realm and nonce
    show("Allocate", name(client.ask(ALLOCATE, UDP)[0]))
    code, found = client.ask(REFRESH, (0x0D, bytes(4)))
    show("Refresh with lifetime 0", f"{name(code)}, lifetime {int.from_bytes(found[0x0D], 'big')}")
    code, found = client.ask(ALLOCATE, UDP)
    show("Allocate at once", f"{name(code)}, signed: {8 in found}")
    time.sleep(4)
    code, found = client.ask(ALLOCATE, UDP)
    show("Allocate after 4 s", f"{name(code)}{', new nonce' if 0x15 in found else ''}")
    show("Allocate with the new nonce", name(client.ask(ALLOCATE, UDP)[0]))
    other = Client()
    other.ask(ALLOCATE, UDP)
    show("Allocate from a new socket", name(other.ask(ALLOCATE, UDP)[0]))
finally:
    server.kill()
    server.wait()
if [x.split(": ", 1)[1] for x in got] != ["success", "success, lifetime 0", "437, signed: False", "438, new nonce",
                                          "success", "success"]:
    sys.exit("CHANGED: what coturn answers after an allocation was closed")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
timeout 55 python3 run.py
