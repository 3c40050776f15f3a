"""Known terms, found in a text in one pass over its words, however many there are."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, count
from typing import Any, Final

from vocabgap.glossary.normalizing import term_key

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
            for word in term_key(term).split():
                branch = branch.setdefault(word, {})
            if branch is not self._root:
                branch.setdefault(_END, term)

    def found(self, keys: Sequence[str]) -> Iterator[str]:
        """The terms in a text, in order, each as often as it is there.

        Where several begin at the same word the longest is meant, and what is part of a term is none itself.

        Args:
            keys: The words and marks of the text, as `keys_of` has them.
        """
        root, end, after = self._root, len(keys), 0
        for place in compress(count(), map(root.__contains__, keys)):
            if place < after:
                continue
            branch, ahead = root[keys[place]], place + 1
            term, after = branch.get(_END), ahead
            while ahead < end and (branch := branch.get(keys[ahead])) is not None:
                ahead += 1
                if _END in branch:
                    term, after = branch[_END], ahead
            if term is not None:
                yield term
