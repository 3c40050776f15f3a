"""Contrasts: what turns one need into another, such as opposites (add, remove).

"Upload a release asset" and "download a release asset" share all words but one, and have similar embeddings.
So wordings at different poles of a contrast are moved apart before they are compared. Two groups never merge
if half of each group is at a different pole. In a sentence, a word of the table may refer to anything, so a
sentence is compared only with wordings that have the same other words.

Most contrasts come from structure, for which no table has enough rows:

- a prefix that negates a word of the corpus (verified, unverified), and words that negate the need;
- a particle or a preposition and its opposite (zoom in, zoom out; reply to, reply from);
- two things that change their roles (from A to B, from B to A; A before B);
- another action on the same things (assign a task, complete a task), unless both verbs mean the same.

Two verbs mean the same if they are at one pole of the table, are spelt alike, or have similar embeddings in a
frame that both occur in. Without a model, two other verbs are only doubtful.
"""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.wordings import clause_share
from vocabgap.files import text_of
from vocabgap.linkage import FloatArray
from vocabgap.text import ignored_stems, stem, surface

MOST: Final = 0.5  # least share of a group's surfaces at a pole
SENTENCE: Final = (
    0.2  # share of clause words; of a need with more of them, each word is compared in its place
)
SHORT: Final = 12  # words; a longer need is compared as a sentence is
LEFT: Final = 1  # the left side of a merge leaves ...
RIGHT: Final = 2  # ... or the right one

Contrast = Hashable  # its number in the table, or what it is about
Poles = dict[Contrast, int]  # a contrast to the number of the pole
Words = Sequence[str]  # the stems of a need
Similarity = Callable[[Sequence[str], Sequence[str]], FloatArray]  # of texts, pair by pair
NEGATION: Final = "not"  # the contrast of negated needs, ...
NEGATED: Final = 1  # ... and their pole; the other pole is not listed
SIGNS: Final = frozenset("+-<>")  # of numbers
_CONTENT: Final = 4  # first letters that tell words of content apart, whatever their endings
_FUNCTION: Final = ignored_stems()
# A prefix that negates, and the fewest letters of the word behind it; and pairs of opposite prefixes.
_PREFIXES: Final = {
    "un": 3, "non": 3, "dis": 4, "de": 4, "des": 4, "dé": 4, "in": 5, "im": 5, "ir": 5, "il": 5, "ab": 5,
    "anti": 4, "counter": 4, "a": 6, "an": 6,
}  # fmt: skip
_OPPOSITE_PREFIXES: Final = (
    ("in", "out"), ("im", "ex"), ("up", "down"), ("over", "under"), ("pre", "post"), ("en", "de"),
    ("in", "de"), ("en", "dis"), ("inter", "intra"), ("macro", "micro"), ("mono", "multi"), ("on", "off"),
    ("upper", "lower"), ("super", "sub"),
)  # fmt: skip
_TAIL: Final = 4  # fewest letters behind these
SAME_ACTION: Final = 0.77  # least similarity in a frame of two actions that mean the same, or of two things
SURELY_SAME: Final = 0.9  # ... and of two that nobody doubts
SAME_THING: Final = 0.55  # ... and of two things alone
MOST_WORDS: Final = 2_000  # pairs of them that are embedded
FRAME: Final = 2  # fewest words of content beside a thing that another one replaces
_MOST_ALIKE: Final = 50  # needs with the same words, or actions in a frame, that are compared pair by pair
_JOINING: Final = frozenset(map(stem, ("and", "or", "und", "oder", "et", "ou", "y", "o", "e")))
_STOPS: Final = frozenset(map(stem, ("stop", "avoid", "prevent", "skip", "ignore")))  # at the start of a need
_NOT: Final = frozenset(map(stem, ("not", "no", "isnt", "arent", "wasnt", "werent", "never")))
# Behind these words, a negation is part of the need.
_CONDITIONS: Final = frozenset(
    map(stem, ("that", "which", "who", "whose", "if", "when", "while", "until", "i", "we", "you", "they"))
)


