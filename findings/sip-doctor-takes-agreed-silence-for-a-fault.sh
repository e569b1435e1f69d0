#!/usr/bin/env bash
# Package: sip-doctor 0.8.0 (PyPI; "explains failures" of calls in captures), its command "read".
# Expected: with silence suppression no packets come in a pause: the sequence number goes on by one, the
# timestamp by the length of the pause, a comfort noise packet may begin it, and the first packet after
# it has the marker (RFC 3550 section 5.1, RFC 3551 section 4.1, RFC 3389 section 5); nothing is lost and
# nobody hears a fault. And a stream that was offered sendonly and answered recvonly has media in one
# direction (RFC 3264 sections 5.1 and 6.1): an announcement, paging, music on hold.
# Instead: the first is an error, "Poor audio: estimated MOS 4.4", with "dropout(s)" and the advice to
# look at links, Wi-Fi and duplex; the report's own figures are a loss of 0, a jitter of 0 and the best
# MOS there is. The CN packets and the marker make no difference. The second is an error too, "One-way
# audio", with advice about NAT and firewalls: the direction in the SDP is not looked at.
# Why it matters: with silence suppression each healthy call with a pause above 0.5 s is listed (from 2 s on
# as an error), and someone looks for a network fault that is not there. A
# real hole looks the same in the list, so take the figure of lost packets, not the finding, and read
# the direction in the SDP before believing "one-way".
# Output seen (calls of 10 s, PCMU and CN agreed; what is found about the audio):
#   packets all the time:           lost 0, longest gap 0.02 s, MOS 4.4: nothing
#   pauses of 3 s and 2 s with CN:  lost 0, longest gap 3.0 s, MOS 4.4: error, Poor audio: estimated MOS 4.4
#   pauses of 0.4 s with CN:        lost 0, longest gap 0.4 s, MOS 4.4: nothing
#   3 s of packets lost:            lost 150, longest gap 3.02 s, MOS 2.1: error, Poor audio: estimated MOS 2.1
#   sendonly and recvonly:          lost 0, longest gap 0.02 s, MOS 4.4: error, One-way audio: the caller hears nothing
#   sendrecv, one way is missing:   lost 0, longest gap 0.02 s, MOS 4.4: error, One-way audio: the caller hears nothing
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --target lib sip-doctor==0.8.0
cat > run.py <<'PY'
import json, struct, subprocess, sys
CALLER, CALLEE, PCMU, CN, TALK = "192.0.2.10", "192.0.2.20", 0, 13, 1.1   # TALK: begin of the audio

def datagram(source, target, source_port, target_port, data):
    """An IPv4 packet with UDP; a UDP checksum of 0 means none."""
    address = b"".join(bytes(map(int, a.split("."))) for a in (source, target))
    head = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(data), 0, 0, 64, 17, 0) + address
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xffff) + (total >> 16)
    return (head[:10] + struct.pack("!H", ~((total & 0xffff) + (total >> 16)) & 0xffff) + head[12:]
            + struct.pack("!HHHH", source_port, target_port, 8 + len(data), 0) + data)

def sdp(address, port, direction):
    return "\r\n".join(["v=0", f"o=- 1 1 IN IP4 {address}", "s=-", f"c=IN IP4 {address}", "t=0 0",
                        f"m=audio {port} RTP/AVP 0 13", "a=" + direction, ""])

def signal(when, first, cseq, body=""):
    """A message of the caller, or, if it is a response, of the callee."""
    back = first.startswith("SIP")
    near, far = (CALLEE, CALLER) if back else (CALLER, CALLEE)
    tag = "" if first.startswith("INVITE") else ";tag=2"
    lines = [first, f"Via: SIP/2.0/UDP {CALLER}:5060;branch=z9hG4bK{cseq.replace(' ', '')}",
             *["Max-Forwards: 70"] * (not back), f"From: <sip:a@{CALLER}>;tag=1",
             f"To: <sip:b@{CALLEE}>{tag}", "Call-ID: call", "CSeq: " + cseq, f"Contact: <sip:x@{near}:5060>",
             *["Content-Type: application/sdp"] * bool(body), f"Content-Length: {len(body)}", "", body]
    return when, datagram(near, far, 5060, 5060, "\r\n".join(lines).encode())

