#!/usr/bin/env bash
# FFmpeg 9.0.2 (in PyPI's imageio-ffmpeg 0.8.1) sending SRTP with "-srtp_out_suite"; the receiver is
# libsrtp (in PyPI's pylibsrtp 1.0.0).
# Expected: in the suite AES_CM_128_HMAC_SHA1_32 the tag of RTP packets has 32 bits, that of RTCP
# packets 80 bits, as in the other suites of SDP security descriptions (the table of RFC 4568
# section 6.2); it is the same in the profile of DTLS-SRTP (RFC 5764 section 4.1.2).
# Seen: under that name FFmpeg cuts the RTCP tag to 32 bits as well. The RTP packets are all right,
# each sender report is refused. FFmpeg knows the right mixture too, but under the name that
# DTLS-SRTP has for it, SRTP_AES128_CM_HMAC_SHA1_32, which is not one for a=crypto, although FFmpeg
# prints that one in its SDP as well.
# It matters to a phone that hears announcements or a bridge whose sound FFmpeg sends in this suite:
# sound is there, yet no sender reports, so no common clock of audio and video and no round trip
# time, while the count of packets that fail authentication goes up. It looks like a wrong key for
# RTCP, or an attack. Prefer the _80 suite with FFmpeg.
# Output:
#   AES_CM_128_HMAC_SHA1_80: RTP 90 of 90 accepted; RTCP 1 of 1, 14 octets behind the report
#   AES_CM_128_HMAC_SHA1_32: RTP 90 of 90 accepted; RTCP 0 of 1, 8 octets behind the report
#   SRTP_AES128_CM_HMAC_SHA1_32: RTP 90 of 90 accepted; RTCP 1 of 1, 14 octets behind the report
#   AES_CM_128_HMAC_SHA1_32 in the SDP: a=crypto:1 AES_CM_128_HMAC_SHA1_32
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" imageio-ffmpeg==0.8.1 pylibsrtp==1.0.0 cffi==2.1.1 pycparser==3.12
cat > "$dir/run.py" <<'PY'
import base64, glob, os, re, socket, subprocess, sys
import pylibsrtp

FFMPEG, = glob.glob(os.path.join(sys.argv[1], "imageio_ffmpeg/binaries/ffmpeg*"))
KEY = bytes(range(1, 31))
POLICY = pylibsrtp.Policy

def bound(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind(("127.0.0.1", port))
    s.settimeout(0.5)
    return s

def pair():
    for port in range(23840, 24840, 2):
        try:
            rtp = bound(port)
        except OSError:
            continue
        try:
            return port, rtp, bound(port + 1)
        except OSError:
            rtp.close()
    sys.exit("not run: no two ports free")

def through(sock, unprotect):
    """How many packets are there, how many are accepted, and the length of the last one."""
    count = accepted = length = 0
    while True:
        try:
            data = sock.recv(3000)
        except TimeoutError:
            return count, accepted, length
        count, length = count + 1, len(data)
        try:
            unprotect(data)
            accepted += 1
        except pylibsrtp.Error:
            pass

seen, sdp = [], ""
for suite, profile in (("AES_CM_128_HMAC_SHA1_80", POLICY.SRTP_PROFILE_AES128_CM_SHA1_80),
                       ("AES_CM_128_HMAC_SHA1_32", POLICY.SRTP_PROFILE_AES128_CM_SHA1_32),
                       ("SRTP_AES128_CM_HMAC_SHA1_32", POLICY.SRTP_PROFILE_AES128_CM_SHA1_32)):
    port, rtp, rtcp = pair()
    done = subprocess.run(
        [FFMPEG, "-nostdin", "-v", "error", "-f", "lavfi",
         "-i", "sine=r=8000:d=1.8:samples_per_frame=160", "-c:a", "pcm_mulaw", "-f", "rtp",
         "-srtp_out_suite", suite, "-srtp_out_params", base64.b64encode(KEY).decode(),
         f"srtp://127.0.0.1:{port}?pkt_size=200"],
        check=True, timeout=30, capture_output=True, text=True)
    session = pylibsrtp.Session(
        POLICY(key=KEY, ssrc_type=POLICY.SSRC_ANY_INBOUND, srtp_profile=profile))
    sound = through(rtp, session.unprotect)
    reports = through(rtcp, session.unprotect_rtcp)
    rtp.close()
    rtcp.close()
    extra = reports[2] - 28                # a sender report without report blocks has 28 octets
    print("%s: RTP %d of %d accepted; RTCP %d of %d, %d octets behind the report"
          % (suite, sound[1], sound[0], reports[1], reports[0], extra), flush=True)
    seen.append((sound[0] >= 80, sound[1] == sound[0], reports[0] >= 1, reports[1] == reports[0],
                 reports[1], extra))
    if suite == "AES_CM_128_HMAC_SHA1_32":
        sdp = re.search(r"a=crypto:\S+ \S+", done.stdout).group()
print("AES_CM_128_HMAC_SHA1_32 in the SDP:", sdp)
whole = [x[:4] == (True, True, True, True) and x[5] == 14 for x in seen]
if (whole != [True, False, True] or seen[1] != (True, True, True, False, 0, 8)
        or not sdp.endswith(" AES_CM_128_HMAC_SHA1_32")):
    sys.exit("CHANGED: the tags of FFmpeg's SRTCP")
PY
PYTHONPATH="$dir/lib" timeout 100 python3 "$dir/run.py" "$dir/lib"
