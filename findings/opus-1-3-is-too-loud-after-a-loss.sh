#!/usr/bin/env bash
# libopus 1.3.1 (Debian 12 libopus0 1.3.1-3) against 1.6.1 (in PyPI's opuscodec 0.1.3). Low delay
# (CELT), 64 kbit/s, a voice; bursts of packets are lost and concealed with opus_decode_float(NULL).
# Expected: some error in the packets after a loss, less with a higher OPUS_SET_PACKET_LOSS_PERC
# (RFC 6716 section 2.1.6), but sound of about the right level.
# Seen: with 2.5 ms packets those RECEIVED after a loss, mostly one of just 1 to 4 packets, come out
# up to 28 dB louder than the loudest 5 ms of the same stream without loss, far beyond full scale,
# for 10 to 20 ms; with 5 ms less so, with 20 ms hardly. Energies are coded as differences from the
# frame before (section 4.3.2.1); in short frames they swing with each pitch pulse, and 1.3.1 adds
# the next difference to those from before the loss. It is the decoder: 1.4 (in PyPI's av 12.3.0)
# does it too; 1.5.2 (in av 14.2.0) and 1.6.1 lower the energies first. PACKET_LOSS_PERC 5 at the
# sender cures it for this voice by default, but not for every voice, and below complexity 4 it
# changes not one byte; PREDICTION_DISABLED cures it at any.
# It matters to a phone with short packets: one lost packet can end in a bang, which no test with
# 20 ms packets shows, and a sender with a new library must still spare the far end's old one.
# Output (runs more than 3 dB too loud, the worst run, the highest sample; 0.5 without loss):
#   20.0 ms, default,                decoder 1.3.1:  0 of 12,  1.1 dB,  0.54
#    5.0 ms, default,                decoder 1.3.1:  2 of 12,  6.9 dB,  1.23
#    2.5 ms, default,                decoder 1.3.1:  5 of 12, 10.5 dB,  1.51
#    2.5 ms, default,                decoder 1.6.1:  0 of 12,  0.0 dB,  0.58
#    2.5 ms, loss 5 %,               decoder 1.3.1:  0 of 12,  0.0 dB,  0.49
#    2.5 ms, complexity 3,           decoder 1.3.1: 11 of 12, 27.8 dB, 10.70
#    2.5 ms, complexity 3, loss 5 %, decoder 1.3.1: 11 of 12, 27.8 dB, 10.70
#    2.5 ms, same, no prediction,    decoder 1.3.1:  0 of 12,  0.0 dB,  0.48
#    2.5 ms, complexity 3,           decoder 1.6.1:  1 of 12,  4.6 dB,  0.69
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopus0=1.3.1-3
dpkg -x libopus0_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" opuscodec==0.1.3
cat > run.py <<'PY'
import ctypes as C, glob, math, random, sys
RATE, LOW_DELAY, RUNS, BITRATE, COMPLEXITY, LOSS, NO_PRED = 48000, 2051, 12, 4002, 4010, 4014, 4042
old, new = (C.CDLL(glob.glob(p)[0]) for p in ("root/usr/lib/*/libopus.so.0", "py/opuscodec*.so"))
for L in old, new:
    L.opus_encoder_create.restype = L.opus_decoder_create.restype = C.c_void_p

# A voice-like sound: syllables of pulses of changing pitch and level, through four resonances.
rnd, pulses, phase = random.Random(7), [], 0.0
while len(pulses) < RATE * 8:
    length, level = int(RATE * rnd.uniform(0.12, 0.3)), 10 ** rnd.uniform(-1, 0)
    pitch, end = rnd.uniform(90, 180), rnd.uniform(90, 180)
    for i in range(length):
        phase += (pitch + (end - pitch) * i / length) / RATE
        pulses.append(level * math.sin(math.pi * i / length) * (phase >= 1))
        phase %= 1
sound = [0.0] * len(pulses)
for hz, width, gain in (600, 80, 1), (1300, 110, .6), (2600, 160, .4), (3600, 250, .3):
    r, y, y1 = math.exp(-math.pi * width / RATE), 0.0, 0.0
    for i, x in enumerate(pulses):
        y, y1 = gain * x + 2 * r * math.cos(2 * math.pi * hz / RATE) * y - r * r * y1, y
        sound[i] += y
top = max(map(abs, sound))
sound = [round(16384 * v / top) for v in sound]

def decode(L, n, packets, lost):       # loudest 5 ms (or packet), highest sample; received only
    dec = C.c_void_p(L.opus_decoder_create(RATE, 1, C.byref(C.c_int())))
    out, powers, loudest, peak, span = (C.c_float * n)(), [], 0.0, 0.0, max(1, 240 // n)
    for data, gone in zip(packets, lost):
        data = None if gone else data
        assert L.opus_decode_float(dec, data, len(data or b""), out, n, 0) == n
        x = out[:]
        powers = [] if gone else (powers + [sum(v * v for v in x) / n])[-span:]
        peak = max(peak, 0 if gone else max(map(abs, x)))
        if len(powers) == span:
            loudest = max(loudest, sum(powers) / span)
    return 10 * math.log10(loudest), peak

def run(L, ms, name, *settings):       # the encoder is always 1.3.1
    n, packet, packets, lossy = int(RATE * ms / 1000), (C.c_ubyte * 1500)(), [], []
    enc = C.c_void_p(old.opus_encoder_create(RATE, 1, LOW_DELAY, C.byref(C.c_int())))
    for request, value in ((BITRATE, 64000), *settings):
        assert old.opus_encoder_ctl(enc, C.c_int(request), C.c_int(value)) == 0
    for at in range(0, len(sound) - n + 1, n):
        size = old.opus_encode(enc, (C.c_int16 * n)(*sound[at:at + n]), n, packet, 1500)
        assert size > 2 and packet[0] >= 0x80      # CELT (RFC 6716 section 3.1)
        packets.append(bytes(packet[:size]))
    level = decode(L, n, packets, [False] * len(packets))[0]
    for seed in range(RUNS):           # a burst begins by 4 % chance and goes on by 75 %
        rnd, lost = random.Random(seed), []
        for _ in packets:
            lost.append(rnd.random() < (0.75 if lost and lost[-1] else 0.04))
        lossy.append(decode(L, n, packets, lost))
    rises, top = [v[0] - level for v in lossy], max(v[1] for v in lossy)
    print("%4.1f ms, %-23s decoder %s: %2d of %d, %4.1f dB, %5.2f" % (ms, name + ",",
          "1.3.1" if L is old else "1.6.1", sum(r > 3 for r in rises), RUNS, max(rises), top))
    return max(rises)

LOW = COMPLEXITY, 3
calm, loud = [run(old, 20, "default")], [run(old, 5, "default"), run(old, 2.5, "default")]
calm += [run(new, 2.5, "default"), run(old, 2.5, "loss 5 %", (LOSS, 5))]
low = [run(old, 2.5, "complexity 3", LOW), run(old, 2.5, "complexity 3, loss 5 %", LOW, (LOSS, 5))]
calm.append(run(old, 2.5, "same, no prediction", LOW, (NO_PRED, 1)))
if max(calm) > 3 or min(loud) < 4 or min(low) < 15 or run(new, 2.5, "complexity 3", LOW) > 10:
    sys.exit("CHANGED: 1.3.1 is no longer far too loud after losses (or other cases now are)")
PY
python3 run.py