class _Table(NamedTuple):
    """The table of contrasts, opposites first."""

    places: dict[str, list[tuple[int, int]]]  # a stem, or two with a space, to contrasts and poles
    firsts: frozenset[str]  # the first of two stems
    opposites: int  # number of contrasts with two poles
    actions: frozenset[str]  # stems of verbs
    companions: dict[str, int]  # "with" and "without" in several languages to poles
    negations_first: frozenset[str]  # a stem, or two with a space, that negate a need at its start
    negations: frozenset[str]  # stems that negate a need anywhere
    particles: dict[str, tuple[int, int]]  # stems to a contrast of particles or prepositions, and the pole
    roles: frozenset[str]  # prepositions before another role
    articles: frozenset[str]  # stems of articles and determiners; a verb is before them
    foreign: frozenset[str]  # ... in other languages


def poles_of(words: Words) -> Poles:
    """Return the poles of a wording, from its stems; a contrast with two poles in the wording is left out.

    A word after "too" does not count: "too hard" does not ask for anything hard.
    """
    return _one_each(chain(_companions(words), ((contrast, pole) for _, contrast, pole in _placed(words))))


def _one_each(found: Iterable[tuple[Contrast, int]]) -> Poles:
    stands: Poles = {}
    torn = set()
    for contrast, pole in found:
        if stands.setdefault(contrast, pole) != pole:
            torn.add(contrast)
    return {contrast: pole for contrast, pole in stands.items() if contrast not in torn}


def _placed(words: Words) -> Iterator[tuple[str, Contrast, int]]:
    """Yield the stems that the table has, each with a contrast and a pole."""
    table = _table()
    for before, word in pairwise(("", *words)):
        both = f"{before} {word}"
        if before in table.firsts and both in table.places:
            yield from ((both, *place) for place in table.places[both])
        elif before != "too":
            for term in (word, word[0]) if word[0] in SIGNS else (word,):
                yield from ((word, *place) for place in _places(term))


@cache
def _places(word: str) -> Sequence[tuple[int, int]]:
    """Return the places of a stem in the table; of "older" those of "old"."""
    places = _table().places
    bases = (
        word,
        *(word[:cut] for ending in ("er", "est") if word.endswith(ending) for cut in _cuts(ending)),
    )
    return next((places[base] for base in bases if base in places), ())


def _cuts(ending: str) -> tuple[int, ...]:
    return -len(ending), -len(ending) + 1, -len(ending) - 1  # older, finer, bigger


def _companions(words: Words) -> Iterator[tuple[Contrast, int]]:
    """Yield a contrast and a pole for each "with" or "without", by the start of the next word of content."""
    companions = _table().companions
    for place, word in enumerate(words[:-1]):
        if word in companions:
            behind = words[place + 1 :]
            thing = next(
                (each for each in behind if len(each) >= _CONTENT and each not in _FUNCTION), behind[-1]
            )
            yield f"with {thing[:_CONTENT]}", companions[word] or int(behind[0] == "no")


def parting_poles(
    needs: Iterable[Words], texts: Sequence[str] = (), similarity: Similarity | None = None
) -> tuple[list[Poles], list[Poles]]:
    """Return the poles of needs that separate groups, from their stems; and these with the doubtful ones.

    Two actions or things are doubtful if only their embeddings say that they mean the same.

    `texts` are the needs as they were written. `similarity` returns the cosine similarities of pairs of
    texts; it is None without a model.
    """
    needs = [_joined(words, {}) if "non" in words else words for words in needs]
    # Stems differ more than words: inactive, activ.
    stems = {word: word for word in chain.from_iterable(needs)}
    stems |= {word: stem(word) for word in set(" ".join(texts).lower().split()) - stems.keys()}
    negated = {
        stems[word]: stems[base] for word in sorted(stems) for base in _without_affix(word) if base in stems
    }
    opposite = {base: word for word, base in negated.items()}
    needs = [words if _NOT.isdisjoint(words) else _joined(words, opposite) for words in needs]
    affixed = _affixed(stems, negated)
    poles = [_one_each(_signs(words, affixed)) for words in needs]
    doubts: list[Poles] = [{} for _ in needs]
    _add_exchanges(needs, poles)
    for contrast, parts in _replaced(needs, texts, similarity).items():
        for number, (group, members) in enumerate(parts):
            for member in members:
                poles[member][contrast] = group
                doubts[member][contrast] = number
    # Only what tells needs of this corpus apart is kept; of a negation, one pole is not listed.
    kinds: dict[Contrast, set[int]] = {NEGATION: {NEGATED, 1 - NEGATED}}
    for contrast, pole in chain.from_iterable(own.items() for own in poles):
        kinds.setdefault(contrast, set()).add(pole)
    poles = [{each: pole for each, pole in own.items() if len(kinds[each]) > 1} for own in poles]
    return poles, [own | unsure if unsure else own for own, unsure in zip(poles, doubts, strict=True)]


