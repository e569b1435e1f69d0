#!/usr/bin/env bash
# Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), its modules tm and sl, as a stateful proxy.
# Expected: a stateful element never answers a request other than INVITE with 408; when the next hop
# is silent it sends no final response at all (RFC 4320 section 4.2, an update of RFC 3261): at the
# sender's end the transaction runs out at about the same time, and a 408 can only come too late or
# be taken for an answer of the far end (RFC 4321 sections 1.4 and 1.3).
# Seen: t_relay() sends 408 for MESSAGE, OPTIONS and BYE as for INVITE, as soon as its fr_timer is
# over (30 s unless set; 2 s here).
# It matters to a phone: 30 s is less than its own timer F (32 s), so behind such a proxy a request
# into silence always ends with a 408 and never with the timeout that was tested without a proxy. A
# phone that asks with OPTIONS whether the peer is there and takes any response for a yes keeps a
# dead one for ever; one that shows the response shows an answer that the far end never gave.
# Treat a 408 to anything but INVITE as a timeout of one's own.
# Output:
#   INVITE: 100 at once, 408 Request Timeout after 2 s
#   MESSAGE: 408 Request Timeout after 2 s
#   OPTIONS: 408 Request Timeout after 2 s
#   BYE: 408 Request Timeout after 2 s
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download kamailio=5.6.3-2
dpkg -x kamailio_*.deb root
cat > kamailio.cfg <<'CFG'
debug=-2
log_stderror=yes
children=1
disable_tcp=yes
auto_aliases=no
loadmodule "tm.so"
loadmodule "sl.so"
modparam("tm", "fr_timer", 2000)
modparam("tm", "fr_inv_timer", 2000)
request_route {
    if (method == "ACK") { if (t_check_trans()) { t_relay(); } exit; }
    t_relay();
}
CFG
cat > run.py <<'PY'
import glob, re, socket, subprocess, sys, time

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s

phone, silent, spare = bound(), bound(), bound()
proxy = spare.getsockname()
spare.close()
server = subprocess.Popen(
    ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L", glob.glob("root/usr/lib/*/kamailio/modules")[0],
     "-l", "udp:127.0.0.1:%d" % proxy[1], "-m", "32", "-M", "4", "-Y", "."],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def request(method):
    uri = "sip:peer@127.0.0.1:%d" % silent.getsockname()[1]
    here = "127.0.0.1:%d" % phone.getsockname()[1]
    lines = [f"{method} {uri} SIP/2.0", f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{method}", "Max-Forwards: 70",
             "From: <sip:phone@127.0.0.1>;tag=1", f"To: <{uri}>" + (";tag=2" if method == "BYE" else ""),
             f"Call-ID: {method}", f"CSeq: 1 {method}", f"Contact: <sip:phone@{here}>", "Content-Length: 0", "", ""]
    return "\r\n".join(lines).encode()

def responses(method, seconds):
    """What comes back, with the time after the request."""
    began, found = time.monotonic(), []
    phone.sendto(request(method), proxy)
    while (left := began + seconds - time.monotonic()) > 0:
        phone.settimeout(left)
        try:
            text = phone.recv(65535).decode()
        except TimeoutError:
            break
        status = re.match(r"SIP/2\.0 (.*?)\r", text).group(1)
        if f"CSeq: 1 {method}\r" in text and status not in [x for x, _ in found]:
            found.append((status, time.monotonic() - began))
    return found

got = []
try:
    for _ in range(100):
        with open("/proc/net/udp") as sockets:
            if ":%04X " % proxy[1] in sockets.read():
                break
        time.sleep(0.1)
    time.sleep(1)
    for method in ("INVITE", "MESSAGE", "OPTIONS", "BYE"):
        shown = [(status if after > 1 else status[:3]) + (" after 2 s" if 1.5 < after < 3.5 else " at once"
                  if after < 1 else " after %.0f s" % after) for status, after in responses(method, 5)]
        got.append(", ".join(shown) or "nothing")
        print(f"{method}: {got[-1]}", flush=True)
        silent.settimeout(1)
        if not silent.recv(65535).startswith(method.encode() + b" "):
            sys.exit("CHANGED or not run: the request did not reach the next hop")
        silent.setblocking(False)
        try:
            while silent.recv(65535):
                pass
        except BlockingIOError:
            pass
finally:
    server.terminate()
    server.wait()
if got != ["100 at once, 408 Request Timeout after 2 s"] + ["408 Request Timeout after 2 s"] * 3:
    sys.exit("CHANGED: what Kamailio answers when the next hop is silent")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
timeout 55 python3 run.py
