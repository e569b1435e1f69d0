#!/usr/bin/env bash
# Package: aiortc 1.16.0 (PyPI).
# Expected: each SSRC has its own sequence numbers, starting at random (RFC 3550 sections 5.1 and
# 8). When the far end starts a new source, as a server does that connects another party, it is
# played from its first packet on, whatever its sequence number is.
# Instead: the jitter buffer looks at the sequence number alone. A new source whose first number
# is a little below the last one of the old (by less than 100) is taken for late packets of the
# old and dropped until it catches up: up to 2 s of silence at 20 ms a packet. A start 100 or
# more below, or above, is played at once (but for the last 4 packets, which wait in the buffer).
# Why it matters: the number is random, so it is a silence once in about 650 changes of source,
# which no test by hand finds. A phone that renews its SSRC should go on with the sequence number
# that the old one had reached.
# Output seen:
#   new SSRC starts 90 below the old one's end: 30 of 120 packets played
#   new SSRC starts 150 below the old one's end: 116 of 120 packets played
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" aiortc==1.16.0 aioice==0.13.0 av==18.1.0 pylibsrtp==1.0.0 \
    cryptography==50.0.2 pyopenssl==26.4.0 pyee==13.0.1
cat > "$dir/run.py" <<'PY'
import asyncio, os, struct, time
import aioice.ice
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
from aiortc import RTCPeerConnection
from aiortc.mediastreams import MediaStreamError

def changed(text):
    print("CHANGED:", text, flush=True)
    os._exit(1)

async def until(test, seconds):
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return test()

class Talk:
    """A connected pair: the first sends PCMU packets made here, the second plays what it gets."""

    async def start(self):
        self.a, self.b, tracks = RTCPeerConnection(), RTCPeerConnection(), []
        self.b.on("track", tracks.append)
        self.sender = self.a.addTransceiver("audio", "sendrecv").sender
        await self.a.setLocalDescription(await self.a.createOffer())
        await self.b.setRemoteDescription(self.a.localDescription)
        await self.b.setLocalDescription(await self.b.createAnswer())
        await self.a.setRemoteDescription(self.b.localDescription)
        both = lambda: self.a.connectionState == self.b.connectionState == "connected"
        await until(both, 15) or changed("no connection")
        self.track, self.played, self.ended = tracks[0], 0, False
        self.playing = asyncio.create_task(self.play())
        return self

    async def play(self):
        try:
            while True:
                await self.track.recv()
                self.played += 1
        except MediaStreamError:
            self.ended = True

    async def rtp(self, count, sequence, ssrc):
        """Sends count packets of one source, waits until no more is played, tells how many were."""
        before = self.played
        for i in range(count):
            head = struct.pack("!BBHII", 0x80, 0, (sequence + i) & 0xffff, 160 * (sequence + i), ssrc)
            await self.sender.transport._send_rtp(head + b"\x55" * 160)
            await asyncio.sleep(0.001)
        last, quiet = self.played, time.monotonic()
        while time.monotonic() - quiet < 0.7:
            await asyncio.sleep(0.02)
            if self.played != last:
                last, quiet = self.played, time.monotonic()
        return self.played - before

    async def stop(self):
        await self.a.close()
        await self.b.close()
        self.playing.cancel()

async def main():
    seen = {}
    for below in (90, 150):
        t = await Talk().start()
        await t.rtp(50, 2000, 111)
        seen[below] = await t.rtp(120, 2050 - below, 222)
        print(f"new SSRC starts {below} below the old one's end: {seen[below]} of 120 packets played",
              flush=True)
        await t.stop()
    if not 25 <= seen[90] <= 35 or seen[150] < 110:
        changed("the new source is not treated as described")
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
