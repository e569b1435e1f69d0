#!/usr/bin/env bash
# Package: dtmf 1.1.0 (PyPI, for Python; "generates DTMF audio from dial strings"), its generate()
# with the default rate of 8000 Hz, heard by SpanDSP 0.0.6 (Debian 12 libspandsp2 0.0.6+dfsg-2+b1),
# the detector of many PBXs.
# Expected: key 3 is 697 and 1477 Hz, and a sender keeps to each tone within 1.8 % (ITU-T Q.23; what
# receivers accept is in Q.24, table A.1). Each of the 16 keys has a sound of its own.
# Instead: it makes one cycle of each sine, rounded up to a WHOLE number of samples, and repeats that.
# So there are only tones of 8000 / 12, 8000 / 11 and so on: all are too low, by up to 10 %, with a
# jump in each cycle. 1336 and 1477 Hz both become 1333 Hz. SpanDSP hears none of the 16 keys, and
# the package's own detect() hears none rightly: a 2 in the keys 5 and 6, an 8 in 0 and #. At 48000
# Hz the cycles are longer and SpanDSP finds 11 of the 16; #, A, B, C and D it does not.
# The argument "level" is off too: -20 gives tones of -40 dB against level 0.
# Why it matters: a test that dials with this package finds that the phone or the voice menu does not
# know digits, or, where a tolerant detector takes 5 for 2, that it gets wrong PINs and extensions;
# the one under test is blamed.
# Output seen (tones that are in the sound, and the keys that were heard):
#   dtmf, 8000 Hz: key 1 is 667 + 1143 Hz
#   dtmf, 8000 Hz: key 2 is 667 + 1333 Hz
#   dtmf, 8000 Hz: key 3 is 667 + 1333 Hz
#   dtmf, 8000 Hz: key # is 889 + 1333 Hz
#   dtmf, 8000 Hz, each key for 1 s, dtmf.detect(): 5 as 2, 6 as 2, * as 7, 0 as 8, # as 8
#   dtmf, 8000 Hz, 16 keys of 100 ms, SpanDSP: nothing
#   dtmf, 16000 Hz, 16 keys of 100 ms, SpanDSP: 235689
#   dtmf, 48000 Hz, 16 keys of 100 ms, SpanDSP: 123456789*0
#   plain sines, 8000 Hz, each key for 1 s, dtmf.detect(): 16 keys right
#   plain sines, 8000 Hz, 16 keys of 100 ms, SpanDSP: 123A456B789C*0#D
#   level -20 against level 0: -40 dB
#   as described
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
apt-get -qq -o APT::Sandbox::User=root download libspandsp2=0.0.6+dfsg-2+b1 libtiff6 libwebp7 \
    libzstd1 liblzma5 libjbig0 libjpeg62-turbo libdeflate0 liblerc4
for deb in *.deb; do dpkg -x "$deb" root; done
pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$dir/py" dtmf==1.1.0
cat > run.py <<'PY'
import array, cmath, ctypes as C, glob, math, sys
import dtmf
from dtmf._generator import GenerationParams
from dtmf.model import String, Tone

S = C.CDLL(glob.glob("root/usr/lib/*/libspandsp.so.2")[0])
S.dtmf_rx_init.restype = C.c_void_p
S.dtmf_rx.argtypes = S.dtmf_rx_get.argtypes = [C.c_void_p, C.c_char_p, C.c_int]
KEYS, LOW, HIGH = "123A456B789C*0#D", (697, 770, 852, 941), (1209, 1336, 1477, 1633)

def generated(keys, rate, mark=0.1, space=0.1, level=0):
    return list(dtmf.generate(String([Tone(key) for key in keys]),
                              GenerationParams(level, mark, space), rate))

def plain(keys, rate, mark=0.1, space=0.1):          # the control
    sound = []
    for key in keys:
        row, column = divmod(KEYS.index(key), 4)
        sound += [math.sin(2 * math.pi * LOW[row] * i / rate) + math.sin(
            2 * math.pi * HIGH[column] * i / rate) for i in range(round(mark * rate))]
        sound += [0] * round(space * rate)
    return sound

def spandsp(sound, rate):
    state, room = S.dtmf_rx_init(None, None, None), C.create_string_buffer(128)
    samples = array.array("h", [round(6000 * x) for x in sound[::rate // 8000]]).tobytes()
    S.dtmf_rx(state, samples, len(samples) // 2)
    S.dtmf_rx_get(state, room, 127)
    return room.value.decode() or "nothing"

def own(maker):                            # what dtmf.detect() hears in each key, without the rest
    heard = [(key, "".join(sorted({str(block.tone) for block in list(
        dtmf.detect(maker(key, 8000, 1.0, 0), 8000))[:-1] if block.tone}))) for key in KEYS]
    right = sum(key == tone for key, tone in heard)
    wrong = ["%s as %s" % pair for pair in heard if pair[1] and pair[0] != pair[1]]
    return ", ".join(wrong) or "%d keys right" % right

def strongest(sound, span):                # in the first second at 8000 Hz, to the Hz
    def power(f):
        turn, at, total = cmath.exp(-2j * math.pi * f / 8000), 1, 0
        for x in sound[:8000]:
            total += x * at
            at *= turn
        return abs(total)
    return max(span, key=power)

ok = True
for key, want in (("1", (667, 1143)), ("2", (667, 1333)), ("3", (667, 1333)), ("#", (889, 1333))):
    sound = generated(key, 8000, 1.0, 0)
    found = strongest(sound, range(650, 960)), strongest(sound, range(1120, 1500))
    print("dtmf, 8000 Hz: key %s is %d + %d Hz" % (key, *found), flush=True)
    ok &= found == want
for name, maker, cases in (
        ("dtmf", generated, ((8000, "nothing"), (16000, "235689"), (48000, "123456789*0"))),
        ("plain sines", plain, ((8000, KEYS),))):
    heard = own(maker)
    print("%s, 8000 Hz, each key for 1 s, dtmf.detect(): %s" % (name, heard))
    ok &= heard == ("16 keys right" if maker is plain
                    else "5 as 2, 6 as 2, * as 7, 0 as 8, # as 8")
    for rate, want in cases:
        heard = spandsp(maker(KEYS, rate), rate)
        print("%s, %d Hz, 16 keys of 100 ms, SpanDSP: %s" % (name, rate, heard), flush=True)
        ok &= heard == want
step = 20 * math.log10(max(generated("5", 8000, level=-20)) / max(generated("5", 8000)))
print("level -20 against level 0: %.0f dB" % step)
ok &= abs(step + 40) < 0.5
if not ok:
    sys.exit("CHANGED: the digits that the package dtmf makes, or how SpanDSP hears them")
print("as described")
PY
LD_LIBRARY_PATH=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH PYTHONPATH=$dir/py
timeout 50 python3 run.py
