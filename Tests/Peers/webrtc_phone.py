#!/usr/bin/env python3
"""A WebRTC phone by aiortc or by libwebrtc (PyPI aiortc, wrtc) that says back what it hears.

usage: webrtc_phone.py aiortc|webrtc.aiortc PORT [call URI]
Commands on standard input: hold, resume, hangup, quit. Events on standard output, a line each."""
import asyncio
import fractions
import importlib
import os
import sys

import av
from console import commands, say
from sip_line import Line

os.environ["WRTC_ALLOW_LOOPBACK"] = "1"
rtc = importlib.import_module(sys.argv[1])

RATE, FRAMES = 48000, 960


class Echo(rtc.MediaStreamTrack):
    """What was heard last, or silence, 20 ms at a time."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self.heard = asyncio.Queue()
        self.resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE, frame_size=FRAMES)
        self.begun = None
        self.sent = 0

    async def follow(self, track):
        try:
            while True:
                for frame in self.resampler.resample(await track.recv()):
                    self.heard.put_nowait(bytes(frame.planes[0])[: FRAMES * 2])
        except rtc.MediaStreamError:
            pass

    async def recv(self):
        now = asyncio.get_running_loop().time()
        self.begun = self.begun or now
        await asyncio.sleep(max(0, self.begun + self.sent * FRAMES / RATE - now))
        while self.heard.qsize() > 5:
            self.heard.get_nowait()
        content = bytes(FRAMES * 2) if self.heard.empty() else self.heard.get_nowait()
        frame = av.AudioFrame(format="s16", layout="mono", samples=FRAMES)
        frame.planes[0].update(content)
        frame.sample_rate, frame.time_base = RATE, fractions.Fraction(1, RATE)
        frame.pts = self.sent * FRAMES
        self.sent += 1
        return frame


async def main():
    port, words = int(sys.argv[2]), sys.argv[3:]
    lines = commands(asyncio.get_running_loop())
    peer, echo, line = rtc.RTCPeerConnection(), Echo(), Line(port)
    line.connected = lambda: say("connected")
    line.ended = lambda: say("ended 200")
    followers = []

    def tell():
        say("media active" if peer.getTransceivers()[0].currentDirection == "sendrecv" else "media held")

    @peer.on("track")
    def track(track):
        followers.append(asyncio.create_task(echo.follow(track)))

    async def answer(offer):
        await peer.setRemoteDescription(rtc.RTCSessionDescription(offer, "offer"))
        if not followers or not any(sender.track for sender in peer.getSenders()):
            peer.addTrack(echo)
        await peer.setLocalDescription(await peer.createAnswer())
        tell()
        return peer.localDescription.sdp

    async def offer(exchange):
        await peer.setLocalDescription(await peer.createOffer())
        await peer.setRemoteDescription(rtc.RTCSessionDescription(await exchange(peer.localDescription.sdp), "answer"))
        tell()

    line.answer_offer = answer
    await line.open()
    say("ready")
    if "call" in words:
        peer.addTrack(echo)
        uri = words[words.index("call") + 1]
        await offer(lambda description: line.call(uri, description))
    while (command := (await lines.get())[0]) != "quit":
        if command in ("hold", "resume"):
            peer.getTransceivers()[0].direction = "sendonly" if command == "hold" else "sendrecv"
            await offer(line.offer)
        elif command == "hangup":
            line.hang_up()
    await peer.close()


asyncio.run(main())
