#!/usr/bin/env bash
# Package: av 18.1.0 (PyPI; FFmpeg 8.1.2's SRTP receiver, keyed by the a=crypto line of an SDP
# file); the sender is libsrtp (PyPI's pylibsrtp 1.0.0).
# Expected: the rollover counter that decryption needs belongs to one source: a context is known by
# its SSRC (RFC 3711 section 3.2.3), and that of a new SSRC under the same key starts at 0, with
# whatever sequence number comes first (section 3.3.1).
# Instead: FFmpeg keeps one counter for all sources, and takes a new source's first packet for one
# that follows the last of the old. Within 32768 up or down that goes well. A start further up, as
# 40000 after 1039, counts as "from before the rollover" and is decrypted to noise. A start further
# down, as 1000 after 60039, is dropped, and so is any once the old source has rolled over. It takes
# minutes until that ends, if it does. The old source stays audible.
# Why it matters: sequence numbers start at random, so for someone who records or monitors SRTP
# calls with FFmpeg each transfer, music on hold or renewed SSRC is a toss-up, and after 22 minutes
# of 20 ms packets it always fails. A phone that goes on with its old sequence numbers is always
# heard.
# Output seen:
#   old source 1000 to 1039, new one from 2000: the new one is played
#   old source 1000 to 1039, new one from 40000: the new one is noise
#   old source 60000 to 60039, new one from 1000: the new one is missing
#   old source 65520 to 23, new one from 2000: the new one is missing
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --target "$dir/lib" av==18.1.0 pylibsrtp==1.0.0 cffi==2.1.1 pycparser==3.12
cat > "$dir/run.py" <<'PY'
import base64, os, socket, struct, sys, threading, time
import av
from pylibsrtp import Policy, Session
av.logging.set_level(None)
KEY, COUNT = bytes(range(30)), 40

def free_port():
    """An even UDP port whose neighbour is free too: FFmpeg takes both."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s, \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as t:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
            try:
                if port % 2 == 0:
                    t.bind(("127.0.0.1", port + 1))
                    return port
            except OSError:
                pass

def heard(first, second):
    """Sends 40 packets of one source and 40 of another; tells what is heard of the second."""
    port, over = free_port(), threading.Event()
    with open("s.sdp", "w") as sdp:
        sdp.write("\r\n".join([
            "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
            f"m=audio {port} RTP/SAVP 0",
            f"a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:{base64.b64encode(KEY).decode()}", ""]))

    def send():
        session = Session(Policy(key=KEY, ssrc_type=Policy.SSRC_ANY_OUTBOUND))
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        def packets(source, start, count, octet):
            for i in range(start, start + count):
                head = struct.pack("!BBHII", 0x80, 0, i & 0xffff, 160 * (i - start), source)
                sock.sendto(session.protect(head + bytes([octet]) * 160), ("127.0.0.1", port))
                time.sleep(0.005)
        while True:                                   # until FFmpeg listens
            with open("/proc/net/udp") as sockets:
                if f":{port:04X} " in sockets.read():
                    break
            time.sleep(0.02)
        packets(1, first, COUNT, 1)
        packets(2, second, COUNT, 2)
        while not over.is_set():                      # the first source again, to mark the end
            first_again = first + COUNT + marks.count(0)
            marks.append(0)
            packets(1, first_again, 1, 3)

    marks, counts = [], {"1": 0, "2": 0, "noise": 0}
    thread = threading.Thread(target=send)
    thread.start()
    options = {"protocol_whitelist": "file,rtp,udp,srtp,crypto", "reorder_queue_size": "0",
               "analyzeduration": "0", "probesize": "32"}
    with av.open("s.sdp", options=options, timeout=10) as stream:
        for packet in stream.demux():
            octets = set(bytes(packet))
            if octets == {3}:
                break
            counts[str(octets.pop()) if len(octets) == 1 else "noise"] += 1
    over.set()
    thread.join()
    if counts["1"] < COUNT - 2:
        sys.exit(f"CHANGED or not run: {counts}")
    kind = {(True, False): "played", (False, True): "noise", (False, False): "missing"}[
        counts["2"] >= COUNT - 2, counts["noise"] >= COUNT - 2]
    print(f"old source {first} to {(first + COUNT - 1) & 0xffff}, new one from {second}: "
          f"the new one is {kind}", flush=True)
    return kind

os.chdir(sys.argv[1])
got = [heard(*pair) for pair in ((1000, 2000), (1000, 40000), (60000, 1000), (65520, 2000))]
if got != ["played", "noise", "missing", "missing"]:
    sys.exit("CHANGED: what FFmpeg gives of a new SRTP source")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" "$dir" || {
    echo "CHANGED or not run: status $?"; exit 1; }
