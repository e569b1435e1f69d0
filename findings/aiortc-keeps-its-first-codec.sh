#!/usr/bin/env bash
# Package: aiortc 1.16.0 (PyPI).
# Expected: a later offer may change the codecs (RFC 3264 section 8.3.2). Once the answer to it is
# out, its sender has to be ready for them and sends nothing else, for the offer says what the far
# end is willing to receive (sections 5.1 and 6.1; for WebRTC, RFC 8829 section 5.11).
# Instead: aiortc answers with the new codec and changes nothing. It goes on sending the one of the
# first negotiation under its old number, and drops what comes in the new one unless it was on the
# first list too. State and SDP look right on both sides.
# Why it matters: when a server connects another party in the middle of a call, one that has PCMU
# alone, both hear nothing (or noise, if the old number now means something else). The first call of
# each pair works, a direct call to the same party too. A phone should refuse to be moved to a codec
# that was not agreed on at the start, or judge by the packets that come, not by the answer.
# Output seen:
#   first offer payload type 96 (opus): answer 96, aiortc sends 96
#   ... of 50 packets of opus to it 50 are decoded
#   second offer payload type 0 (PCMU): answer 0, aiortc sends 96
#   ... of 50 packets of PCMU to it 0 are decoded
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" aiortc==1.16.0 aioice==0.13.0 av==18.1.0 \
    pylibsrtp==1.0.0 cryptography==50.0.2 pyopenssl==26.4.0 pyee==13.0.1
cat > "$dir/run.py" <<'PY'
import asyncio, os, re, struct, time
import aioice.ice
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
from aiortc import RTCPeerConnection, RTCRtpSender
from aiortc.codecs import get_decoder
from aiortc.mediastreams import AudioStreamTrack
import aiortc.rtcrtpreceiver as receiving

def check(good, text):
    print(text, flush=True)
    if not good:
        print("CHANGED: this line is not as described")
        os._exit(1)

async def until(test, seconds):
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return test()

decoded = []

def counting(codec):
    """aiortc's own decoder, which keeps what it is given."""
    decoder = get_decoder(codec)
    decode = decoder.decode
    decoder.decode = lambda frame: (decoded.append((codec.name, frame.data)), decode(frame))[1]
    return decoder

receiving.get_decoder = counting
PAYLOAD = {"opus": b"\xf8" + bytes(range(40)), "PCMU": b"\x7e" * 160}

async def main():
    phone, peer, came = RTCPeerConnection(), RTCPeerConnection(), set()
    line = phone.addTransceiver("audio", "sendrecv")              # sends only what is made here
    peer.on("track", lambda track: None)
    every = RTCRtpSender.getCapabilities("audio").codecs
    for number, name in ((96, "opus"), (0, "PCMU")):
        line.setCodecPreferences([c for c in every if c.mimeType == "audio/" + name])
        await phone.setLocalDescription(await phone.createOffer())
        await peer.setRemoteDescription(phone.localDescription)
        if number:
            peer.addTrack(AudioStreamTrack())
        await peer.setLocalDescription(await peer.createAnswer())
        await phone.setRemoteDescription(peer.localDescription)
        formats = re.search(r"m=audio \d+ \S+ (.*?)\r", peer.localDescription.sdp).group(1)
        both = lambda: phone.connectionState == peer.connectionState == "connected"
        await until(both, 15) or check(False, "no connection")
        transport = line.sender.transport
        if number:
            handle = transport._handle_rtp_data

            async def noting(data, arrival_time_ms):
                came.add(data[1] & 127)
                await handle(data, arrival_time_ms=arrival_time_ms)

            transport._handle_rtp_data = noting
        await asyncio.sleep(0.5)
        came.clear()
        await until(lambda: came, 10)
        await asyncio.sleep(1)
        check(formats == str(number) and came == {96},
              f"{'first' if number else 'second'} offer payload type {number} ({name}): answer "
              f"{formats}, aiortc sends {' '.join(map(str, sorted(came)))}")
        decoded.clear()
        step = 960 if number else 160
        for i in range(60):                                       # the last wait in its buffer
            head = struct.pack("!BBHII", 0x80, number, 1000 * (number == 0) + i, step * i, 7)
            await transport._send_rtp(head + PAYLOAD[name])
            await asyncio.sleep(0.005)
        count = lambda: min(decoded.count((name, PAYLOAD[name])), 50)
        await until(lambda: count() == 50, 5 if number else 2)
        kept = count()
        check(kept == (50 if number else 0),
              f"... of 50 packets of {name} to it {kept} are decoded")
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || {
    echo "CHANGED or not run: status $?"; exit 1; }
