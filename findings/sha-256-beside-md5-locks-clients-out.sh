#!/usr/bin/env bash
# Two SIP stacks that know MD5, registering: baresip and libre in PyPI's baresip-python 0.5.2a3, and
# Sofia-SIP 1.12.11+20110422 (Debian 12 package libsofia-sip-ua0 1.12.11+20110422.1+1e14eea~dfsg-6;
# Janus's SIP gateway and telepathy-rakia use it).
# Expected: a server that has better algorithms sends one challenge for each, in the order that it
# prefers (RFC 8760 section 2.3). The client answers one, the topmost of those that it has (2.4; the
# same for schemes: RFC 2617 section 4.6). So MD5, left on for old clients, serves them as ever.
# Seen: both answer none as soon as there is one that they lack, before or after MD5. For Sofia that
# is SHA-256: nua_authenticate() ends in "904 No matching challenge" or, with MD5 first, in "202 No
# operation to restart", which reads like success. baresip has SHA-256, and fails at SHA-512-256, a
# token (Bearer, RFC 8898) or Basic, with "Function not implemented" or "Bad message". Of two that
# it has, baresip answers both, with two Authorization headers for one realm.
# It matters where a better algorithm is turned on at a registrar: just those clients are locked
# out for whom MD5 was left on, with errors that are about the client's platform, or none. Choose
# the challenge by the account and send only one.
# Output:
#   Sofia: MD5: 200 OK, answers 1
#   Sofia: Basic, MD5: 200 OK, answers 1
#   Sofia: SHA-256, MD5: 904 No matching challenge, answers 0
#   Sofia: MD5, SHA-256: 202 No operation to restart, answers 0
#   baresip: MD5: registered, answers 1
#   baresip: SHA-256, MD5: registered, answers 2
#   baresip: SHA-512-256, MD5: Function not implemented [38], answers 0
#   baresip: MD5, SHA-512-256: Function not implemented [38], answers 0
#   baresip: Bearer, MD5: Bad message [74], answers 0
#   baresip: MD5, Basic: Bad message [74], answers 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target lib baresip-python==0.5.2a3 cffi==2.1.1 pycparser==3.12
# What is under test is pinned; OpenSSL comes as Debian has it.
apt-get -qq -o APT::Sandbox::User=root download \
    "libsofia-sip-ua0=1.12.11+20110422.1+1e14eea~dfsg-6" libssl3
for deb in *.deb; do dpkg -x "$deb" root; done
cat > registrar.py <<'PY'
import os, re, socket, threading

class Registrar(threading.Thread):
    """Challenges each REGISTER without Authorization, takes any other and counts its answers."""

    def __init__(self, names):
        super().__init__(daemon=True)
        self.names, self.answers = names.split(", "), 0
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.start()

    def run(self):
        while True:
            data, address = self.sock.recvfrom(65535)
            text = data.decode()
            if not text.startswith("REGISTER"):
                continue
            line = lambda name: re.search(rf"(?m)^{name}: [^\r]*", text).group()
            lines = [line(name) for name in ("Via", "From", "Call-ID", "CSeq", "To")]
            lines[-1] += ";tag=1"
            count = len(re.findall(r"(?m)^Authorization: ", text))
            if count:
                self.answers = count
                lines.append(line("Contact"))
            else:
                lines += ["WWW-Authenticate: " + self.challenge(name) for name in self.names]
            status = "200 OK" if count else "401 Unauthorized"
            lines = ["SIP/2.0 " + status, *lines, "Content-Length: 0", "", ""]
            self.sock.sendto("\r\n".join(lines).encode(), address)

    def challenge(self, name):
        if name == "Bearer":
            return 'Bearer realm="test", authz_server="https://example.invalid/"'
        if name == "Basic":
            return 'Basic realm="test"'
        return f'Digest realm="test", nonce="{name}", algorithm={name}, qop="auth"'

def show(client, names, result, registrar, want):
    got = f"{result}, answers {registrar.answers}"
    print(f"{client}: {names}: {got}", flush=True)
    if got != want:
        print("CHANGED: this line is not as described", flush=True)
        os._exit(1)
