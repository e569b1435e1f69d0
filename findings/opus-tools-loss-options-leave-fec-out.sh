#!/usr/bin/env bash
# opus-tools 0.2 (Debian 12 opus-tools 0.2-1+b1 with libopus0 1.3.1-3), opusenc and opusdec.
# Expected: "opusenc --expect-loss 20" makes a stream for a line with 20 % loss, so with in-band FEC
# (RFC 6716 section 2.1.7), and "opusdec --packet-loss 10", which simulates loss, plays what a phone
# would play: a lost packet whose successor has FEC is rebuilt from that (RFC 6716 section 2.1.7).
# Seen: opusenc tells the encoder the loss but leaves FEC off, with --speech too: not one packet has
# it. "--set-ctl-int 4012=1" (OPUS_SET_INBAND_FEC) is needed beside it. opusdec uses no FEC even
# then: each frame that it drops is, sample for sample, the plain concealment of opus_decode(NULL).
# It matters to someone who prepares material or shows what FEC gains: a file sent as RTP has no
# protection, and listening with --packet-loss compares two streams without FEC, the one with
# FEC in it sounding worse for its bits. Decode with libopus itself and decode_fec=1.
# Output (a voice-like sound of 6 s, 24 kbit/s, 20 ms frames):
#   opusenc                                  0 of 301 packets with FEC
#   --expect-loss 20                         0 of 301 packets with FEC
#   --expect-loss 20 --speech                0 of 301 packets with FEC
#   --expect-loss 20 --set-ctl-int 4012=1  159 of 301 packets with FEC
#   opusdec --packet-loss 10 of the last: 25 frames dropped, 12 of them before a packet with FEC
#     error against opus_decode(NULL) for each 0, against opus_decode(next, decode_fec=1) 635
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download opus-tools=0.2-1+b1 libopus0=1.3.1-3 \
    libopusenc0=0.2.1-2 libopusfile0=0.12-4 libflac12 libogg0 libssl3
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes as C, glob, math, os, random, struct, subprocess, sys, wave

libs = glob.glob("root/usr/lib/*-*-*")[0]
env = dict(os.environ, LD_LIBRARY_PATH=libs)
O = C.CDLL(libs + "/libopus.so.0")
FRAME, SKIP = 960, 312                     # 20 ms; libopusenc's pre-skip here

rnd, sound = random.Random(1), []
for i in range(48000 * 6):
    t = i / 48000
    pitch = 2 * math.pi * (110 + 20 * math.sin(2 * math.pi * .7 * t)) * t
    voice = sum(math.sin(h * pitch) / h for h in range(1, 12))
    sound.append(int(4500 * max(0, math.sin(2 * math.pi * 2.3 * t)) * voice + rnd.gauss(0, 30)))
with wave.open("voice.wav", "wb") as f:
    f.setparams((1, 2, 48000, 0, "NONE", ""))
    f.writeframes(struct.pack("<%dh" % len(sound), *sound))

def packets(*options):
    subprocess.run(["root/usr/bin/opusenc", "--quiet", "--bitrate", "24", *options, "voice.wav",
                    "voice.opus"], env=env, check=True, timeout=30)
    with open("voice.opus", "rb") as f:
        data = f.read()
    out, at, part = [], 0, b""
    while at < len(data):                  # Ogg pages
        laces = data[at + 27:at + 27 + data[at + 26]]
        at += 27 + len(laces)
        for lace in laces:
            part += data[at:at + lace]
            at += lace
            if lace < 255:
                out.append(part)
                part = b""
    assert struct.unpack_from("<H", out[0], 10)[0] == SKIP
    return out[2:]                         # without OpusHead and OpusTags

def has_fec(packet):                       # one 20 ms SILK frame: VAD flag, then LBRR flag
    return packet[0] >> 3 < 16 and bool(packet[1] & 0x40)

counts = []
for options in ((), ("--expect-loss", "20"), ("--expect-loss", "20", "--speech"),
                ("--expect-loss", "20", "--set-ctl-int", "4012=1")):
    sent = packets(*options)
    counts.append(sum(map(has_fec, sent)))
    print("%-38s %3d of %d packets with FEC"
          % (" ".join(options) or "opusenc", counts[-1], len(sent)))

raw = subprocess.run(["root/usr/bin/opusdec", "--quiet", "--force-wav", "--no-dither",
                      "--packet-loss", "10", "voice.opus", "-"],
                     env=env, capture_output=True, check=True, timeout=30).stdout[44:]
heard = struct.unpack("<%dh" % (len(raw) // 2), raw)
size = O.opus_decoder_get_size(1)

def follow(fec):                           # at each frame: was the packet played or dropped?
    state = C.create_string_buffer(size)
    O.opus_decoder_init(state, 48000, 1)
    dropped, error = [], 0
    for k, packet in enumerate(sent[:-1]):
        start, tries = FRAME * k - SKIP, []
        for lost in (False, True):
            copy, pcm = C.create_string_buffer(bytes(state), size), (C.c_int16 * FRAME)()
            source = sent[k + 1] if lost and fec else b"" if lost else packet
            n = O.opus_decode(copy, source or None, len(source), pcm, FRAME, int(lost and fec))
            assert n == FRAME
            part = heard[max(start, 0):start + FRAME]
            own = pcm[max(-start, 0):max(-start, 0) + len(part)]
            tries.append((sum((a - b) ** 2 for a, b in zip(part, own)), lost, copy))
        power, lost, state = min(tries, key=lambda t: t[:2])
        error += power
        dropped += [k] * lost
    return dropped, round(math.sqrt(error / len(heard)))

dropped, plain = follow(False)
able = sum(has_fec(sent[k + 1]) for k in dropped)
rebuilt = follow(True)[1]
print("opusdec --packet-loss 10 of the last: %d frames dropped, %d of them before a packet with FEC"
      % (len(dropped), able))
print("  error against opus_decode(NULL) for each %d, against opus_decode(next, decode_fec=1) %d"
      % (plain, rebuilt))
if not (counts[:3] == [0, 0, 0] and counts[3] > 100 and len(dropped) > 15 and able > 5
        and plain == 0 and rebuilt > 300):
    sys.exit("CHANGED: opus-tools' options for loss now bring FEC")
PY
python3 run.py
