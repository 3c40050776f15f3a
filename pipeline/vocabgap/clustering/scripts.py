"""Scripts: pieces of words in scripts without spaces, and texts in scripts that a model does not know.

Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces, so a phrase is one long word. It
is compared by pieces of a few characters, as search engines do. This needs no dictionary.

A model turns words of an unknown script into single characters, or into one token for all of them. So texts
with different meanings have similar embeddings, or equal ones. Such texts are compared by their characters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

_HAN: Final = "\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_OR_KANA: Final = f"{_HAN}\u3041-\u30ff"
_OTHERS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_RUNS: Final = re.compile(f"[{_HAN_OR_KANA}]+|[{_OTHERS}]+|[^{_HAN_OR_KANA}{_OTHERS}]+")
_PIECES: Final = re.compile(f"(?=([{_HAN}])|)(?=([{_HAN_OR_KANA}]{{2}}|[{_OTHERS}]{{3}})|).")
_LATIN: Final = "LATIN"


def pieces(words: Iterable[str]) -> Iterator[str]:
    """Yield words; if they are in a script without spaces, yield their pieces instead.

    These are single ideographs and pairs of characters, or triples of the letters of alphabets.
    """
    for word in words:
        if word.isascii():
            yield word
            continue
        for run in _RUNS.findall(word):
            parts = [piece for pieces in _PIECES.findall(run) for piece in pieces if piece]
            yield from parts or [run]


def known_scripts(vocabulary: Sequence[str]) -> frozenset[str]:
    """Return the scripts that a model with these tokens knows; it always knows the Latin one.

    A script that it knows has 1,000 tokens, or a tenth of the vocabulary.
    """
    tokens = Counter(script for token in vocabulary for script in _scripts(token))
    enough = min(1000, 0.1 * len(vocabulary))
    return frozenset(script for script, count in tokens.items() if count >= enough) | {_LATIN}


def in_unknown_script(surfaces: Iterable[str], known: Collection[str]) -> npt.NDArray[np.bool_]:
    """Tell, for each surface, whether half of its words have letters of a script that is not known."""

    def is_unknown(surface: str) -> bool:
        words = surface.split()
        unknown = sum(not _scripts(word).issubset(known) for word in words)
        return not surface.isascii() and unknown >= 0.5 * len(words)

    return np.fromiter(map(is_unknown, surfaces), np.bool_)


def _scripts(text: str) -> set[str]:
    return {_LATIN} if text.isascii() else {_script(sign) for sign in text if sign.isalpha()}


@cache
def _script(letter: str) -> str:
    """Return the first word of a letter's name in Unicode, which is its script in nearly all cases."""
    return unicodedata.name(letter, _LATIN).partition(" ")[0]
