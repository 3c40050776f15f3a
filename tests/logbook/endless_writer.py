"""Logs gaps of 1 to 64 KB until it is killed, and says of each that it is logged, once it is.

Arguments: the image's folder, the file of what is acknowledged, the name of this writer.
"""

import random
import sys
from itertools import count

from vocabgap.logbook.log import log_gap

image, acknowledged, name = sys.argv[1:]
drawn = random.Random(name)  # noqa: S311 - sizes
with open(acknowledged, "ab", buffering=0) as message:  # noqa: PTH123 - unbuffered
    for number in count():
        size = drawn.randint(1_000, 64_000)
        logged = log_gap(image, f"{name} {number}", notes="n" * size)
        message.write(f"{logged.gap_id} {name} {number} {size}\n".encode())
