#!/usr/bin/env bash
# Package: aiortc 1.16.0 (PyPI), with its ICE, aioice 0.13.0.
# Expected: a later offer with another ice-ufrag and ice-pwd restarts ICE (RFC 8445 section 9, RFC
# 8839 section 4.4): the answer has new ones too, and both ends check the new candidates. Media
# moves there when the checks are through. It is how a call survives a change of network.
# Instead: aiortc takes the offer without an error and answers with the ufrag and password that it
# had. It sends no check to the new candidate, goes on with the old address, and its state stays
# "connected", while its remoteDescription shows the new credentials.
# Why it matters: a phone that goes from Wi-Fi to mobile and offers a restart gets a 200 that looks
# right, and then silence. The one sign is in the answer: if ice-ufrag is the same as before, the
# far end has not restarted, and only a new call helps.
# Output seen:
#   connected: True
#   restart offered, old candidate left out: answer accepted it, ufrag the same as before: True
#   remoteDescription has the new ufrag: True
#   packets to the new address in 3 s: 0, to the old one: some
#   state: connected
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" aiortc==1.16.0 aioice==0.13.0 av==18.1.0 pylibsrtp==1.0.0 \
    cryptography==50.0.2 pyopenssl==26.4.0 pyee==13.0.1
cat > "$dir/run.py" <<'PY'
import asyncio, os, re, socket
import aioice.ice
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
aioice.ice.CONSENT_INTERVAL = 1                       # its checks of the old address come sooner
from aiortc import RTCPeerConnection, RTCSessionDescription

def check(good, text):
    print(text, flush=True)
    if not good:
        print("CHANGED: this line is not as described")
        os._exit(1)

def ufrag(description):
    return re.search(r"a=ice-ufrag:(\S+)", description.sdp).group(1)

async def main():
    phone, peer = RTCPeerConnection(), RTCPeerConnection()
    phone.addTransceiver("audio")
    await phone.setLocalDescription(await phone.createOffer())
    await peer.setRemoteDescription(phone.localDescription)
    await peer.setLocalDescription(await peer.createAnswer())
    await phone.setRemoteDescription(peer.localDescription)
    for _ in range(200):
        if phone.connectionState == peer.connectionState == "connected":
            break
        await asyncio.sleep(0.1)
    check(peer.connectionState == "connected", "connected: True")
    before = ufrag(peer.localDescription)

    moved = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)      # the phone in its new network
    moved.bind(("127.0.0.1", 0))
    moved.setblocking(False)
    offer = re.sub(r"a=candidate:.*\r\n", "", phone.localDescription.sdp)
    offer = re.sub(r"(m=audio )\d+", rf"\g<1>{moved.getsockname()[1]}", offer)
    offer = re.sub(r"a=ice-ufrag:\S+", "a=ice-ufrag:moved", offer)
    offer = re.sub(r"a=ice-pwd:\S+\r\n", "a=ice-pwd:0123456789012345678901\r\na=candidate:1 1 udp "
                   f"2130706431 127.0.0.1 {moved.getsockname()[1]} typ host\r\n", offer)
    old = []                                                      # what goes to the old address
    protocol = phone.getTransceivers()[0].sender.transport.transport._connection._protocols[0]
    received = protocol.datagram_received
    protocol.datagram_received = lambda data, address: (old.append(data), received(data, address))
    await peer.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    await peer.setLocalDescription(await peer.createAnswer())
    answer = peer.localDescription
    check(ufrag(answer) == before and not re.search(r"(?m)^m=audio 0 ", answer.sdp),
          "restart offered, old candidate left out: answer accepted it, ufrag the same as before: "
          f"{ufrag(answer) == before}")
    check(ufrag(peer.remoteDescription) == "moved",
          f"remoteDescription has the new ufrag: {ufrag(peer.remoteDescription) == 'moved'}")
    old.clear()
    came = 0
    for _ in range(100):
        await asyncio.sleep(0.03)
        try:
            moved.recv(2048)
            came += 1
        except BlockingIOError:
            pass
    check(came == 0 and old,
          f"packets to the new address in 3 s: {came}, to the old one: {'some' if old else 'none'}")
    check(peer.connectionState == "connected", f"state: {peer.connectionState}")
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || {
    echo "CHANGED or not run: status $?"; exit 1; }
