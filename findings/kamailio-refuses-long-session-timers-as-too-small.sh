#!/usr/bin/env bash
# Package: Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), sstCheckMin("1") of its module sst, which
# is to answer an INVITE with 422 when its session timer is shorter than the proxy wants (min_se).
# Expected: 422 for a Session-Expires below the proxy's minimum, with that minimum in Min-SE (RFC 4028
# sections 8.1 and 6). The Min-SE of a request is the caller's own lower bound, under which no proxy may
# shorten it; one above the proxy's minimum is no reason to refuse. (The module's documentation says that
# the function verifies that the values are "not too small", and one sentence later the reverse.)
# Instead: the reverse. 422 comes when Session-Expires and Min-SE are both ABOVE min_se. With min_se 600
# an interval of 120 s passes, and 1800 s with "Min-SE: 900" gets 422 Session Timer Too Small with
# "Min-SE: 600"; a caller that does as it is told asks for at least the larger of the two again
# (section 7.3) and gets the same for ever. A missing Min-SE counts as 90, and so does min_se if it is
# not set (1800, says the documentation). And all of this holds only if some other function has looked
# through the headers before: if not, everything passes.
# Why it matters: a phone that puts a careful Min-SE into its INVITE, even "120" with the module's
# default, cannot call through such a proxy at all, and phones with the shortest timers, which the check
# is there to stop, can. In a test that leaves Min-SE away nothing shows. Drop one's own Min-SE after
# a 422 whose Min-SE is not above it.
# Output seen:
#   not set,    Session-Expires 1800:              passes
#   not set,    Session-Expires 1800, Min-SE 90:   passes
#   not set,    Session-Expires 1800, Min-SE 120:  422 Session Timer Too Small, Min-SE 90
#   min_se 600, Session-Expires 120:               passes
#   min_se 600, Session-Expires 1800:              passes
#   min_se 600, Session-Expires 1800, Min-SE 900:  422 Session Timer Too Small, Min-SE 600
#   min_se 600, Session-Expires 900, Min-SE 900:   422 Session Timer Too Small, Min-SE 600
#   the first header that is looked at:
#   min_se 600, Session-Expires 1800, Min-SE 900:  passes
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download kamailio=5.6.3-2
dpkg -x kamailio_*.deb root
cat > run.py <<'PY'
import glob, re, socket, subprocess, sys

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

CONFIG = """debug=-2
log_stderror=yes
children=1
disable_tcp=yes
auto_aliases=no
loadmodule "pv.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "textops.so"
loadmodule "dialog.so"
loadmodule "sst.so"
modparam("sst", "sst_flag", 5)
%s
request_route {
    if ($rU == "all") is_present_hf("X-None");    # looks through all headers
    if (sstCheckMin("1")) exit;
    sl_send_reply("480", "Passed");
}
"""

def proxy(minimum):
    spare = bound()
    at = spare.getsockname()
    spare.close()
    with open("kamailio.cfg", "w") as cfg:
        cfg.write(CONFIG % (f'modparam("sst", "min_se", {minimum})' if minimum else ""))
    return at, subprocess.Popen(
        ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L",
         glob.glob("root/usr/lib/*/kamailio/modules")[0], "-l", "udp:127.0.0.1:%d" % at[1],
         "-m", "32", "-M", "4", "-Y", "."],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def invite(at, user, headers):
    phone = bound()
    here = "127.0.0.1:%d" % phone.getsockname()[1]
    for attempt in range(20):                     # the proxy may still be starting
        phone.sendto("\r\n".join(
            [f"INVITE sip:{user}@127.0.0.1 SIP/2.0",
             f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{here[10:]}{attempt}", "Max-Forwards: 70",
             "From: <sip:a@127.0.0.1>;tag=1", "To: <sip:b@127.0.0.1>", f"Call-ID: {here}{attempt}",
             "CSeq: 1 INVITE", f"Contact: <sip:a@{here}>", "Supported: timer", *headers,
             "Content-Length: 0", "", ""]).encode(), at)
        try:
            text = phone.recv(65535).decode()
        except (TimeoutError, ConnectionRefusedError):
            continue
        line = re.match(r"SIP/2.0 (.*)\r", text).group(1)
        least = re.search(r"(?m)^Min-SE: *(\d+)", text)
        return "passes" if line == "480 Passed" else line + (f", Min-SE {least.group(1)}" if least else "")
    sys.exit("CHANGED or not run: no answer")

REFUSED = "422 Session Timer Too Small, Min-SE "
for minimum, cases in (
        (0, (("all", 1800, 0, "passes"), ("all", 1800, 90, "passes"), ("all", 1800, 120, REFUSED + "90"))),
        (600, (("all", 120, 0, "passes"), ("all", 1800, 0, "passes"), ("all", 1800, 900, REFUSED + "600"),
               ("all", 900, 900, REFUSED + "600"), ("first", 1800, 900, "passes")))):
    at, server = proxy(minimum)
    try:
        for user, expires, least, want in cases:
            headers = [f"Session-Expires: {expires}"] + [f"Min-SE: {least}"] * (least > 0)
            got = invite(at, user, headers)
            if user == "first":
                print("the first header that is looked at:")
            name = f"min_se {minimum}, " if minimum else "not set, "
            text = f"{name:<12}Session-Expires {expires}" + f", Min-SE {least}" * (least > 0) + ":"
            print(f"{text:<46} {got}", flush=True)
            if got != want:
                sys.exit("CHANGED: this line is not as described")
    finally:
        server.terminate()
        server.wait()
print("as described")
PY
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
export LD_LIBRARY_PATH
timeout 55 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
