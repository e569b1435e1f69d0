#!/usr/bin/env bash
# FFmpeg 8.1.2's decoder and encoder "comfortnoise" (in PyPI's av 18.1.0), the CN payload of RFC 3389
# that goes with G.711 and G.726 as payload type 13.
# Expected: the first octet is the noise level in -dBov, 0 dBov being a full-scale square wave (RFC
# 3389 section 3.1), so level 50 is heard as noise of -50 dBFS RMS. What the encoder says of a noise,
# the decoder gives back.
# Seen: the encoder is right to 1 dB: room noise of -50 dBFS gives level 51. The decoder plays level
# 50 at -56 dBFS, and so each one: half the amplitude, with and without spectral octets. It takes
# equally spread random numbers as if their RMS were their peak (4.8 dB), and a quarter of the power
# off besides (1.2 dB). One FFmpeg speaking to another halves the room in every pause.
# It matters to someone who decodes or measures calls with FFmpeg's libraries, or has a phone compared
# with them: the background drops by 6 dB between the words, for which one blames the far end's
# silence suppression; a noise level taken in the pauses is 6 dB too good, and so is the ratio of
# signal to noise. Take the level from the first octet instead, or raise decoded CN by 6 dB.
# Output (one packet for each 80 ms, which is what the decoder makes of a packet):
#   level 20 (-20 dBov): decoded -26.0 dBFS, with two flat coefficients -26.0
#   level 30 (-30 dBov): decoded -36.0 dBFS, with two flat coefficients -36.0
#   level 40 (-40 dBov): decoded -46.1 dBFS, with two flat coefficients -46.1
#   level 50 (-50 dBov): decoded -56.1 dBFS, with two flat coefficients -56.1
#   level 60 (-60 dBov): decoded -66.3 dBFS, with two flat coefficients -66.3
#   white room noise of -30.0 dBFS: encoded as level 31, decoded -36.6 dBFS
#   dull room noise of -30.0 dBFS: encoded as level 31, decoded -36.5 dBFS
#   white room noise of -50.0 dBFS: encoded as level 51, decoded -56.6 dBFS
#   dull room noise of -50.0 dBFS: encoded as level 51, decoded -56.6 dBFS
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/lib" av==18.1.0
cat > run.py <<'PY'
import array, math, random, sys
import av

av.logging.set_level(None)
FRAME, dice = 640, random.Random(7)

def level(samples):                        # dBFS RMS
    return 10 * math.log10(sum(x * x for x in samples) / len(samples)) - 20 * math.log10(32768)

def codec(mode):
    context = av.CodecContext.create("comfortnoise", mode)
    context.sample_rate, context.layout = 8000, "mono"
    if mode == "w":
        context.format = "s16"
    return context

def decoded(packets):
    decoder, sound = codec("r"), array.array("h")
    for packet in packets:
        for frame in decoder.decode(av.Packet(packet)):
            assert frame.format.name == "s16" and frame.samples == FRAME
            sound.frombytes(bytes(frame.planes[0])[:2 * FRAME])
    return sound[10 * FRAME:]              # without the first, when the level is settling

def encoded(samples):
    encoder, packets = codec("w"), []
    encoder.open()
    assert encoder.frame_size == FRAME
    for at in range(0, len(samples) - FRAME + 1, FRAME):
        frame = av.AudioFrame("s16", "mono", FRAME)
        frame.sample_rate = 8000
        frame.planes[0].update(samples[at:at + FRAME].tobytes().ljust(frame.planes[0].buffer_size, b"\0"))
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    return packets

ok = True
for octet in 20, 30, 40, 50, 60:
    plain = level(decoded([bytes([octet])] * 60))
    shaped = level(decoded([bytes([octet, 127, 127])] * 60))
    print("level %d (-%d dBov): decoded %.1f dBFS, with two flat coefficients %.1f"
          % (octet, octet, plain, shaped), flush=True)
    ok &= all(abs(x + octet + 6.2) < 0.7 for x in (plain, shaped))
for loud in -30, -50:
    for name, keep in ("white", 0), ("dull", 0.8):
        raw, last = [], 0.0
        for _ in range(60 * FRAME):
            last = keep * last + dice.gauss(0, 1)
            raw.append(last)
        scale = 32768 * 10 ** (loud / 20) / math.sqrt(sum(x * x for x in raw) / len(raw))
        room = array.array("h", (round(scale * x) for x in raw))
        packets = encoded(room)
        octets = sorted(packet[0] for packet in packets[5:])
        back = level(decoded(packets))
        print("%s room noise of %.1f dBFS: encoded as level %d, decoded %.1f dBFS"
              % (name, level(room), octets[len(octets) // 2], back), flush=True)
        ok &= abs(octets[len(octets) // 2] + loud) <= 1 and abs(back - loud + 6.5) < 0.8
if not ok:
    sys.exit("CHANGED: the level of FFmpeg's comfort noise")
print("as described")
PY
PYTHONPATH=$dir/lib timeout 50 python3 run.py
