#!/usr/bin/env bash
# Package: GStreamer 1.22.0 (Debian 12 package libgstreamer-plugins-base1.0-0 1.22.0-3+deb12u7), its SDP
# library libgstsdp: gst_sdp_message_parse_buffer() and gst_sdp_message_as_text(), the pair that a
# program with GStreamer's media uses to read an SDP, to change a line and to pass it on.
# Expected: a description that is read and written again says the same. Below each m= line there may be
# an i=, the title of the stream, and then c=, b=, k= and a= (RFC 8866 section 5.4 and the grammar in
# section 9); every line ends by itself (section 5: CRLF).
# Instead: the title of a stream is written without an end of line, so that the next line becomes the
# rest of it. Without c= below m=, that is the first a=, in practice the rtpmap: dynamic payload types
# have no codec any more. With c=, the stream has no address, or it silently takes the one of the
# session. Both calls return GST_SDP_OK. What comes out is valid SDP again, with a strange title, so no
# later reader complains. The i= of the session is written well.
# Why it matters: titles below m= are usual where audio streams have names (AES67 senders, conference
# bridges). Behind such a program packets go to the wrong address, or a call
# ends as "no common codec", and only for the callers that name their streams. Take i= out of the
# streams before writing, or write the lines yourself.
# Output seen (what a second reading of the written text finds in the stream):
#   no title:                  title none, address 192.0.2.7, codec of 96 L16/48000/2, ptime 1
#   title of the session:      title none, address 192.0.2.7, codec of 96 L16/48000/2, ptime 1
#   title, address in stream:  title "Leftc=IN IP4 192.0.2.7", address 192.0.2.1, codec of 96 L16/48000/2, ptime 1
#   title, no address there:   title "Lefta=rtpmap:96 L16/48000/2", address 192.0.2.1, codec of 96 none, ptime 1
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libgstreamer1.0-0=1.22.0-2+deb12u1 \
    libgstreamer-plugins-base1.0-0=1.22.0-3+deb12u7 liborc-0.4-0 libglib2.0-0 libunwind8 libdw1 libcap2
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes, glob, re, sys
glib, gst, sdp = (ctypes.CDLL(glob.glob(f"root/usr/lib/*/{name}")[0]) for name in
                  ("libglib-2.0.so.0", "libgstreamer-1.0.so.0", "libgstsdp-1.0.so.0"))
pointer = ctypes.c_void_p
sdp.gst_sdp_message_as_text.restype = pointer
sdp.gst_sdp_message_as_text.argtypes = [pointer]
sdp.gst_sdp_message_parse_buffer.argtypes = [ctypes.c_char_p, ctypes.c_uint, pointer]
gst.gst_init(None, None)

def through(text):
    """Reads and writes the text with GStreamer."""
    message = pointer()
    if sdp.gst_sdp_message_new(ctypes.byref(message)) \
            or sdp.gst_sdp_message_parse_buffer(text.encode(), len(text), message):
        sys.exit("CHANGED: the text is refused")
    return ctypes.string_at(sdp.gst_sdp_message_as_text(message)).decode()

def stream(text):
    """What a reader by the grammar of RFC 8866 sees in the one stream, line by line."""
    session, _, media = text.partition("\r\nm=")
    def value(start, otherwise="none"):
        found = [line[len(start):] for line in media.split("\r\n") if line.startswith(start)]
        return found[0] if found else otherwise
    address = re.findall(r"(?m)^c=IN IP4 ([0-9.]+)", session)
    title = value("i=")
    return (title if title == "none" else f'"{title}"',
            value("c=IN IP4 ", address[0] if address else "none"), value("a=rtpmap:96 "),
            value("a=ptime:"))

HEAD = ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-"]
HERE, THERE, TIME = "c=IN IP4 192.0.2.1", "c=IN IP4 192.0.2.7", "t=0 0"
LINE, REST = "m=audio 5004 RTP/AVP 96", ["a=rtpmap:96 L16/48000/2", "a=ptime:1"]
CASES = (
    ("no title:", [*HEAD, HERE, TIME, LINE, THERE, *REST],
     ("none", "192.0.2.7", "L16/48000/2", "1")),
    ("title of the session:", [*HEAD, "i=Left", HERE, TIME, LINE, THERE, *REST],
     ("none", "192.0.2.7", "L16/48000/2", "1")),
    ("title, address in stream:", [*HEAD, HERE, TIME, LINE, "i=Left", THERE, *REST],
     ('"Leftc=IN IP4 192.0.2.7"', "192.0.2.1", "L16/48000/2", "1")),
    ("title, no address there:", [*HEAD, HERE, TIME, LINE, "i=Left", *REST],
     ('"Lefta=rtpmap:96 L16/48000/2"', "192.0.2.1", "none", "1")))
for name, lines, want in CASES:
    text = "\r\n".join([*lines, ""])
    got = stream(through(text))
    print("{:<26} title {}, address {}, codec of 96 {}, ptime {}".format(name, *got), flush=True)
    if got != want:
        sys.exit("CHANGED: this line is not as described")
    if "i=" not in text.partition("\r\nm=")[2] and through(text) != text:
        sys.exit("CHANGED: a text without a title below m= is not written as it was")
print("as described")
PY
lib=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
export LD_LIBRARY_PATH=$lib:${lib/usr\/lib/lib} GST_PLUGIN_SYSTEM_PATH=$dir GST_PLUGIN_PATH='' \
    GST_REGISTRY=$dir/registry GST_REGISTRY_FORK=no
timeout 50 python3 run.py || { echo "CHANGED or not run: status $?"; exit 1; }
