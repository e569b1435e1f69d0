#!/usr/bin/env bash
# FFmpeg 8.1.2's SDP and RTP reader (in PyPI's av 18.1.0), on an SDP file and RTP packets of 20 ms.
# Expected: every payload type on an m= line may be used in the session, at any time; the first is
# merely preferred (RFC 8866 section 5.14, RFC 3264 section 5.1). Static types need no rtpmap (RFC
# 3551).
# Seen: FFmpeg makes one decoder, for the first number on the line, and drops all packets of the
# others: "8 0" with PCMU coming is an open stream without a single packet, a change from PCMU to
# PCMA ends the sound, and "101 0", telephone-event in front, gives a stream of no codec at all.
# It matters to someone who records or listens to calls with FFmpeg by the call's own SDP: the far end
# is free to change the codec, and a recording then stops or is empty as if the line were dead. Write
# an SDP with the one number that really comes, and look at the packets before blaming the phone.
# Output:
#   RTP/AVP 0,     packets of type 0:         pcm_mulaw, all packets read
#   RTP/AVP 8 0,   packets of type 0:         pcm_alaw, no packets read
#   RTP/AVP 0 8,   packets of type 0, then 8: pcm_mulaw, the first half of the packets read
#   RTP/AVP 101 0, packets of type 0:         no codec, no packets read
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" av==18.1.0
cat > "$dir/run.py" <<'PY'
import os, socket, struct, sys, threading, time
import av
os.chdir(os.path.dirname(os.path.abspath(__file__)))
COUNT = 100

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

def send(port, types):
    """Waits until FFmpeg has its port; sends the packets."""
    while not opened(port):
        time.sleep(0.01)
    time.sleep(0.1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for n in range(COUNT):
            kind = types[n * len(types) // COUNT]
            sock.sendto(struct.pack("!BBHII", 0x80, kind, n, 160 * n, 7) + b"\xd5" * 160, ("127.0.0.1", port))
            time.sleep(0.02)

def one(formats, types):
    port = free_port()
    with open("call.sdp", "w") as sdp:
        sdp.write("\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                               f"m=audio {port} RTP/AVP {formats}",
                               *(["a=rtpmap:101 telephone-event/8000"] if "101" in formats else []), ""]))
    sender = threading.Thread(target=send, args=(port, types))
    sender.start()
    options = {"protocol_whitelist": "file,udp,rtp", "analyzeduration": "300000"}
    with av.open("call.sdp", options=options, timeout=(5, 2)) as call:
        codec = call.streams[0].codec_context
        codec = codec.name if codec else "no codec"
        count = 0
        try:
            for packet in call.demux():
                count += bool(packet.size)
        except (OSError, av.error.FFmpegError):          # nothing more comes
            pass
    sender.join()
    share = count / COUNT
    return codec + (", no packets read" if count == 0 else ", all packets read" if share > 0.9 else
                    ", the first half of the packets read" if 0.4 < share < 0.6 else f", {count} packets read")

av.logging.set_level(None)
got = []
for formats, types in (("0", (0,)), ("8 0", (0,)), ("0 8", (0, 8)), ("101 0", (0,))):
    got.append(one(formats, types))
    print("%-14s %-26s %s" % (f"RTP/AVP {formats},", "packets of type " + ", then ".join(map(str, types)) + ":",
                              got[-1]), flush=True)
if got != ["pcm_mulaw, all packets read", "pcm_alaw, no packets read",
           "pcm_mulaw, the first half of the packets read", "no codec, no packets read"]:
    sys.exit("CHANGED: which payload types FFmpeg reads")
PY
PYTHONPATH="$dir/lib" timeout 55 python3 "$dir/run.py"
