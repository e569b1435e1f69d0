"""The signalling of one call over UDP, for libraries that have media alone, and a registrar that takes everybody.

It does what the peers' tests need: no retransmissions, no authentication, no forks."""
import asyncio
import re
import uuid


def header(message, name):
    found = re.search(rf"^{name}\s*:\s*(.*?)\r?$", message, re.MULTILINE | re.IGNORECASE)
    return found.group(1) if found else ""


def body(message):
    return message.partition("\r\n\r\n")[2]


class Line(asyncio.DatagramProtocol):
    """One line with one call at a time. Set `answer_offer` (async, offer to answer), `ended` and `connected`."""

    def __init__(self, port):
        self.port = port
        self.transport = None
        self.peer = None
        self.call_id = self.local = self.remote = self.target = None
        self.sequence = 1
        self.responses = {}
        self.answered = None
        self.answer_offer = None
        self.connected = self.ended = lambda: None

    async def open(self):
        await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: self, local_addr=("127.0.0.1", self.port)
        )

    def connection_made(self, transport):
        self.transport = transport

    @property
    def contact(self):
        return f"<sip:peer@127.0.0.1:{self.port}>"

    # What comes in.

    def datagram_received(self, data, source):
        message = data.decode(errors="replace")
        if message.startswith("SIP/2.0"):
            return self._note_response(message)
        if message.strip():
            asyncio.create_task(self._note_request(message, source))

    def _note_response(self, message):
        status = int(message.split()[1])
        waiting = self.responses.get(header(message, "CSeq"))
        if status >= 200 and waiting and not waiting.done():
            waiting.set_result((status, message))

    async def _note_request(self, message, source):
        method = message.split()[0]
        if method == "ACK":
            return self.connected()
        if method == "REGISTER":
            contact = header(message, "Contact").split(";expires")[0]
            return self._reply(message, source, "200 OK", f"Contact: {contact};expires=600\r\n")
        if method == "BYE":
            self._reply(message, source, "200 OK")
            return self.ended()
        if method != "INVITE":
            return self._reply(message, source, "200 OK")
        identity = (header(message, "Call-ID"), header(message, "CSeq"))
        if identity == self.answered:
            return
        self.answered = identity
        self._reply(message, source, "100 Trying")
        if self.call_id is None:
            self.peer, self.call_id = source, header(message, "Call-ID")
            self.remote, self.local = header(message, "From"), header(message, "To") + ";tag=peer"
            self.target = re.search(r"<([^>]*)>", header(message, "Contact")).group(1)
        try:
            answer = await self.answer_offer(body(message))
        except Exception as error:
            print("refused:", type(error).__name__, error, flush=True)
            return self._reply(message, source, "488 Not Acceptable Here")
        extra = f"Contact: {self.contact}\r\nContent-Type: application/sdp\r\n"
        self._reply(message, source, "200 OK", extra, answer)

    def _reply(self, request, source, status, extra="", content=""):
        to = header(request, "To")
        if "tag=" not in to and not status.startswith("100"):
            to += ";tag=peer"
        vias = "".join(f"Via: {via}\r\n" for via in re.findall(r"^Via\s*:\s*(.*?)\r?$", request, re.M | re.I))
        message = (
            f"SIP/2.0 {status}\r\n{vias}From: {header(request, 'From')}\r\nTo: {to}\r\n"
            f"Call-ID: {header(request, 'Call-ID')}\r\nCSeq: {header(request, 'CSeq')}\r\n"
            f"{extra}Content-Length: {len(content.encode())}\r\n\r\n{content}"
        )
        self.transport.sendto(message.encode(), source)

    # What goes out.

    def _send(self, method, content="", sequence=None):
        sequence = sequence or self.sequence
        type = "Content-Type: application/sdp\r\n" if content else ""
        message = (
            f"{method} {self.target} SIP/2.0\r\n"
            f"Via: SIP/2.0/UDP 127.0.0.1:{self.port};branch=z9hG4bK{uuid.uuid4().hex};rport\r\n"
            f"Max-Forwards: 70\r\nFrom: {self.local}\r\nTo: {self.remote}\r\nCall-ID: {self.call_id}\r\n"
            f"CSeq: {sequence} {method}\r\nContact: {self.contact}\r\n{type}"
            f"Content-Length: {len(content.encode())}\r\n\r\n{content}"
        )
        self.transport.sendto(message.encode(), self.peer)

    async def offer(self, content):
        """Sends an INVITE in the call, or the first one, and returns the answer's description."""
        self.sequence += 1
        sequence = self.sequence
        waiting = self.responses[f"{sequence} INVITE"] = asyncio.get_running_loop().create_future()
        self._send("INVITE", content, sequence)
        status, message = await waiting
        is_first = "tag=" not in self.remote
        self.remote = header(message, "To")
        self._send("ACK", sequence=sequence)
        if status >= 300:
            raise ConnectionError(f"INVITE: {status}")
        if is_first:
            self.target = re.search(r"<([^>]*)>", header(message, "Contact")).group(1)
        return body(message)

    async def call(self, uri, content):
        host, _, port = uri.split("@")[1].partition(":")
        self.peer, self.call_id, self.target = (host, int(port)), uuid.uuid4().hex, uri
        self.local, self.remote = f"<sip:peer@127.0.0.1:{self.port}>;tag=peer", f"<{uri}>"
        answer = await self.offer(content)
        self.connected()
        return answer

    def hang_up(self):
        self.sequence += 1
        self._send("BYE")
        self.ended()
