#!/usr/bin/env bash
# FFmpeg 7.1 (in PyPI's av 14.2.0), its own Speex decoder, against libspeex 1.2.1 (Debian 12 package
# libspeex1 1.2.1-2) on the same packets. FFmpeg has it since 5.1 and prefers it to libspeex.
# Expected: both decode alike. The room noise in a pause keeps its level, whether it is coded in
# full, as noise by VBR's lowest rate, or not at all: with DTX a frame without data (5 bits) has the
# decoder go on with the noise of the last one (Speex manual, chapter 2: DTX).
# Seen: packets of constant quality agree within 1 dB. With VBR FFmpeg's noise is 11 dB down in the
# pause, with DTX up to 25 dB: near silence, in narrow and wide band alike. The packets are sound:
# libspeex keeps the level within 2 dB, even if those that the encoder says need not be sent are
# left out and concealed.
# Why it matters: a recorder or bridge that decodes Speex by FFmpeg pumps, each pause of a talker
# sounds like a dropped call, and noise levels or speech shares measured there are the decoder's.
# The far end's setting decides it, so a test with constant quality shows nothing.
# Output seen (talk for 2 s, then a pause with room noise of -61 dBFS: dBFS in its seconds 2 to 4):
#    8000 Hz, quality 8: libspeex -62 -62 -62   FFmpeg -62 -62 -62
#    8000 Hz, VBR:       libspeex -62 -62 -62   FFmpeg -73 -73 -72
#    8000 Hz, VBR, DTX:  libspeex -62 -62 -62   FFmpeg -73 -73 -72
#    8000 Hz, VAD, DTX:  libspeex -63 -64 -63   FFmpeg -85 -87 -86
#   16000 Hz, quality 8: libspeex -62 -62 -62   FFmpeg -62 -62 -62
#   16000 Hz, VBR:       libspeex -62 -62 -62   FFmpeg -72 -72 -73
#   16000 Hz, VBR, DTX:  libspeex -62 -62 -61   FFmpeg -87 -84 -85
#   16000 Hz, VAD, DTX:  libspeex -62 -62 -61   FFmpeg -86 -83 -84
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspeex1=1.2.1-2
dpkg -x libspeex1_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" av==14.2.0 numpy==2.2.6
cat > run.py <<'PY'
import ctypes as C, glob, sys
sys.path.insert(0, "py")
import av
import numpy as np

S = C.CDLL(glob.glob("root/usr/lib/*/libspeex.so.1")[0])
for make in S.speex_lib_get_mode, S.speex_encoder_init, S.speex_decoder_init:
    make.restype = C.c_void_p
QUALITY, VBR, VAD, DTX = 4, 12, 30, 34                     # speex.h: requests

def sound(rate):                       # 2 s of gliding harmonics in syllables, 4 s of pause
    t = np.arange(6 * rate) / rate
    glide = t + 0.05 * np.sin(4 * t)
    talk = sum(np.sin(2 * np.pi * 130 * k * glide) / k for k in range(1, 25))
    talk *= 1500 * np.abs(np.sin(2 * np.pi * 2.2 * t)) * (t < 2)
    return np.round(talk + np.random.default_rng(4).normal(0, 30, len(t))).astype(np.int16)

def bits():
    space = C.create_string_buffer(256)                    # a SpeexBits, whose fields are not used
    S.speex_bits_init(space)
    return space

def encoded(samples, mode, requests):
    state = C.c_void_p(S.speex_encoder_init(C.c_void_p(S.speex_lib_get_mode(mode))))
    for request, value in requests:
        assert S.speex_encoder_ctl(state, request, C.byref(C.c_int(value))) == 0
    size, stream, packets = 160 << mode, bits(), []
    for at in range(0, len(samples) - size + 1, size):
        block = (C.c_int16 * size)(*samples[at:at + size].tolist())
        S.speex_bits_reset(stream)
        needed = S.speex_encode_int(state, block, stream)
        octets = C.create_string_buffer(200)
        count = S.speex_bits_write(stream, octets, 200)
        packets.append((octets.raw[:count], needed))
    return packets

def by_libspeex(packets, mode, leave_out):
    state = C.c_void_p(S.speex_decoder_init(C.c_void_p(S.speex_lib_get_mode(mode))))
    size, stream, out = 160 << mode, bits(), []
    for octets, needed in packets:
        block = (C.c_int16 * size)()
        if leave_out and not needed:
            S.speex_decode_int(state, None, block)
        else:
            S.speex_bits_read_from(stream, C.c_char_p(octets), len(octets))
            assert S.speex_decode_int(state, stream, block) == 0
        out.extend(block)
    return np.array(out, float) / 32768

def by_ffmpeg(packets, mode):
    decoder = av.CodecContext.create("speex", "r")
    decoder.sample_rate, decoder.layout = 8000 << mode, "mono"
    frames = [f.to_ndarray().ravel() for octets, _ in packets
              for f in decoder.decode(av.Packet(octets))]
    assert decoder.codec.name == "speex" and frames[0].dtype == np.float32
    return np.concatenate(frames).astype(float)

def pause(samples, rate):
    return [10 * np.log10(np.mean(samples[s * rate:s * rate + rate] ** 2)) for s in range(3, 6)]

ok = True
for mode in 0, 1:
    for name, requests in (("quality 8", ((QUALITY, 8),)), ("VBR", ((VBR, 1),)),
                           ("VBR, DTX", ((VBR, 1), (DTX, 1))), ("VAD, DTX", ((VAD, 1), (DTX, 1)))):
        rate = 8000 << mode
        packets = encoded(sound(rate), mode, requests)
        ours, theirs = by_libspeex(packets, mode, False), by_ffmpeg(packets, mode)
        assert len(ours) == len(theirs)
        kept, fallen = pause(ours, rate), pause(theirs, rate)
        left_out = pause(by_libspeex(packets, mode, True), rate)
        talk = [10 * np.log10(np.mean(v[:2 * rate] ** 2)) for v in (ours, theirs)]
        show = lambda levels: " ".join("%3.0f" % v for v in levels)
        print("%5d Hz, %-10s libspeex %s   FFmpeg %s"
              % (rate, name + ":", show(kept), show(fallen)))
        ok &= abs(talk[0] - talk[1]) < 1 and max(abs(v + 61) for v in kept + left_out) < 5
        if name == "quality 8":
            ok &= max(abs(v + 61) for v in fallen) < 3
        else:
            ok &= max(fallen) < -69
if not ok:
    sys.exit("CHANGED: FFmpeg's Speex decoder keeps the noise in pauses (or libspeex does not)")
PY
python3 run.py
