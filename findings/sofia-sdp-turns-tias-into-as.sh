#!/usr/bin/env bash
# Sofia-SIP (Debian 12 package libsofia-sip-ua0 1.12.11+20110422.1+1e14eea~dfsg-6), its SDP parser
# and printer, sdp_parse() and sdp_print().
# Expected: b=AS and b=CT count in kbit/s, b=TIAS in bit/s (RFC 3890), b=RS and b=RR give the RTCP
# bandwidth in bit/s (RFC 3556), and a bandwidth type that a parser does not know is ignored (RFC
# 8866 section 5.8); one that it keeps is put out under its own name.
# Seen: whatever is neither CT nor AS comes out of the printer as AS, with the number unchanged:
# "b=TIAS:64000" (64 kbit/s) becomes "b=AS:64000" (64 Mbit/s), and "b=RR:0", which turns receiver
# reports off, becomes "b=AS:0". The parser calls the SDP valid. A lone X-name is changed as well.
# It matters to a phone whose SDP goes through a server built on Sofia-SIP, or to one built on it: a
# far end that trusts AS reserves a thousand times the bandwidth, or takes AS:0 for "send nothing".
# Do not let b=AS of a strange size limit a codec, and give AS along with TIAS.
# Output:
#   b=CT:128      comes out as b=CT:128
#   b=AS:64       comes out as b=AS:64
#   b=TIAS:64000  comes out as b=AS:64000
#   b=RS:800      comes out as b=AS:800
#   b=RR:0        comes out as b=AS:0
#   b=X-YZ:128    comes out as b=AS:128
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download \
    libsofia-sip-ua0=1.12.11+20110422.1+1e14eea~dfsg-6 libssl3
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes, glob, sys
sofia = ctypes.CDLL(glob.glob("root/usr/lib/*/libsofia-sip-ua.so.0")[0])
pointer = ctypes.c_void_p
sofia.su_home_create.restype = pointer
sofia.sdp_parse.restype = sofia.sdp_session.restype = sofia.sdp_print.restype = pointer
sofia.sdp_parse.argtypes = [pointer, ctypes.c_char_p, ctypes.c_ssize_t, ctypes.c_int]
sofia.sdp_session.argtypes = [pointer]
sofia.sdp_print.argtypes = [pointer, pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
sofia.sdp_message.restype, sofia.sdp_message.argtypes = ctypes.c_char_p, [pointer]
home = sofia.su_home_create()

def through(text):
    raw = text.encode()
    session = sofia.sdp_session(sofia.sdp_parse(home, raw, len(raw), 0))
    if not session:
        sys.exit("CHANGED: Sofia-SIP refuses the SDP")
    return sofia.sdp_message(sofia.sdp_print(home, session, None, 0, 0)).decode()

got = []
for line in ("b=CT:128", "b=AS:64", "b=TIAS:64000", "b=RS:800", "b=RR:0", "b=X-YZ:128"):
    text = "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                        "m=audio 4000 RTP/AVP 0", line, "a=ptime:20", ""])
    out = through(text)
    came = [x for x in out.split("\r\n") if x.startswith("b=")]
    if [x for x in out.split("\r\n") if not x.startswith("b=")] != text.replace(line + "\r\n", "").split("\r\n"):
        sys.exit("CHANGED: other lines differ too")
    got += came
    print("%-13s comes out as %s" % (line, " ".join(came)))
if got != ["b=CT:128", "b=AS:64", "b=AS:64000", "b=AS:800", "b=AS:0", "b=AS:128"]:
    sys.exit("CHANGED: what Sofia-SIP makes of the bandwidth types")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
timeout 50 python3 run.py
