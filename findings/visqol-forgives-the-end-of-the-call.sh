#!/usr/bin/env bash
# ViSQOL as visqol-python 3.8.0 (PyPI; its authors check it against the figures of ViSQOL 3.3.3),
# speech mode, polynomial mapping, 16 kHz. The speech is that of alsa-utils 1.2.8-1 (Debian 12).
# Expected: a measure that compares what was sent with what was heard gives a call that breaks off
# a low score, as it does one that falls silent.
# Seen: patches of the reference for which the heard file is too short are left out of the mean, and
# the score is that of the part that was there. The first third of the talk alone has 4.7 of 5; the
# same with silence after it, up to the full length, has 2.0. A talk whose first two thirds are
# missing is scored as it should be. (A log line says "Dropping ... patches", the result nothing.)
# Nor does it hear levels: what comes 60 dB too quiet, which nobody could hear, has 5.0.
# It matters to a laboratory that scores calls: one that is dropped early, a recorder that stops
# with the stream, or a far end that sends nothing more gets the score of a good call. Compare
# durations and levels first, and pad what was heard with silence to the full length.
# Output:
#   as sent                       5.6 s  MOS 5.00
#   60 dB too quiet               5.6 s  MOS 5.00
#   only the first third          1.9 s  MOS 4.70
#   first third, then silence     5.6 s  MOS 2.04
#   only the last third           1.9 s  MOS 2.44
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download alsa-utils=1.2.8-1
for deb in *.deb; do dpkg -x "$deb" root; done
# --no-deps: its fourth dependency, libsvm, is for music alone.
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --only-binary :all: --target lib visqol-python==3.8.0 numpy==2.2.6 scipy==1.15.3 \
    soundfile==0.13.1 cffi==1.17.1
cat > run.py <<'PY'
import sys, wave
import numpy as np
from scipy.signal import resample_poly
from visqol import VisqolApi

RATE = 16000

def talk(name):
    with wave.open("root/usr/share/sounds/alsa/%s.wav" % name) as w:
        assert w.getframerate() == 48000 and w.getnchannels() == 1
        sound = np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(float)
    return resample_poly(sound / 65536, 1, 3)

sent = np.concatenate([talk(n) for n in ("Front_Center", "Rear_Left", "Side_Right", "Rear_Right")])
third = len(sent) // 3
api = VisqolApi()
api.create(mode="speech", use_lattice_model=False)

def score(name, heard):
    mos = api.measure_from_arrays(sent, heard, RATE).moslqo
    print("%-28s %4.1f s  MOS %.2f" % (name, len(heard) / RATE, mos), flush=True)
    return mos

good = [score("as sent", sent), score("60 dB too quiet", sent / 1000),
        score("only the first third", sent[:third])]
bad = [score("first third, then silence", np.where(np.arange(len(sent)) < third, sent, 0)),
       score("only the last third", sent[-third:])]
if not (all(mos > 4.4 for mos in good) and all(mos < 3.2 for mos in bad)):
    sys.exit("CHANGED: what ViSQOL gives to calls that break off")
PY
PYTHONPATH=lib timeout 110 python3 run.py
