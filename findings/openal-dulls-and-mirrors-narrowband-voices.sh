#!/usr/bin/env bash
# OpenAL Soft 1.19.1 (Debian 12 package libopenal1 1:1.19.1-2), mono S16 buffers of several rates,
# rendered at 48000 Hz by its loopback device (ALC_SOFT_loopback), all defaults.
# Expected: a buffer has its own rate (alBufferData), and the library turns it into the device's.
# What is in a buffer of 8000 Hz comes out as it was, with nothing above 4 kHz. A source with gain
# 1, straight ahead, is as loud on two speakers as on one.
# Seen: by default it draws straight lines between the samples, without any filter. A voice of 8000
# Hz loses 5.5 dB at 3 kHz and 6 at 3.4 kHz, and is heard once more above 4 kHz, upside down: 3 kHz
# again at 5 kHz, only 8.7 dB weaker than itself. On two channels a source is 4.5 dB quieter in each
# than it is on one. Device and context have no attribute for it, only each source (the extension
# AL_SOFT_source_resampler) and a configuration file of the user.
# It matters to a phone that plays calls through OpenAL, as some messengers do: G.711 and wideband
# sound dull and metallic at once though the decoder's output is good, and what the speaker adds
# above 4 kHz is not in the echo canceller's reference. Resample to the device's rate before OpenAL,
# or set the best resampler for the source (last line).
# Output (level against the tone in the buffer, and that of its image):
#   buffer of 48000 Hz, 1 channel:  3000 Hz:  -0.0 dB
#   buffer of  8000 Hz, 1 channel:  1000 Hz:  -1.8 dB,  7000 Hz: -35.2 dB
#   buffer of  8000 Hz, 1 channel:  3000 Hz:  -5.5 dB,  5000 Hz: -14.2 dB
#   buffer of  8000 Hz, 1 channel:  3400 Hz:  -6.2 dB,  4600 Hz: -11.1 dB
#   buffer of 16000 Hz, 1 channel:  6000 Hz:  -5.5 dB, 10000 Hz: -14.2 dB
#   buffer of 48000 Hz, 2 channels: 3000 Hz:  -4.5 dB
#   buffer of  8000 Hz, 2 channels: 3000 Hz: -10.0 dB,  5000 Hz: -18.7 dB
#   buffer of  8000 Hz, 1 channel:  3000 Hz:  -1.8 dB,  5000 Hz: -88.7 dB (23rd order Sinc)
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libopenal1=1:1.19.1-2 \
    libsndio7.0 libasound2 libbsd0 libmd0
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target lib numpy==2.2.6
cat > run.py <<'PY'
import ctypes, glob, sys
import numpy as np

al = ctypes.CDLL(glob.glob("root/usr/lib/*/libopenal.so.1")[0])
al.alcLoopbackOpenDeviceSOFT.restype = al.alcCreateContext.restype = ctypes.c_void_p
al.alcCreateContext.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
al.alcMakeContextCurrent.argtypes = al.alcDestroyContext.argtypes = [ctypes.c_void_p]
al.alcCloseDevice.argtypes = [ctypes.c_void_p]
al.alcRenderSamplesSOFT.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
al.alGetStringiSOFT.restype = ctypes.c_char_p
RATE, AMPLITUDE, CHANNELS = 48000, 10000, {1: 0x1500, 2: 0x1501}

def render(rate, frequency, channels, resampler=None):
    """The spectrum of a second of the first channel, in dB against the tone, by Hz."""
    device = al.alcLoopbackOpenDeviceSOFT(None)
    wanted = (ctypes.c_int * 7)(0x1990, CHANNELS[channels], 0x1991, 0x1402, 0x1007, RATE, 0)
    context = al.alcCreateContext(device, wanted)
    al.alcMakeContextCurrent(context)
    buffer, source = ctypes.c_uint(), ctypes.c_uint()
    al.alGenBuffers(1, ctypes.byref(buffer))
    al.alGenSources(1, ctypes.byref(source))
    tone = AMPLITUDE * np.sin(2 * np.pi * frequency * np.arange(2 * rate) / rate)
    data = np.round(tone).astype("<i2").tobytes()
    al.alBufferData(buffer, 0x1101, data, len(data), rate)             # AL_FORMAT_MONO16
    al.alSourcei(source, 0x1009, buffer.value)                         # AL_BUFFER
    if resampler is not None:
        al.alSourcei(source, 0x1212, resampler)                        # AL_SOURCE_RESAMPLER_SOFT
    al.alSourcePlay(source)
    out = (ctypes.c_int16 * (RATE * channels * 3 // 2))()
    al.alcRenderSamplesSOFT(device, out, RATE * 3 // 2)
    if al.alGetError():
        sys.exit("CHANGED or not run: OpenAL reports an error")
    names = [al.alGetStringiSOFT(0x1213, n) for n in range(al.alGetInteger(0x1210))]
    al.alcMakeContextCurrent(None)
    al.alcDestroyContext(context)
    al.alcCloseDevice(device)
    heard = np.frombuffer(out, "<i2").reshape(-1, channels)[RATE // 2:, 0]
    spectrum = np.abs(np.fft.rfft(heard * np.hanning(RATE))) * 4 / RATE / AMPLITUDE
    return 20 * np.log10(spectrum + 1e-9), names

def peak(levels, frequency):               # the tone may be a few hundredths of a Hz off
    return float(max(levels[frequency - 12:frequency + 13]))

CASES = ((48000, 3000, 1, None), (8000, 1000, 1, None), (8000, 3000, 1, None),
         (8000, 3400, 1, None), (16000, 6000, 1, None), (48000, 3000, 2, None),
         (8000, 3000, 2, None), (8000, 3000, 1, 4))
got = []
for rate, frequency, channels, resampler in CASES:
    levels, names = render(rate, frequency, channels, resampler)
    line = [peak(levels, f) for f in (frequency, rate - frequency) if f < RATE / 2]
    got.append(line)
    print("buffer of %5d Hz, %d channel%s %d Hz: %5.1f dB%s%s"
          % (rate, channels, ": " if channels == 1 else "s:", frequency, line[0],
             "" if rate == RATE else ", %5d Hz: %5.1f dB" % (rate - frequency, line[1]),
             "" if resampler is None else " (%s)" % names[resampler].decode()))
expected = ((0,), (-1.8, -35.2), (-5.5, -14.2), (-6.2, -11.1), (-5.5, -14.2), (-4.5,),
            (-10, -18.7), (-1.8, None))
if (any(e is not None and abs(g - e) > 0.5 for line, wanted in zip(got, expected, strict=True)
        for g, e in zip(line, wanted, strict=True)) or got[-1][1] > -60):
    sys.exit("CHANGED: how OpenAL plays sound of another rate")
PY
export LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu*)
HOME=$dir XDG_CONFIG_HOME=$dir PYTHONPATH=lib timeout 60 python3 run.py
