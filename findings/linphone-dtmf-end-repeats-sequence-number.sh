#!/usr/bin/env bash
# Linphone 5.1.65 (Debian 12 packages liblinphone10 5.1.65-4, libortp16 1:5.1.64-2), a digit of 100 ms.
# Expected: the last packet of a digit is sent three times, at the interval of the packets before it
# (RFC 4733 section 2.5.1.4), and the sequence number grows by one for each of the three too, so that
# the receiver can count what is lost (2.5.1.6, and RFC 3550 section 5.1).
# Seen: the three have one sequence number and follow within a few ms: to RTP they are one packet
# that the network has doubled twice.
# It matters to someone who measures: loss is expected minus received (RFC 3550 appendix A.3), so each
# digit hides two lost packets, and a call with some digits and no loss reports a loss below zero.
# A phone whose jitter buffer or SRTP drops repeated numbers has one E packet to go by, not three.
# Output (sequence numbers against the audio packet before):
#   digit: sequence +1, marker 1, end 0, duration 160
#   digit: sequence +2, marker 0, end 0, duration 320
#   digit: sequence +3, marker 0, end 0, duration 480
#   digit: sequence +4, marker 0, end 0, duration 640
#   digit: sequence +5, marker 0, end 1, duration 800
#   digit: sequence +5, marker 0, end 1, duration 800
#   digit: sequence +5, marker 0, end 1, duration 800
#   audio after it: sequence +6
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

answer, to = invite(1, "0 101")
answer.startswith("SIP/2.0 200 ") or changed(answer.split("\r")[0])
poll(0.5)
function("call_send_dtmf", ctypes.c_int, pointer, ctypes.c_char)(current(core), b"5")
poll(1)
request("BYE", 1, to)
poll(1, lambda t: "2 BYE" in t)
packets = [(p[1] & 127, p[1] >> 7, *struct.unpack("!HI", p[2:8]), p) for p in packets if p[0] >> 6 == 2]
first = next((i for i, p in enumerate(packets) if p[0] == 101), 0) or changed("no digit came")
before, got = packets[first - 1], []
for kind, marker, number, _, p in packets[first:]:
    if kind != 101:
        print("audio after it: sequence +%d" % (number - before[2]), file=out)
        got.append(number - before[2])
        break
    _, flags, duration = struct.unpack("!BBH", p[12:16])
    got.append((number - before[2], marker, flags >> 7, duration))
    print("digit: sequence +%d, marker %d, end %d, duration %d" % got[-1], file=out)
if got != [(n, int(n == 1), int(n == 5), 160 * n) for n in (1, 2, 3, 4, 5, 5, 5)] + [6]:
    changed("how Linphone sends a digit")
print("as described", file=out)
os._exit(0)
PY
export LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/*' -printf '%h\n' | sort -u | paste -sd:)
HOME=$dir/home timeout 50 python3 run.py 2> /dev/null || { echo "CHANGED or not run: status $?"; exit 1; }
