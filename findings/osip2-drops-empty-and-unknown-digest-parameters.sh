#!/usr/bin/env bash
# libosip2 5.3.0 (Debian 12 package libosip2-15 5.3.0-2.1), its parser reading and writing.
# Expected: a parser keeps what it reads. An empty quoted string is a value like any other: RFC 3261
# shows opaque="" in its own examples (20.27, 20.44), and opaque goes back to the server unchanged
# (RFC 7616 section 3.3). A challenge or credentials may have parameters beyond the known ones
# (auth-param, RFC 3261 section 25.1), as AKA has auts (RFC 3310 section 3.4).
# Seen: in the headers of digest authentication, empty values and unknown parameters are gone, with
# no error, and no field of the structure holds them. So a client cannot send opaque="" back, the
# nonce="" and response="" of an IMS phone's first REGISTER are missing, though the grammar demands
# them, and with auts goes the only thing that a resynchronisation is about. The headers of all
# other kinds keep both. Authentication-Info is cut at its commas into five headers.
# It matters to a phone behind a proxy, a session border controller or a test tool built on osip:
# its login is altered on the way, and fails with the right password. Let nothing depend on
# opaque="".
# Output:
#   WWW-Authenticate with opaque="": opaque missing
#   WWW-Authenticate with opaque="x": nothing missing
#   Authorization with nonce="", response="": nonce, response missing
#   Authorization with auts="a": auts missing
#   Authorization with integrity-protected="yes": integrity-protected missing
#   Contact with x="" and y="z": nothing missing
#   Authentication-Info with nextnonce, qop, rspauth, cnonce, nc: 5 headers
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libosip2-15=5.3.0-2.1
dpkg -x libosip2-15_*.deb root
cat > run.py <<'PY'
import ctypes, glob, re, sys
lib = ctypes.CDLL(glob.glob("root/usr/lib/*/libosipparser2.so.15")[0])
lib.parser_init()

def again(line):
    """Reads a 401 or REGISTER with this line and writes it; returns the lines of its kind."""
    name = line.split(":")[0]
    first = "SIP/2.0 401 Unauthorized" if name in ("WWW-Authenticate", "Authentication-Info") \
        else "REGISTER sip:example.com SIP/2.0"
    text = "\r\n".join([
        first, "Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1", "From: <sip:bob@example.com>;tag=1",
        "To: <sip:bob@example.com>", "Call-ID: one", "CSeq: 1 REGISTER", line, "Content-Length: 0",
        "", ""]).encode()
    message, out, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    lib.osip_message_init(ctypes.byref(message))
    if lib.osip_message_parse(message, text, ctypes.c_size_t(len(text))):
        sys.exit("CHANGED: osip does not read " + line)
    lib.osip_message_force_update(message)
    lib.osip_message_to_str(message, ctypes.byref(out), ctypes.byref(size))
    written = ctypes.string_at(out, size.value).decode()
    return [l for l in written.split("\r\n") if l.startswith(name + ":")]

CHALLENGE = 'WWW-Authenticate: Digest realm="r",nonce="n",'
USER = 'Authorization: Digest username="bob",realm="r",uri="sip:example.com",'
for title, line, want in (
        ('WWW-Authenticate with opaque=""', CHALLENGE + 'opaque=""', ["opaque"]),
        ('WWW-Authenticate with opaque="x"', CHALLENGE + 'opaque="x"', []),
        ('Authorization with nonce="", response=""', USER + 'nonce="",response=""',
         ["nonce", "response"]),
        ('Authorization with auts="a"',
         USER + 'nonce="n",response="0",algorithm=AKAv1-MD5,auts="a"', ["auts"]),
        ('Authorization with integrity-protected="yes"',
         USER + 'nonce="n",response="0",integrity-protected="yes"', ["integrity-protected"]),
        ('Contact with x="" and y="z"', 'Contact: <sip:bob@127.0.0.1>;x="";y="z"', [])):
    parameters = lambda text: re.findall(r'([\w-]+)=(?:"|\w)', text)
    kept = parameters(again(line)[0])
    missing = [p for p in parameters(line) if p not in kept]
    print(f"{title}: {', '.join(missing) or 'nothing'} missing", flush=True)
    if missing != want:
        sys.exit("CHANGED: this line is not as described")
found = again('Authentication-Info: nextnonce="n2", qop=auth, rspauth="0", cnonce="c", nc=00000001')
print(f"Authentication-Info with nextnonce, qop, rspauth, cnonce, nc: {len(found)} headers")
if len(found) != 5:
    sys.exit("CHANGED: this line is not as described")
PY
timeout 50 python3 run.py