def _without_affix(word: str) -> Iterator[str]:
    for prefix, least in _PREFIXES.items():
        if word.startswith(prefix) and len(word) >= len(prefix) + least:
            yield word[len(prefix) :]
    if word.endswith("less"):
        yield word.removesuffix("less")


def _affixed(stems: Mapping[str, str], negated: Mapping[str, str]) -> dict[str, list[tuple[Contrast, int]]]:
    """Return the stems that an affix tells apart, each with its poles: used, unused; inbound, outbound."""
    pairs: list[tuple[Contrast, str, str]] = [
        (("negated", base), base, word) for word, base in negated.items()
    ]
    for one, other in _OPPOSITE_PREFIXES:
        tails = (word[len(one) :] for word in sorted(stems) if word.startswith(one))
        pairs += [
            (("prefix", one, other, tail), stems[one + tail], stems[other + tail])
            for tail in tails
            if len(tail) >= _TAIL and other + tail in stems
        ]
    found: dict[str, list[tuple[Contrast, int]]] = defaultdict(list)
    for contrast, *both in pairs:
        for pole, word in enumerate(both):
            found[word].append((contrast, pole))
    return found


def _joined(words: Words, opposite: dict[str, str]) -> Words:
    """Return the stems of a need with "non X" as one word, and "not used" as "unused" if that is known."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "non":
            joined[-1] += word
        elif joined and joined[-1] in _NOT and word in opposite:
            joined[-1] = opposite[word]
        else:
            joined.append(word)
    return joined


def _signs(
    words: Words, affixed: Mapping[str, Sequence[tuple[Contrast, int]]]
) -> Iterator[tuple[Contrast, int]]:
    """Yield the contrasts that a need's own words tell, each with its pole."""
    table, rest = _table(), _without_negation(words)
    content = frozenset(_content(rest))
    is_negated = len(rest) < len(words)
    yield ("negation", content - _NOT - _STOPS), int(is_negated or _is_partly_negated(words))
    for before, word in pairwise(("", *words)):
        for contrast, pole in affixed.get(word, ()):
            yield (contrast, content - {word}), pole
        if word in table.particles:
            particle, pole = table.particles[word]
            yield ("particle", content.difference(table.particles), particle), pole
            if before and before not in _FUNCTION and word not in ("to", "from"):
                yield ("particle", before, particle), pole
    if len(words) > SHORT or clause_share(" ".join(rest)) > SENTENCE:
        # Each word of the table is compared in its place: the other words must be the same.
        yield from (((contrast, content - {*term.split()}), pole) for term, contrast, pole in _placed(rest))
        return
    yield from _companions(words)
    yield from ((contrast, pole) for _, contrast, pole in _placed(words))
    if is_negated:
        yield NEGATION, NEGATED


def _is_partly_negated(words: Words) -> bool:
    """Tell whether a need stops something, or negates a condition or what is behind its noun."""
    condition = next((place for place, word in enumerate(words) if place and word in _CONDITIONS), len(words))
    if words[0] in _STOPS or not _NOT.isdisjoint(words[condition:]):
        return True
    return any(word == "not" and before not in _FUNCTION for before, word in pairwise(words))


def _content(words: Words) -> list[str]:
    """Return the words of a need that are neither function words nor articles of another language."""
    table = _table()
    return [word for word in words if word not in _FUNCTION and word not in table.articles]


def _without_negation(words: Words) -> Words:
    """Return the stems of a need without those that negate it."""
    table = _table()
    # "I don't want a mask" is a negation, "I don't see a mask" is none.
    start = int(words[0] in {"i", "we", "you"} and "want" in words[:4])
    for end in (start + 2, start + 1):
        if " ".join(words[start:end]) in table.negations_first:
            return words[end:] or words
    return [word for word in words if word not in table.negations]


