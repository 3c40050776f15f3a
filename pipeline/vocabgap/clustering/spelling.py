"""Short spellings of words that a corpus spells out elsewhere: CDN, a11y.

An acronym stands for a row of words with its initials. Such rows occur by chance, too. So two wordings, one
with each, must have half of their other words in common. A numeronym counts the letters that it leaves out.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Final

from vocabgap.text import content_words, ignored_stems, stem, words

_ACRONYM: Final = re.compile(r"(?<![\w-])[A-Z]{3,6}(?![\w-])")
_NUMERONYM: Final = re.compile(r"(?<![\w-])([a-z])([0-9]{1,2})([a-z])(?![\w-])", re.IGNORECASE)
_LEFT_OUT: Final = 5  # fewest letters that a numeronym leaves out
_IN_COMMON: Final = 0.5  # least share of the other words of two wordings
_MOST_PLACES: Final = 100  # of an acronym whose other words are compared


def spellings(texts: Sequence[str]) -> dict[str, str]:
    """Return the short spellings in some texts with the words that they stand for, both in lower case."""
    acronyms = _places(texts, _ACRONYM)
    numeronyms = _places(texts, _NUMERONYM)
    if not acronyms and not numeronyms:
        return {}
    phrases: dict[str, set[str]] = defaultdict(set)
    split_texts = [words(text) for text in texts]
    words_by_ends: dict[tuple[str, int], set[str]] = defaultdict(set)
    for word in set(chain.from_iterable(split_texts)) if numeronyms else ():
        words_by_ends[word[0] + word[-1], len(word) - 2].add(word)
    for short in numeronyms:
        ends, left_out = short[0] + short[-1], int(short[1:-1])
        phrases[short] |= words_by_ends[ends, left_out] if left_out >= _LEFT_OUT else set()
    lengths = {len(short) for short in acronyms}
    beside = {
        short: {_stems(split_texts[place]) - {stem(short)} for place in places[:_MOST_PLACES]}
        for short, places in acronyms.items()
    }
    for split_text in split_texts:
        initials = "".join(word[0] for word in split_text)
        for start, length in product(range(len(split_text)), lengths):
            short = initials[start : start + length]
            if short not in acronyms or short in split_text:
                continue
            others = _stems(split_text[:start] + split_text[start + length :])
            if any(len(others & each) >= _IN_COMMON * len(others | each) > 0 for each in beside[short]):
                phrases[short].add(" ".join(split_text[start : start + length]))
    return {short: min(meant) for short, meant in phrases.items() if len(meant) == 1}


def spelt_out(text: str, meant: Mapping[str, str]) -> str:
    """Return a text with its short spellings spelt out."""
    for pattern in (_ACRONYM, _NUMERONYM) if meant else ():
        text = pattern.sub(lambda short: meant.get(short[0].lower(), short[0]), text)
    return text


def _places(texts: Iterable[str], pattern: re.Pattern[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        for short in pattern.finditer(text):
            places[short[0].lower()].append(place)
    return places


def _stems(every: Iterable[str]) -> frozenset[str]:
    return frozenset(content_words(" ".join(map(stem, every)), ignored_stems()))
