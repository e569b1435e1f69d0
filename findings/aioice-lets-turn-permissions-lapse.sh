#!/usr/bin/env bash
# Package: aioice 0.13.0 (PyPI; the ICE and TURN of aiortc).
# Expected: a ChannelBind makes two things: a channel that lives 10 minutes and a permission for the
# peer's address that lives 5 (RFC 8656 sections 9 and 12). A client that goes on refreshes each in
# its own time: without a permission the server drops what the peer sends.
# Instead: aioice never sends CreatePermission and repeats ChannelBind after 500 s, in time for the
# channel alone. From 300 to 500 s the permission is gone, and so again in each 500 s after that.
# The refresh also hangs on sending: who only listens over a TURN transport sends none at all.
# Why it matters: behind a server that keeps to the RFC the far end is not heard from the fifth
# minute of a call on, for more than three minutes, while what aioice sends still arrives; tests of
# a minute pass, and so does any length on coturn, which gives a channel's permission 10 minutes.
# channel_refresh_time of create_turn_endpoint() sets another time; Connection has no such argument.
# Output seen:
#   after 0 s: sent, ChannelBind; the peer gets through: True
#   after 290 s: sent; the peer gets through: True
#   after 310 s: sent; the peer gets through: False
#   after 490 s: sent; the peer gets through: False
#   after 510 s: sent, ChannelBind; the peer gets through: True
#   after 820 s: sent; the peer gets through: False
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" aioice==0.13.0 dnspython==2.9.2 ifaddr==0.2.0
cat > "$dir/run.py" <<'PY'
import asyncio, struct, sys, types
from aioice import stun, turn
clock = 0.0
turn.time = types.SimpleNamespace(time=lambda: clock)     # aioice and the server share this clock
PEER, RELAY = ("127.0.0.1", 9), ("127.0.0.1", 40000)
SUCCESS = stun.Class.RESPONSE

class Server(asyncio.DatagramProtocol):
    """TURN for one client, without credentials, with the lifetimes of RFC 8656."""
    log, permission, channel, number = [], 0, 0, None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        self.client = address
        if data[0] & 0xC0 == 0x40:                        # ChannelData
            self.log.append("sent" if clock < self.channel else "dropped")
            arrived.set()
            return
        request = stun.parse_message(data)
        answer = stun.Message(message_method=request.message_method, message_class=SUCCESS,
                              transaction_id=request.transaction_id)
        if request.message_method == stun.Method.ALLOCATE:
            answer.attributes["LIFETIME"] = 3600
            answer.attributes["XOR-RELAYED-ADDRESS"] = RELAY
            answer.attributes["XOR-MAPPED-ADDRESS"] = address
        elif request.message_method == stun.Method.CHANNEL_BIND:
            self.number = request.attributes["CHANNEL-NUMBER"]
            self.permission, self.channel = clock + 300, clock + 600
        elif request.message_method == stun.Method.CREATE_PERMISSION:
            self.permission = clock + 300
        self.log.append({stun.Method.CHANNEL_BIND: "ChannelBind"}.get(request.message_method,
                                                                      str(request.message_method)))
        self.transport.sendto(bytes(answer), address)

    def from_peer(self, data):
        """What the peer sends to the relayed address; tells whether the client is given it."""
        if clock >= self.permission:
            return False
        self.transport.sendto(struct.pack("!HH", self.number, len(data)) + data, self.client)
        return True

class Client(asyncio.DatagramProtocol):
    def datagram_received(self, data, address):
        received.set()

async def main():
    global clock, arrived, received
    arrived, received = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(Server, local_addr=("127.0.0.1", 0))
    address = transport.get_extra_info("sockname")
    relay, _ = await turn.create_turn_endpoint(Client, address, None, None)
    got = []
    for clock in (0, 290, 310, 490, 510, 820):
        server.log.clear()
        arrived.clear()
        received.clear()
        relay.sendto(b"voice", PEER)
        await asyncio.wait_for(arrived.wait(), 10)
        through = server.from_peer(b"voice")
        if through:
            await asyncio.wait_for(received.wait(), 10)
        got.append(("ChannelBind" in server.log, "sent" in server.log, through))
        print(f"after {clock} s: {', '.join(sorted(server.log, reverse=True))}; "
              f"the peer gets through: {through}", flush=True)
    if got != [(True, True, True), (False, True, True), (False, True, False), (False, True, False),
               (True, True, True), (False, True, False)]:
        sys.exit("CHANGED: when aioice refreshes its permission")
    print("as described")

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || {
    echo "CHANGED or not run: status $?"; exit 1; }
