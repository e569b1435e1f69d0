#!/usr/bin/env bash
# Package: pjsua2-python 2.15.1.post1 (PyPI; PJSIP 2.15.1).
# Expected: the duration of a telephone-event counts in the event's own clock, the rate on its
# rtpmap line (RFC 4733 sections 2.2.1 and 2.3.5). A digit of 200 ms on "telephone-event/8000" ends
# with duration 1600, whatever the audio codec is.
# Instead: PJSIP counts in the clock of the audio codec. With speex/16000 and only
# telephone-event/8000 accepted, the digit that lasts 200 ms on the wire ends with duration 3200,
# by the negotiated clock 400 ms. With telephone-event/16000 it sends the very same numbers.
# Why it matters: a phone that trusts the duration hears digits twice as long as they were, sees
# them overlap the next, and may miss repeated ones. Take the E bit or the arrival time as the end
# of a digit, and the duration only as a hint.
# Output seen:
#   telephone-event/8000: end duration 3200 = 400 ms by the negotiated clock, about 200 ms sent
#   telephone-event/16000: end duration 3200 = 200 ms by the negotiated clock, about 200 ms sent
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --target "$dir/lib" pjsua2-python==2.15.1.post1
cat > "$dir/run.py" <<'PY'
import os, re, socket, struct, time
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
cfg.medConfig.noVad = True
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

def ok(req, sdp=""):
    to = header(req, "To")
    to += "" if "tag=" in to else ";tag=callee"
    lines = ["SIP/2.0 200 OK", "Via: " + header(req, "Via"), "From: " + header(req, "From"), "To: " + to,
             "Call-ID: " + header(req, "Call-ID"), "CSeq: " + header(req, "CSeq"),
             f"Contact: <sip:callee@127.0.0.1:{here}>"]
    if sdp:
        lines.append("Content-Type: application/sdp")
    lines += [f"Content-Length: {len(sdp)}", "", sdp]
    port = int(re.search(r"UDP 127\.0\.0\.1:(\d+)", header(req, "Via")).group(1))
    sip.sendto("\r\n".join(lines).encode(), ("127.0.0.1", port))

def one(rate):
    call = pj.Call(acc)
    call.makeCall(f"sip:callee@127.0.0.1:{here}", pj.CallOpParam(True))
    invite = request("INVITE")
    maps = {name.lower(): pt for pt, name in re.findall(r"a=rtpmap:(\d+) (\S+)", invite)}
    audio, event = maps["speex/16000"], maps[f"telephone-event/{rate}"]
    ok(invite, "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                            f"m=audio {media.getsockname()[1]} RTP/AVP {audio} {event}",
                            f"a=rtpmap:{audio} speex/16000", f"a=rtpmap:{event} telephone-event/{rate}",
                            f"a=fmtp:{event} 0-15"]) + "\r\n")
    request("ACK")
    seen = []
    poll(media, lambda d: len(d) > 12 and d[1] & 127 == int(audio), 10) or changed("no audio came")
    call.dialDtmf("5")
    def digit(d):
        if len(d) != 16 or d[1] & 127 != int(event):
            return False
        seen.append((d[13] >> 7, struct.unpack("!H", d[14:16])[0]))
        return d[13] & 0x80
    poll(media, digit, 5) or changed("no end of the digit came")
    call.hangup(pj.CallOpParam(True))
    ok(request("BYE"))
    poll(sip, lambda d: True, 0.3)
    while poll(media, lambda d: True, 0.05):
        pass
    last = seen[-1][1]
    if len({n for _, n in seen}) != 10:           # one packet each 20 ms
        changed(f"the digit took {len({n for _, n in seen})} packets of 20 ms on the wire")
    print(f"telephone-event/{rate}: end duration {last} = {last * 1000 // rate} ms by the negotiated clock,",
          "about 200 ms sent", file=out)
    return last

a, b = one(8000), one(16000)
if a != 3200 or b != 3200:
    changed(f"the end durations are {a} and {b}, not 3200 and 3200")
print("as described", file=out)
os._exit(0)
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
