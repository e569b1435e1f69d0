#!/usr/bin/env bash
# Package: mutagen 1.48.1 (PyPI), mutagen.File(name).info.length of WAV files; for comparison tinytag
# 2.3.2 and libsndfile 1.2.2 (in soundfile 0.14.0, which also writes the files; both PyPI).
# Expected: "audio length in seconds" (its documentation). In a compressed WAV file the number of
# samples stands in the fact chunk; or data bytes by nAvgBytesPerSec give the time (WAVE in
# Multimedia Data Standards Update 3.0; tags and block sizes in RFC 2361).
# Instead: it divides the data by nBlockAlign and takes that for samples. That is right for PCM and
# G.711, where a block is one sample. A GSM block holds 320 samples, an ADPCM block 505 and the like:
# the call is told to be that much shorter, 0.19 instead of 60 seconds. No error, no None.
# For GSM the bit rate, too, is wrong: 0, since it is made of the bits per sample.
# Why it matters: GSM in WAV is Asterisk's "wav49", its small format for recordings and voice mail, and
# ADPCM is as old a use. A list of calls, a check "shorter than 5 s: drop" or a sum of minutes that
# is made with mutagen sees nothing but empty calls. Ask tinytag or soundfile, or divide the data by
# nAvgBytesPerSec.
# Output seen (a call of 60 s):
#   PCM_16     mutagen  60.000 s, 128000 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   ULAW       mutagen  60.000 s,  64000 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   ALAW       mutagen  60.000 s,  64000 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   GSM610     mutagen   0.188 s,      0 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   IMA_ADPCM  mutagen   0.119 s,  32000 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   MS_ADPCM   mutagen   0.120 s,  32000 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   G721_32    mutagen   0.469 s,  32000 bit/s; tinytag  60.0 s, libsndfile  60.0 s
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" mutagen==1.48.1 tinytag==2.3.2 soundfile==0.14.0 cffi==2.1.1 pycparser==3.12
cat > run.py <<'PY'
import array, math, sys
import mutagen, soundfile, tinytag

RATE, SECONDS = 8000, 60
call = array.array("h", (round(3000 * math.sin(2 * math.pi * 440 * i / RATE))
                         for i in range(RATE * SECONDS))).tobytes()
ok = True
for kind, samples in (("PCM_16", 1), ("ULAW", 1), ("ALAW", 1), ("GSM610", 320), ("IMA_ADPCM", 505),
                      ("MS_ADPCM", 500), ("G721_32", 128)):
    name = kind + ".wav"
    with soundfile.SoundFile(name, "w", RATE, 1, kind, format="WAV") as file:
        file.buffer_write(call, "int16")
    info = mutagen.File(name).info
    told = info.length
    others = tinytag.TinyTag.get(name).duration, soundfile.info(name).duration
    print("%-9s  mutagen %7.3f s, %6d bit/s; tinytag %5.1f s, libsndfile %5.1f s"
          % (kind, told, info.bitrate, *others), flush=True)
    ok &= abs(told - SECONDS / samples) < 0.02 * SECONDS / samples
    ok &= (info.bitrate == 0) == (kind == "GSM610")
    ok &= all(abs(other - SECONDS) < 0.2 for other in others)
if not ok:
    sys.exit("CHANGED: the lengths that mutagen tells")
print("as described")
PY
PYTHONPATH=$dir/py timeout 50 python3 run.py
