#!/usr/bin/env bash
# GStreamer 1.22.0 (Debian 12 package gstreamer1.0-plugins-good/-bad 1.22.0), its rtpdtmfsrc, defaults.
# Expected: a digit lasts from its start event to its stop event, as the element's documentation has
# it, and its last packet, with the E bit, is sent three times (RFC 4733 section 2.5.1.4), since a
# receiver that misses the only one does not know that the digit is over.
# Seen: whatever stops before 250 ms goes on to 320 ms: 50, 100 and 200 ms come out alike. Digits that
# follow faster wait in a queue, so that dialling falls behind with each one. And the packet with
# the E bit is sent once (packet-redundancy, 1 unless set; 3 repeats the first one too).
# It matters to whoever tests a phone or a voice menu with it: all times come out in steps above
# 320 ms, a shortest digit (40 ms are usual) cannot be tried, a timeout between digits fires early, and
# with 1 % loss each hundredth digit has no end. Set packet-redundancy to 3, and check by the
# durations in the packets what was sent.
# Output (duration at 8000 Hz and number of packets with the E bit):
#   asked for  50 ms: duration 2560 = 320 ms, E bit in 1 packet
#   asked for 100 ms: duration 2560 = 320 ms, E bit in 1 packet
#   asked for 200 ms: duration 2560 = 320 ms, E bit in 1 packet
#   four of 100 ms with 100 ms between: 320, 320, 320, 320 ms, last start more than 1 s after the first
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libgstreamer1.0-0=1.22.0-2+deb12u1 \
    gstreamer1.0-plugins-good=1.22.0-5+deb12u4 gstreamer1.0-plugins-bad=1.22.0-4+deb12u8 \
    libgstreamer-plugins-base1.0-0=1.22.0-3+deb12u7 liborc-0.4-0 libglib2.0-0 libunwind8 libdw1 libcap2
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
mkdir plugins
for name in coreelements dtmf udp; do ln -s "$lib/gstreamer-1.0/libgst$name.so" plugins/; done
cat > run.py <<'PY'
import ctypes, glob, socket, struct, sys, time
gst = ctypes.CDLL(glob.glob("root/usr/lib/*/libgstreamer-1.0.so.0")[0])
pointer = ctypes.c_void_p
for name in ("gst_parse_launch", "gst_structure_new_from_string", "gst_event_new_custom"):
    getattr(gst, name).restype = pointer
CUSTOM_UPSTREAM, NULL, PLAYING = 270 << 8 | 1, 1, 4
gst.gst_init(None, None)

def event(pipeline, more):
    structure = gst.gst_structure_new_from_string(f"dtmf-event, type=(int)1, method=(int)1, {more};".encode(), None)
    if not gst.gst_element_send_event(pipeline, pointer(gst.gst_event_new_custom(CUSTOM_UPSTREAM, pointer(structure)))):
        sys.exit("CHANGED: the event is refused")

def dial(count, on, off):
    """Digits of this length in seconds; returns for each its timestamp, duration, packets with E."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    pipeline = pointer(gst.gst_parse_launch(
        f"rtpdtmfsrc pt=101 timestamp-offset=0 ! udpsink sync=false host=127.0.0.1 "
        f"port={sock.getsockname()[1]}".encode(), None))
    gst.gst_element_set_state(pipeline, PLAYING)
    time.sleep(0.3)
    for _ in range(count):
        event(pipeline, "start=(boolean)true, number=(int)5, volume=(int)10")
        time.sleep(on)
        event(pipeline, "start=(boolean)false")
        time.sleep(off)
    digits = {}
    sock.settimeout(2)
    try:
        while True:
            packet = sock.recv(2048)
            stamp, flags, duration = struct.unpack("!I", packet[4:8])[0], packet[13], packet[14] << 8 | packet[15]
            longest, ends = digits.get(stamp, (0, 0))
            digits[stamp] = max(longest, duration), ends + (flags >> 7)
    except TimeoutError:
        pass
    gst.gst_element_set_state(pipeline, NULL)
    return [(stamp, *digits[stamp]) for stamp in sorted(digits)]

got = []
for asked in (50, 100, 200):
    digits = dial(1, asked / 1000, 0)
    _, duration, ends = digits[0]
    got.append((len(digits), duration, ends))
    print("asked for %3d ms: duration %d = %d ms, E bit in %d packet%s"
          % (asked, duration, duration // 8, ends, "" if ends == 1 else "s"), flush=True)
digits = dial(4, 0.1, 0.1)
late = len(digits) == 4 and digits[3][0] - digits[0][0] > 8000
print("four of 100 ms with 100 ms between: %s ms, last start %s than 1 s after the first"
      % (", ".join(str(d[1] // 8) for d in digits), "more" if late else "less"))
if got != [(1, 2560, 1)] * 3 or [d[1] for d in digits] != [2560] * 4 or not late:
    sys.exit("CHANGED: how long rtpdtmfsrc's digits last")
PY
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} GST_PLUGIN_SYSTEM_PATH=$dir/plugins GST_PLUGIN_PATH= \
    GST_REGISTRY=$dir/registry GST_REGISTRY_FORK=no
timeout 55 python3 run.py