def _add_exchanges(needs: Sequence[Words], poles: Sequence[Poles]) -> None:
    """Add poles for needs with the same words of content, of which two are exchanged."""
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, words in enumerate(needs):
        if len(words) <= SHORT:
            alike[tuple(sorted(_content(words)))].append(number)
    for content, members in alike.items():
        for one, other in combinations(members[:_MOST_ALIKE], 2):
            for contrast, pole in _exchanges(needs[one], needs[other]):
                poles[one][contrast, content], poles[other][contrast, content] = pole, 1 - pole


def _exchanges(one: Words, other: Words) -> Iterator[tuple[Contrast, int]]:
    """Yield the exchanges of two words' roles or places that turn one need into another, with its pole.

    The role of a word is the preposition or conjunction before it. Items of a list have no order.
    """
    roles, others = _roles_of(one), _roles_of(other)
    changed = sorted(word for word in roles if roles[word] != others[word])
    for pair in combinations(changed, 2):
        first, second = (roles[word] for word in pair)
        if (second, first) == tuple(others[word] for word in pair):
            yield ("roles", pair), int(first > second)
    one, other = ([word for word in words if word not in _table().articles] for words in (one, other))
    places = [place for place, words in enumerate(zip(one, other, strict=False)) if words[0] != words[1]]
    if len(places) == 2 and len(one) == len(other):  # noqa: PLR2004
        left, right = places
        is_list = right in (left + 1, len(one) - 1 - left) or not _JOINING.isdisjoint(one[left:right])
        first, second = one[left], one[right]
        if (second, first) == (other[left], other[right]) and not is_list:
            yield ("places", frozenset((first, second))), int(first > second)


def _roles_of(words: Words) -> dict[str, str]:
    """Return the preposition or conjunction before each word of content; an empty text if there is none."""
    roles = _table().roles
    role, role_of = "", {}
    for word in words:
        role = word if word in roles else role
        role_of[word] = role
    return {word: role_of[word] for word in _content(words)}


class _Word(NamedTuple):
    """A word in a frame: an action or a thing; whether an English model reads it, and may read a noun."""

    stem: str
    is_action: bool = True
    is_english: bool = True
    may_be_noun: bool = False


