"""The additions of the corpus to tests that go over the whole program."""

from slices import Additions
from vocabgap.corpus.version import CHUNKS, LOGS

ADDITIONS = Additions(tables=(CHUNKS, LOGS), looked_for=frozenset({"corpus list", "corpus export"}))
