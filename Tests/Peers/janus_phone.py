#!/usr/bin/env python3
"""A phone by Janus's SIP plug-in (Debian janus) and, in a browser's place, aiortc (PyPI) that says back what it hears.

usage: janus_phone.py PORT [call URI]
Commands on standard input: digits TEXT, hold, resume, hangup, quit. Events on standard output, a line each."""
import asyncio
import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpCodecParameters, RTCSessionDescription
from aiortc import codecs, rtcrtpreceiver
from console import commands, say
from websockets.asyncio.client import unix_connect

CONFIGURATION = {
    "janus": """general: {{
        configs_folder = "{folder}", plugins_folder = "{folder}/plugins", transports_folder = "{folder}/transports"
        loggers_folder = "{folder}/none", events_folder = "{folder}/none", debug_level = 2, session_timeout = 0
    }}""",
    "janus.transport.websockets": 'general: {{ json = "plain", ws = true, ws_unix = "{folder}/socket" }}',
    # Neither ports that the tests choose nor ephemeral ones.
    "janus.plugin.sip": 'general: {{ local_ip = "127.0.0.1", rtp_port_range = "30100-32700", keepalive_interval = 0 }}',
}


class Door(asyncio.DatagramProtocol):
    """A registrar at the phone's port, as Janus's own is random: what comes in here is passed on to Janus."""

    janus = caller = None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, source):
        if data.startswith(b"REGISTER "):
            self.janus = source
            kept = re.findall(rb"^(?:Via|From|To|Call-ID|CSeq|Contact):.*\r\n", data, re.MULTILINE)
            self.transport.sendto(b"SIP/2.0 200 OK\r\n%sContent-Length: 0\r\n\r\n" % b"".join(kept), source)
        elif source == self.janus:
            self.transport.sendto(data, self.caller)
        # sidetone sends a newline ahead, from another port.
        elif self.janus and data.strip():
            self.caller = source
            self.transport.sendto(data, self.janus)


class Janus:
    """Janus, with a session and a handle of its SIP plug-in, over a socket of its own."""

    async def start(self):
        # Once Janus is connected it needs the folder no more.
        with tempfile.TemporaryDirectory() as folder:
            for name, text in CONFIGURATION.items():
                with open(f"{folder}/{name}.jcfg", "w") as file:
                    file.write(text.format(folder=folder))
            for name in ("plugins/libjanus_sip.so", "transports/libjanus_websockets.so"):
                os.mkdir(f"{folder}/{os.path.dirname(name)}")
                os.symlink(glob.glob(f"/usr/lib/*/janus/{name}")[0], f"{folder}/{name}")
            # It ends with this script, even one that is killed.
            command = ["setpriv", "--pdeathsig", "KILL", "janus", "-F", folder, "-C", f"{folder}/janus.jcfg"]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            self.socket = None
            while self.socket is None and self.process.poll() is None:
                await asyncio.sleep(0.05)
                with contextlib.suppress(OSError):
                    self.socket = await unix_connect(f"{folder}/socket", subprotocols=["janus-protocol"])
        self.place = {}
        await self.send(janus="create")
        self.place["session_id"] = (await self.receive())["data"]["id"]
        await self.send(janus="attach", plugin="janus.plugin.sip")
        self.place["handle_id"] = (await self.receive())["data"]["id"]

    async def send(self, **fields):
        await self.socket.send(json.dumps({"transaction": "-", **self.place, **fields}))

    async def receive(self):
        return json.loads(await self.socket.recv())

    async def ask(self, request, description=None, **fields):
        """Sends the plug-in a request, with a description of the media or without."""
        jsep = {"jsep": {"type": description.type, "sdp": description.sdp, "update": True}} if description else {}
        await self.send(janus="message", body={"request": request, **fields}, **jsep)


class Phone:
    def __init__(self, port, words):
        self.uri = words[words.index("call") + 1] if "call" in words else None
        self.own = f"sip:peer@127.0.0.1:{port}"
        self.janus = Janus()
        self.peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.transceiver = self.peer.addTransceiver("audio")
        self.peer.on("track", self.transceiver.sender.replaceTrack)
        self.is_in_event = False
        # aiortc knows no telephone events (RFC 4733): a payload that it cannot take apart is dropped.
        codecs.CODECS["audio"] += [
            RTCRtpCodecParameters("audio/telephone-event", rate, 1, type) for rate, type in ((48000, 102), (8000, 101))
        ]
        rtcrtpreceiver.depayload = self.take_apart

    def take_apart(self, codec, payload):
        if codec.name != "telephone-event":
            return payload
        is_end = payload[1] & 0x80 != 0
        if not is_end and not self.is_in_event:
            say("digit", "0123456789*#ABCD"[payload[0]])
        self.is_in_event = not is_end
        raise ValueError("no sound")

    def tell(self):
        say("media active" if self.transceiver.currentDirection == "sendrecv" else "media held")

    async def answer(self, offer):
        await self.peer.setRemoteDescription(offer)
        await self.peer.setLocalDescription(await self.peer.createAnswer())
        return self.peer.localDescription

    async def follow(self):
        await self.janus.ask("register", username=self.own, secret="-", proxy=self.own, force_udp=True)
        while message := await self.janus.receive():
            data = message.get("plugindata", {}).get("data", {})
            if "error" in data:
                say("error", data["error"])
            jsep = message.get("jsep")
            await self.note(data.get("result", {}), jsep and RTCSessionDescription(jsep["sdp"], jsep["type"]))

    async def note(self, result, description):
        event = result.get("event")
        if event == "registered":
            say("ready")
            if self.uri:
                await self.peer.setLocalDescription(await self.peer.createOffer())
                # Without SDES: Janus would encrypt even if the answer has no key.
                await self.janus.ask("call", self.peer.localDescription, uri=self.uri, autoaccept_reinvites=False)
        elif event == "incomingcall":
            say("incoming")
            await self.janus.ask("accept", await self.answer(description), autoaccept_reinvites=False)
        elif event == "updatingcall":
            await self.janus.ask("update", await self.answer(description))
            self.tell()
        elif event == "accepted":
            if description:
                await self.peer.setRemoteDescription(description)
            say("connected")
            self.tell()
        elif event in ("holding", "resuming"):
            say("media held" if event == "holding" else "media active")
        elif event == "hangup":
            say("ended", result["code"], result["reason"])


async def main():
    port = int(sys.argv[1])
    loop = asyncio.get_running_loop()
    lines = commands(loop)
    await loop.create_datagram_endpoint(Door, local_addr=("127.0.0.1", port))
    phone = Phone(port, sys.argv[2:])
    await phone.janus.start()
    following = asyncio.create_task(phone.follow())
    while (command := await lines.get())[0] != "quit":
        if command[0] == "digits":
            for digit in command[1]:
                await phone.janus.ask("dtmf_info", digit=digit)
        elif request := {"hold": "hold", "resume": "unhold", "hangup": "hangup"}.get(command[0]):
            await phone.janus.ask(request)
    following.cancel()
    await phone.peer.close()
    phone.janus.process.kill()


asyncio.run(main())
