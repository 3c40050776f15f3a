"""Draws large corpora of gap wordings that are labelled: which need each of them words is known.

A need is an act on an object, mostly under a circumstance. It is worded with synonyms, in several orders,
with what people put before a wish, in the plural, hyphenated and misspelt. Few needs are met often, most of
them rarely (Zipf). The same seed gives the same corpus.

The corpus "easy" has these short wordings only. The corpus "logs" has lengths, frames, names and rare words
as often as the labelled gap logs of `data/SOURCES.md` have them, and seven of ten needs are mentioned once.
"""

import itertools
import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

# What can be said for each act, object and circumstance; the first is said most.
_PARTS: Final[dict[str, list[list[str]]]] = json.loads(
    Path(__file__).with_name("synonyms.json").read_text(encoding="utf-8")
)
_COMMON: Final = sorted(
    sorted({word for part in _PARTS["objects"] for word in " ".join(part).split()}), key=len
)
_BEGINNINGS: Final = (
    "", "", "", "", "", "", "add", "need", "need to", "missing", "cannot", "no way to", "option to",
    "please let me", "want to", "support to", "allow me to", "looking for", "impossible to", "wish to",
    "would like to",
)  # fmt: skip
_ORDERS: Final = (
    "{act} {object} {circumstance}", "{act} {object} {circumstance}", "{act} the {object} {circumstance}",
    "{doing} {object} {circumstance}", "{doing} of {object} {circumstance}", "{object} {act} {circumstance}",
    "{circumstance} {act} {object}", "{object} {circumstance} {doing}",
)  # fmt: skip
_WITH_CIRCUMSTANCE: Final = 0.8  # share of needs that have one ...
_CIRCUMSTANCE_SAID: Final = 0.85  # ... and how often it is said
_FIRST_CHOICE: Final = 0.6  # how often the first of several synonyms is taken
_PLURAL: Final = 0.3
_HYPHENATED: Final = 0.1
_MISSPELT: Final = 0.2
_SHORTEST_MISSPELT: Final = 4  # letters
_FRAMES: Final = (
    "no way to {act}", "no tool to {act}", "no tool for {doing}", "cannot {act}", "can't {act}",
    "{tool} has no way to {act}", "{tool} can't {act}", "{tool} does not support {doing}", "need to {act}",
    "wanted to {act}", "there is no option to {act}", "{doing} is not possible", "missing: {act}",
)  # fmt: skip
_JOINTS: Final = (
    "so", "because", "but", "and", "which", "since", "while", "until", "as", "only", "yet", "although",
)  # fmt: skip
_SMALL: Final = (
    "the", "the", "the", "a", "to", "is", "of", "for", "in", "on", "it", "with", "be", "that", "has",
    "are", "not", "every", "from", "I", "was", "by", "one", "and",
)  # fmt: skip
_PLACES: Final = (
    "in", "on", "for", "with", "from", "after", "per", "by", "of the", "in the", "to", "without",
)  # fmt: skip
SINGLE: Final = 0.7  # share of needs that are mentioned once
_IDENTIFIERS: Final = 0.09  # share of wordings that are the name of a tool
_FRAMED: Final = 0.4  # share of the others with a frame
_CLAUSES: Final = (0, 0, 0, 0, 0, 0, 1, 1, 2, 2)  # of a wording, of five to eleven words each
_FEWEST: Final = 5
_MOST: Final = 12
_SMALL_SHARE: Final = 0.5  # of the words of a clause
_KNOWN: Final = 0.3  # share of needs whose object, or circumstance, is one of the tables
_SYNONYMS: Final = 3  # of the other ones
_LETTERS: Final = tuple(first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou")
_NAME_LAW: Final = -2.5  # power of a number from 0 to 1 which gives a name by Zipf's law ...
_NAME_OFFSET: Final = 40  # ... and its factor
_ZIPF_OFFSET: Final = 4  # takes the top off the law, so that no need makes up a tenth of a corpus
_DRAWS_AT_ONCE: Final = 10_000
_PATIENCE: Final = 60  # draws for each wording that is asked for


class Corpus(NamedTuple):
    """Distinct wordings, how often each came up, and the number of the need that each words."""

    texts: list[str]
    mentions: list[int]
    concepts: list[int]


class Need(NamedTuple):
    """What can be said for each part of a need."""

    act: list[str]
    object: list[str]
    circumstance: list[str]


def draw(
    wordings: int,
    concepts: int,
    seed: int = 0,
    form: Callable[[str], str] = str.strip,
    zipf: float = 1.0,
) -> Corpus:
    """Word needs until there are enough distinct wordings.

    Args:
        wordings: Number of distinct wordings.
        concepts: Number of needs.
        seed: The same gives the same corpus.
        form: The form that tells wordings apart; the first of each form is kept.
        zipf: Exponent of the law by which needs are drawn.

    Raises:
        ValueError: So few needs cannot be worded in so many ways.
    """
    rng = random.Random(seed)
    needs = _needs(concepts, rng)
    forms: dict[str, str] = {}
    found: dict[str, list[int]] = {}
    for concept in _ranks(concepts, zipf, wordings * _PATIENCE, rng):
        text = _worded(needs[concept], rng)
        key = forms[text] if text in forms else forms.setdefault(text, form(text))
        found.setdefault(key, [len(forms), 0, concept])[1] += 1
        if len(found) == wordings:
            texts = list(forms)
            at, mentions, numbers = zip(*found.values(), strict=True)
            return Corpus([texts[number - 1] for number in at], list(mentions), list(numbers))
    raise ValueError(f"{concepts:,} needs give {len(found):,} distinct wordings, not {wordings:,}")


def draw_logs(
    wordings: int, concepts: int, seed: int = 0, form: Callable[[str], str] = str.strip
) -> Corpus:
    """Word needs as agents do in gap logs: seven of ten once, the others in several ways by Zipf's law.

    The first of `n` wordings of a need is mentioned `n` times, the second half as often, and so on.

    Raises:
        ValueError: So many needs have more wordings.
    """
    rng = random.Random(seed)
    frequent = concepts - int(SINGLE * concepts)
    further = wordings - concepts
    if further < frequent:
        raise ValueError(f"{concepts:,} needs have more than {wordings:,} distinct wordings")
    shares = np.arange(1, frequent + 1) ** (frequent / further - 1)
    ends = np.rint(np.cumsum(shares) * (further / shares.sum())).astype(int)
    ways = np.append(np.diff(ends, prepend=0), np.zeros(concepts - frequent, int)) + 1
    seen: set[str] = set()
    corpus = Corpus([], [], [])
    for concept, count in enumerate(ways.tolist()):
        need = _logged_need(rng)
        for way in range(1, count + 1):
            while (key := form(text := _logged(need, rng))) in seen:
                pass
            seen.add(key)
            corpus.texts.append(text)
            corpus.mentions.append(count // way)
            corpus.concepts.append(concept)
    return corpus


def logged(rng: random.Random) -> str:
    """Word a need of its own as agents do in gap logs."""
    return _logged(_logged_need(rng), rng)


def clause(rng: random.Random, fewest: int = _FEWEST, most: int = _MOST) -> str:
    """Return some of the words that agents use between those of their needs."""
    return " ".join(
        rng.choice(_SMALL) if rng.random() < _SMALL_SHARE else _name(rng)
        for _ in range(rng.randrange(fewest, most))
    )


def _logged_need(rng: random.Random) -> Need:
    act, thing, when = map(rng.choice, _PARTS.values())
    if rng.random() >= _KNOWN:
        thing = [f"{_name(rng)} {_name(rng)}" for _ in range(_SYNONYMS)]
    if rng.random() >= _KNOWN:
        when = [f"{rng.choice(_PLACES)} {_name(rng)}" for _ in range(_SYNONYMS)]
    return Need(act, thing, when)


def _logged(need: Need, rng: random.Random) -> str:
    act, thing = rng.choice(need.act), rng.choice(need.object)
    if rng.random() < _IDENTIFIERS:
        return f"{act} {thing} {_name(rng)}".replace(" ", "_")
    when = f" {rng.choice(need.circumstance)}" if rng.random() < _CIRCUMSTANCE_SAID else ""
    frame = rng.choice(_FRAMES) if rng.random() < _FRAMED else "{act}"
    said = [
        frame.format(
            act=f"{act} {thing}{when}", doing=f"{_gerund(act)} {thing}{when}", tool=_name(rng)
        )
    ]
    said += [f"{rng.choice(_JOINTS)} {clause(rng)}" for _ in range(rng.choice(_CLAUSES))]
    return " ".join(said)


def _name(rng: random.Random) -> str:
    """Draw a word by Zipf's law: the frequent ones are those of the tables, the others are invented."""
    number = int((1 - rng.random()) ** _NAME_LAW * _NAME_OFFSET)
    if number < len(_COMMON):
        return _COMMON[number]
    digits = crc32(str(number).encode())
    return "".join(
        _LETTERS[digits // len(_LETTERS) ** place % len(_LETTERS)]
        for place in range(2 + digits % 3)
    )


CORPORA: Final[dict[str, Callable[..., Corpus]]] = {"logs": draw_logs, "easy": draw}


def _needs(count: int, rng: random.Random) -> list[Need]:
    acts, objects, circumstances = _PARTS.values()
    chosen: dict[tuple[int, int, int], Need] = {}
    while len(chosen) < count:
        act, thing, when = (rng.randrange(len(kind)) for kind in (acts, objects, circumstances))
        if rng.random() >= _WITH_CIRCUMSTANCE:
            when = -1
        chosen[act, thing, when] = Need(
            acts[act], objects[thing], circumstances[when] if when >= 0 else [""]
        )
    return list(chosen.values())


def _ranks(count: int, zipf: float, draws: int, rng: random.Random) -> Iterator[int]:
    """Numbers below `count` by a Zipf law."""
    total = list(itertools.accumulate((rank + _ZIPF_OFFSET) ** -zipf for rank in range(count)))
    for _ in range(0, draws, _DRAWS_AT_ONCE):
        yield from rng.choices(range(count), cum_weights=total, k=_DRAWS_AT_ONCE)


def _worded(need: Need, rng: random.Random) -> str:
    act, thing = _one_of(need.act, rng), _one_of(need.object, rng)
    circumstance = _one_of(need.circumstance, rng) if rng.random() < _CIRCUMSTANCE_SAID else ""
    if rng.random() < _PLURAL:
        thing += "s"
    order = rng.choice(_ORDERS)
    said = order.format(act=act, doing=_gerund(act), object=thing, circumstance=circumstance)
    spoken = f"{rng.choice(_BEGINNINGS)} {said}".split()
    if rng.random() < _MISSPELT:
        at = rng.randrange(len(spoken))
        spoken[at] = _misspelt(spoken[at], rng)
    if rng.random() < _HYPHENATED:
        at = rng.randrange(len(spoken) - 1)
        spoken[at : at + 2] = ["-".join(spoken[at : at + 2])]
    return " ".join(spoken)


def _one_of(synonyms: list[str], rng: random.Random) -> str:
    if len(synonyms) == 1 or rng.random() < _FIRST_CHOICE:
        return synonyms[0]
    return rng.choice(synonyms[1:])


def _gerund(act: str) -> str:
    verb, _, particle = act.partition(" ")
    return f"{verb.removesuffix('e')}ing {particle}".strip()


def _misspelt(word: str, rng: random.Random) -> str:
    """A word with a letter left out, typed twice, swapped with the next one or mistaken for another."""
    if len(word) < _SHORTEST_MISSPELT:
        return word
    at = rng.randrange(1, len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    swapped = after[0] + letter + after[1:]
    return before + rng.choice(
        [after, letter * 2 + after, swapped, rng.choice(string.ascii_lowercase) + after]
    )
