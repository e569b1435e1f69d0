#!/usr/bin/env bash
# sdp-transform 1.1.0 (PyPI), the Python port of the SDP parser and writer of that name: parse() and
# write().
# Expected: a=ice-ufrag, a=ice-pwd, a candidate's foundation, a=mid and a CNAME are text, whatever
# is in it (RFC 8839 sections 5.1 and 5.4: letters, digits, "+" and "/"; RFC 5888 section 4; RFC
# 3550 section 6.5.1). Written again, or put into a STUN username, each has to be the same.
# Seen: every value that Python's int() or float() can read becomes a number and is written as one:
# the ufrag "0812" comes back as 812, "+123" as 123, "1e10" as 10000000000.0, "+inf" as inf. (Its
# model in JavaScript makes a number only of what prints the same.) There is no error.
# It matters to a phone that calls through a server built on it: the far end's connectivity checks
# bear a ufrag that nobody gave out, they are refused, and the call has no sound. A ufrag of four
# random characters, as some browsers make it, is hit once in 2,614 calls, so no test by hand finds
# it, and the next try of the same call is fine. Let ufrags and passwords contain a "/" or begin
# with a letter other than "i" and "n"; the mids "0" and "audio" are safe, "01" is not.
# Output:
#   a=ice-ufrag:aBcD comes back as aBcD
#   a=ice-ufrag:/123 comes back as /123
#   a=ice-ufrag:1234 comes back as 1234
#   a=ice-ufrag:0812 comes back as 812
#   a=ice-ufrag:+123 comes back as 123
#   a=ice-ufrag:1e10 comes back as 10000000000.0
#   a=ice-ufrag:9E99 comes back as 9e+99
#   a=ice-ufrag:+inf comes back as inf
#   a=ice-pwd:0123456789012345678901 comes back as 123456789012345678901
#   a=mid:01 comes back as 1
#   a=candidate:0042 comes back as 42
#   a=ssrc:7 cname:0077 comes back as 77
#   6416 of 64^4 ufrags are changed, one in 2614
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" sdp-transform==1.1.0
cat > "$dir/run.py" <<'PY'
import itertools, sys
import sdp_transform

def through(ufrag, mid="audio", foundation="1", cname="a@b"):
    lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
             "m=audio 4000 UDP/TLS/RTP/SAVPF 111", "a=rtpmap:111 opus/48000/2", "a=mid:" + mid,
             "a=ice-ufrag:" + ufrag, "a=ice-pwd:0123456789012345678901", "a=ssrc:7 cname:" + cname,
             "a=candidate:" + foundation + " 1 UDP 2130706431 127.0.0.1 4000 typ host", ""]
    out = sdp_transform.write(sdp_transform.parse("\r\n".join(lines))).split("\r\n")
    return {name: line[len(name):].split(" 1 UDP")[0] for line in out
            for name in ("a=ice-ufrag:", "a=ice-pwd:", "a=mid:", "a=candidate:", "a=ssrc:7 cname:")
            if line.startswith(name)}

got = []
for ufrag in ("aBcD", "/123", "1234", "0812", "+123", "1e10", "9E99", "+inf"):
    got.append(through(ufrag)["a=ice-ufrag:"])
    print("a=ice-ufrag:%s comes back as %s" % (ufrag, got[-1]))
others = through("aBcD", "01", "0042", "0077")
for name, was in (("a=ice-pwd:", "0123456789012345678901"), ("a=mid:", "01"),
                  ("a=candidate:", "0042"), ("a=ssrc:7 cname:", "0077")):
    print("%s%s comes back as %s" % (name, was, others[name]))

# Those of four characters that read as numbers are made of these; the parser itself reads them,
# 4,000 at a time, as the ufrags of so many media.
candidates = ["".join(c) for c in itertools.product("0123456789+eEiInNfFaA", repeat=4)]
changed = 0
for at in range(0, len(candidates), 4000):
    part = candidates[at:at + 4000]
    text = "".join("m=audio 4000 RTP/AVP 0\r\na=ice-ufrag:%s\r\n" % u for u in part)
    media = sdp_transform.parse("v=0\r\n" + text)["media"]
    changed += sum(str(m["iceUfrag"]) != u for m, u in zip(media, part, strict=True))
print("%d of 64^4 ufrags are changed, one in %d" % (changed, 64 ** 4 // changed))
if (got != ["aBcD", "/123", "1234", "812", "123", "10000000000.0", "9e+99", "inf"]
        or list(others.values()).count("123456789012345678901") != 1 or changed != 6416
        or (others["a=mid:"], others["a=candidate:"], others["a=ssrc:7 cname:"])
        != ("1", "42", "77")):
    sys.exit("CHANGED: what sdp-transform makes of names that look like numbers")
PY
PYTHONPATH="$dir/lib" timeout 90 python3 "$dir/run.py"
