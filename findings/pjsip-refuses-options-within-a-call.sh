#!/usr/bin/env bash
# Package: pjsua2-python 2.15.1.post1 (PyPI; PJSIP 2.15.1), as the callee.
# Expected: OPTIONS within a call is answered as one outside of it (RFC 3261 section 11.2), INFO
# without a body with 200 (RFC 2976 section 2.2), INFO of an unknown package with 469 (RFC 6086
# section 4.2.2), and an unknown method, in a call or not, with 405 and Allow (RFC 3261, 8.2.1).
# Instead: in a call all four get "500 Unhandled by dialog usages", though the Allow of its 200
# lists OPTIONS and INFO and the same OPTIONS outside of the call gets 200. An unknown method
# outside of a call gets no response at all, not even to retransmissions. The call itself goes on.
# Why it matters: OPTIONS and empty INFO in the call are how servers ask whether a call still lives,
# and a caller whether the far end can do this or that. One that counts 500 as "no" ends a good call
# after its first interval; one that tries a new method waits 32 s for a timeout, as if the network
# were gone. Ask with re-INVITE or UPDATE, as session timers do, and count any response but 481 and
# 408 for a yes.
# Output seen:
#   in a call: OPTIONS 500, INFO without body 500, INFO of package foo 500, FOO 500
#   its Allow has OPTIONS: True, INFO: True
#   the call is still up, UPDATE: 200
#   outside: OPTIONS 200, FOO no answer
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --target "$dir/lib" pjsua2-python==2.15.1.post1
cat > "$dir/run.py" <<'PY'
import os, re, socket, time
out = os.fdopen(os.dup(1), "w", buffering=1)      # PJSIP logs on standard output
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
import pjsua2 as pj

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s

sip, media = bound(), bound()
here = sip.getsockname()[1]
ep = pj.Endpoint()
ep.libCreate()
cfg = pj.EpConfig()
cfg.logConfig.level = cfg.logConfig.consoleLevel = 0
cfg.uaConfig.threadCnt, cfg.uaConfig.mainThreadOnly = 0, True
ep.libInit(cfg)
tp = pj.TransportConfig()
tp.boundAddress = "127.0.0.1"
transport = ep.transportCreate(pj.PJSIP_TRANSPORT_UDP, tp)
there = int(ep.transportGetInfo(transport).localName.split(":")[1])
ep.libStart()
ep.audDevManager().setNullDev()
calls = []

class Account(pj.Account):
    def onIncomingCall(self, prm):
        calls.append(pj.Call(self, prm.callId))
        answer = pj.CallOpParam()
        answer.statusCode = 200
        calls[-1].answer(answer)

ac = pj.AccountConfig()
ac.idUri = "sip:callee@127.0.0.1"
ac.mediaConfig.transportConfig.boundAddress = "127.0.0.1"
acc = Account()
acc.create(ac)

def check(good, text):
    print(text, file=out)
    if not good:
        print("CHANGED: this line is not as described", file=out)
        os._exit(1)

class Dialog:
    """Requests to PJSIP under one Call-ID."""

    def __init__(self, name):
        self.name, self.tag, self.number = name, "", 0

    def send(self, method, number, body, more):
        lines = [f"{method} sip:callee@127.0.0.1:{there} SIP/2.0",
                 f"Via: SIP/2.0/UDP 127.0.0.1:{here};branch=z9hG4bK{self.name}{number}{method}",
                 "Max-Forwards: 70", "From: <sip:caller@127.0.0.1>;tag=" + self.name,
                 "To: <sip:callee@127.0.0.1>" + self.tag, "Call-ID: " + self.name,
                 f"CSeq: {number} {method}", f"Contact: <sip:caller@127.0.0.1:{here}>", *more,
                 f"Content-Length: {len(body)}", "", body]
        sip.sendto("\r\n".join(lines).encode(), ("127.0.0.1", there))

    def ask(self, method, body="", more=()):
        """The final response, also to three retransmissions, or nothing."""
        self.number += 1
        for wait in (0.5, 1, 1):
            self.send(method, self.number, body, more)
            end = time.monotonic() + wait
            while time.monotonic() < end:
                ep.libHandleEvents(2)
                try:
                    text = sip.recv(65535).decode()
                except BlockingIOError:
                    continue
                if re.match("SIP/2.0 [2-6]", text) and f"CSeq: {self.number} {method}\r" in text \
                        and f"Call-ID: {self.name}\r" in text:
                    if method == "INVITE":
                        self.tag = re.search(r"(?m)^To: .*?(;tag=[^\r;]+)", text).group(1)
                        self.send("ACK", self.number, "", ())
                    return text
        return ""

    def status(self, *request):
        return self.ask(*request)[8:11] or "no answer"

OFFER = "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                     f"m=audio {media.getsockname()[1]} RTP/AVP 0", ""])
SDP = ("Content-Type: application/sdp",)
call = Dialog("call")
allow = re.search(r"(?m)^Allow: (.*?)\r", call.ask("INVITE", OFFER, SDP)).group(1).split(", ")
foo = ("x", ("Info-Package: foo", "Content-Type: application/foo",
             "Content-Disposition: Info-Package"))
got = [call.status("OPTIONS"), call.status("INFO"), call.status("INFO", *foo), call.status("FOO")]
check(got == ["500"] * 4, "in a call: OPTIONS {}, INFO without body {}, INFO of package foo {}, "
      "FOO {}".format(*got))
check({"OPTIONS", "INFO"} <= set(allow),
      f"its Allow has OPTIONS: {'OPTIONS' in allow}, INFO: {'INFO' in allow}")
status = call.status("UPDATE")
check(status == "200", "the call is still up, UPDATE: " + status)
got = [Dialog("a").status("OPTIONS"), Dialog("b").status("FOO")]
check(got == ["200", "no answer"], "outside: OPTIONS {}, FOO {}".format(*got))
call.ask("BYE")
print("as described", file=out)
os._exit(0)
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || {
    echo "CHANGED or not run: status $?"; exit 1; }
