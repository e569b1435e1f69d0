#!/usr/bin/env bash
# vo-amrwbenc 0.1.3 (Debian 12 package libvo-amrwbenc0 0.1.3-2; the AMR-WB encoder of GStreamer and
# FFmpeg) with DTX, behind a leg of G.711 A-law; SpeexDSP 1.2.1 (libspeexdsp1 1.2.1-1) raises
# 8000 to 16000 Hz. For comparison AMR by opencore-amr 0.1.6 (libopencore-amrnb0 0.1.6-1).
# Expected: DTX turns a pause into a SID frame of 6 octets every eighth frame and NO_DATA of one
# octet in between (RFC 4867 section 3.4), the more surely the more silent it is.
# Seen: a muted microphone behind A-law is never a pause. A-law has no zero: its digital silence,
# 0xD5, decodes to +8 (G.711 table 1a), and a frame whose samples are all 8 is AMR-WB's "encoder
# homing frame", made for conformance tests. It resets the encoder, VAD and hangover with it, and is
# sent as a full speech frame (the decoder's homing frame), 50 times a second, for ever. All
# samples 7, 9, -8 or 0, mu-law's silence, and faint noise are pauses. A resampler with unity gain
# at DC keeps the 8 exactly. opencore-amr's encoder for AMR has no such test and is not affected.
# Why it matters: a gateway from A-law to AMR-WB sends muted callers at full rate, and a test of DTX
# "with silence" passes in mu-law countries and with zeros. Subtract the 8, or add a little noise.
# Output seen (2 s of talk, then 10 s of this silence; octets per second in the last 8 s):
#   AMR-WB, zeros                     81 octets/s,   0 of 400 frames are speech
#   AMR-WB, mu-law 0xFF, resampled    81 octets/s,   0 of 400 frames are speech
#   AMR-WB, A-law 0xD5, resampled   1650 octets/s, 400 of 400 frames are speech
#   AMR-WB, all samples 7             81 octets/s,   0 of 400 frames are speech
#   AMR-WB, all samples 9             81 octets/s,   0 of 400 frames are speech
#   AMR-WB, A-law, noise of +-1       81 octets/s,   0 of 400 frames are speech
#   AMR,    A-law 0xD5                81 octets/s,   0 of 400 frames are speech
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download \
    libvo-amrwbenc0=0.1.3-2 libopencore-amrnb0=0.1.6-1 libspeexdsp1=1.2.1-1
for deb in *.deb; do dpkg -x "$deb" root; done
cat > run.py <<'PY'
import ctypes as C, glob, math, random, sys

def library(name):
    return C.CDLL(glob.glob("root/usr/lib/*/" + name)[0])

wide, narrow = library("libvo-amrwbenc.so.0"), library("libopencore-amrnb.so.0")
dsp = library("libspeexdsp.so.1")
for start in wide.E_IF_init, narrow.Encoder_Interface_init, dsp.speex_resampler_init:
    start.restype = C.c_void_p

def a_law(octet):                      # G.711, 13 bits shown in 16
    octet ^= 0x55
    step, segment = octet & 15, octet >> 4 & 7
    size = 2 * step + 1 if segment == 0 else (2 * step + 33) << segment - 1
    return (size if octet & 0x80 else -size) * 8

def mu_law(octet):
    octet = ~octet & 0xff
    size = ((2 * (octet & 15) + 33) << (octet >> 4 & 7)) - 33
    return (-size if octet & 0x80 else size) * 4

def raised(samples):                   # 8000 to 16000 Hz
    state = C.c_void_p(dsp.speex_resampler_init(1, 8000, 16000, 3, None))
    out, used, made = (C.c_int16 * (2 * len(samples)))(), C.c_uint(), C.c_uint()
    used.value, made.value = len(samples), len(out)
    given = (C.c_int16 * len(samples))(*samples)
    dsp.speex_resampler_process_int(state, 0, given, C.byref(used), out, C.byref(made))
    return list(out)[:made.value]

def talk(rate):                        # 2 s: gliding harmonics in syllables
    def one(t):
        glide, syllable = t + 0.05 * math.sin(4 * t), abs(math.sin(2 * math.pi * 2.2 * t))
        return 1500 * syllable * sum(math.sin(2 * math.pi * 130 * k * glide) / k
                                     for k in range(1, 20))
    return [round(one(i / rate)) for i in range(2 * rate)]

def sent(name, samples, is_wide):
    size, packet, frames = 320 if is_wide else 160, (C.c_ubyte * 100)(), []
    state = C.c_void_p(wide.E_IF_init() if is_wide else narrow.Encoder_Interface_init(1))
    for at in range(0, len(samples) - size + 1, size):
        block = (C.c_int16 * size)(*samples[at:at + size])
        frames.append(wide.E_IF_encode(state, 2, block, packet, 1) if is_wide else
                      narrow.Encoder_Interface_Encode(state, 7, block, packet, 0))
    end = frames[100 + 100:][:400]     # modes 12.65 and 12.2 kbit/s: 33 and 32 octets
    speech = sum(octets > 30 for octets in end)
    rate = round(sum(end) / 8)
    print("%-31s %4d octets/s, %3d of %d frames are speech" % (name, rate, speech, len(end)))
    assert sum(octets > 30 for octets in frames[:100]) > 90, "talk is not sent as speech"
    return speech

rnd = random.Random(1)
silence = {"A": raised([a_law(0xd5)] * 88000), "mu": raised([mu_law(0xff)] * 88000)}
wb = talk(16000)
pauses = [sent("AMR-WB, zeros", wb + [0] * 160000, True),
          sent("AMR-WB, mu-law 0xFF, resampled", wb + silence["mu"][:160000], True)]
held = sent("AMR-WB, A-law 0xD5, resampled", wb + silence["A"][:160000], True)
pauses += [sent("AMR-WB, all samples 7", wb + [7] * 160000, True),
           sent("AMR-WB, all samples 9", wb + [9] * 160000, True),
           sent("AMR-WB, A-law, noise of +-1",
                wb + [8 + rnd.randint(-1, 1) for _ in range(160000)], True),
           sent("AMR,    A-law 0xD5", talk(8000) + [a_law(0xd5)] * 80000, False)]
if a_law(0xd5) != 8 or mu_law(0xff) != 0 or held != 400 or max(pauses) > 20:
    sys.exit("CHANGED: A-law's silence is a pause for AMR-WB (or other silence is none)")
PY
python3 run.py
