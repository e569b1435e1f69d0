#!/usr/bin/env bash
# Package: aiortc 1.16.0 (PyPI), two of its peers on one machine, PCMU in packets of 20 ms.
# Expected: getStats() has the names of W3C's webrtc-stats, so it has its units: jitter of
# inbound-rtp and remote-inbound-rtp in seconds, fractionLost from 0 to 1 (its own class says float).
# A browser on the same line shows jitter 0.010 and fractionLost 0.25.
# Instead: jitter and fractionLost are the raw fields of the RTCP report (RFC 3550 section 6.4.1),
# jitter in ticks of the codec's clock and fractionLost in 256ths. Its documentation names no unit.
# Why it matters: a test that asks for "jitter < 0.03" fails with aiortc on the best of lines, and one
# written for aiortc passes with any browser on the worst. The same 10 ms are 80 with PCMU and 480 with
# Opus, whose clock is six times as fast, so another codec seems to make the line worse, and a
# dashboard shows a loss of 6400 %. Divide jitter by the clock rate of the codec, fractionLost by 256.
# Output seen (10 ms of jitter; about, for the machine adds some):
#   even packets, none lost:    fractionLost 0
#   each second one 10 ms late: jitter 80 = 10 ms of PCMU's clock
#   each fourth one lost:       fractionLost 64 = 25 % of 256
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" aiortc==1.16.0 aioice==0.13.0 av==18.1.0 \
    pylibsrtp==1.0.0 cryptography==50.0.2 pyopenssl==26.4.0 pyee==13.0.1 google-crc32c==1.9.0 \
    ifaddr==0.2.0 dnspython==2.9.2 cffi==2.1.1 pycparser==3.12 typing-extensions==4.16.0
cat > "$dir/run.py" <<'PY'
import asyncio, os, struct, time
import aioice.ice
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
from aiortc import RTCPeerConnection, RTCRtpSender

async def until(test, seconds):
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return test()

async def call(late, lost):
    """5 s of packets; returns the stats of both ends, gathered over the last two of them."""
    phone, peer = RTCPeerConnection(), RTCPeerConnection()
    line = phone.addTransceiver("audio", "sendrecv")              # sends only what is made here
    line.setCodecPreferences([c for c in RTCRtpSender.getCapabilities("audio").codecs
                              if c.mimeType == "audio/PCMU"])
    await phone.setLocalDescription(await phone.createOffer())
    await peer.setRemoteDescription(phone.localDescription)
    await peer.setLocalDescription(await peer.createAnswer())
    await phone.setRemoteDescription(peer.localDescription)
    if not await until(lambda: phone.connectionState == peer.connectionState == "connected", 10):
        raise SystemExit("CHANGED or not run: no connection")
    start, here, there = time.monotonic(), [], []
    for n in range(250):
        await asyncio.sleep(max(0, start + 0.02 * n + late * (n % 2) - time.monotonic()))
        if not (lost and n % lost == 0):
            head = struct.pack("!BBHII", 0x80, 0, 1000 + n, 160 * n, line.sender._ssrc)
            await line.sender.transport._send_rtp(head + b"\x7e" * 160)
        if n > 150 and n % 10 == 0:
            here += [s for s in (await peer.getReceivers()[0].getStats()).values() if s.type == "inbound-rtp"]
            there += [s for s in (await line.sender.getStats()).values() if s.type == "remote-inbound-rtp"]
    await phone.close()
    await peer.close()
    middle = lambda values: sorted(values)[len(values) // 2]
    return (middle([s.jitter for s in here]), middle([s.jitter for s in there]),
            middle([s.fractionLost for s in there]))

def check(good, text):
    print(text, flush=True)
    if not good:
        print("CHANGED: this line is not as described")
        os._exit(1)

async def main():
    jitter, far, fraction = await call(0, 0)
    check(fraction == 0, f"even packets, none lost:    fractionLost {fraction}")
    jitter, far, fraction = await call(0.01, 0)
    check(60 < jitter < 400 and 60 < far < 400,
          f"each second one 10 ms late: jitter {jitter} = {jitter / 8:.0f} ms of PCMU's clock")
    jitter, far, fraction = await call(0, 4)
    check(50 <= fraction <= 80, f"each fourth one lost:       fractionLost {fraction} = "
          f"{100 * fraction / 256:.0f} % of 256")
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || {
    echo "CHANGED or not run: status $?"; exit 1; }
