#!/usr/bin/env bash
# Kamailio 5.6.3 (Debian 12 package kamailio 5.6.3-2), its module sdpops, which edits SDP.
# Expected: a payload type number means something within its own media description only (RFC 3264
# section 5.1, RFC 8866 section 5.14); 97 may be telephone-event in the audio and H264 in the video.
# And each m= line has at least one format (RFC 8866 section 9), with port 0 too.
# Seen: sdp_remove_codecs_by_name("H264") looks up the numbers of the name and takes them out of all
# streams: with the video goes the telephone-event of the audio, line, rtpmap and fmtp. What is left
# of the video is "m=video 5002 RTP/AVP", a line without a format. sdp_keep_codecs_by_name("PCMA")
# does that to T.38 too: "m=image 5004 udptl", for "t38" is no codec that was to be kept.
# It matters to a phone: behind a proxy that "only takes the video codecs out" its digits are gone,
# with some far ends and not with others, as their numbers happen to fall; and a strict parser
# refuses the whole SDP for the line without formats. Choose dynamic numbers that differ over all
# streams; in the proxy name the kind of stream, as in sdp_remove_codecs_by_name("H264", "video").
# Output:
#   remove H264, numbers differ (101, 97): audio 0 101 rtpmap fmtp, video -
#   remove H264, numbers equal (97, 97): audio 0, video -
#   remove telephone-event, numbers equal (97, 97): audio 0, video -
#   remove H264 of video, numbers equal (97, 97): audio 0 97 rtpmap fmtp, video -
#   keep PCMA, with T.38: audio 8, image -
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download kamailio=5.6.3-2
dpkg -x kamailio_*.deb root
cat > run.py <<'PY'
import glob, re, socket, subprocess, sys, time

def bound():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s

caller, callee, spare = bound(), bound(), bound()
callee.settimeout(1)
proxy = spare.getsockname()
spare.close()
with open("kamailio.cfg", "w") as cfg:
    cfg.write("""debug=-2
log_stderror=yes
children=1
disable_tcp=yes
auto_aliases=no
loadmodule "pv.so"
loadmodule "textops.so"
loadmodule "sdpops.so"
request_route {
    switch ($rU) {
        case "no-h264": sdp_remove_codecs_by_name("H264"); break;
        case "video": sdp_remove_codecs_by_name("H264", "video"); break;
        case "no-event": sdp_remove_codecs_by_name("telephone-event"); break;
        case "pcma": sdp_keep_codecs_by_name("PCMA"); break;
    }
    $du = "sip:127.0.0.1:%d";
    forward();
}
""" % callee.getsockname()[1])
server = subprocess.Popen(
    ["root/usr/sbin/kamailio", "-DD", "-f", "kamailio.cfg", "-L",
     glob.glob("root/usr/lib/*/kamailio/modules")[0], "-l", "udp:127.0.0.1:%d" % proxy[1],
     "-m", "32", "-M", "4", "-Y", "."],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

def forwarded(user, media):
    """What is left of each stream behind the proxy."""
    here = "127.0.0.1:%d" % caller.getsockname()[1]
    sdp = "\r\n".join(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
                       *media, ""])
    for attempt in range(20):                         # the proxy may still be starting
        name = f"{user}-{attempt}"
        caller.sendto("\r\n".join(
            [f"INVITE sip:{user}@127.0.0.1 SIP/2.0",
             f"Via: SIP/2.0/UDP {here};branch=z9hG4bK{name}", "Max-Forwards: 70",
             "From: <sip:a@127.0.0.1>;tag=1", "To: <sip:b@127.0.0.1>", "Call-ID: " + name,
             "CSeq: 1 INVITE", f"Contact: <sip:a@{here}>", "Content-Type: application/sdp",
             f"Content-Length: {len(sdp)}", "", sdp]).encode(), proxy)
        try:
            while f"Call-ID: {name}\r" not in (text := callee.recv(65535).decode()):
                pass
            break
        except TimeoutError:
            pass
    else:
        sys.exit("CHANGED or not run: nothing is forwarded")
    streams = []
    for part in re.split(r"(?m)^m=", text.partition("\r\n\r\n")[2])[1:]:
        lines = part.split("\r\n")
        formats = lines[0].split(" ")[3:]
        kinds = [kind for kind in ("rtpmap", "fmtp") if f"\r\na={kind}:" in part]
        streams.append(f"{lines[0].split(' ')[0]} {' '.join(formats + kinds) or '-'}")
    return ", ".join(streams)

def call(event, video):
    return [f"m=audio 5000 RTP/AVP 0 {event}", f"a=rtpmap:{event} telephone-event/8000",
            f"a=fmtp:{event} 0-15", f"m=video 5002 RTP/AVP {video}", f"a=rtpmap:{video} H264/90000",
            f"a=fmtp:{video} profile-level-id=42e01e"]

try:
    for title, user, media, want in (
            ("remove H264, numbers differ (101, 97)", "no-h264", call(101, 97),
             "audio 0 101 rtpmap fmtp, video -"),
            ("remove H264, numbers equal (97, 97)", "no-h264", call(97, 97), "audio 0, video -"),
            ("remove telephone-event, numbers equal (97, 97)", "no-event", call(97, 97),
             "audio 0, video -"),
            ("remove H264 of video, numbers equal (97, 97)", "video", call(97, 97),
             "audio 0 97 rtpmap fmtp, video -"),
            ("keep PCMA, with T.38", "pcma", ["m=audio 5000 RTP/AVP 0 8", "m=image 5004 udptl t38"],
             "audio 8, image -")):
        got = forwarded(user, media)
        print(f"{title}: {got}", flush=True)
        if got != want:
            sys.exit("CHANGED: this line is not as described")
finally:
    server.terminate()
    server.wait()
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*/kamailio)
timeout 55 python3 run.py