def _replaced(
    needs: Sequence[Words], texts: Sequence[str], similarity: Similarity | None
) -> dict[Contrast, list[tuple[int, list[int]]]]:
    """Return contrasts of needs with another action on the same things, or one other thing in its place.

    For each word in the place there is its group, and the needs with it. Words that mean the same are one
    group. Those that surely do are one word.
    """
    frames: dict[Contrast, dict[_Word, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, words in enumerate(needs):
        content = _content(words)
        if not 1 < len(content) <= SHORT:
            continue
        action = _action_of(words, content)
        if action:
            # A last infinitive is compared with others only: "given" ends like one.
            is_first = action.stem == words[0]
            frames["action", is_first, frozenset(content) - {action.stem}][action].append(number)
        if similarity and action and not action.may_be_noun and len(content) > FRAME:
            for place, word in enumerate(content):
                if word != action.stem and word.isalpha():
                    others = *content[:place], "", *content[place + 1 :]
                    frames["thing", others][_Word(word, is_action=False)].append(number)
    frames = {
        frame: actions
        for frame, actions in frames.items()
        if 1 < len(actions) <= _MOST_ALIKE and not all(action.may_be_noun for action in actions)
    }
    alike = _alike(frames, texts, similarity)
    contrasts = {}
    for frame, actions in frames.items():
        ordered = sorted(actions)
        groups, sure = (_classes(ordered, alike, least) for least in (SAME_ACTION, SURELY_SAME))
        if max(sure):
            merged: dict[tuple[int, int], list[int]] = defaultdict(list)
            for action, group, number in zip(ordered, groups, sure, strict=True):
                merged[group, number] += actions[action]
            contrasts[frame] = [(group, members) for (group, _), members in merged.items()]
    return contrasts


def _classes(actions: Sequence[_Word], alike: dict[tuple[_Word, _Word], float], least: float) -> list[int]:
    """Return the class of each action; all members of a class are at least that similar."""
    classes: list[list[_Word]] = []
    numbers = []
    for action in actions:
        fits = (
            place for place, each in enumerate(classes) if all(alike[one, action] >= least for one in each)
        )
        number = next(fits, len(classes))
        if number == len(classes):
            classes.append([])
        classes[number].append(action)
        numbers.append(number)
    return numbers


def _action_of(words: Words, content: Words) -> _Word | None:
    """Return the action of a need: its first word before an article or in the table, or a last infinitive."""
    table = _table()
    first, behind, last = words[0], words[1:2], words[-1]
    is_verb = first == content[0] and (first in table.actions or not table.articles.isdisjoint(behind))
    if is_verb and table.foreign.isdisjoint(behind):
        return _Word(first)
    if first == content[0] and first.endswith(("ar", "ir", "are", "ere", "ire")):
        return _Word(first, is_english=False)
    if last == content[-1] and last.endswith(("en", "eln", "ern")):
        return _Word(last, is_english=False)
    if first == content[0]:
        return _Word(first, is_english=not is_verb or first in table.actions, may_be_noun=not is_verb)
    return None


def _alike(
    frames: dict[Contrast, dict[_Word, list[int]]], texts: Sequence[str], similarity: Similarity | None
) -> dict[tuple[_Word, _Word], float]:
    """Return the similarity of words in the frame where it is highest; 1 or 0 if the table tells it.

    Two things in a long frame are similar whatever they are, so they must be similar alone, too.
    """
    asked = [
        (pair, actions)
        for actions in sorted(frames.values(), key=lambda actions: -sum(map(len, actions.values())))
        for pair in combinations(sorted(actions), 2)
    ]
    alike = {pair: float(_are_near(pair[0].stem, pair[1].stem)) for pair, _ in asked}
    read = [(pair, actions) for pair, actions in asked if pair[0].is_english or pair[1].is_english]
    known, unknown = (read[:MOST_WORDS], read[MOST_WORDS:]) if similarity else ([], read)
    if similarity and known:
        frames_of = [
            _in_one_frame(texts, *((each, actions[each]) for each in pair)) for pair, actions in known
        ]
        alone = [(one.stem, other.stem) for (one, other), _ in known]
        cosines = similarity(*zip(*frames_of, *alone, strict=True)).reshape(2, -1).T.tolist()
        for (pair, _), (cosine, cosine_alone) in zip(known, cosines, strict=True):
            if pair[0].is_action or cosine_alone >= SAME_THING:
                alike[pair] = max(alike[pair], cosine)
    for pair, _ in unknown:
        alike[pair] = max(alike[pair], SAME_ACTION)  # nothing tells whether they mean the same
    return {
        pair: 0.0 if _are_opposite(pair[0].stem, pair[1].stem) else cosine for pair, cosine in alike.items()
    }


def _in_one_frame(
    texts: Sequence[str], one: tuple[_Word, Sequence[int]], other: tuple[_Word, Sequence[int]]
) -> tuple[str, str]:
    """Return the shortest need with one word, and the same need with the other word.

    An action is first, and only the words before the next preposition tell what it is about.
    """
    (word, text), (_, replacing) = (
        (word, min((texts[number] for number in numbers), key=lambda text: (len(text), text)))
        for word, numbers in (one, other)
    )
    if not word.is_action:
        return text, replacing
    verb, *things = text.split()
    end = next((place for place, each in enumerate(things) if place and each in _table().roles), len(things))
    about = " ".join(("", *things[:end]))
    return verb + about, replacing.split()[0] + about


def _are_near(one: str, other: str) -> bool:
    """Tell whether two words are at one pole of the table, or are spelt alike."""
    return one[:_CONTENT] == other[:_CONTENT] or not set(_places(one)).isdisjoint(_places(other))


def _are_opposite(one: str, other: str) -> bool:
    """Tell whether two words are at different poles of a contrast of the table."""
    own = dict(_places(one))
    return any(own.get(contrast, pole) != pole for contrast, pole in _places(other))


def in_doubt(
    poles: Sequence[Poles], groups: Iterable[npt.NDArray[np.int64]], weights: FloatArray
) -> Iterator[tuple[int, int]]:
    """Yield pairs of points of one group at different poles: the most mentioned ones of each pole."""
    for group in groups if poles else ():
        at_pole: dict[Contrast, dict[int, int]] = defaultdict(dict)
        for point in sorted(group.tolist(), key=lambda point: -weights[point]):
            for contrast, pole in poles[point].items():
                at_pole[contrast].setdefault(pole, point)
        if NEGATION in at_pole:
            other = (point for point in group.tolist() if NEGATION not in poles[point])
            if (point := next(other, None)) is not None:
                at_pole[NEGATION][1 - NEGATED] = point
        pairs = (combinations(sorted(points.values()), 2) for points in at_pole.values())
        yield from sorted(set(chain.from_iterable(pairs)))


def pole_rows(poles: Sequence[Poles]) -> FloatArray:
    """Return rows of unit length, one dimension per opposite, shape (n, opposites); zeros without a pole."""
    opposites = _table().opposites
    rows = np.zeros((len(poles), opposites))
    for row, own in enumerate(poles):
        for contrast, pole in own.items():
            if isinstance(contrast, int) and contrast < opposites:
                rows[row, contrast] = 1.0 - 2.0 * pole
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0.0, 1.0, lengths))


