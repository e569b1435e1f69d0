#!/usr/bin/env bash
# Package: GStreamer 1.22.0 (Debian 12 package gstreamer1.0-plugins-good 1.22.0-5+deb12u4), its encoder of
# forward error correction rtpulpfecenc (RFC 5109), for PCMU in packets of 20 ms.
# Expected: "percentage" is the "FEC overhead percentage for the whole stream": 50 is one FEC packet for
# two packets of audio, 100 one for each. The element takes any RTP.
# Instead: it waits for the marker bit, which in video ends a picture. In audio the marker begins a
# stretch of talk (RFC 3551 section 4.1), and a steady stream has one, on its first packet. So with 50 %
# there is no FEC packet at all in 2 s of audio, and with 100 % a single one, for the first packet. With
# a marker each half second all FEC packets for it come in one burst behind the next marker, up to half
# a second late, when a jitter buffer of 200 ms (the default) has long given up. (The documentation says
# that the marker delimits what is protected as a unit, and that multipacket, which can turn this off,
# "should be left enabled for video streams"; not that audio then gets nothing.)
# Why it matters: the SDP offers ulpfec, the property is set, and each lost packet stays lost; that the
# bit rate does not rise is the only sign. A test with video works. For audio set multipacket=false. It
# then copies single packets, so that 50 % protects each second one and 100 % is needed for all.
# Output seen (100 packets of audio; late: packets of audio between one and the FEC packet for it):
#   one marker,             50 %:           0 FEC packets,   0 packets protected, at most  0 late
#   one marker,            100 %:           1 FEC packets,   1 packets protected, at most  0 late
#   a marker each 0.5 s,    50 %:          38 FEC packets,  75 packets protected, at most 24 late
#   one marker, multipacket=false,  50 %:  50 FEC packets,  50 packets protected, at most  0 late
#   one marker, multipacket=false, 100 %: 100 FEC packets, 100 packets protected, at most  0 late
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
COUNT, STEP, FEC = 100, 160, 100
CAPS = "media=audio,clock-rate=8000,encoding-name=PCMU,payload=0"
gst.gst_init(None, None)

def encoded(markers, options):
    """What rtpulpfecenc makes of the stream; packets go through files (RFC 4571)."""
    with open("in", "wb") as file:
        for n in range(COUNT):
            packet = struct.pack("!BBHII", 0x80, (n in markers) << 7, n, STEP * n, 7) + bytes([n + 1]) * STEP
            file.write(struct.pack("!H", len(packet)) + packet)
    pipeline = pointer(gst.gst_parse_launch(
        f"filesrc location=in ! application/x-rtp-stream,{CAPS} ! rtpstreamdepay ! application/x-rtp,{CAPS} ! "
        f"rtpulpfecenc pt={FEC} {options} ! rtpstreampay ! filesink location=out".encode(), None))
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

def counted(packets):
    """How many FEC packets, how many packets of audio they protect, and how late they come at most."""
    audio, fecs, late = {}, 0, {}
    for packet in packets:
        if packet[1] & 127 != FEC:
            audio[packet[2] << 8 | packet[3]] = len(audio)       # by the number on the wire
            continue
        fecs += 1
        fec = packet[12:]                                        # RFC 5109 section 7.3 and 7.4
        base, = struct.unpack_from("!H", fec, 2)
        size = 6 if fec[0] & 0x40 else 2
        mask = int.from_bytes(fec[12:12 + size], "big")
        for bit in range(8 * size):
            if mask >> (8 * size - 1 - bit) & 1:
                number = audio[base + bit]
                late[number] = min(late.get(number, COUNT), len(audio) - 1 - number)
    if sorted(audio.values()) != list(range(COUNT)):
        sys.exit("CHANGED: not all of the audio comes through")
    return fecs, len(late), max(late.values(), default=0)

for title, markers, options, want in (
        ("one marker,             50 %:", {0}, "percentage=50", (0, 0, 0)),
        ("one marker,            100 %:", {0}, "percentage=100", (1, 1, 0)),
        ("a marker each 0.5 s,    50 %:", set(range(0, COUNT, 25)), "percentage=50", (38, 75, 24)),
        ("one marker, multipacket=false,  50 %:", {0}, "percentage=50 multipacket=false", (50, 50, 0)),
        ("one marker, multipacket=false, 100 %:", {0}, "percentage=100 multipacket=false", (100, 100, 0))):
    fecs, protected, late = got = counted(encoded(markers, options))
    print(f"{title:<37} {fecs:3} FEC packets, {protected:3} packets protected, at most {late:2} late", flush=True)
    if got != want:
        sys.exit("CHANGED: this line is not as described")
print("as described")
PY
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} GST_PLUGIN_SYSTEM_PATH=$dir/plugins GST_PLUGIN_PATH='' \
    GST_REGISTRY=$dir/registry GST_REGISTRY_FORK=no
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
