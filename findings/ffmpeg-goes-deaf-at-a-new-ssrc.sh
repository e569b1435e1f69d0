#!/usr/bin/env bash
# FFmpeg 8.1.2's RTP reader (in PyPI's av 18.1.0), PCMU by an SDP file and UDP.
# Expected: sequence numbers belong to their SSRC; each source starts at a random one and is looked
# at by itself (RFC 3550 sections 5.1, 8 and A.1). When a server connects another party, or the far
# end takes a new SSRC, the new source is played from its first packet on, or after two (A.1:
# probation).
# Seen: FFmpeg never looks at the SSRC. It compares each sequence number with the last one of the
# OLD source and drops what is below it as "old packet received too late", modulo 2^16, until the
# new source has caught up. There is no limit after which it starts afresh: at 50 packets a second
# that is up to 11 minutes, and at random it hits every second change of source. A new source that
# happens to start above is played at once; so is a new SSRC that goes on with the old numbers.
# It matters to someone who records or listens to calls with FFmpeg or a player built on it: after a
# transfer, a call pick-up or music on hold the recording has a hole of random length, or ends,
# while packets keep coming, and the next try of the same call is fine. A sender keeps FFmpeg
# listening by going on with its sequence numbers; a recorder should start FFmpeg again when the
# SSRC changes.
# Output (100 packets of SSRC 7, the last one number 30099, then 100 of the second source):
#   SSRC 7, 30100 and on: 100 packets of the first, 100 of the second source read
#   SSRC 8, 30100 and on: 100 packets of the first, 100 of the second source read
#   SSRC 8, 50000 and on: 100 packets of the first,  99 of the second source read
#   SSRC 8, 30050 and on: 100 packets of the first,  51 of the second source read
#   SSRC 8, 10000 and on: 100 packets of the first,   0 of the second source read
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" av==18.1.0
cat > "$dir/run.py" <<'PY'
import os, socket, struct, sys, threading, time
import av
os.chdir(os.path.dirname(os.path.abspath(__file__)))
COUNT, FIRST, SECOND = 100, b"\x10", b"\x20"       # the payloads tell the sources apart

def free_port():
    """An even port with the next one free too, for RTP and RTCP."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1] & ~1
            try:
                two.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                pass

def opened(port):
    with open("/proc/net/udp") as sockets:
        return ":%04X " % port in sockets.read()

def send(port, ssrc, start):
    """Waits until FFmpeg has its port; sends both sources."""
    while not opened(port):
        time.sleep(0.01)
    time.sleep(0.1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for source, number, fill, ticks in ((7, 30000, FIRST, 0),
                                            (ssrc, start, SECOND, 160 * COUNT)):
            for n in range(COUNT):
                head = struct.pack("!BBHII", 0x80, 0, number + n, ticks + 160 * n, source)
                sock.sendto(head + fill * 160, ("127.0.0.1", port))
                time.sleep(0.02)

def read(ssrc, start):
    port = free_port()
    with open("call.sdp", "w") as sdp:
        sdp.write("\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1",
                               "t=0 0", f"m=audio {port} RTP/AVP 0", ""]))
    sender = threading.Thread(target=send, args=(port, ssrc, start))
    sender.start()
    got = {FIRST: 0, SECOND: 0}
    options = {"protocol_whitelist": "file,udp,rtp", "analyzeduration": "300000"}
    with av.open("call.sdp", options=options, timeout=(5, 2)) as call:
        try:
            for packet in call.demux():
                if packet.size:
                    got[bytes(packet)[:1]] += 1
        except (OSError, av.error.FFmpegError):    # nothing more comes
            pass
    sender.join()
    print("SSRC %d, %d and on: %3d packets of the first, %3d of the second source read"
          % (ssrc, start, got[FIRST], got[SECOND]), flush=True)
    return got[FIRST], got[SECOND]

av.logging.set_level(None)
results = [read(*case) for case in ((7, 30100), (8, 30100), (8, 50000), (8, 30050), (8, 10000))]
if not (all(first >= 95 for first, _ in results) and all(second >= 95 for _, second in results[:3])
        and 45 <= results[3][1] <= 51 and results[4][1] == 0):
    sys.exit("CHANGED: what FFmpeg reads after a change of SSRC")
PY
PYTHONPATH="$dir/lib" timeout 100 python3 "$dir/run.py"
