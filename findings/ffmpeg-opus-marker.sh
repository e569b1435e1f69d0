#!/usr/bin/env bash
# Package: av 18.1.0 (PyPI; PyAV with FFmpeg 8.1.2, its RTP output).
# Expected: on audio the marker bit is for the first packet of a talkspurt, that is after a gap
# without packets, and 0 on all others (RFC 3551 section 4.1, for Opus RFC 7587 section 4.1): it
# tells the receiver where it may move its playout delay without being heard.
# Instead: FFmpeg sets the marker on each and every Opus packet, of a stream without any gap, and
# on no packet of PCMU or G.722, not even the first. Sequence numbers and timestamps are right.
# Why it matters: a phone that resets or adapts its jitter buffer at a marker does so at every
# packet of an announcement played by FFmpeg, and gets no hint at the start of one in PCMU. Take
# a marker for a talkspurt only if the timestamp also jumped further than the sequence number.
# Output seen:
#   Opus: 12 packets, 960 apart, markers 111111111111
#   PCMU: 12 packets, 160 apart, markers 000000000000
#   G.722: 12 packets, 160 apart, markers 000000000000
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
pip install --quiet --no-deps --target "$dir/lib" av==18.1.0
cat > "$dir/run.py" <<'PY'
import fractions, socket, struct, sys
import av

def changed(text):
    print("CHANGED:", text)
    sys.exit(1)

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", 0))
sock.settimeout(10)

def send(codec, rate, layout, samples):
    """Sends a quiet stream of 20 ms packets, gives the first twelve."""
    with av.open(f"rtp://127.0.0.1:{sock.getsockname()[1]}", "w", format="rtp") as output:
        stream = output.add_stream(codec, rate=rate, layout=layout)
        for i in range(14):
            frame = av.AudioFrame(format="s16", layout=layout, samples=samples)
            frame.sample_rate, frame.pts, frame.time_base = rate, i * samples, fractions.Fraction(1, rate)
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            for packet in stream.encode(frame):
                output.mux(packet)
        for packet in stream.encode(None):
            output.mux(packet)
        type_, got = None, []
        while len(got) < 12:
            data = sock.recv(4096)
            kind = data[1] & 127
            if type_ is None:
                type_ = kind
            if kind == type_ and len(data) > 12:
                got.append((data[1] >> 7, *struct.unpack("!HI", data[2:8])))
    sock.setblocking(False)                       # the rest of this stream
    try:
        while True:
            sock.recv(4096)
    except BlockingIOError:
        sock.settimeout(10)
    return got

for name, codec, rate, layout, samples, step, mark in (
        ("Opus", "libopus", 48000, "stereo", 960, 960, "1"), ("PCMU", "pcm_mulaw", 8000, "mono", 160, 160, "0"),
        ("G.722", "g722", 16000, "mono", 320, 160, "0")):
    got = send(codec, rate, layout, samples)
    for a, b in zip(got, got[1:]):
        if (b[1] - a[1]) & 0xffff != 1 or (b[2] - a[2]) & 0xffffffff != step:
            changed(f"{name}: the stream has a gap")
    marks = "".join(str(p[0]) for p in got)
    print(f"{name}: {len(got)} packets, {step} apart, markers {marks}", flush=True)
    if marks != mark * 12:
        changed("these markers are not as described")
print("as described")
PY
PYTHONPATH="$dir/lib" timeout 50 python3 "$dir/run.py" || { echo "CHANGED or not run: status $?"; exit 1; }
