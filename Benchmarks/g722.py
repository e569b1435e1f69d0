"""Decodes recordings: g722.py IN.g722 OUT.raw [IN.g722 OUT.raw]..., to 16 kHz, 16 bits (ITU-T G.722)."""
import sys

import numpy
from G722 import G722

files = sys.argv[1:]
for source, target in zip(files[::2], files[1::2]):
    with open(source, "rb") as file:
        numpy.array(G722(16000, 64000).decode(file.read()), dtype="<i2").tofile(target)
