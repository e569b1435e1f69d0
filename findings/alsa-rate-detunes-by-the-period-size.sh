#!/usr/bin/env bash
# alsa-lib 1.2.8 (Debian 12 libasound2 1.2.8-1+b1) with the converters of libasound2-plugins
# 1.2.7.1-1, played to by aplay (alsa-utils 1.2.8-1).
# Expected: the "rate" plugin (in "default", "plughw" and "plug") converts by the ratio of the two
# rates. How large the program's periods are is a matter of latency, not of pitch.
# Seen: it converts by the ratio of the two PERIODS. The card's period is the program's, converted
# and cut to whole frames, and that ratio is what the converter is given: 48000 Hz played to a card
# of 44100 Hz in periods of 64 frames is converted by 58 : 64, not by 58.8 : 64. The sound is 1.38 %
# too high and as much too short, with Speex's converter (which libasound2-plugins makes the
# default), with libsamplerate's and with ALSA's own alike. Nothing is reported, and both sides go
# on showing the rates that were asked for. Periods of 10 ms, whole in both rates, are exact.
# It matters to a phone on ALSA: small periods in powers of two are what low latency asks for. A
# clock that is 2000 to 14000 ppm off looks like a broken crystal: the far end's jitter buffer runs
# dry or over every few seconds, an echo canceller loses its delay, and tones that the phone plays
# lose most of the 1.5 % that Q.24 grants to DTMF. Choose periods that are whole in both rates.
# Output (a tone of 1000 Hz, as the card hears it; frames: those missing at the card):
#   48000 to 44100, periods of   64, speexrate : 1013.79 Hz, 13605 ppm of the frames missing
#   48000 to 44100, periods of   64, samplerate: 1013.79 Hz, 13605 ppm of the frames missing
#   48000 to 44100, periods of   64, linear    : 1013.79 Hz, 13605 ppm of the frames missing
#   44100 to 48000, periods of  256, speexrate : 1002.30 Hz,  2385 ppm of the frames missing
#   44100 to 16000, periods of  512, speexrate : 1004.11 Hz,  4469 ppm of the frames missing
#   44100 to  8000, periods of 1024, speexrate : 1004.11 Hz,  4469 ppm of the frames missing
#    8000 to 44100, periods of   64, speexrate : 1002.27 Hz,  2268 ppm of the frames missing
#   48000 to 44100, periods of 1024, speexrate : 1000.85 Hz,   317 ppm of the frames missing
#   48000 to 44100, periods of  480, speexrate : 1000.00 Hz,     0 ppm of the frames missing
#   44100 to  8000, periods of  441, speexrate : 1000.00 Hz,     0 ppm of the frames missing
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download alsa-utils=1.2.8-1 libasound2=1.2.8-1+b1 \
    libasound2-plugins=1.2.7.1-1 libspeexdsp1=1.2.1-1 libsamplerate0=0.2.2-3
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target lib numpy==2.2.6
cat > run.py <<'PY'
import glob, os, subprocess, sys
import numpy as np

libs = os.path.abspath(glob.glob("root/usr/lib/*-*-*")[0])

def play(source, card, period, converter, seconds):
    sine = 10000 * np.sin(2 * np.pi * 1000 * np.arange(source * seconds) / source)
    np.round(sine).astype("<i2").tofile("sine.raw")
    with open("alsa.conf", "w") as f:
        f.write("pcm.card { type file slave.pcm { type null } file heard.raw format raw }\n"
                'pcm.phone { type rate converter "%s"\n'
                "    slave { pcm card rate %d format S16_LE } }\n" % (converter, card))
    if os.path.exists("heard.raw"):
        os.remove("heard.raw")
    env = dict(os.environ, LD_LIBRARY_PATH=libs, ALSA_CONFIG_PATH=os.path.abspath("alsa.conf"),
               ALSA_PLUGIN_DIR=libs + "/alsa-lib")
    done = subprocess.run(["root/usr/bin/aplay", "-q", "-D", "phone", "-t", "raw", "-f", "S16_LE",
                           "-c", "1", "-r", str(source), "--period-size=%d" % period,
                           "--buffer-size=%d" % (4 * period), "sine.raw"],
                          env=env, capture_output=True, timeout=30)
    if done.returncode or done.stderr:
        sys.exit("CHANGED: aplay says " + done.stderr.decode())
    return np.fromfile("heard.raw", "<i2").astype(float)

def measure(source, card, period, converter):
    short, long = (play(source, card, period, converter, s) for s in (10, 30))
    ppm = 1e6 * ((len(long) - len(short)) / (20 * card) - 1)
    spectrum = np.abs(np.fft.rfft(long[card:9 * card] * np.hanning(8 * card))) ** 2
    peak = int(np.argmax(spectrum))
    near = spectrum[peak - 6:peak + 7]
    tone = (near * np.arange(peak - 6, peak + 7)).sum() / near.sum() / 8
    print("%5d to %5d, periods of %4d, %-10s: %7.2f Hz, %5.0f ppm of the frames missing"
          % (source, card, period, converter, tone, abs(ppm)), flush=True)
    return ppm, tone

wrong = []
for case in ((48000, 44100, 64, "speexrate"), (48000, 44100, 64, "samplerate"),
             (48000, 44100, 64, "linear"), (44100, 48000, 256, "speexrate"),
             (44100, 16000, 512, "speexrate"), (44100, 8000, 1024, "speexrate"),
             (8000, 44100, 64, "speexrate"), (48000, 44100, 1024, "speexrate"),
             (48000, 44100, 480, "speexrate"), (44100, 8000, 441, "speexrate")):
    source, card, period, _ = case
    exact = period * card / source
    ratio = int(exact) / exact         # 1 for periods that are whole in both rates
    ppm, tone = measure(*case)
    if abs(tone - 1000 / ratio) > 0.1 or abs(ppm - 1e6 * (ratio - 1)) > 1e6 * exact / (20 * card):
        wrong.append(case)             # (frames reach the card by whole periods)
if wrong:
    sys.exit("CHANGED: how far ALSA's rate plugin is off: %s" % wrong)
PY
PYTHONPATH=lib timeout 100 python3 run.py
