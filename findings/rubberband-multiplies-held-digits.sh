#!/usr/bin/env bash
# Rubber Band 3.1.2 (Debian 12 package rubberband-cli 3.1.2+dfsg0-1), its default engine (R2, which
# the manual calls "faster"; librubberband's default, too), stretching telephone tones by 10 %.
# Expected: a time stretcher changes the length and not the pitch. A steady tone is the easiest of
# all sounds for a phase vocoder: it comes out as one longer steady tone.
# Seen: R2 takes steady tones for transients time and again and begins anew there, so that the tone
# is broken into pieces with jumps of phase; what is beside the tones is 14 to 24 dB below them. A
# key that is held for five seconds is heard as two to ten keys by spandsp's detector, which PBXs
# use. --realtime breaks tones, too. Which ones depends on frequency, rate and ratio. The R3 engine
# leaves the tones whole, 58 dB above all else. So does R2 with --crisp 0, which however smears
# short digits into one another. SoundTouch splices them, but so that they stay one key each.
# It matters to who adapts a playout buffer with it or plays voice mail slower: menus get digits
# that nobody pressed, dial and ringing tones warble, and tests with speech sound right. Use R3
# (-3, RubberBandStretcher's OptionEngineFiner), or a stretcher that splices in time.
# Output (keys: what a detector makes of keys 1, 0, 9, 5, 3; rest: what is beside their tones):
#   as they were    keys 1 0 9 5 3                    rest -85 -85 -85 -85 -85 dB
#   R2              keys 111 0000000000 99 55555 33333 rest -19 -14 -18 -20 -24 dB
#   R2, --realtime  keys 111 00000 9999 5 33          rest -15 -23 -12 -16 -9 dB
#   R2, --crisp 0   keys 1 0 9 5 3                    rest -62 -63 -65 -63 -64 dB
#   R3              keys 1 0 9 5 3                    rest -61 -58 -59 -59 -62 dB
#   SoundTouch      keys 1 0 9 5 3                    rest -25 -22 -24 -25 -18 dB
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# What is under test is pinned; the libraries that it needs besides come as Debian has them.
apt-get -qq -o APT::Sandbox::User=root download rubberband-cli=3.1.2+dfsg0-1 \
    soundstretch=2.3.2+ds1-1 libsoundtouch1=2.3.2+ds1-1 libspandsp2=0.0.6+dfsg-2+b1 \
    libsndfile1 libflac12 libogg0 libvorbis0a libvorbisenc2 libopus0 libmpg123-0 libmp3lame0 \
    libtiff6 libwebp7 liblerc4 libjbig0 libjpeg62-turbo libdeflate0 libzstd1 liblzma5
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --target lib numpy==2.2.6
cat > run.py <<'PY'
import ctypes as C, glob, subprocess, sys, wave
import numpy as np

RATE, LOW, HIGH = 8000, (697, 770, 852, 941), (1209, 1336, 1477)
TONES = {k: (LOW[n // 3], HIGH[n % 3]) for n, k in enumerate("123456789*0#")}
S = C.CDLL(glob.glob("root/usr/lib/*/libspandsp.so.2")[0])
S.dtmf_rx_init.restype = C.c_void_p
S.dtmf_rx.argtypes = S.dtmf_rx_get.argtypes = [C.c_void_p, C.c_char_p, C.c_int]

def keys(sound):
    state, room = S.dtmf_rx_init(None, None, None), C.create_string_buffer(128)
    S.dtmf_rx(state, sound.astype("<i2").tobytes(), len(sound))
    S.dtmf_rx_get(state, room, 127)
    return room.value.decode()

def rest(sound, tones):                # what is beside the tones, dB
    middle = sound[RATE:4 * RATE]      # three of five seconds
    power = np.abs(np.fft.rfft(middle * np.blackman(len(middle)))) ** 2
    tone = np.zeros(len(power), bool)
    for f in tones:
        at = round(f * len(middle) / RATE)
        tone[at - 12:at + 13] = True
    return 10 * np.log10(power[~tone].sum() / power[tone].sum())

def stretched(sound, tool):
    if not tool:
        return sound
    with wave.open("in.wav", "wb") as w:
        w.setparams((1, 2, RATE, 0, "NONE", ""))
        w.writeframes(sound.astype("<i2").tobytes())
    command = [t.replace("IN", "in.wav").replace("OUT", "out.wav") for t in tool.split()]
    subprocess.run(["root/usr/bin/" + command[0], *command[1:]], check=True, capture_output=True,
                   timeout=30)
    with wave.open("out.wav") as w:
        return np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(float)

t = np.arange(5 * RATE) / RATE
pause = np.zeros(RATE // 4)
got = {}
for name, tool in (("as they were", ""), ("R2", "rubberband -q -t1.1 IN OUT"),
                   ("R2, --realtime", "rubberband -q -t1.1 --realtime IN OUT"),
                   ("R2, --crisp 0", "rubberband -q -t1.1 --crisp 0 IN OUT"),
                   ("R3", "rubberband -q -3 -t1.1 IN OUT"),
                   ("SoundTouch", "soundstretch IN OUT -tempo=-9.0909 -speech")):
    heard, rests = [], []
    for key in "10953":
        sine = sum(5000 * np.sin(2 * np.pi * f * t) for f in TONES[key])
        sound = stretched(np.round(np.concatenate([pause, sine, pause])), tool)
        heard.append(keys(sound))
        rests.append(rest(sound, TONES[key]))
    got[name] = heard, rests
    print("%-15s keys %-28s rest %s dB"
          % (name, " ".join(heard), " ".join("%.0f" % r for r in rests)), flush=True)
for name, (heard, rests) in got.items():
    assert all(set(h) == {k} for h, k in zip(heard, "10953"))
    many = sum(len(h) > 1 for h in heard)
    right = {"R2": many == 5 and max(rests) > -20, "R2, --realtime": many >= 3,
             "SoundTouch": many == 0}.get(name, many == 0 and max(rests) < -45)
    if not right:
        sys.exit("CHANGED: what becomes of tones with " + name)
PY
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-*-*)
export LD_LIBRARY_PATH
PYTHONPATH=lib timeout 100 python3 run.py
