#!/usr/bin/env bash
# Package: pjsua2-python 2.15.1.post1 (PyPI; PJSIP 2.15.1).
# Expected: an answer may accept several of the offered codecs, and the offerer then has to be
# ready for any of them (RFC 3264 sections 6.1 and 7). After ACK the call is simply up.
# Instead: when the 200 to its INVITE accepts PCMU and PCMA, PJSIP makes a second offer right after
# its ACK, with the first of the two alone, to pin the codec: a re-INVITE, or an UPDATE if the 200
# had UPDATE in its Allow. The account setting for this (lockCodecEnabled) is on by default.
# Why it matters: a phone that answers with all it can do gets a new offer at once, at the moment
# when it may want to make one itself (glare, 491), and one that announces UPDATE has to take an
# offer in it then. Answer with one codec and telephone-event, and none of this happens.
# Output seen:
#   answer PCMU, PCMA: ACK, then INVITE offering PT 0 and telephone-event only
#   answer PCMU, PCMA, Allow with UPDATE: ACK, then UPDATE offering PT 0 and telephone-event only
#   answer PCMU: ACK, then nothing for 1.5 s
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --target "$dir/lib" pjsua2-python==2.15.1.post1
cat > "$dir/run.py" <<'PY'
import os, re, socket, time
out = os.fdopen(os.dup(1), "w", buffering=1)      # PJSIP logs on standard output before it is told not to
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
import pjsua2 as pj

def changed(text):
    print("CHANGED:", text, file=out)
    os._exit(1)

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
ep.transportCreate(pj.PJSIP_TRANSPORT_UDP, tp)
ep.libStart()
ep.audDevManager().setNullDev()
ac = pj.AccountConfig()
ac.idUri = "sip:caller@127.0.0.1"
ac.mediaConfig.transportConfig.boundAddress = "127.0.0.1"
acc = pj.Account()
acc.create(ac)

def poll(sock, until, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ep.libHandleEvents(2)
        try:
            data = sock.recv(65535)
        except BlockingIOError:
            continue
        got = until(data)
        if got:
            return got
    return None

def request(method):
    got = poll(sip, lambda d: d.startswith(method.encode() + b" ") and d.decode(), 10)
    return got or changed(f"no {method} came")

def header(text, name):
    return re.search(rf"(?m)^{name}: (.*?)\r", text).group(1)

def ok(req, sdp="", extra=""):
    to = header(req, "To")
    to += "" if "tag=" in to else ";tag=callee"
    lines = ["SIP/2.0 200 OK", "Via: " + header(req, "Via"), "From: " + header(req, "From"), "To: " + to,
             "Call-ID: " + header(req, "Call-ID"), "CSeq: " + header(req, "CSeq"),
             f"Contact: <sip:callee@127.0.0.1:{here}>"]
    if extra:
        lines.append(extra)
    if sdp:
        lines.append("Content-Type: application/sdp")
    lines += [f"Content-Length: {len(sdp)}", "", sdp]
    port = int(re.search(r"UDP 127\.0\.0\.1:(\d+)", header(req, "Via")).group(1))
    sip.sendto("\r\n".join(lines).encode(), ("127.0.0.1", port))

def one(codecs, allow):
    call = pj.Call(acc)
    call.makeCall(f"sip:callee@127.0.0.1:{here}", pj.CallOpParam(True))
    invite = request("INVITE")
    event = re.search(r"a=rtpmap:(\d+) telephone-event/8000", invite).group(1)
    ok(invite, "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                            f"m=audio {media.getsockname()[1]} RTP/AVP {codecs} {event}",
                            f"a=rtpmap:{event} telephone-event/8000", f"a=fmtp:{event} 0-15"]) + "\r\n",
       allow)
    request("ACK")
    again = poll(sip, lambda d: d.decode(), 10 if " " in codecs else 1.5)
    if again:
        method = again.split(" ")[0]
        formats = re.search(r"m=audio \d+ RTP/AVP (.*)\r", again)
        formats = formats.group(1).split(" ") if formats else None
        rest = "telephone-event" if formats and formats[1:] == re.findall(
            r"a=rtpmap:(\d+) telephone-event/8000", again) else "others"
        result = (method, formats and formats[0], rest)
        ok(again, "\r\n".join(["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                               f"m=audio {media.getsockname()[1]} RTP/AVP 0"]) + "\r\n", allow)
        if method == "INVITE":
            request("ACK")
    else:
        result = None
    call.hangup(pj.CallOpParam(True))
    ok(request("BYE"))
    poll(sip, lambda d: True, 0.2)
    return result

UPDATE = "Allow: INVITE, ACK, CANCEL, BYE, UPDATE"
for codecs, allow, title, want in (
        ("0 8", "", "answer PCMU, PCMA", ("INVITE", "0", "telephone-event")),
        ("0 8", UPDATE, "answer PCMU, PCMA, Allow with UPDATE", ("UPDATE", "0", "telephone-event")),
        ("0", "", "answer PCMU", None)):
    got = one(codecs, allow)
    if got != want:
        changed(f"{title}: {got} instead of {want}")
    print(f"{title}: ACK, then", f"{got[0]} offering PT {got[1]} and telephone-event only"
          if got else "nothing for 1.5 s", file=out)
print("as described", file=out)
os._exit(0)
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
