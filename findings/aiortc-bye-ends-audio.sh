#!/usr/bin/env bash
# Package: aiortc 1.16.0 (PyPI).
# Expected: an RTCP BYE says that the sources it lists are no longer active (RFC 3550 sections
# 6.3.7 and 6.6), no more: a sender whose SSRC collides sends BYE for the old one and goes on with
# a new one (8.2), and so does a server that puts another party on the line. What is negotiated
# ends by offer/answer alone, so audio of the next SSRC has to be played.
# Instead: one BYE ends the receiver for good. Its track ends (MediaStreamError), the new source
# is never played, and yet the connection stays "connected" and the SDP stays sendrecv. The same
# change of SSRC without a BYE is played.
# Why it matters: a phone that sends BYE when it goes on hold, or renews its SSRC by the book,
# falls silent in every call with such a peer. Send no BYE before the call itself is over.
# Output seen:
#   new SSRC, no BYE: 46 of 50 packets played, then 46 of 50; track ended: False
#   new SSRC after BYE: 46 of 50 packets played, then 0 of 50; track ended: True, connected
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
    t = await Talk().start()
    first, second = await t.rtp(50, 1000, 111), await t.rtp(50, 30000, 222)
    print(f"new SSRC, no BYE: {first} of 50 packets played, then {second} of 50;",
          f"track ended: {t.ended}", flush=True)
    if second < 40 or t.ended:
        changed("a new SSRC alone is not played")
    await t.stop()
    t = await Talk().start()
    first = await t.rtp(50, 1000, 111)
    await t.sender.transport._send_rtp(            # a compound packet: RR, SDES with a CNAME, BYE
        struct.pack("!BBHI", 0x80, 201, 1, 111)
        + struct.pack("!BBHI", 0x81, 202, 3, 111) + b"\x01\x05a@b.c\x00"
        + struct.pack("!BBHI", 0x81, 203, 1, 111))
    await until(lambda: t.ended, 3)
    second = await t.rtp(50, 30000, 222)
    print(f"new SSRC after BYE: {first} of 50 packets played, then {second} of 50;",
          f"track ended: {t.ended}, {t.b.connectionState}", flush=True)
    if second != 0 or not t.ended or t.b.connectionState != "connected":
        changed("the audio goes on after a BYE")
    await t.stop()
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