def talk(ssrc, pauses=(), lost=()):
    """10 s of packets of 20 ms; a pause (first, last) is one of CN and nothing more."""
    number = 0
    for n in range(500):
        pause = [p for p in pauses if p[0] <= n < p[1]]
        if pause and n > pause[0][0]:
            continue
        marker = n == 0 or any(n == last for _, last in pauses)
        kind, data = (CN, b"\x40") if pause else (PCMU, b"\x55" * 160)
        packet = struct.pack("!BBHII", 0x80, kind | marker << 7, number, 160 * n, ssrc) + data
        number += 1
        if n in lost:
            continue
        ends = (CALLER, CALLEE, 4000, 5000) if ssrc == 7 else (CALLEE, CALLER, 5000, 4000)
        yield TALK + n / 50, datagram(*ends, packet)

def look(streams, offer="sendrecv", answer="sendrecv"):
    packets = [signal(0, f"INVITE sip:b@{CALLEE} SIP/2.0", "1 INVITE", sdp(CALLER, 4000, offer)),
               signal(1, "SIP/2.0 200 OK", "1 INVITE", sdp(CALLEE, 5000, answer)),
               signal(1.05, f"ACK sip:x@{CALLEE} SIP/2.0", "1 ACK"),
               signal(TALK + 10, f"BYE sip:x@{CALLEE} SIP/2.0", "2 BYE"),
               signal(TALK + 10.1, "SIP/2.0 200 OK", "2 BYE")]
    for stream in streams:
        packets += stream
    with open("call.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))   # link type 101: IP
        for when, data in sorted(packets):
            file.write(struct.pack("<IIII", 10**9 + int(when), round(when % 1 * 10**6) % 10**6,
                                   len(data), len(data)) + data)
    report = subprocess.run([sys.executable, "-m", "sipdoctor", "read", "--json", "call.pcap"],
                            stdout=subprocess.PIPE).stdout
    call, = json.loads(report)["dialogs"]
    stream = call["media"][0]
    if call["status"] != "ANSWERED" or len(call["media"]) != len(streams) or stream["direction"] != "to callee":
        sys.exit("CHANGED or not run: the call is not read")
    found = [f"{one['severity']}, {one['title'].replace(' caller → callee', '')}" for one in call["findings"]
             if one["severity"] != "info"]
    return "lost {}, longest gap {} s, MOS {}: {}".format(
        stream["lost"], round(stream["max_gap"], 2), round(stream["mos"], 1), "; ".join(found) or "nothing")

ONE_WAY = "lost 0, longest gap 0.02 s, MOS 4.4: error, One-way audio: the caller hears nothing"
for name, call, want in (
        ("packets all the time:", ([talk(7), talk(8)],),
         "lost 0, longest gap 0.02 s, MOS 4.4: nothing"),
        ("pauses of 3 s and 2 s with CN:", ([talk(7, ((100, 250), (350, 450))), talk(8)],),
         "lost 0, longest gap 3.0 s, MOS 4.4: error, Poor audio: estimated MOS 4.4"),
        ("pauses of 0.4 s with CN:", ([talk(7, ((100, 120), (350, 370))), talk(8)],),
         "lost 0, longest gap 0.4 s, MOS 4.4: nothing"),
        ("3 s of packets lost:", ([talk(7, lost=range(100, 250)), talk(8)],),
         "lost 150, longest gap 3.02 s, MOS 2.1: error, Poor audio: estimated MOS 2.1"),
        ("sendonly and recvonly:", ([talk(7)], "sendonly", "recvonly"), ONE_WAY),
        ("sendrecv, one way is missing:", ([talk(7)],), ONE_WAY)):
    got = look(*call)
    print(f"{name:<31} {got}", flush=True)
    if got != want:
        sys.exit("CHANGED: this line is not as described")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
