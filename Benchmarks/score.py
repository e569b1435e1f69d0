"""PESQ-WB and STOI of recordings: score.py ANSWER.json SAID.wav HEARD.wav [SAID.wav HEARD.wav]..., all at 16 kHz."""
import json
import sys
import warnings
import wave

import numpy
from pesq import PesqError, pesq
from pystoi import stoi
from scipy.signal import correlate

RATE = 16000
REACH = RATE // 10


def samples(path):
    with wave.open(path) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768


def aligned(said, heard):
    """What was heard, shifted by up to 100 ms to where it fits best; PESQ looks for that itself, and in each part."""
    likeness = correlate(heard, said, mode="full", method="fft")
    middle = len(said) - 1
    lag = int(numpy.argmax(likeness[middle - REACH:middle + REACH + 1])) - REACH
    padded = numpy.concatenate([numpy.zeros(REACH), heard, numpy.zeros(REACH)])
    return padded[REACH + lag:REACH + lag + len(said)]


def score(said, heard):
    said, heard = samples(said), samples(heard)
    try:
        quality = float(pesq(RATE, said, heard, "wb"))
    except PesqError:
        quality = 1.0
    return {"pesq": quality, "stoi": float(stoi(said, aligned(said, heard), RATE))}


# STOI says so when there is too little speech, and gives nearly nothing.
warnings.simplefilter("ignore")
files = sys.argv[2:]
with open(sys.argv[1], "w") as answer:
    json.dump([score(*pair) for pair in zip(files[::2], files[1::2])], answer)
