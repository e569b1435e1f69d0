"""PESQ-WB of recordings: score.py ANSWER.json SAID.wav HEARD.wav [SAID.wav HEARD.wav]..., all at 16 kHz."""
import json
import sys
import wave

import numpy
from pesq import PesqError, pesq


def samples(path):
    with wave.open(path) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768


def score(said, heard):
    try:
        return float(pesq(16000, samples(said), samples(heard), "wb"))
    except PesqError:
        return 1.0


files = sys.argv[2:]
with open(sys.argv[1], "w") as answer:
    json.dump([score(*pair) for pair in zip(files[::2], files[1::2])], answer)
