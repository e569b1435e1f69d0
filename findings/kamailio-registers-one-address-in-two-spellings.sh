#!/usr/bin/env bash
# Package: Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), its registrar (modules registrar and
# usrloc), save() with all parameters as they are unless set.
# Expected: a REGISTER changes the binding whose address is the same by URI comparison (RFC 3261 section
# 10.3 step 7). There the host is compared without regard to upper and lower case, parameters in any
# order, and %61 is the same as a (section 19.1.4, which has an example of each).
# Instead: the contact is compared byte by byte. "sip:a@Phone.example" and "sip:a@phone.example" are two
# bindings, and so are ";transport=udp;ob" and ";ob;transport=udp", and "%61" and "a". One with
# "expires=0" in the other spelling gets 200 and removes nothing. For the user whom the address is
# bound to it is the other way round: "sip:BOB@", "sip:%62ob@" and "sip:bob@" are one, though there the
# case does count (that much can be set: case_sensitive).
# Why it matters: a phone whose stack writes its contact anew after an update or a restart, with the
# parameters in another order, gets each call twice under one Call-ID and has to refuse one of them as
# merged (482). One that signs off so goes on being called. A test against a registrar that compares by
# the RFC shows none of it. Write the contact of one's own in the same bytes always, and look in the
# Contact of the 200 for bindings that are not one's own spelling.
# Output seen (number of bindings after each REGISTER):
#   sip:a@Phone.example, then sip:a@phone.example:                              1, then 2
#   sip:a@h.example;transport=udp;ob, then sip:a@h.example;ob;transport=udp:    1, then 2
#   sip:a@h.example, then sip:%61@h.example:                                    1, then 2
#   sip:a@h.example, then sip:a@h.example:                                      1, then 1
#   sip:a@h.example, then off as sip:a@H.example:                               1, then 1
#   sip:a@h.example, then off as sip:a@h.example:                               1, then 0
#   user sip:bob@127.0.0.1 has 1, sip:BOB@127.0.0.1 has 1, sip:%62ob@127.0.0.1 has 1
#   as described
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
loadmodule "pv.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
request_route {
    save("location");
}
CFG
cat > run.py <<'PY'
import glob, itertools, re, socket, subprocess, sys

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(1)
    return s

phone, spare = bound(), bound()
at = spare.getsockname()
spare.close()
here = "127.0.0.1:%d" % phone.getsockname()[1]
server = subprocess.Popen(
    ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L",
     glob.glob("root/usr/lib/*/kamailio/modules")[0], "-l", "udp:127.0.0.1:%d" % at[1],
     "-m", "32", "-M", "4", "-Y", "."],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
numbers = itertools.count(1)

def register(user, contact="", expires=600):
    """Registers, or asks only; the number of bindings in the 200."""
    number = next(numbers)
    lines = [f"Contact: <{contact}>;expires={expires}"] if contact else []
    for _ in range(20):                           # the server may still be starting
        phone.sendto("\r\n".join(
            ["REGISTER sip:127.0.0.1 SIP/2.0", f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{number}",
             "Max-Forwards: 70", f"From: <sip:{user}@127.0.0.1>;tag=1", f"To: <sip:{user}@127.0.0.1>",
             "Call-ID: phone", f"CSeq: {number} REGISTER", *lines, "Content-Length: 0", "", ""]).encode(), at)
        try:
            while f"CSeq: {number} " not in (text := phone.recv(65535).decode()):
                pass
        except (TimeoutError, ConnectionRefusedError):
            continue
        if not text.startswith("SIP/2.0 200 "):
            sys.exit("CHANGED: " + text.split("\r\n")[0])
        return len(re.findall(r"<sip:", re.search(r"(?m)^Contact:.*$|\Z", text).group()))
    sys.exit("CHANGED or not run: no answer")

def check(text, got, want):
    print(text, flush=True)
    if got != want:
        sys.exit("CHANGED: this line is not as described")

try:
    for n, (first, second, expires, want) in enumerate((
            ("sip:a@Phone.example", "sip:a@phone.example", 600, (1, 2)),
            ("sip:a@h.example;transport=udp;ob", "sip:a@h.example;ob;transport=udp", 600, (1, 2)),
            ("sip:a@h.example", "sip:%61@h.example", 600, (1, 2)),
            ("sip:a@h.example", "sip:a@h.example", 600, (1, 1)),
            ("sip:a@h.example", "sip:a@H.example", 0, (1, 1)),
            ("sip:a@h.example", "sip:a@h.example", 0, (1, 0)))):
        got = register(f"user{n}", first), register(f"user{n}", second, expires)
        check("{:<75} {}, then {}".format(first + ", then " + "off as " * (not expires) + second + ":", *got),
              got, want)
    register("bob", "sip:a@h.example")
    got = [register(user) for user in ("bob", "BOB", "%62ob")]
    check("user sip:bob@127.0.0.1 has {}, sip:BOB@127.0.0.1 has {}, sip:%62ob@127.0.0.1 has {}".format(*got),
          got, [1, 1, 1])
    print("as described")
finally:
    server.terminate()
    server.wait()
PY
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
export LD_LIBRARY_PATH
timeout 55 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
