#!/usr/bin/env bash
# SDL 2.26.5 (Debian 12 package libsdl2-2.0-0 2.26.5+dfsg-1), its SDL_AudioStream, mono S16, fed
# with blocks as a sound card gives them.
# Expected: SDL_audio.h praises it for "resampling data in chunks without generating artifacts" and
# for "incoming data in any variable size". How the sound is cut into blocks is of no account: 60 s
# in are 60 s out.
# Seen: blocks that give less than 512 samples are collected until they do; such a piece gives 512
# samples, and the fraction of one that it leaves over is thrown away. From 48000 to 44100 Hz in
# blocks of 10 ms one sample in 775 is missing: the clock is 1290 ppm off, ten times what bad
# crystals are, a tone of 1000 Hz comes out as 1001.3 Hz, and the joints are noise 31 dB under it.
# 44100 to 16000 Hz loses 566 ppm, and besides comes in lumps of 32 ms; 44100 to 8000 Hz loses 212.
# Blocks of 512 samples and more, whole in both rates, lose nothing. No call returns an error.
# It matters to a phone on SDL with a card of 44100 Hz: the far end's jitter buffer sees a drift
# that no clock has, 1.3 ms in each second at worst, and an echo canceller loses its delay. A test
# that converts a file in one piece finds nothing. Put blocks of 20 ms between 44100 and 48000 Hz,
# of 40 ms between 44100 and 16000 Hz, or resample with something else.
# Output (a 1 kHz sine; missing: of 20 s from the 10th second on; noise: under the sine):
#   48000 to 44100, blocks of  480:  1291 ppm missing, 1001.3 Hz, noise -31 dB
#   44100 to 48000, blocks of  441:   501 ppm missing, 1000.5 Hz, noise -40 dB
#   44100 to 16000, blocks of  441:   566 ppm missing, 1000.6 Hz, noise -30 dB
#   44100 to  8000, blocks of  441:   212 ppm missing, 1000.2 Hz, noise -32 dB
#   48000 to 44100, blocks of  960:     0 ppm missing, 1000.0 Hz, noise -75 dB
#   44100 to 48000, blocks of  882:     0 ppm missing, 1000.0 Hz, noise -62 dB
#   44100 to 16000, blocks of 1764:     0 ppm missing, 1000.0 Hz, noise -62 dB
#    8000 to 48000, blocks of   80:     0 ppm missing, 1000.0 Hz, noise -61 dB
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p deb/partial
# SDL itself is pinned; the libraries that it is linked to come as Debian has them.
package=libsdl2-2.0-0=2.26.5+dfsg-1
apt-get -qq -y -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Cache::archives="$dir/deb" \
    --no-install-recommends --reinstall --download-only install $package > /dev/null
for deb in deb/*.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target lib numpy==2.2.6
cat > run.py <<'PY'
import ctypes, glob, math, sys
import numpy as np

S16, ROOM = 0x8010, 1 << 20
sdl = ctypes.CDLL(glob.glob("root/usr/lib/*/libSDL2-2.0.so.0")[0])
sdl.SDL_NewAudioStream.restype = ctypes.c_void_p
sdl.SDL_NewAudioStream.argtypes = [ctypes.c_uint16, ctypes.c_uint8, ctypes.c_int] * 2
sdl.SDL_AudioStreamPut.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
sdl.SDL_AudioStreamGet.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
sdl.SDL_AudioStreamFlush.argtypes = sdl.SDL_FreeAudioStream.argtypes = [ctypes.c_void_p]

def convert(source, target, block, seconds):
    stream = sdl.SDL_NewAudioStream(S16, 1, source, S16, 1, target)
    sine = np.round(10000 * np.sin(2 * np.pi * 1000 * np.arange(source * seconds) / source))
    sent, room, heard = sine.astype("<i2").tobytes(), ctypes.create_string_buffer(ROOM), []

    def take():
        while (got := sdl.SDL_AudioStreamGet(stream, room, ROOM)) > 0:
            heard.append(room.raw[:got])
        if got < 0:
            sys.exit("CHANGED: SDL reports an error")
    for at in range(0, len(sent), 2 * block):
        if sdl.SDL_AudioStreamPut(stream, sent[at:at + 2 * block], 2 * block):
            sys.exit("CHANGED: SDL reports an error")
        take()
    sdl.SDL_AudioStreamFlush(stream)
    take()
    sdl.SDL_FreeAudioStream(stream)
    return np.frombuffer(b"".join(heard), "<i2").astype(float)

def measure(source, target, block):
    short, long = convert(source, target, block, 10), convert(source, target, block, 30)
    missing = 1e6 * (1 - (len(long) - len(short)) / (20 * target))
    spectrum = np.abs(np.fft.rfft(long[target:9 * target] * np.hanning(8 * target))) ** 2
    peak = int(np.argmax(spectrum))
    near = spectrum[peak - 6:peak + 7]
    frequency = (near * np.arange(peak - 6, peak + 7)).sum() / near.sum() / 8
    noise = 10 * math.log10((spectrum.sum() - near.sum()) / near.sum())
    print("%5d to %5d, blocks of %4d: %5.0f ppm missing, %.1f Hz, noise %.0f dB"
          % (source, target, block, abs(missing), frequency, noise), flush=True)
    return missing, noise

lossy = [measure(*case) for case in ((48000, 44100, 480), (44100, 48000, 441), (44100, 16000, 441),
                                     (44100, 8000, 441))]
whole = [measure(*case) for case in ((48000, 44100, 960), (44100, 48000, 882), (44100, 16000, 1764),
                                     (8000, 48000, 80))]
expected = (1291, 501, 566, 212)
if not (all(abs(ppm - e) < 10 and noise > -45 for (ppm, noise), e in zip(lossy, expected))
        and all(abs(ppm) < 1 and noise < -55 for ppm, noise in whole)):
    sys.exit("CHANGED: what SDL_AudioStream loses")
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -path '*-linux-gnu/lib*' -printf '%h\n' |
    sort -u | paste -sd:)
export LD_LIBRARY_PATH
PYTHONPATH=lib timeout 80 python3 run.py
