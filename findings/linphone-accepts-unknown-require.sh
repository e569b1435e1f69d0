#!/usr/bin/env bash
# Linphone 5.1.65 (Debian 12 package liblinphone10 5.1.65-4), as the callee.
# Expected: a request whose Require names an extension that the callee does not have is refused with
# 420 (Bad Extension) and the names in Unsupported (RFC 3261 section 8.2.2.3). Require is there so
# that a caller can count on what it asks for.
# Seen: INVITE with "Require: no-such-thing", or with "Require: precondition" (RFC 3312), is accepted
# with 200, as if the header were not there. The Supported of the answer names neither.
# It matters to a phone that makes something a condition of the call (precondition, a policy, an
# extension of its own): with such a peer it is told that all is agreed, and goes on in a call without
# it. Compare the Supported of the 200, or of a response to OPTIONS, with what was required.
# Output:
#   no Require: 200 Ok
#   Require: no-such-thing: 200 Ok, Unsupported: none, in its Supported: no
#   Require: precondition: 200 Ok, Unsupported: none, in its Supported: no
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial home/.local/share/linphone home/.config/linphone
# What is under test is pinned; FFmpeg's and other libraries come as Debian has them.
packages="liblinphone10=5.1.65-4 linphone-common=5.1.65-4 libmediastreamer12=1:5.1.64+dfsg-3+b3 libortp16=1:5.1.64-2"
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::archives="$dir/deb" \
    --no-install-recommends --download-only install $packages > /dev/null
(cd deb && apt-get -qq -o APT::Sandbox::User=root download $packages)
for deb in deb/*.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes, glob, os, re, socket, struct, sys, time
out = os.fdopen(os.dup(1), "w", buffering=1)      # Linphone logs on standard output
os.dup2(os.open("log", os.O_WRONLY | os.O_CREAT), 1)

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.setblocking(False)
    return s

sip, media, spare = bound(), bound(), bound()
phone = spare.getsockname()
spare.close()
with open("rc", "w") as rc:
    rc.write(f"[sip]\nsip_port={phone[1]}\nsip_tcp_port=0\nsip_tls_port=0\n[net]\nbind_address=127.0.0.1\n"
             "[video]\nenabled=0\ncapture=0\ndisplay=0\n[misc]\nuuid=00000000-0000-4000-8000-000000000001\n")
lib = ctypes.CDLL(glob.glob("root/usr/lib/*/liblinphone.so.10")[0])
pointer, text = ctypes.c_void_p, ctypes.c_char_p

def function(name, result, *arguments):
    f = getattr(lib, "linphone_" + name)
    f.restype, f.argtypes = result, arguments
    return f

factory = function("factory_get", pointer)()
for name in "factory_set_top_resources_dir", "factory_set_data_resources_dir":      # for its grammars
    function(name, None, pointer, text)(factory, b"root/usr/share")
core = function("factory_create_core_3", pointer, pointer, text, text, pointer)(factory, b"rc", None, None)
function("core_set_use_files", None, pointer, ctypes.c_int)(core, 1)
function("core_start", ctypes.c_int, pointer)(core)
iterate, current = function("core_iterate", None, pointer), function("core_get_current_call", pointer, pointer)
state, accept = function("call_get_state", ctypes.c_int, pointer), function("call_accept", ctypes.c_int, pointer)

def changed(what):
    print("CHANGED:", what, file=out)
    os._exit(1)

packets = []

def poll(seconds, wanted=None):
    """Runs Linphone, which accepts calls; returns the SIP message wanted, collects packets."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        iterate(core)
        if current(core) and state(current(core)) == 1:      # incoming
            accept(current(core))
        for sock in (media, sip):
            try:
                data = sock.recv(65535)
            except BlockingIOError:
                continue
            if sock is media:
                packets.append(data)
            elif wanted and wanted(data.decode()):
                return data.decode()
        time.sleep(0.002)

def request(method, number, to, sdp="", *more):
    here = "127.0.0.1:%d" % sip.getsockname()[1]
    lines = [f"{method} sip:callee@127.0.0.1:{phone[1]} SIP/2.0",
             f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{method}{number}", "Max-Forwards: 70",
             "From: <sip:caller@127.0.0.1>;tag=1", "To: " + to, f"Call-ID: {number}",
             f"CSeq: {2 if method == 'BYE' else 1} {method}", f"Contact: <sip:caller@{here}>", *more,
             *(["Content-Type: application/sdp"] if sdp else []), f"Content-Length: {len(sdp)}", "", sdp]
    sip.sendto("\r\n".join(lines).encode(), phone)

def invite(number, formats, *more):
    """An INVITE and, after its final response, ACK; returns the response and the dialog's To."""
    sdp = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
           f"m=audio {media.getsockname()[1]} RTP/AVP {formats}",
           *(["a=rtpmap:101 telephone-event/8000"] if "101" in formats else []), ""]
    request("INVITE", number, "<sip:callee@127.0.0.1>", "\r\n".join(sdp), *more)
    answer = poll(10, lambda t: "1 INVITE" in t and re.match(r"SIP/2\.0 [2-6]", t)) or changed("no answer")
    to = re.search(r"(?mi)^To: (.*?)\r", answer).group(1)
    request("ACK", number, to)
    return answer, to

for number, name in enumerate(("", "no-such-thing", "precondition")):
    answer, to = invite(number, "0", *(["Require: " + name] if name else []))
    status = re.match(r"SIP/2\.0 (.*?)\r", answer).group(1)
    supported = ", ".join(re.findall(r"(?mi)^Supported: *(.*?)\r", answer)).split(", ")
    unsupported = ", ".join(re.findall(r"(?mi)^Unsupported: *(.*?)\r", answer)) or "none"
    print((f"Require: {name}: {status}, Unsupported: {unsupported}, in its Supported: "
           f"{'yes' if name in supported else 'no'}") if name else f"no Require: {status}", file=out)
    if status != "200 Ok" or unsupported != "none" or name and name in supported:
        changed(repr(supported))
    request("BYE", number, to)
    poll(2, lambda t: "2 BYE" in t)
    poll(0.3)
print("as described", file=out)
os._exit(0)
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/*' -printf '%h\n' | sort -u | paste -sd:)
HOME=$dir/home timeout 50 python3 run.py 2> /dev/null || { echo "CHANGED or not run: status $?"; exit 1; }
