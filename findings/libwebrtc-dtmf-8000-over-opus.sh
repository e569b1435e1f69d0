#!/usr/bin/env bash
# Package: wrtc 0.1.0 (PyPI; libwebrtc M152), with aiortc 1.16.0 as the peer that looks on.
# Expected: a digit of 100 ms gives packets with a growing duration and then three with the E bit
# (RFC 4733 section 2.5.1), the marker on the first packet only (2.2.2), and the duration in the
# clock of the event's own rtpmap (2.3.5).
# Instead: with Opus and only "telephone-event/8000" accepted, libwebrtc counts the duration in the
# 48 kHz timestamps of Opus, so the digit is over at its first packet: nothing comes but the three
# end packets, back to back, each with the marker, and with duration 960. PCMU gets it right.
# Why it matters: a browser sends this to a phone that does Opus but knows digits at 8000 only. A
# phone that waits for a packet without E hears no digit; one that starts a digit at each marker
# hears three. Tell digits apart by timestamp, and offer telephone-event/48000 beside Opus.
# Output seen:
#   PCMU, telephone-event/8000: 7 packets, markers 1000000, ends 0000111, durations 160 to 800
#   Opus, telephone-event/8000: 3 packets, markers 111, ends 111, durations 960 to 960
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" wrtc==0.1.0 aiortc==1.16.0 aioice==0.13.0 av==18.1.0 \
    pylibsrtp==1.0.0 cryptography==50.0.2 pyopenssl==26.4.0 pyee==13.0.1 typing_extensions==4.16.0
cat > "$dir/run.py" <<'PY'
import array, asyncio, os, re, struct, time
import aioice.ice
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
import aiortc
from aiortc.rtcdtlstransport import RTCDtlsTransport
import webrtc
webrtc.allow_loopback()
packets, arrived = [], asyncio.Event()

async def look(self, data, arrival_time_ms):      # each RTP packet as it leaves SRTP
    packets.append(data)
    arrived.set()
RTCDtlsTransport._handle_rtp_data = look

def changed(text):
    print("CHANGED:", text, flush=True)
    os._exit(1)

async def until(test, seconds, what):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            changed(what)
        await asyncio.sleep(0.01)

def payload(d):
    n = 12 + 4 * (d[0] & 15)
    if d[0] & 16:
        n += 4 + 4 * struct.unpack("!H", d[n + 2:n + 4])[0]
    return d[n:]

async def digit(audio, name):
    packets.clear()
    caller, callee = webrtc.RTCPeerConnection(), aiortc.RTCPeerConnection()
    track = webrtc.MediaStreamTrackGenerator("audio")
    sender = caller.add_track(track)
    await caller.set_local_description(await caller.create_offer())
    await until(lambda: str(caller.ice_gathering_state).split(".")[-1] == "complete", 10, "no candidates")
    offer = [l for l in caller.local_description.sdp.splitlines()
             if not l.startswith("a=candidate") or " 127.0.0.1 " in l]
    maps = {n.lower(): pt for pt, n in re.findall(r"a=rtpmap:(\d+) (\S+)", "\n".join(offer))}
    media, event = maps[audio], maps["telephone-event/8000"]
    await callee.setRemoteDescription(aiortc.RTCSessionDescription("\r\n".join(offer) + "\r\n", "offer"))
    await callee.setLocalDescription(await callee.createAnswer())
    answer = []                # the callee's transport lines, with the formats of this test
    for line in callee.localDescription.sdp.splitlines():
        if line.startswith("m="):
            line = " ".join(line.split()[:3] + [media, event])
        if not re.match("a=(rtpmap|fmtp|rtcp-fb|extmap|ssrc)", line):
            answer.append(line)
    answer += [f"a=rtpmap:{media} {name}", f"a=rtpmap:{event} telephone-event/8000", f"a=fmtp:{event} 0-15"]
    await caller.set_remote_description(
        webrtc.RTCSessionDescription(type="answer", sdp="\r\n".join(answer) + "\r\n"))
    await until(lambda: callee.connectionState == "connected", 15, "no connection")

    async def feed():          # 10 ms of a buzz every 10 ms
        writer, n, start = track.writable.get_writer(), 0, time.monotonic()
        samples = array.array("h", [4000 if i % 80 < 40 else -4000 for i in range(480)]).tobytes()
        while True:
            await writer.write(webrtc.AudioData(webrtc.AudioDataInit(
                format="s16", sample_rate=48000, number_of_frames=480, number_of_channels=1,
                timestamp=n * 10000, data=samples)))
            n += 1
            await asyncio.sleep(max(0, start + n * 0.01 - time.monotonic()))
    feeding = asyncio.create_task(feed())
    events = lambda: [d for d in packets if d[1] & 127 == int(event)]
    voice = lambda: [d for d in packets if d[1] & 127 == int(media)]
    await until(lambda: len(voice()) > 10, 10, "no audio came")
    await until(lambda: sender.dtmf.can_insert_dtmf, 5, "it takes no digits")
    sender.dtmf.insert_dtmf("5", 100, 70)
    def over():                # audio is back after the digit
        got = events()
        if not got:
            return False
        seq = struct.unpack("!H", got[-1][2:4])[0]
        return sum(0 < (struct.unpack("!H", d[2:4])[0] - seq) & 0xffff < 1000 for d in voice()) > 10
    await until(over, 10, "the digit did not end")
    feeding.cancel()
    got = events()
    result = ("".join(str(d[1] >> 7) for d in got), "".join(str(payload(d)[1] >> 7) for d in got),
              struct.unpack("!H", payload(got[0])[2:4])[0], struct.unpack("!H", payload(got[-1])[2:4])[0])
    print(f"{'PCMU' if 'pcmu' in audio else 'Opus'}, telephone-event/8000: {len(got)} packets, markers",
          f"{result[0]}, ends {result[1]}, durations {result[2]} to {result[3]}", flush=True)
    await callee.close()
    caller.close()
    return result

async def main():
    a, b = await digit("pcmu/8000", "PCMU/8000"), await digit("opus/48000/2", "opus/48000/2")
    if a != ("1000000", "0000111", 160, 800) or b != ("111", "111", 960, 960):
        changed("these are not the packets described")
    print("as described", flush=True)
    os._exit(0)

asyncio.run(main())
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