PY
cat > sofia.py <<'PY'
import ctypes as c, glob, os, socket, time
from registrar import Registrar, show
lib = c.CDLL(glob.glob("root/usr/lib/*/libsofia-sip-ua.so.0")[0])
for name in ("su_root_create", "nua_create", "nua_handle"):
    getattr(lib, name).restype = c.c_void_p
lib.su_root_step.argtypes = [c.c_void_p, c.c_long]
events, keep = [], []

@c.CFUNCTYPE(None, c.c_int, c.c_int, c.c_char_p, *[c.c_void_p] * 6)
def event(kind, status, phrase, *more):
    events.append((status, (phrase or b"").decode()))

def tags(*pairs):
    """Tag list of a Sofia function, ended by TAG_END()."""
    out = []
    for name, value in pairs:
        keep.append(c.create_string_buffer(value.encode()))
        tag = c.addressof(c.c_char.in_dll(lib, name))
        out += [c.c_void_p(tag), c.c_void_p(c.addressof(keep[-1]))]
    return out + [c.c_void_p(0), c.c_void_p(0)]

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as spare:
    spare.bind(("127.0.0.1", 0))
    mine = spare.getsockname()[1]
lib.su_init()
root = lib.su_root_create(None)
agent = lib.nua_create(c.c_void_p(root), event, c.c_void_p(0),
                       *tags(("nutag_url", f"sip:127.0.0.1:{mine};transport=udp")))
for names, want in (("MD5", "200 OK, answers 1"), ("Basic, MD5", "200 OK, answers 1"),
                    ("SHA-256, MD5", "904 No matching challenge, answers 0"),
                    ("MD5, SHA-256", "202 No operation to restart, answers 0")):
    registrar = Registrar(names)
    handle = c.c_void_p(lib.nua_handle(
        c.c_void_p(agent), c.c_void_p(0),
        *tags(("siptag_to_str", "<sip:bob@127.0.0.1>"),
              ("siptag_from_str", "<sip:bob@127.0.0.1>"))))
    events.clear()
    lib.nua_register(handle, *tags(("nutag_registrar", f"sip:127.0.0.1:{registrar.port}"),
                                   ("nutag_outbound", "no-validate no-options-keepalive")))
    asked, end = False, time.monotonic() + 10
    while time.monotonic() < end:
        lib.su_root_step(root, 5)
        if not asked and any(status == 401 for status, _ in events):
            asked = True
            lib.nua_authenticate(handle, *tags(("nutag_auth", 'Digest:"test":bob:secret')))
        final = [e for e in events if e[0] >= 200 and e[0] != 401]
        if asked and final:
            end = min(end, time.monotonic() + 0.5)            # nothing more comes
    show("Sofia", names, "%d %s" % final[0] if final else "nothing", registrar, want)
os._exit(0)
PY
cat > bare.py <<'PY'
import asyncio, os
from baresip import Account, Config, Runtime, UserAgent
from registrar import Registrar, show

async def main():
    runtime, agents = Runtime(), []
    await runtime.start(Config(net_interface="127.0.0.1", native_log_level="error",
                               extra_config_text="sip_listen 127.0.0.1:0\n"))
    lacking, wrong = "Function not implemented [38], answers 0", "Bad message [74], answers 0"
    for names, want in (("MD5", "registered, answers 1"), ("SHA-256, MD5", "registered, answers 2"),
                        ("SHA-512-256, MD5", lacking), ("MD5, SHA-512-256", lacking),
                        ("Bearer, MD5", wrong), ("MD5, Basic", wrong)):
        registrar = Registrar(names)
        agents.append(await UserAgent.create(runtime, Account(
            f"bob{len(agents)}", f"127.0.0.1:{registrar.port}", "secret", reg_interval=600)))
        try:
            await asyncio.wait_for(agents[-1].register(), 10)
            result = "registered"
        except Exception as error:
            result = str(error).split(": ")[-1]
        show("baresip", names, result, registrar, want)
    os._exit(0)

asyncio.run(main())
PY
libraries=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
LD_LIBRARY_PATH=$libraries timeout 25 python3 sofia.py 2> /dev/null || {
    echo "CHANGED or not run: status $?"; exit 1; }
PYTHONPATH=lib timeout 25 python3 bare.py || { echo "CHANGED or not run: status $?"; exit 1; }
