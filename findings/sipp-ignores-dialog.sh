#!/usr/bin/env bash
# Package: sip-tester 1:3.6.1-1+b2 (Debian 12; SIPp), its built-in scenarios "uac" and "uas".
# Expected: ACK and BYE go to the remote target, the URI in the Contact of the 2xx, with a Route
# for each Record-Route of it (RFC 3261 section 12.2.1.1). A UAS copies the Record-Route headers
# of the INVITE into its 2xx (12.1.1), or the proxy that put them there gets no later request.
# Instead: the built-in uac addresses ACK and BYE to the URI that it called, without Route, and
# the built-in uas answers without Record-Route, so neither keeps the dialog that it is in.
# Why it matters: a phone that takes in-dialog requests only at the URI in its own Contact gets
# no ACK from SIPp, resends its 200 and ends the call; through a proxy that records its route the
# test runs on a path that no real call takes. A test of these needs a scenario with rrs="true",
# [next_url] and [routes].
# Output seen:
#   uac: ACK sip:service@127.0.0.1, Route: none; BYE sip:service@127.0.0.1, Route: none
#   uas: 200, Record-Route: none
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/deb"
(cd "$dir/deb" && apt-get -qq -o APT::Sandbox::User=root download sip-tester=1:3.6.1-1+b2 \
    libpcap0.8=1.10.3-1 libsctp1=1.0.19+dfsg-2 libgsl27=2.7.1+dfsg-5+deb12u1 libgslcblas0=2.7.1+dfsg-5+deb12u1)
for deb in "$dir"/deb/*.deb; do dpkg -x "$deb" "$dir/root"; done
cat > "$dir/run.py" <<'PY'
import re, socket, subprocess, sys, time
program, folder = sys.argv[1:]

def changed(text):
    print("CHANGED:", text)
    sys.exit(1)

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s

def header(text, name):
    return re.search(rf"(?m)^{name}:\s*(.*?)\r", text).group(1)

def routes(text, name):
    return ", ".join(re.findall(rf"(?mi)^{name}:\s*(.*?)\r", text)) or "none"

class Sipp:
    def __init__(self, scenario, *more):
        spare = bound()
        self.port = spare.getsockname()[1]
        spare.close()
        self.process = subprocess.Popen(
            [program, "-sn", scenario, "-i", "127.0.0.1", "-p", str(self.port), "-nostdin", "-m", "1", *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    def ready(self):
        """Waits until it has its port, for at most 10 s."""
        for _ in range(200):
            with open("/proc/net/udp") as sockets:
                if f":{self.port:04X} " in sockets.read():
                    return
            time.sleep(0.05)
        changed("SIPp opened no port")

    def stop(self):
        self.process.kill()
        self.process.wait()

sock = bound()
here = sock.getsockname()[1]

def await_(test, seconds=10):
    """The next message that fits."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            text = sock.recv(65535).decode()
        except TimeoutError:
            break
        if test(text):
            return text
    changed("SIPp sent nothing that fits")

def ok(request, *more):
    to = header(request, "To")
    lines = ["SIP/2.0 200 OK", "Via: " + header(request, "Via"), *more, "From: " + header(request, "From"),
             "To: " + to + ("" if "tag=" in to else ";tag=callee"), "Call-ID: " + header(request, "Call-ID"),
             "CSeq: " + header(request, "CSeq"), "Content-Length: 0", "", ""]
    sock.sendto("\r\n".join(lines).encode(), ("127.0.0.1", sipp.port))

sipp = Sipp("uac", f"127.0.0.1:{here}")
try:
    invite = await_(lambda t: t.startswith("INVITE "))
    body = "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                        "m=audio 4000 RTP/AVP 0", ""])
    ok_ = ["SIP/2.0 200 OK", "Via: " + header(invite, "Via"), f"Record-Route: <sip:127.0.0.1:{here};lr>",
           "From: " + header(invite, "From"), "To: " + header(invite, "To") + ";tag=callee",
           "Call-ID: " + header(invite, "Call-ID"), "CSeq: " + header(invite, "CSeq"),
           "Contact: <sip:somewhere-else@127.0.0.1:9999>", "Content-Type: application/sdp",
           f"Content-Length: {len(body)}", "", body]
    sock.sendto("\r\n".join(ok_).encode(), ("127.0.0.1", sipp.port))
    shown = []
    for method in ("ACK", "BYE"):
        text = await_(lambda t: t.startswith(method + " "))
        uri = text.split(" ")[1].replace(f":{here}", "")
        shown.append(f"{method} {uri}, Route: {routes(text, 'Route')}")
    ok(text)
finally:
    sipp.stop()
print("uac:", "; ".join(shown), flush=True)
if shown != [f"{m} sip:service@127.0.0.1, Route: none" for m in ("ACK", "BYE")]:
    changed("this is not as described")

sipp = Sipp("uas")
try:
    def request(method, tag=""):
        text = "\r\n".join([
            f"{method} sip:service@127.0.0.1:{sipp.port} SIP/2.0",
            f"Via: SIP/2.0/UDP 127.0.0.1:{here};branch=z9hG4bK-{method}", "Max-Forwards: 70",
            *([f"Record-Route: <sip:127.0.0.1:{here};lr>"] if method == "INVITE" else []),
            "From: <sip:caller@127.0.0.1>;tag=caller", f"To: <sip:service@127.0.0.1>{tag}",
            "Call-ID: one@127.0.0.1", f"CSeq: {2 if method == 'BYE' else 1} {method}",
            f"Contact: <sip:caller@127.0.0.1:{here}>",
            *(["Content-Type: application/sdp"] if method == "INVITE" else []),
            f"Content-Length: {len(body) if method == 'INVITE' else 0}", "", body if method == "INVITE" else ""])
        return lambda: sock.sendto(text.encode(), ("127.0.0.1", sipp.port))
    sipp.ready()
    request("INVITE")()
    text = await_(lambda t: t.startswith("SIP/2.0 200 ") and "CSeq: 1 INVITE" in t)
    tag = re.search(r"(;tag=[^;\r]+)", header(text, "To")).group(1)
    request("ACK", tag)()
    request("BYE", tag)()
    await_(lambda t: "CSeq: 2 BYE" in t)
finally:
    sipp.stop()
print("uas: 200, Record-Route:", routes(text, "Record-Route"), flush=True)
if routes(text, "Record-Route") != "none":
    changed("this is not as described")
print("as described")
PY
libs=$(find "$dir/root" -name '*.so.*' -printf '%h\n' | sort -u | paste -sd:)
LD_LIBRARY_PATH="$libs" timeout 50 python3 "$dir/run.py" "$(find "$dir/root" -type f -name sipp)" "$dir" \
    || { echo "CHANGED or not run: status $?"; exit 1; }
