#!/usr/bin/env bash
# Clients that find out the kind of NAT with STUN, by the tests of RFC 3489 section 10.1: aiostun
# 0.6.1 and pystun3 2.0.0 (PyPI), called without a source address, which is their default; for
# comparison PyNAT 0.6.0 (PyPI) likewise, and stun 0.97 (Debian 12 stun-client 0.97~dfsg-2.1+b1).
# The server is coturn 4.6.1 (Debian 12 coturn 4.6.1-1) on two addresses and two ports; there is
# no NAT and no firewall between.
# Expected: when the mapped address is one of the client's own, there is no NAT; with an answer from
# the other address and port as well, the result is "open Internet" (section 10.1).
# Seen: aiostun and pystun3 compare the mapped address with the one that they bound to, 0.0.0.0, the
# wildcard, and it is never that. So they go on to the tests for NATs and end at "Full Cone". The
# mapped address that they give with it is the machine's own. aiostun has no way to give it a source
# address for this; pystun3 says "Open Internet" if it gets one.
# It matters to a phone or a laboratory that sets itself up by the result: keep-alives and relays
# for a NAT that is not there, and a wrong diagnosis of a call with sound in one direction. "Open
# Internet" cannot come out at all. Compare the mapped address with the machine's own oneself.
# Output:
#   stun 0.97: Open
#   PyNAT: Open, mapped address is the own one: True
#   aiostun: Full Cone, mapped address is the own one: True
#   pystun3: Full Cone, mapped address is the own one: True
#   pystun3 with source_ip: Open Internet, mapped address is the own one: True
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" aiostun==0.6.1 pystun3==2.0.0 pynat==0.6.0
# What is under test is pinned; the libraries come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download coturn=4.6.1-1 stun-client=0.97~dfsg-2.1+b1 \
    libhiredis0.14 libmariadb3 libpq5 libsqlite3-0 libevent-core-2.1-7 libevent-extra-2.1-7 \
    libevent-openssl-2.1-7 libevent-pthreads-2.1-7
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import asyncio, glob, os, re, socket, subprocess, sys, time
import aiostun.nat, pynat, stun

def free_pair():
    """Two ports that are free on both addresses."""
    for port in range(23478, 24478, 2):
        held = []
        try:
            for address in ("127.0.0.1", "127.0.0.2"):
                for number in (port, port + 1):
                    held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                    held[-1].bind((address, number))
            return port
        except OSError:
            pass
        finally:
            for s in held:
                s.close()
    sys.exit("not run: no ports free")

def free():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("", 0))
        return s.getsockname()[1]

port = free_pair()
server = {"stun_host": "127.0.0.1", "stun_port": port}
with open("turn.conf", "w") as conf:
    conf.write(f"listening-ip=127.0.0.1\nlistening-ip=127.0.0.2\nlistening-port={port}\n"
               f"alt-listening-port={port + 1}\nno-tls\nno-dtls\nno-tcp\nno-cli\nno-auth\nrfc5780\n"
               "userdb=users\npidfile=pid\nlog-file=log\nsimple-log\nno-stdout-log\n")
folders = {os.path.dirname(os.path.abspath(name))
           for name in glob.glob("root/usr/lib/**/*.so*", recursive=True)}
libraries = dict(os.environ, LD_LIBRARY_PATH=":".join(sorted(folders)))
coturn = subprocess.Popen(["root/usr/bin/turnserver", "-c", "turn.conf"], env=libraries,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
good = True

def show(name, want, kind, address=None):
    global good
    own = "" if address is None else f", mapped address is the own one: {address == '127.0.0.1'}"
    print(f"{name}: {kind}{own}", flush=True)
    good = good and kind == want and address in (None, "127.0.0.1")

try:
    for _ in range(100):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(0.2)
            try:
                s.sendto(b"\0\1\0\0" + bytes(16), ("127.0.0.1", port))
                s.recv(1000)
                break
            except OSError:
                time.sleep(0.1)
    else:
        sys.exit("not run: coturn does not answer")
    client, = glob.glob("root/usr/*bin/stun")
    text = subprocess.run([client, f"127.0.0.1:{port}", "-p", str(free())], timeout=40,
                          capture_output=True, text=True).stdout
    show("stun 0.97", "Open", re.search(r"Primary: (.*?)\s*$", text, re.M).group(1))
    kind, address, _ = pynat.get_ip_info(source_port=free(), **server)
    show("PyNAT", "Open", kind, address)
    found = asyncio.run(aiostun.nat.NAT().discover(use_classicstun=True, **server))
    show("aiostun", "Full Cone", found["nat"], found["external-ip"])
    kind, address, _ = stun.get_ip_info(source_port=free(), **server)
    show("pystun3", "Full Cone", kind, address)
    kind, address, _ = stun.get_ip_info(source_ip="127.0.0.1", source_port=free(), **server)
    show("pystun3 with source_ip", "Open Internet", kind, address)
finally:
    coturn.kill()
    coturn.wait()
if not good:
    sys.exit("CHANGED: what these clients say of a network without NAT")
PY
PYTHONPATH="$dir/lib" timeout 100 python3 -W ignore run.py
