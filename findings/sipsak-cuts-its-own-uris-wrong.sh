#!/usr/bin/env bash
# sipsak 0.9.8.1 (Debian 12 package sipsak 0.9.8.1-1), as a client that registers or asks with
# OPTIONS.
# Expected: the URI given with -s is what stands in the request line, To, From and the digest's uri;
# the user name of the digest is the user of that URI, unless -u gives another one (manual page).
# Seen: of a port with five digits the last one is missing in all of them ("sip:127.0.0.1:1507" for
# 15070), though the packet itself goes to the right port. And without -u the digest is made for the
# user "bob@", with the "@" of the URI in both the name and the hash.
# It matters to tests of a server or a proxy: on a high port, as test servers have, a
# correct one answers 404 or sends the request on to another port, and on any port a registrar
# refuses the right password. Give four digits at most, and always -u; before suspecting the server,
# look at the bytes.
# Output:
#   -s sip:bob@127.0.0.1:PPPP, four digits: port in request line, To, uri: right
#   -s sip:bob@127.0.0.1:PPPPP, five digits: port in request line, To, uri: last digit missing
#   without -u: username "bob@", response is that of "bob": False, of "bob@": True
#   with -u bob: username "bob", response is that of "bob": True, of "bob@": False
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download sipsak=0.9.8.1-1 libc-ares2 libgnutls30 \
    libp11-kit0 libidn2-0 libunistring2 libtasn1-6 libnettle8 libhogweed6 libgmp10 libffi8
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import hashlib, re, socket, subprocess, sys

def bound(port=0):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))
    s.settimeout(10)
    return s

def four_digits():
    for port in range(5070, 6550):
        try:
            return bound(port)
        except OSError:
            pass
    sys.exit("not run: no port free")

def five_digits():
    while (s := bound()).getsockname()[1] < 10000:
        pass
    return s

def register(server, *arguments):
    """Lets sipsak register at the server, which asks for a digest; returns the second REGISTER."""
    port = server.getsockname()[1]
    client = subprocess.Popen(
        ["root/usr/bin/sipsak", "-U", "-a", "secret", "-s", f"sip:bob@127.0.0.1:{port}",
         *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for status in ("401 Unauthorized", "200 OK"):
            try:
                while True:
                    data, address = server.recvfrom(65535)
                    text = data.decode()
                    if (status == "200 OK") == ("Authorization" in text):
                        break
            except TimeoutError:
                sys.exit("CHANGED or not run: sipsak sent no REGISTER for " + status)
            lines = ["SIP/2.0 " + status] + [re.search(rf"(?m)^{name}: [^\r]*", text).group()
                                             for name in ("Via", "From", "Call-ID", "CSeq", "To")]
            lines[-1] += ";tag=2"
            if status[0] == "4":
                lines.append('WWW-Authenticate: Digest realm="test", nonce="n1"')
            server.sendto("\r\n".join(lines + ["Content-Length: 0", "", ""]).encode(), address)
    finally:
        client.kill()
        client.wait()
    return text

def show(good, text):
    print(text, flush=True)
    if not good:
        sys.exit("CHANGED: this line is not as described")

def ports(text):
    """The port in request line, To and the digest's uri."""
    return [re.search(pattern, text).group(1) for pattern in
            (r"^REGISTER sip:127.0.0.1:(\d+) SIP", r"(?m)^To: <?sip:bob@127.0.0.1:(\d+)",
             r'uri="sip:127.0.0.1:(\d+)"')]

for title, server in (("-s sip:bob@127.0.0.1:PPPP, four digits: port", four_digits()),
                      ("-s sip:bob@127.0.0.1:PPPPP, five digits: port", five_digits())):
    port = str(server.getsockname()[1])
    found = ports(register(server, "-u", "bob"))
    cut = found == [port[:4]] * 3 and len(port) == 5
    show(cut if "five" in title else found == [port] * 3, f"{title} in request line, To, uri: " + (
        "last digit missing" if cut else "right" if found == [port] * 3 else str(found)))

md5 = lambda text: hashlib.md5(text.encode()).hexdigest()
for title, arguments, want in (("without -u", [], "bob@"), ("with -u bob", ["-u", "bob"], "bob")):
    text = register(four_digits(), *arguments)
    name, uri, response = (re.search(rf'{key}="(.*?)"', text).group(1)
                           for key in ("username", "uri", "response"))
    same = {user: response == md5(f"{md5(f'{user}:test:secret')}:n1:{md5('REGISTER:' + uri)}")
            for user in ("bob", "bob@")}
    show(name == want and same == {"bob": want == "bob", "bob@": want == "bob@"},
         f'{title}: username "{name}", response is that of "bob": {same["bob"]}, '
         f'of "bob@": {same["bob@"]}')
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
timeout 50 python3 run.py
