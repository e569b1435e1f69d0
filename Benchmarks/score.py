"""PESQ-WB (P.862.2 without Corrigendum 2) and STOI of recordings: score.py ANSWER.json SAID.raw HEARD.raw [SAID.raw HEARD.raw]..., 32-bit floats at 48 kHz."""
import json
import sys
import warnings

import numpy
from pesq import PesqError, pesq
from pystoi import stoi
from scipy.signal import correlate, resample_poly

# PESQ-WB is defined at 16 kHz.
RATE = 16000
DECIMATION = 3
REACH = RATE // 10
# PESQ compares 16 ms by 16 ms, and where these begin moves a score by 0.2: four beginnings, 4 ms apart.
CUTS = range(0, 256, 64)


def samples(path):
    return numpy.fromfile(path, "<f4")


def wide(sound):
    """At the rate of PESQ, in the sixteen bits that it works with."""
    narrow = resample_poly(sound, 1, DECIMATION)
    return numpy.clip(numpy.round(narrow * 32768), -32768, 32767).astype(numpy.int16)


def once(said, heard):
    try:
        return float(pesq(RATE, said, heard, "wb"))
    except PesqError:
        return 1.0


def quality(said, heard):
    return float(numpy.mean([once(said[cut:], heard[cut:]) for cut in CUTS]))


def aligned(said, heard):
    """What was heard, shifted by up to 100 ms to where it fits best; PESQ looks for that itself, and in each part."""
    likeness = correlate(heard, said, mode="full", method="fft")
    middle = len(said) - 1
    lag = int(numpy.argmax(likeness[middle - REACH:middle + REACH + 1])) - REACH
    padded = numpy.concatenate([numpy.zeros(REACH), heard, numpy.zeros(REACH)])
    return padded[REACH + lag:REACH + lag + len(said)]


def score(said, heard):
    said, heard = wide(samples(said)), wide(samples(heard))
    return {
        "pesq": quality(said, heard),
        "stoi": float(stoi(said / 32768, aligned(said, heard / 32768), RATE)),
    }


# STOI says so when there is too little speech, and gives nearly nothing.
warnings.simplefilter("ignore")
files = sys.argv[2:]
with open(sys.argv[1], "w") as answer:
    json.dump([score(*pair) for pair in zip(files[::2], files[1::2])], answer)
