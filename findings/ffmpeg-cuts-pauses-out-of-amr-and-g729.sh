#!/usr/bin/env bash
# FFmpeg 7.1's own AMR-NB, AMR-WB and G.729 decoders, its default ones (in PyPI's av 14.2.0). The
# streams come from Debian 12's libopencore-amrnb0 0.1.6-1, libvo-amrwbenc0 0.1.3-2 and
# libbcg729-0 1.1.1-2 with DTX (VAD): 2 s of voice, 5 s of room noise, 2 s of voice.
# Expected: an AMR or AMR-WB decoder turns each SID and NO_DATA frame into 20 ms of comfort noise
# (3GPP TS 26.092 and 26.192; RFC 4867 section 5.3 stores them in files), a G.729 decoder each SID
# and each frame not sent into 10 ms (G.729 Annex B). So the sound lasts 9 s.
# Seen: none of the three knows comfort noise. AMR-NB gives an error for SID and NO_DATA, AMR-WB for
# SID, G.729 for SID: those frames are left out and what follows moves forward. The ffmpeg tool
# reports errors and goes on; its file has the voice, but no pauses. The libraries' own decoders
# give all 9 s.
# It matters to a recorder or a measurement of mobile calls: the two sides of a call drift apart by
# each pause, and delay, talk time and PESQ are those of a call that never was. (FFmpeg's own
# Opus decoder keeps the length.)
# Output (pause of 5 s; for G.729 the frames not sent, 10 ms each, are no packets at all):
#   AMR-NB: 450 frames, 215 of voice; FFmpeg 4.30 s, 235 errors; libopencore-amrnb 9.00 s
#   AMR-WB: 450 frames, 244 of voice; FFmpeg 8.46 s, 27 errors; libopencore-amrwb 9.00 s
#   G.729:  900 frames, 451 of voice; FFmpeg 4.51 s, 5 errors; libbcg729 9.00 s
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download {libopencore-amrnb0,libopencore-amrwb0}=0.1.6-1 \
    libvo-amrwbenc0=0.1.3-2 libbcg729-0=1.1.1-2
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" av==14.2.0
cat > run.py <<'PY'
import ctypes as C, glob, math, random, sys
sys.path.insert(0, "py")
import av
av.logging.set_level(av.logging.PANIC)

def library(name):
    return C.CDLL(glob.glob("root/usr/lib/*/" + name + ".so.0")[0])

NB, WB = library("libopencore-amrnb"), library("libopencore-amrwb")
VO, B = library("libvo-amrwbenc"), library("libbcg729")
for f in (NB.Encoder_Interface_init, NB.Decoder_Interface_init, VO.E_IF_init, WB.D_IF_init,
          B.initBcg729EncoderChannel, B.initBcg729DecoderChannel):
    f.restype = C.c_void_p
rnd = random.Random(1)
voice = [int(8000 * math.sin(i * .15) * (1 + math.sin(i * .004)) / 2 + rnd.gauss(0, 300))
         for i in range(16000)]
sound = voice + [int(rnd.gauss(0, 60)) for _ in range(40000)] + voice

def encode(size, step, width=1):           # step(samples, buffer) returns the length
    pcm = [v for v in sound for _ in range(width)]
    out = []
    for at in range(0, len(pcm), size):
        buffer = (C.c_ubyte * 64)()
        count = step((C.c_short * size)(*pcm[at:at + size]), buffer)
        out.append(bytes(buffer[:count]))
    return out

def bcg729(samples, buffer):
    count = C.c_uint8()
    B.bcg729Encoder(encoder, samples, buffer, C.byref(count))
    return count.value

def ffmpeg(name, rate, packets):
    codec = av.CodecContext.create(name, "r")
    codec.sample_rate, codec.layout = rate, "mono"
    samples = errors = 0
    for packet in packets:
        try:
            samples += sum(f.samples for f in codec.decode(av.Packet(packet)))
        except (av.error.InvalidDataError, av.error.PatchWelcomeError):
            errors += 1
    return samples / rate, errors

encoder = C.c_void_p(NB.Encoder_Interface_init(1))
narrow = encode(160, lambda s, b: NB.Encoder_Interface_Encode(encoder, 7, s, b, 0))
encoder_wb = C.c_void_p(VO.E_IF_init())
wide = encode(320, lambda s, b: VO.E_IF_encode(encoder_wb, 2, s, b, 1), 2)
encoder = C.c_void_p(B.initBcg729EncoderChannel(C.c_uint8(1)))
g729 = encode(80, bcg729)

def own(start, frames, size, decode):      # the library's decoder gets each frame and is heard
    state, out, heard = C.c_void_p(start()), (C.c_short * size)(), 0
    for frame in frames:
        out[:] = [0] * size
        decode(state, (C.c_ubyte * 64)(*frame) if frame else None, len(frame), out)
        heard += any(out)
    return heard

heard = (own(NB.Decoder_Interface_init, narrow, 160,
             lambda s, f, n, o: NB.Decoder_Interface_Decode(s, f, o, 0)),
         own(WB.D_IF_init, wide, 320, lambda s, f, n, o: WB.D_IF_decode(s, f, o, 0)),
         own(B.initBcg729DecoderChannel, g729, 80,
             lambda s, f, n, o: B.bcg729Decoder(s, f, C.c_uint8(n), C.c_uint8(n == 0),
                                                C.c_uint8(n == 2), C.c_uint8(0), o)))
got = []
for name, decoder, rate, frames, ms, speech, lib, n in (
        ("AMR-NB:", "amrnb", 8000, narrow, 20, 32, "libopencore-amrnb", heard[0]),
        ("AMR-WB:", "amrwb", 16000, wide, 20, 33, "libopencore-amrwb", heard[1]),
        ("G.729: ", "g729", 8000, g729, 10, 10, "libbcg729", heard[2])):
    seconds, errors = ffmpeg(decoder, rate, [f for f in frames if f])
    spoken = sum(len(f) == speech for f in frames)
    print("%s %d frames, %d of voice; FFmpeg %.2f s, %d errors; %s %.2f s"
          % (name, len(frames), spoken, seconds, errors, lib, n * ms / 1000))
    got.append((round(seconds, 2), errors, n * ms))
if got != [(4.3, 235, 9000), (8.46, 27, 9000), (4.51, 5, 9000)]:
    sys.exit("CHANGED: FFmpeg's decoders of AMR and G.729 treat pauses otherwise")
PY
python3 run.py
