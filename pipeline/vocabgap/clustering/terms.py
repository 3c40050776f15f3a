"""What the dimensions of vectors stand for: words, pairs of neighbouring words, and trigrams of letters."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

GRAM: Final = 3  # letters

WORD: Final = "word"
PAIR: Final = "pair"
LETTERS: Final = "letters"


def grams(word: str) -> list[str]:
    """The trigrams of a word with a blank on either side, in order."""
    padded = f" {word} "
    return [padded[at : at + GRAM] for at in range(len(padded) - GRAM + 1)]


def terms_of(contents: Sequence[str]) -> list[tuple[str, str]]:
    """The dimensions of `Rows.plain`, in order, each a kind and a text.

    Args:
        contents: The content words of each surface, joined by spaces, as they were vectorized.
    """
    split = [content.split() for content in contents]
    numbers: dict[str, int] = {}
    for words in split:
        for word in words:
            numbers.setdefault(word, len(numbers))
    vocabulary = list(numbers)
    pairs = sorted({(numbers[one], numbers[other]) for words in split for one, other in pairwise(words)})
    return [
        *((WORD, word) for word in vocabulary),
        *((PAIR, f"{vocabulary[one]} {vocabulary[other]}") for one, other in pairs),
        *((LETTERS, gram) for gram in dict.fromkeys(gram for word in vocabulary for gram in grams(word))),
    ]
