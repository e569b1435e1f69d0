#!/usr/bin/env bash
# AECMOS as packaged by Microsoft in speechmos 0.0.1.1 (PyPI; onnxruntime 1.22.1, librosa 0.11.0),
# the measure of the AEC Challenges: echo MOS and degradation MOS, 1 to 5, from far end, microphone
# and processed signal. 16 kHz, 12 s. Talk: prompts of Asterisk (Debian 12 package
# asterisk-core-sounds-en-g722 1.6.1-1), decoded by FFmpeg (PyPI av 14.2.0).
# Expected: the more of the echo is left, the lower the echo MOS; with nothing but echo in the
# microphone a canceller that takes 30 dB scores well above one that does nothing. A canceller that
# swallows the near end in double talk scores badly for degradation.
# Seen: each of the three signals is scaled to its own loudest spot first, so its level is lost.
# With 10, 20 or 30 dB less echo the echo MOS is the same 1.54 as with none removed. Only sounds
# beside the echo tell them apart: the same 30 dB with the room noise left in get 2.77. In double
# talk a near end 40 dB too quiet scores like the perfect one, 4.61, and a microphone that is muted
# altogether has 4.73 and 5.00: more than the perfect one. The scenarioless model does the same.
# Why it matters: tuned by this figure, a suppressor that mutes in double talk wins over one that
# lets people talk, and attenuation that a caller hears well counts nothing. Measure levels (echo
# return loss enhancement, loss of the near end) beside it.
# Output seen (echo MOS, degradation MOS):
#   far end talks, nothing removed                 1.54 5.00
#   far end talks, 10 dB removed                   1.54 5.00
#   far end talks, 20 dB removed                   1.54 5.00
#   far end talks, 30 dB removed                   1.54 5.00
#   far end talks, 30 dB removed, room noise stays 2.77 5.00
#   both talk, echo removed                        4.73 4.61
#   both talk, echo removed, 40 dB too quiet       4.73 4.61
#   both talk, all muted                           4.73 5.00
#   both talk, nothing removed                     2.51 4.28
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download asterisk-core-sounds-en-g722=1.6.1-1
dpkg -x asterisk-core-sounds-en-g722_*.deb root
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --no-compile \
    --target "$dir/py" speechmos==0.0.1.1 onnxruntime==1.22.1 numpy==2.2.6 av==14.2.0 \
    librosa==0.11.0 scipy==1.15.3 numba==0.61.2 llvmlite==0.44.0 lazy_loader==0.4 decorator==5.2.1 \
    joblib==1.5.1 msgpack==1.1.1 soundfile==0.13.1 cffi==1.17.1 pycparser==2.22 pooch==1.8.2 \
    platformdirs==4.3.8 soxr==0.5.0.post1 audioread==3.0.1 typing_extensions==4.14.1 packaging==25.0
cat > run.py <<'PY'
import glob, sys
sys.path.insert(0, "py")
import av
import numpy as np
import onnxruntime
from speechmos import aecmos

onnxruntime.set_default_logger_severity(3)

RATE = 16000

def prompt(name):                      # the first 12 seconds
    file = glob.glob("root/usr/share/asterisk/sounds/*/%s.g722" % name)[0]
    with av.open(file, format="g722") as container:
        sound = [frame.to_ndarray().ravel() for frame in container.decode(audio=0)]
    return np.concatenate(sound)[:12 * RATE] / 32768

far, near, rnd = prompt("demo-instruct"), prompt("demo-congrats"), np.random.default_rng(0)
room = rnd.normal(0, 1, 1600) * np.exp(-np.arange(1600) / 250)
echo = 0.3 * np.convolve(far, room / np.sqrt(np.sum(room ** 2)))[:len(far)]
noise = rnd.normal(0, 1e-4, len(far))
db = lambda level: 10 ** (level / 20)

def score(name, microphone, processed, kind):
    mos = aecmos.run({"lpb": far, "mic": microphone, "enh": processed}, RATE, talk_type=kind)
    print("%-46s %.2f %.2f" % (name, mos["echo_mos"], mos["deg_mos"]))
    return mos["echo_mos"], mos["deg_mos"]

single, double = echo + noise, near + echo + noise
untouched = score("far end talks, nothing removed", single, single, "st")
less = [score("far end talks, %d dB removed" % level, single, single * db(-level), "st")
        for level in (10, 20, 30)]
noisy = score("far end talks, 30 dB removed, room noise stays", single,
              echo * db(-30) + noise, "st")
perfect = score("both talk, echo removed", double, near + noise, "dt")
quiet = score("both talk, echo removed, 40 dB too quiet", double, (near + noise) * db(-40), "dt")
muted = score("both talk, all muted", double, 0 * near, "dt")
kept = score("both talk, nothing removed", double, double, "dt")
same = lambda a, b: max(abs(x - y) for x, y in zip(a, b)) < 0.05
if (untouched[0] > 2 or not all(same(untouched, one) for one in less) or noisy[0] < 2.4
        or not same(perfect, quiet) or perfect[1] > 4.8 or kept[0] > 3.5
        or muted[0] < 4.5 or muted[1] < perfect[1]):
    sys.exit("CHANGED: AECMOS hears the level of an echo (or of the near end)")
PY
python3 -W ignore run.py
