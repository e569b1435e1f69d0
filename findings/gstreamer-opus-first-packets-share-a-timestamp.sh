#!/usr/bin/env bash
# GStreamer 1.22.0 (Debian 12 packages gstreamer1.0-plugins-base 1.22.0-3+deb12u7 and -good
# 1.22.0-5+deb12u4): audiotestsrc ! opusenc ! rtpopuspay, all defaults but the frame size.
# Expected: the RTP timestamp grows by the frame's length in 48 kHz samples from packet to packet,
# 120 for 2.5 ms to 960 for 20 ms (RFC 7587 section 4.2, table 2), from the first one on.
# Seen: in every stream 312 samples are missing at the start: opusenc takes its encoder's lookahead
# (6.5 ms) off the first buffers' length, as an Ogg file wants it, and rtpopuspay counts what is
# left. At 20 ms the second packet is 648 after the first. At 5 ms and less the first frame has no
# length at all, so two packets (5 ms) or three (2.5 ms) have one and the same timestamp.
# It matters to a phone that plays what GStreamer sends: a jitter buffer that goes by timestamps
# takes the second packet for a repetition of the first and drops it, one that checks the step
# against the frame's length sees a broken stream at the start of every call, and its measured
# jitter begins with 6.5 ms. Order by sequence number, and take lengths from the TOC byte.
# Output (steps of the RTP timestamp between the first packets; sequence numbers grow by 1):
#   20 ms:  648 960 960 960 960 960
#   10 ms:  168 480 480 480 480 480
#   5 ms:   0 168 240 240 240 240
#   2.5 ms: 0 0 48 120 120 120
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download \
    {libgstreamer1.0-0,gstreamer1.0-tools}=1.22.0-2+deb12u1 gstreamer1.0-plugins-good=1.22.0-5+deb12u4 \
    {gstreamer1.0-plugins-base,libgstreamer-plugins-base1.0-0}=1.22.0-3+deb12u7 \
    libopus0=1.3.1-3 liborc-0.4-0 libglib2.0-0 libunwind8 libdw1 libcap2 libgudev-1.0-0
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
mkdir plugins
for name in coreelements audiotestsrc audioconvert audioresample opus rtp rtpmanager udp; do
    ln -s "$lib/gstreamer-1.0/libgst$name.so" plugins/
done
cat > run.py <<'PY'
import socket, struct, subprocess, sys

def steps(size):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(20)
    pipeline = (f"audiotestsrc num-buffers=20 samplesperbuffer=960 ! audioconvert ! "
                f"audio/x-raw,format=S16LE,rate=48000,channels=1 ! opusenc frame-size={size} ! rtpopuspay ! "
                f"udpsink sync=false host=127.0.0.1 port={sock.getsockname()[1]}")
    process = subprocess.Popen(["root/usr/bin/gst-launch-1.0", "-q", *pipeline.split(" ")])
    try:
        packets = [struct.unpack("!HI", sock.recv(2048)[2:8]) for _ in range(7)]
    except TimeoutError:
        sys.exit("CHANGED or not run: no packets came")
    finally:
        process.kill()
        process.wait()
    numbers = [(b[0] - a[0]) % 2 ** 16 for a, b in zip(packets, packets[1:])]
    if numbers != [1] * 6:
        sys.exit("CHANGED: the sequence numbers")
    return [(b[1] - a[1]) % 2 ** 32 for a, b in zip(packets, packets[1:])]

got = {}
for size in ("20", "10", "5", "2.5"):
    got[size] = steps(size)
    print("%-7s" % (size + " ms:"), *got[size], flush=True)
if got != {"20": [648] + [960] * 5, "10": [168] + [480] * 5, "5": [0, 168] + [240] * 4,
           "2.5": [0, 0, 48] + [120] * 3}:
    sys.exit("CHANGED: the timestamps of GStreamer's Opus packets")
PY
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} GST_PLUGIN_SYSTEM_PATH=$dir/plugins GST_PLUGIN_PATH= \
    GST_REGISTRY=$dir/registry GST_REGISTRY_FORK=no
timeout 55 python3 run.py
