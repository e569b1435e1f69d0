#!/usr/bin/env bash
# Package: aioice 0.13.0 (PyPI; the ICE of aiortc).
# Expected: a STUN request with an attribute that the receiver does not know, of a type below
# 0x8000 (comprehension-required), is answered with error 420 and UNKNOWN-ATTRIBUTES, and is not
# acted on (RFC 8489 section 6.3.1). Types from 0x8000 on are skipped.
# Instead: aioice skips unknown attributes of both kinds. Its answer to a connectivity check with
# such an attribute is a plain success with the mapped address.
# Why it matters: an ICE agent that puts something new into its checks and counts on 420 to learn
# that the far end lacks it is told that all is understood. Negotiate extensions in the SDP
# (a=ice-options), and do not read a success as consent to what the check held.
# Output seen:
#   check alone: success
#   check with unknown 0xBF00 (optional): success
#   check with unknown 0x7F00 (required): success
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" aioice==0.13.0 dnspython==2.9.2 ifaddr==0.2.0
cat > "$dir/run.py" <<'PY'
import asyncio, hashlib, hmac, os, socket, struct, zlib
import aioice.ice
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]

def attribute(kind, value):
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)

def check(name, key, *more):
    """A binding request as ICE sends it (RFC 8445 section 7.1), signed; and its transaction."""
    transaction = os.urandom(12)
    body = attribute(0x0006, name) + attribute(0x0024, struct.pack("!I", 1845501695)) + \
        attribute(0x802A, os.urandom(8)) + b"".join(more)
    head = lambda extra: struct.pack("!HHI", 1, len(body) + extra, 0x2112A442) + transaction
    body += attribute(0x0008, hmac.new(key, head(24) + body, hashlib.sha1).digest())
    body += attribute(0x8028, struct.pack("!I", zlib.crc32(head(8) + body) ^ 0x5354554E))
    return head(0) + body, transaction

async def main():
    agent = aioice.ice.Connection(ice_controlling=False)
    agent.remote_username, agent.remote_password = "peer", "peerpasswordpeerpassword"
    await agent.gather_candidates()
    port = next(c.port for c in agent.local_candidates if c.host == "127.0.0.1" and c.component == 1)
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.setblocking(False)
    name, key = f"{agent.local_username}:peer".encode(), agent.local_password.encode()
    for title, more in (("check alone", ()),
                        ("check with unknown 0xBF00 (optional)", (attribute(0xBF00, b"news"),)),
                        ("check with unknown 0x7F00 (required)", (attribute(0x7F00, b"news"),))):
        request, transaction = check(name, key, *more)
        sock.sendto(request, ("127.0.0.1", port))
        while True:
            answer = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(sock, 2048), 10)
            if answer[8:20] == transaction:
                break
        kind = struct.unpack("!H", answer[:2])[0]
        named = {0x0101: "success", 0x0111: "error"}
        print(f"{title}: {named.get(kind, hex(kind))}", flush=True)
        if kind != 0x0101:
            print("CHANGED: this answer is not a success")
            os._exit(1)
    await agent.close()
    print("as described")

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
