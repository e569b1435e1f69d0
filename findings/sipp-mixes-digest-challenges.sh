#!/usr/bin/env bash
# SIPp 3.6.1 (Debian 12 package sip-tester 1:3.6.1-1+b2), recv auth="true" and [authentication].
# Expected: of several WWW-Authenticate headers a client answers the topmost whose algorithm it
# supports (RFC 8760 section 2.4), so MD5 below SHA-256 is answered with MD5; a challenge without
# algorithm means MD5 (RFC 7616 section 3.3). Each is answered with its own parameters. MD5-sess
# hashes nonce and cnonce into the secret as well (RFC 7616 section 3.4.2).
# Seen: SIPp joins all the headers and takes each parameter where it first finds it. SHA-256 on top
# ends the call ("must use MD5"), and so does a first challenge without algorithm; an opaque of the
# second goes back with the nonce of the first. And MD5-sess is claimed, but plain MD5 computed.
# It matters to a phone's or registrar's tests: a server that moves on to RFC 8760 by the book
# seems to lock all clients out, and one that offers MD5-sess to refuse the right password, while
# real phones get in. Test with one MD5 challenge, or let the scenario keep one header only.
# Output:
#   MD5: answered, algorithm=MD5, digest right
#   MD5-sess: answered, algorithm=MD5-sess, digest of plain MD5
#   MD5 above SHA-256: answered, algorithm=MD5, digest right
#   SHA-256 above MD5: gives up
#   no algorithm above SHA-256: gives up
#   MD5 without opaque above SHA-256 with: answered, algorithm=MD5, digest right, opaque of the second
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download sip-tester=1:3.6.1-1+b2 \
    libpcap0.8 libsctp1 libgsl27 libgslcblas0
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import hashlib, re, socket, subprocess, sys
REGISTER = """REGISTER sip:127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
Max-Forwards: 70
From: <sip:user@127.0.0.1>;tag=1
To: <sip:user@127.0.0.1>
Call-ID: [call_id]
CSeq: %s REGISTER
Contact: <sip:user@[local_ip]:[local_port]>
%sContent-Length: 0

"""
with open("register.xml", "w") as scenario:
    scenario.write('<?xml version="1.0" encoding="ISO-8859-1" ?>\n<scenario name="register">\n'
                   '<send><![CDATA[\n' + REGISTER % (1, "") + ']]></send>\n'
                   '<recv response="401" auth="true"/>\n<send><![CDATA[\n'
                   + REGISTER % (2, "[authentication username=user password=secret]\n")
                   + ']]></send>\n<recv response="200"/>\n</scenario>\n')

def md5(*parts):
    return hashlib.md5(":".join(parts).encode()).hexdigest()

def one(challenges):
    """What SIPp makes of a 401 with these challenges."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(10)
    sipp = subprocess.Popen([sys.argv[1], "-sf", "register.xml", "-i", "127.0.0.1", "-m", "1", "-nostdin",
                             "127.0.0.1:%d" % sock.getsockname()[1]], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        data, source = sock.recvfrom(65535)
        kept = re.findall(r"(?m)^((?:Via|From|To|Call-ID|CSeq): .*?)\r", data.decode())
        sock.sendto("\r\n".join(["SIP/2.0 401 Unauthorized", *kept,
                                 *("WWW-Authenticate: Digest " + c for c in challenges),
                                 "Content-Length: 0", "", ""]).encode(), source)
        sock.settimeout(3)
        try:
            text = sock.recv(65535).decode()
        except TimeoutError:
            return "gives up"
    finally:
        sipp.kill()
        sipp.wait()
    sent = dict(re.findall(r'(\w+)="?([^",\r]*)', re.search(r"Authorization: Digest (.*?)\r", text).group(1)))
    secret = md5("user", sent["realm"], "secret")
    digest = lambda a1: md5(a1, sent["nonce"], sent["nc"], sent["cnonce"], sent["qop"], md5("REGISTER", sent["uri"]))
    kind = {digest(secret): "plain MD5", digest(md5(secret, sent["nonce"], sent["cnonce"])): "MD5-sess"}.get(
        sent["response"], "something else")
    right = kind == {"MD5": "plain MD5"}.get(sent["algorithm"], sent["algorithm"])
    if sent["nonce"] != "n1":
        return "answered with another nonce"
    return (f"answered, algorithm={sent['algorithm']}, digest " + ("right" if right else "of " + kind)
            + (", opaque of the second" if sent.get("opaque") == "o2" else ""))

first, second = 'realm="r", nonce="n1", qop="auth"', 'realm="r", nonce="n2", qop="auth", algorithm=SHA-256'
cases = {"MD5": [first + ", algorithm=MD5"], "MD5-sess": [first + ", algorithm=MD5-sess"],
         "MD5 above SHA-256": [first + ", algorithm=MD5", second],
         "SHA-256 above MD5": [second, first + ", algorithm=MD5"],
         "no algorithm above SHA-256": [first, second],
         "MD5 without opaque above SHA-256 with": [first + ", algorithm=MD5", second + ', opaque="o2"']}
got = []
for title, challenges in cases.items():
    got.append(one(challenges))
    print(f"{title}: {got[-1]}", flush=True)
fine = "answered, algorithm=MD5, digest right"
if got != [fine, "answered, algorithm=MD5-sess, digest of plain MD5", fine, "gives up", "gives up",
           fine + ", opaque of the second"]:
    sys.exit("CHANGED: how SIPp answers digest challenges")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
timeout 55 python3 run.py "$(find root -type f -name sipp)"
