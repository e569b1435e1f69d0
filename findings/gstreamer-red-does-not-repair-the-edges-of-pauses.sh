#!/usr/bin/env bash
# Package: GStreamer 1.22.0 (Debian 12 package gstreamer1.0-plugins-good 1.22.0-5+deb12u4), its decoder
# of redundant audio, rtpreddec, fed by its own encoder rtpredenc, PCMU in packets of 20 ms.
# Expected: each packet brings a copy of the one before, and says by an offset of 14 bits which
# timestamp that copy belongs to (RFC 2198 section 3). So one lost packet comes back with the next
# one, whatever lies between them: with silence suppression the timestamp jumps over a pause while the
# sequence number goes on by one (RFC 3550 section 5.1, RFC 3551 section 4.1), and an offset of up to
# 2 s at 8000 Hz has room for that.
# Instead: a lost packet comes back only amid steady speech. The first packet after a pause, and the
# last one before it, never do, be the pause 20 ms or 1 s: the decoder has the copy, with its
# timestamp, and throws it away, it seems because that timestamp does not lie evenly between those of
# the packets around the gap. Its property "lost" says 1 packet lost and "recovered" 0.
# Why it matters: it is the start of a word that is lost for good; in a call with silence suppression
# that is every tenth or twentieth packet, and the extra bits are paid for all the same. A test with a
# steady tone and random loss shows a repair of nearly all, the same test with speech and pauses does
# not. A sender that wants to be repaired by such a peer sends comfort noise at the full packet rate,
# without gaps in the timestamp.
# Output seen (packets 0 to 6, one is lost on the way; a pause is before packet 3):
#   no pause,         3 lost: its copy came with 4, offset  160; packets out 0 1 2 3 4 5 6
#   pause of 20 ms,   3 lost: its copy came with 4, offset  160; packets out 0 1 2 4 5 6
#   pause of 1 s,     3 lost: its copy came with 4, offset  160; packets out 0 1 2 4 5 6
#   pause of 1 s,     2 lost: its copy came with 3, offset 8160; packets out 0 1 3 4 5 6
#   pause of 1 s,     4 lost: its copy came with 5, offset  160; packets out 0 1 2 3 4 5 6
#   pause of 1 s,  none lost: packets out 0 1 2 3 4 5 6
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libgstreamer1.0-0=1.22.0-2+deb12u1 \
    gstreamer1.0-plugins-good=1.22.0-5+deb12u4 libgstreamer-plugins-base1.0-0=1.22.0-3+deb12u7 \
    liborc-0.4-0 libglib2.0-0 libunwind8 libdw1 libcap2
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
mkdir plugins
for name in coreelements rtp; do ln -s "$lib/gstreamer-1.0/libgst$name.so" plugins/; done
cat > run.py <<'PY'
import ctypes, glob, struct, sys
gst = ctypes.CDLL(glob.glob("root/usr/lib/*/libgstreamer-1.0.so.0")[0])
pointer = ctypes.c_void_p
for name in ("gst_parse_launch", "gst_element_get_bus", "gst_bus_timed_pop_filtered"):
    getattr(gst, name).restype = pointer
gst.gst_bus_timed_pop_filtered.argtypes = [pointer, ctypes.c_uint64, ctypes.c_int]
NULL, PLAYING, ENDED, FAILED = 1, 4, 1, 2
STEP, TYPE, RED, COUNT = 160, 0, 63, 7
gst.gst_init(None, None)

def through(packets, name, element):
    """The RTP packets that this element makes of these; they go through files (RFC 4571)."""
    with open("in", "wb") as file:
        for packet in packets:
            file.write(struct.pack("!H", len(packet)) + packet)
    caps = f"media=audio,clock-rate=8000,encoding-name={name},payload={packets[0][1] & 127}"
    pipeline = pointer(gst.gst_parse_launch(
        f"filesrc location=in ! application/x-rtp-stream,{caps} ! rtpstreamdepay ! "
        f"application/x-rtp,{caps} ! {element} ! rtpstreampay ! filesink location=out".encode(), None))
    if not pipeline:
        sys.exit("CHANGED or not run: no such pipeline")
    bus = pointer(gst.gst_element_get_bus(pipeline))
    gst.gst_element_set_state(pipeline, PLAYING)
    if not gst.gst_bus_timed_pop_filtered(bus, 15 * 10**9, ENDED) \
            or gst.gst_bus_timed_pop_filtered(bus, 0, FAILED):
        sys.exit("CHANGED or not run: the pipeline does not end")
    gst.gst_element_set_state(pipeline, NULL)
    with open("out", "rb") as file:
        data = file.read()
    made = []
    while data:
        size, = struct.unpack_from("!H", data)
        made.append(data[2:2 + size])
        data = data[2 + size:]
    return made

def number(packet):
    return packet[2] << 8 | packet[3]

def fill(n):
    return bytes([n + 1]) * STEP

def copy(packet):
    """The block of redundancy in a RED packet: its offset and its bytes."""
    block, = struct.unpack_from("!I", packet, 12)
    return block >> 10 & 0x3fff, packet[17:17 + (block & 0x3ff)]

CASES = ((0, 3, [0, 1, 2, 3, 4, 5, 6]), (20, 3, [0, 1, 2, 4, 5, 6]), (1000, 3, [0, 1, 2, 4, 5, 6]),
         (1000, 2, [0, 1, 3, 4, 5, 6]), (1000, 4, [0, 1, 2, 3, 4, 5, 6]),
         (1000, None, [0, 1, 2, 3, 4, 5, 6]))
for pause, lost, want in CASES:
    stamps = [STEP * n + (8 * pause if n >= 3 else 0) for n in range(COUNT)]
    speech = [struct.pack("!BBHII", 0x80, TYPE, n, stamp, 7) + fill(n) for n, stamp in enumerate(stamps)]
    sent = through(speech, "PCMU", f"rtpredenc pt={RED} distance=1")
    if [number(p) for p in sent] != list(range(COUNT)) or any(p[1] & 127 != RED for p in sent):
        sys.exit("CHANGED: what rtpredenc sends")
    text = "no pause," if not pause else "pause of 1 s," if pause == 1000 else f"pause of {pause} ms,"
    text = "{:<15}{:>4} lost: ".format(text, "none" if lost is None else lost)
    if lost is not None:
        offset, data = copy(sent[lost + 1])
        if data != fill(lost) or offset != stamps[lost + 1] - stamps[lost]:
            sys.exit("CHANGED: the copy in the next packet")
        text += f"its copy came with {lost + 1}, offset {offset:4}; "
    got = through([p for p in sent if number(p) != lost], "RED", f"rtpreddec pt={RED}")
    print(text + "packets out " + " ".join(str(number(p)) for p in got), flush=True)
    if [number(p) for p in got] != want or any(p[12:] != fill(number(p)) or
            struct.unpack_from("!I", p, 4)[0] != stamps[number(p)] for p in got):
        sys.exit("CHANGED: this line is not as described")
print("as described")
PY
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} GST_PLUGIN_SYSTEM_PATH=$dir/plugins GST_PLUGIN_PATH='' \
    GST_REGISTRY=$dir/registry GST_REGISTRY_FORK=no
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
