#!/usr/bin/env bash
# Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), its modules usrloc and registrar, all defaults.
# Expected: an expiry is any number of seconds up to 2**32 - 1 (RFC 3261 section 20.19), which is what
# "never" looks like; the registrar takes it or shortens it (10.3 step 7), and its 200 lists every
# binding that there is now with the time it has left (10.3 step 8).
# Seen: the biggest of them, ";expires=4294967295" on the Contact, gets 200 without any Contact, and
# nobody is registered: added to the clock in 32 bits it lies in the past. 2**31 is taken, but read
# back as 2**64 - 2**31 seconds. The same numbers in an Expires header are not read at all: the
# binding gets the default of 3600 s. Up to 2**31 - 1 all is well. max_expires, off unless set,
# covers the first two.
# It matters to a phone that asks for "for ever" and takes a 200 as proof: it shows "registered" and
# gets no call, and one that reads the time left into 32 bits gets 2**31 or an error. Look for one's
# own Contact in the 200, and ask for a day at most.
# Output (a call to the address then finds its contact, or gets 404):
#   Contact parameter, 3600: 200, left 3600, contact found
#   Expires header, 3600: 200, left 3600, contact found
#   Contact parameter, 2147483647: 200, left 2147483647, contact found
#   Expires header, 2147483647: 200, left 2147483647, contact found
#   Contact parameter, 2147483648: 200, left 18446744071562067968, contact found
#   Expires header, 2147483648: 200, left 3600, contact found
#   Contact parameter, 4294967295: 200, no Contact, 404
#   Expires header, 4294967295: 200, left 3600, contact found
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
loadmodule "usrloc.so"
loadmodule "registrar.so"
request_route {
    if (method == "REGISTER") { save("location"); exit; }
    if (lookup("location")) { sl_send_reply("299", "Found"); } else { sl_send_reply("404", "Not Found"); }
}
CFG
cat > run.py <<'PY'
import glob, re, socket, subprocess, sys, time

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s

phone, spare = bound(), bound()
proxy = spare.getsockname()
spare.close()
server = subprocess.Popen(
    ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L", glob.glob("root/usr/lib/*/kamailio/modules")[0],
     "-l", "udp:127.0.0.1:%d" % proxy[1], "-m", "32", "-M", "4", "-Y", "."],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

here = "127.0.0.1:%d" % phone.getsockname()[1]

def request(method, number, user, *more):
    uri = f"sip:{user}@127.0.0.1"
    lines = [f"{method} {uri if method == 'OPTIONS' else 'sip:127.0.0.1'} SIP/2.0",
             f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{method}{number}", "Max-Forwards: 70",
             f"From: <{uri}>;tag=1", f"To: <{uri}>", f"Call-ID: {user}", f"CSeq: {number} {method}", *more,
             "Content-Length: 0", "", ""]
    phone.sendto("\r\n".join(lines).encode(), proxy)
    phone.settimeout(10)
    text = phone.recv(65535).decode()
    left = re.search(r"(?m)^Contact: .*?;expires=(\d+)", text)
    return text[8:11], "left " + left.group(1) if left else "no Contact"

got = []
try:
    for _ in range(100):
        with open("/proc/net/udp") as sockets:
            if ":%04X " % proxy[1] in sockets.read():
                break
        time.sleep(0.1)
    time.sleep(1)
    for number, seconds in enumerate((3600, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1)):
        for form in ("Contact parameter", "Expires header"):
            user = form[0] + str(number)
            contact = f"Contact: <sip:{user}@{here}>"
            more = [contact + f";expires={seconds}"] if form[0] == "C" else [contact, f"Expires: {seconds}"]
            status, left = request("REGISTER", 1, user, *more)
            found = {"299": "contact found"}.get(*[request("OPTIONS", 2, user)[0]] * 2)
            got.append(f"{status}, {left}, {found}")
            print(f"{form}, {seconds}: {got[-1]}", flush=True)
finally:
    server.terminate()
    server.wait()
fine = "200, left 3600, contact found"
if got != [fine, fine, *["200, left 2147483647, contact found"] * 2,
           "200, left 18446744071562067968, contact found", fine, "200, no Contact, 404", fine]:
    sys.exit("CHANGED: how Kamailio takes very long registrations")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
timeout 55 python3 run.py
