#!/usr/bin/env bash
# Package: aiosipua 0.7.1 and opensip 0.2.1 (PyPI; SIP user agents for Python), their SDP; to compare,
# rfcvoip 2.10.3 (PyPI).
# Expected: a=sendonly, a=recvonly, a=inactive and a=sendrecv may stand in the session part, before the
# first m= line, and then hold for each media description that has none of its own (RFC 8866 sections 5.13
# and 6.7). So a hold may be one line for the whole call, and the answer to "sendonly" must be "recvonly"
# or "inactive" (RFC 3264 sections 6.1 and 8.4).
# Instead: both look at the lines behind m= only. With the line in the session part opensip says that the
# media is "sendrecv", and aiosipua answers "sendrecv" to each of the four, which after "sendonly" and
# "inactive" is no valid answer. Behind m= both read the same line as they should.
# Why it matters: the one that is put on hold does not know it. It goes on to talk and to listen: a menu
# counts the silence or the music of the hold as the caller's and hangs up or transcribes it, and a
# phone that checks the answer ends the call or tries again. A test whose phone writes the line behind
# m=, as most do, shows nothing. Copy the line to each m= that has none before the parser sees it.
# Output seen (what each takes the direction of the audio for, and what aiosipua answers):
#   sendonly of the media:   rfcvoip sendonly, opensip sendonly, aiosipua sendonly, its answer recvonly
#   sendonly of the session: rfcvoip sendonly, opensip sendrecv, aiosipua sendrecv, its answer sendrecv
#   recvonly of the media:   rfcvoip recvonly, opensip recvonly, aiosipua recvonly, its answer sendonly
#   recvonly of the session: rfcvoip recvonly, opensip sendrecv, aiosipua sendrecv, its answer sendrecv
#   inactive of the media:   rfcvoip inactive, opensip inactive, aiosipua inactive, its answer inactive
#   inactive of the session: rfcvoip inactive, opensip sendrecv, aiosipua sendrecv, its answer sendrecv
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" aiosipua==0.7.1 opensip==0.2.1 rfcvoip==2.10.3
cat > "$dir/run.py" <<'PY'
import re, sys
import aiosipua, opensip.sdp, rfcvoip.SIP

HEAD = ["INVITE sip:b@192.0.2.9 SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK7", "Max-Forwards: 70",
        "From: <sip:a@192.0.2.1>;tag=1", "To: <sip:b@192.0.2.9>;tag=2", "Call-ID: 1@192.0.2.1",
        "CSeq: 2 INVITE", "Contact: <sip:a@192.0.2.1>", "Content-Type: application/sdp"]

def offer(direction, where):
    line = ["a=" + direction]
    return "\r\n".join(["v=0", "o=- 1 2 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0",
                        *line * (where == "session"), "m=audio 4000 RTP/AVP 0", "a=rtpmap:0 PCMU/8000",
                        *line * (where == "media"), ""])

ANSWERS = {"sendonly": "recvonly", "recvonly": "sendonly", "inactive": "inactive"}
for direction in ANSWERS:
    for where in ("media", "session"):
        sdp = offer(direction, where)
        message = rfcvoip.SIP.SIPMessage("\r\n".join([*HEAD, f"Content-Length: {len(sdp)}", "", sdp]).encode())
        parsed = aiosipua.parse_sdp(sdp)
        answer, _ = aiosipua.negotiate_sdp(parsed, "192.0.2.9", 5000)
        got = [str(message.body["m"][0]["transmit_type"]), opensip.sdp.SDPSession.parse(sdp).media[0].direction,
               parsed.media[0].direction,
               " ".join(re.findall("a=(sendrecv|sendonly|recvonly|inactive)", aiosipua.serialize_sdp(answer)))]
        print("{:<24} rfcvoip {}, opensip {}, aiosipua {}, its answer {}".format(
            f"{direction} of the {where}:", *got), flush=True)
        if got != ([direction] * 3 + [ANSWERS[direction]] if where == "media" else [direction] + ["sendrecv"] * 3):
            sys.exit("CHANGED: this line is not as described")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
