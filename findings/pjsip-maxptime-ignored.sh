#!/usr/bin/env bash
# Package: pjsua2-python 2.15.1.post1 (PyPI; PJSIP 2.15.1).
# Expected: a=maxptime is the most media that its sender takes in one packet (RFC 8866 section
# 6.5), a=ptime only the length that it would like (6.4). So no packet exceeds maxptime.
# Instead: PJSIP pays no heed to maxptime. It sends 20 ms packets into maxptime:10, and 40 ms ones
# where ptime:40 and maxptime:20 disagree. It follows ptime:10 and rounds ptime:5 up to 10, but
# takes ptime:3 for no wish at all and sends 20 ms.
# Why it matters: a phone with small frames that states its limit by maxptime alone gets packets
# twice as long. State both, and be ready for 20 ms still.
# Output seen:
#   a=ptime:10: 10 ms packets
#   a=ptime:5: 10 ms packets
#   a=ptime:3: 20 ms packets
#   a=maxptime:10: 20 ms packets
#   a=ptime:40 a=maxptime:20: 40 ms packets
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

def one(lines):
    call = pj.Call(acc)
    call.makeCall(f"sip:callee@127.0.0.1:{here}", pj.CallOpParam(True))
    ok(request("INVITE"), "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                                       f"m=audio {media.getsockname()[1]} RTP/AVP 0", *lines]) + "\r\n")
    request("ACK")
    lengths = []
    def packet(d):
        if len(d) > 12 and d[1] & 127 == 0:
            lengths.append((len(d) - 12) // 8)
        return len(lengths) == 12
    poll(media, packet, 5) or changed(f"{lines}: only {len(lengths)} packets")
    call.hangup(pj.CallOpParam(True))
    ok(request("BYE"))
    poll(sip, lambda d: True, 0.2)
    while poll(media, lambda d: True, 0.05):
        pass
    return sorted(set(lengths))

for want, *lines in ((10, "a=ptime:10"), (10, "a=ptime:5"), (20, "a=ptime:3"), (20, "a=maxptime:10"),
                     (40, "a=ptime:40", "a=maxptime:20")):
    got = one(lines)
    if got != [want]:
        changed(f"{' '.join(lines)}: packets of {got} ms instead of {want}")
    print(f"{' '.join(lines)}: {want} ms packets", file=out)
print("as described", file=out)
os._exit(0)
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
