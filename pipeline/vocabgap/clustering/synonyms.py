"""Words that the settings say mean the same, folded before anything is compared."""

from collections.abc import Callable, Iterable, Mapping

from vocabgap.text import synonym_table

Folding = Callable[[list[str]], list[str]]


def folding(synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str]) -> Folding:
    """How to put the one wording in the place of those that mean the same.

    Args:
        synonyms: A word or phrase to the others that stand for it. Inflection, case, hyphens and ignored
            words do not matter on either side.
        ignored: The stems that tell no need from another.

    Returns:
        A function from the content words of a surface to those to be compared. The longest wording wins.

    Raises:
        InvalidInputError: A wording is empty, or stands for two different ones.
    """
    table = synonym_table(synonyms, ignored)
    if not table:
        return list
    longest = max(map(len, table))

    def fold(words: list[str]) -> list[str]:
        folded: list[str] = []
        start = 0
        while start < len(words):
            for length in range(min(longest, len(words) - start), 0, -1):
                found = table.get(tuple(words[start : start + length]))
                if found is not None:
                    folded += found
                    start += length
                    break
            else:
                folded.append(words[start])
                start += 1
        return folded

    return fold
