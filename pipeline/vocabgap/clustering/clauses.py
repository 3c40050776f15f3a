"""Words of sentences: what tells somebody who speaks from a noun phrase."""

from typing import Final

from vocabgap.text import stem

# Words of somebody who speaks in sentences; noun phrases have none of them. Prepositions, articles and
# conjunctions stand in both.
_CLAUSE_WORDS: Final = """
it its there here is are was were am be been being do does did has have had having
can could may might must shall should will would
i me my we our you your he him his she her they them their
what which who whom whose when where how why
im ive dont doesnt didnt cant couldnt wont wouldnt isnt arent whats wheres hows youre theres lets
"""

CLAUSE_STEMS: Final = frozenset(map(stem, _CLAUSE_WORDS.split()))


def clause_share(surface: str) -> float:
    """The share of the words of a surface that only stand in sentences."""
    every = surface.split()
    return sum(word in CLAUSE_STEMS for word in every) / len(every)
