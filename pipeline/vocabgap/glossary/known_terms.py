"""Known terms, found in a text in one pass over its words, however many there are."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final

from vocabgap.glossary.normalizing import term_key, word_key

# A word, or a single mark: a term does not go on across the end of a sentence.
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_END: Final = ""  # no token is empty: under it stands the term that ends here
_Branch = dict[str, Any]


class KnownTerms:
    """Terms as a trie of their words.

    Args:
        terms: The terms in any spelling. Of two spellings of the same the first in order stands for it.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._root: _Branch = {}
        for term in sorted(set(terms)):
            branch = self._root
            for word in map(word_key, tokens_of(term_key(term))):
                branch = branch.setdefault(word, {})
            if branch is not self._root:
                branch.setdefault(_END, term)

    def found(self, tokens: Iterable[str]) -> Iterator[str]:
        """The terms in a text, in order, each as often as it is there.

        Where several begin at the same word the longest is meant, and what is part of a term is none itself.

        Args:
            tokens: What the text consists of, as `tokens_of` has it.
        """
        root = self._root
        words = list(map(word_key, tokens))
        place, end = 0, len(words)
        while place < end:
            branch = root.get(words[place])
            place += 1
            if branch is None:
                continue
            term, after = branch.get(_END), place
            ahead = place
            while ahead < end and (branch := branch.get(words[ahead])) is not None:
                ahead += 1
                if _END in branch:
                    term, after = branch[_END], ahead
            if term is not None:
                yield term
                place = after


def tokens_of(text: str) -> list[str]:
    """The words and marks of a text, in order, as they are written but for compatibility forms (NFKC)."""
    return _TOKEN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))