def leaving(linkage: pl.DataFrame, poles: Sequence[Poles]) -> npt.NDArray[np.int8]:
    """Return the side that leaves at each merge because of a contrast: `LEFT`, `RIGHT`, or 0 for none.

    The side with fewer surfaces leaves; of equal sides, the right one. The other side continues without it.
    """
    # For each cluster: the number of its surfaces at each pole.
    at_pole: list[dict[tuple[Contrast, int], int]] = [dict.fromkeys(own.items(), 1) for own in poles]
    size = [1] * len(poles)
    side = np.zeros(linkage.height, dtype=np.int8)
    for merge, (left, right) in enumerate(linkage.select("left", "right").iter_rows()):
        if _differ(at_pole[left], size[left], at_pole[right], size[right]):
            side[merge], stays = (LEFT, right) if size[left] < size[right] else (RIGHT, left)
            at_pole.append(at_pole[stays])
            size.append(size[stays])
            continue
        more, fewer = sorted((at_pole[left], at_pole[right]), key=len, reverse=True)
        for pole, surfaces in fewer.items():
            more[pole] = more.get(pole, 0) + surfaces
        at_pole[left] = at_pole[right] = {}
        at_pole.append(more)
        size.append(size[left] + size[right])
    return side


def _differ(
    one: dict[tuple[Contrast, int], int],
    size_of_one: int,
    other: dict[tuple[Contrast, int], int],
    size_of_other: int,
) -> bool:
    """Tell whether two clusters are mostly at different poles of a contrast."""
    if not one and not other:
        return False
    negated = (NEGATION, NEGATED)
    if (one.get(negated, 0) >= MOST * size_of_one) != (other.get(negated, 0) >= MOST * size_of_other):
        return True
    main_poles = {
        contrast: pole for (contrast, pole), surfaces in one.items() if surfaces >= MOST * size_of_one
    }
    return any(
        main_poles.get(contrast, pole) != pole
        for (contrast, pole), surfaces in other.items()
        if surfaces >= MOST * size_of_other
    )


@cache
def _table() -> _Table:
    table = tomllib.loads(text_of(Path(__file__).with_name("contrasts.toml")))
    actions, opposites, kinds, particles = (
        [[part.split(",") for part in row.split("/")] for row in table[name].strip().splitlines()]
        for name in ("actions", "opposites", "kinds", "particles")
    )
    places: dict[str, list[tuple[int, int]]] = {}
    for contrast, poles in enumerate((*actions, *opposites, *kinds)):
        for pole, words in enumerate(poles):
            for word in map(surface, words):
                listed = places.setdefault(word, [])
                if (contrast, pole) not in listed:
                    listed.append((contrast, pole))
    firsts = frozenset(term.split()[0] for term in places if " " in term)
    first, anywhere, roles, articles, foreign = (
        frozenset(map(surface, table["words"][name].split(",")))
        for name in ("negations_first", "negations", "roles", "articles", "foreign_articles")
    )
    companions, particle_places = (
        {
            surface(word): (row, pole)
            for row, poles in enumerate(rows)
            for pole, words in enumerate(poles)
            for word in words
        }
        for rows in ([[table["words"][name].split(",") for name in ("with", "without")]], particles)
    )
    verbs = frozenset(surface(word).split()[0] for poles in actions for words in poles for word in words)
    return _Table(
        places,
        firsts,
        len(actions) + len(opposites),
        verbs,
        {word: pole for word, (_, pole) in companions.items()},
        first,
        anywhere,
        particle_places,
        roles,
        articles | foreign,
        foreign,
    )
