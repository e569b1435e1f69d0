#!/usr/bin/env bash
# Linphone 5.1.65 (Debian 12 packages liblinphone10 5.1.65-4, libortp16 1:5.1.64-2), as the callee.
# Expected: what comes to the port of an m=audio RTP/AVP line is RTP, with version 2 in its first two
# bits (RFC 3550 section 5.1). A first byte of 0 to 3 means STUN where both share a port (RFC 7983
# section 7).
# Seen: each call begins with one or two packets of 20 bytes whose first byte is 0: version 0, payload
# type 1 (reserved in RFC 3551), sequence number 0, an SSRC that never comes again, 8 random bytes.
# Only then comes the audio. No ICE and no STUN was offered, and nothing in the SDP tells of them;
# they look like oRTP's way to open a path through a NAT.
# It matters to a phone that takes the first packet for the start of the stream: its SSRC, sequence
# number and timestamp are those of nothing, and a receiver that latches on to the first SSRC drops
# the voice. One that sorts by the first byte gives them to its STUN parser, and a test that counts
# invalid packets counts some in each call. Check the version before anything else.
# Output:
#   first packet: version 0, type 1, sequence number 0, SSRC of its own, 8 bytes
#   of the first 20: 1 or 2 like that, all others version 2, type 0, one SSRC, 160 bytes
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

answer, to = invite(1, "0")
answer.startswith("SIP/2.0 200 ") or changed(answer.split("\r")[0])
poll(1)
request("BYE", 1, to)
poll(1, lambda t: "2 BYE" in t)
if len(packets) < 20:
    changed("too few packets")
parsed = [(p[0] >> 6, p[1] & 127, *struct.unpack("!HII", p[2:12]), len(p) - 12) for p in packets[:20]]
ssrcs = [p[4] for p in parsed]
strange = [p for p in parsed if (p[0], p[1], p[2], p[5]) == (0, 1, 0, 8) and ssrcs.count(p[4]) == 1]
if parsed[0] not in strange:
    changed("the first packet is %r" % (parsed[0],))
print("first packet: version 0, type 1, sequence number 0, SSRC of its own, 8 bytes", file=out)
others = {(p[0], p[1], p[4], p[5]) for p in parsed if p not in strange}
if len(strange) > 2 or others != {(2, 0, ssrcs[-1], 160)}:
    changed("the first 20 packets are %r" % parsed)
print("of the first 20: 1 or 2 like that, all others version 2, type 0, one SSRC, 160 bytes", file=out)
print("as described", file=out)
os._exit(0)
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/*' -printf '%h\n' | sort -u | paste -sd:)
HOME=$dir/home timeout 50 python3 run.py 2> /dev/null || { echo "CHANGED or not run: status $?"; exit 1; }
