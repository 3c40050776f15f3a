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
from collections import Counter, defaultdict
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
from vocabgap.text import COMPARED_CHARACTERS, ignored_stems, stem, surface

MAIN_SHARE: Final = 0.5  # least share of a group's surfaces at its main poles
SENTENCE_SHARE: Final = 0.2  # of clause words; in a sentence, each word is compared in its place
SHORT: Final = 12  # words; a longer need is compared as a sentence is
LEFT: Final = 1  # the left side of a merge leaves ...
RIGHT: Final = 2  # ... or the right one

Contrast = Hashable  # its number in the table, or what it is about
Sign = tuple[Contrast, int]  # a contrast and the number of a pole
Poles = dict[Contrast, int]  # contrasts to the number of the pole
Words = Sequence[str]  # the stems of a need
Similarity = Callable[[Sequence[str], Sequence[str]], FloatArray]  # of texts, pair by pair
NEGATION: Final = "not"  # the contrast of negated needs, ...
NEGATED: Final = 1  # ... and their pole; the other pole is not listed
_NUMBER_SIGNS: Final = frozenset("+-<>")
_INITIALS: Final = 4  # first letters, which words with other endings share
_FUNCTION_WORDS: Final = ignored_stems()
# A prefix that negates, and the fewest letters of the word after it; and pairs of opposite prefixes.
_PREFIXES: Final = {
    "un": 3, "non": 3, "dis": 4, "de": 4, "des": 4, "dés": 4, "dé": 4, "in": 5, "im": 5, "ir": 5, "il": 5,
    "ab": 5, "anti": 4, "counter": 4, "a": 6, "an": 6,
}  # fmt: skip
_OPPOSITE_PREFIXES: Final = (
    ("in", "out"), ("im", "ex"), ("up", "down"), ("over", "under"), ("pre", "post"), ("en", "de"),
    ("in", "de"), ("en", "dis"), ("inter", "intra"), ("macro", "micro"), ("mono", "multi"), ("on", "off"),
    ("upper", "lower"), ("super", "sub"),
)  # fmt: skip
_LEAST_REST: Final = 4  # letters after one of a pair
SAME_ACTION: Final = 0.77  # least similarity, in a frame, of two words that mean the same
SURELY_SAME: Final = 0.9  # ... and of two that are in no doubt
SAME_THING: Final = 0.55  # ... and of two things without the frame
MOST_EMBEDDED: Final = 2_000  # pairs of words
LEAST_FRAME: Final = 2  # words of content beside a thing that another one replaces
_MOST_COMPARED: Final = 50  # needs with the same words, or words in a frame, that are compared pair by pair
_CONJUNCTIONS: Final = frozenset(map(stem, ("and", "or", "und", "oder", "et", "ou", "y", "o", "e")))
_STOPS: Final = frozenset(map(stem, ("stop", "avoid", "prevent", "skip", "ignore")))  # at the start of a need
_NOT: Final = frozenset(map(stem, ("not", "no", "isnt", "arent", "wasnt", "werent", "never")))
# After these words, a negation is part of the need.
_CONDITIONS: Final = frozenset(
    map(stem, ("that", "which", "who", "whose", "if", "when", "while", "until", "i", "we", "you", "they"))
)


class _Table(NamedTuple):
    """The table of contrasts, opposites first."""

    places: dict[str, list[tuple[int, int]]]  # a stem, or two with a space, to contrasts and poles
    opposites: int  # number of contrasts with two poles
    actions: frozenset[str]  # stems of verbs
    particles: dict[str, list[tuple[int, int]]]  # ... of particles or prepositions to contrasts and poles
    companions: dict[str, int]  # "with" and "without" in several languages to poles
    negations_first: frozenset[str]  # a stem, or two with a space, that negate a need at its start
    negations: frozenset[str]  # stems that negate a need anywhere
    roles: frozenset[str]  # prepositions before another role
    articles: frozenset[str]  # stems of articles and determiners; a verb is before them
    foreign_articles: frozenset[str]  # ... in other languages


def poles_of(words: Words) -> Poles:
    """Return the poles of a wording, from its stems; a contrast with two poles in the wording is left out.

    A word after "too" does not count: "too hard" does not ask for anything hard.
    """
    return _with_one_pole(_listed(words))


def _with_one_pole(signs: Iterable[Sign]) -> Poles:
    poles: Poles = {}
    torn = set()
    for contrast, pole in signs:
        if poles.setdefault(contrast, pole) != pole:
            torn.add(contrast)
    return {contrast: pole for contrast, pole in poles.items() if contrast not in torn}


def _listed(words: Words) -> Iterator[Sign]:
    """Yield the signs that the table has for a need."""
    yield from _companions(words)
    yield from ((contrast, pole) for _, contrast, pole in _terms(words))


def _terms(words: Words) -> Iterator[tuple[str, Contrast, int]]:
    """Yield the terms of the table in a need, each with a contrast and a pole."""
    places = _table().places
    for before, word in pairwise(("", *words)):
        both = f"{before} {word}"
        if both in places:
            yield from ((both, *place) for place in places[both])
        elif before != "too":
            for term in (word, word[0]) if word[0] in _NUMBER_SIGNS else (word,):
                yield from ((word, *place) for place in _places(term))


@cache
def _places(word: str) -> Sequence[tuple[int, int]]:
    """Return the places of a stem in the table; of "older" those of "old"."""
    places = _table().places
    bases = [word]
    for ending in ("er", "est"):
        if word.endswith(ending):
            bases += [word[: longer - len(ending)] for longer in (0, 1, -1)]  # older, finer, bigger
    return next((places[base] for base in bases if base in places), ())


def _companions(words: Words) -> Iterator[Sign]:
    """Yield a sign for each "with" or "without", by the start of the next word of content."""
    companions, signs, thing = _table().companions, list[Sign](), "".join(words[-1:])
    for word, following in reversed([*pairwise(words)]):
        if len(following) >= _INITIALS and following not in _FUNCTION_WORDS:
            thing = following
        if word in companions:
            signs.append((f"with {thing[:_INITIALS]}", companions[word] or int(following == "no")))
    yield from reversed(signs)


def parting_poles(
    needs: Iterable[Words], texts: Sequence[str] = (), similarity: Similarity | None = None
) -> tuple[list[Poles], list[Poles]]:
    """Return the poles of needs that separate groups, from their stems; and these with the doubtful ones.

    Two actions or things are doubtful if only their embeddings say that they mean the same.

    `texts` are the needs as they were written. `similarity` returns the cosine similarities of pairs of
    texts; it is None without a model.
    """
    needs = [_joined(words, {}) for words in needs]
    # Affixes are those of whole words, because their stems may differ: inactive, activ.
    stems = {word: stem(word) for text in texts for word in text[:COMPARED_CHARACTERS].lower().split()}
    stems |= {word: word for word in chain.from_iterable(needs)}
    negated = {
        stems[word]: stems[base] for word in sorted(stems) for base in _without_affix(word) if base in stems
    }
    opposite = {base: word for word, base in negated.items()}
    needs = [_joined(words, opposite) for words in needs]
    affixed = _affixed(stems, negated)
    poles = [_with_one_pole(_signs(words, affixed)) for words in needs]
    doubts: list[Poles] = [{} for _ in needs]
    _add_exchanges(needs, texts, poles)
    for contrast, need, group, part in _replaced(needs, texts, similarity):
        poles[need][contrast] = group
        doubts[need][contrast] = part
    # Only what tells needs of this corpus apart is kept; of a negation, one pole is not listed.
    poles_of_all: dict[Contrast, set[int]] = defaultdict(set, {NEGATION: {-NEGATED}})
    for contrast, pole in chain.from_iterable(own.items() for own in poles):
        poles_of_all[contrast].add(pole)
    poles = [{each: pole for each, pole in own.items() if len(poles_of_all[each]) > 1} for own in poles]
    return poles, [own | unsure if unsure else own for own, unsure in zip(poles, doubts, strict=True)]


def _without_affix(word: str) -> Iterator[str]:
    for prefix, least in _PREFIXES.items():
        if word.startswith(prefix) and len(word) >= len(prefix) + least:
            yield word[len(prefix) :]
    if word.endswith("less"):
        yield word.removesuffix("less")


def _affixed(stems: Mapping[str, str], negated: Mapping[str, str]) -> dict[str, list[Sign]]:
    """Return the stems that differ in an affix only, with their signs: used, unused; inbound, outbound."""
    pairs: list[tuple[Contrast, str, str]] = [
        (("negated", base), base, word) for word, base in negated.items()
    ]
    for one, other in _OPPOSITE_PREFIXES:
        rests = (word.removeprefix(one) for word in sorted(stems) if word.startswith(one))
        pairs += [
            (("prefix", one, other, rest), stems[one + rest], stems[other + rest])
            for rest in rests
            if len(rest) >= _LEAST_REST and other + rest in stems
        ]
    signs: dict[str, list[Sign]] = defaultdict(list)
    for contrast, base, word in pairs:
        signs[base].append((contrast, 0))
        signs[word].append((contrast, 1))
    return signs


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


def _signs(words: Words, affixed: Mapping[str, Sequence[Sign]]) -> Iterator[Sign]:
    """Yield the signs that a need has by its own words; a number stands for a set of other words."""
    table, rest = _table(), _without_negation(words)
    content = frozenset(_content(rest))
    frame, things = sum(map(hash, content)), content.difference(table.particles)
    is_negated = len(rest) < len(words)
    yield ("negation", content - _NOT - _STOPS), int(is_negated or _is_partly_negated(words))
    for before, word in pairwise(("", *words)):
        for contrast, pole in affixed.get(word, ()):
            yield (contrast, frame - hash(word) * (word in content)), pole
        for particle, pole in table.particles.get(word, ()):
            yield ("particle", things, particle), pole
            if before and before not in _FUNCTION_WORDS and word not in ("to", "from"):
                yield ("particle", before, particle), pole
    if len(words) > SHORT or clause_share(" ".join(rest)) > SENTENCE_SHARE:
        for term, contrast, pole in _terms(rest):
            yield (contrast, frame - sum(map(hash, content.intersection(term.split())))), pole
        return
    yield from _listed(words)
    if is_negated:
        yield NEGATION, NEGATED


def _is_partly_negated(words: Words) -> bool:
    """Tell whether a need stops something, or negates a condition or what follows its noun."""
    condition = next((place for place, word in enumerate(words) if place and word in _CONDITIONS), len(words))
    if words[0] in _STOPS or not _NOT.isdisjoint(words[condition:]):
        return True
    return any(word == "not" and before not in _FUNCTION_WORDS for before, word in pairwise(words))


def _content(words: Words) -> list[str]:
    """Return the words of a need that are neither function words nor articles of another language."""
    return [word for word in words if word not in _FUNCTION_WORDS and word not in _table().articles]


def _without_negation(words: Words) -> Words:
    """Return the stems of a need without those that negate it."""
    table = _table()
    # "I don't want a mask" is a negation, "I don't see a mask" is none.
    start = int(words[0] in {"i", "we", "you"} and "want" in words[:4])
    for end in (start + 2, start + 1):
        if " ".join(words[start:end]) in table.negations_first:
            return words[end:] or words
    return [word for word in words if word not in table.negations]


def _add_exchanges(needs: Sequence[Words], texts: Sequence[str], poles: Sequence[Poles]) -> None:
    """Add poles for needs with the same words, of which two are exchanged; compare each order once."""
    roles = _table().roles | _CONJUNCTIONS
    alike: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, words in enumerate(needs):
        if len(words) <= SHORT:
            content = _content(words)
            telling = tuple(word for word in words if word in roles or word in content)
            alike[tuple(sorted(content))][telling].append(number)
    for shared, orders in alike.items():
        for one, other in combinations([*orders][:_MOST_COMPARED], 2):
            sides = orders[one], orders[other]
            spelt = {frozenset(texts[numbers[0]].lower().split()) for numbers in sides if texts}
            for contrast, pole in _exchanges(one, other, same_words=len(spelt) == 1):
                for numbers, own in zip(sides, (pole, 1 - pole), strict=True):
                    for number in numbers:
                        poles[number][contrast, shared] = own


def _exchanges(one: Words, other: Words, *, same_words: bool) -> Iterator[Sign]:
    """Yield a sign of the first need for each two words that exchange their roles or places in the other.

    The role of a word is the preposition or conjunction before it. Items of a list have no order. The first
    and the last word exchange their places also if a noun becomes a verb (`same_words` is false).
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
        is_list = right == left + 1 or not _CONJUNCTIONS.isdisjoint(one[left:right])
        is_list |= right - left == len(one) - 1 and not same_words
        first, second = one[left], one[right]
        if (second, first) == (other[left], other[right]) and not is_list:
            yield ("places", frozenset((first, second))), int(first > second)


def _roles_of(words: Words) -> dict[str, str]:
    """Return the preposition or conjunction before each word of content; an empty text if there is none."""
    role, role_of = "", {}
    for word in words:
        role = word if word in _table().roles else role
        role_of[word] = role
    return {word: role_of[word] for word in _content(words)}


class _Word(NamedTuple):
    """A word in a frame: an action or a thing."""

    stem: str
    is_action: bool = True
    is_english: bool = True  # so that an English model reads it
    may_be_noun: bool = False


_Pair = tuple[_Word, _Word]  # in order
_Frames = dict[Contrast, dict[_Word, list[int]]]


def _replaced(
    needs: Sequence[Words], texts: Sequence[str], similarity: Similarity | None
) -> Iterator[tuple[Contrast, int, int, int]]:
    """Yield contrasts of needs with another action on the same things, or with one other thing.

    A contrast comes with a need, the group of its word, and a part of that group. Words that mean the same
    are one group. Words that surely do are one part.
    """
    frames = _frames(needs, with_things=similarity is not None)
    alike = _alike(frames, texts, similarity)
    for contrast, words in frames.items():
        ordered = sorted(words)
        group_of, sure_group_of = (_groups(ordered, alike, least) for least in (SAME_ACTION, SURELY_SAME))
        if max(sure_group_of.values()) == 0:
            continue
        parts: dict[tuple[int, int], int] = {}
        for word in ordered:
            group = group_of[word]
            part = parts.setdefault((group, sure_group_of[word]), len(parts))
            yield from ((contrast, need, group, part) for need in words[word])


def _frames(needs: Sequence[Words], *, with_things: bool) -> _Frames:
    """Return frames, each with the words in it and their needs; a frame is a need without one word."""
    frames: _Frames = defaultdict(lambda: defaultdict(list))
    for number, words in enumerate(needs):
        content = _content(words)
        action = _action_of(words, content) if 1 < len(content) <= SHORT else None
        if action is None:
            continue
        # A last infinitive is compared with others only: "given" ends like one.
        is_first = action.stem == words[0]
        frames["action", is_first, frozenset(content) - {action.stem}][action].append(number)
        if with_things and not action.may_be_noun and len(content) > LEAST_FRAME:
            for place, word in enumerate(content):
                if word != action.stem and word.isalpha():
                    frame = *content[:place], "", *content[place + 1 :]
                    frames["thing", frame][_Word(word, is_action=False)].append(number)
    return {
        frame: words
        for frame, words in frames.items()
        if 1 < len(words) <= _MOST_COMPARED and not all(word.may_be_noun for word in words)
    }


def _groups(words: Iterable[_Word], alike: Mapping[_Pair, float], least: float) -> dict[_Word, int]:
    """Return the group of each word; all words of a group are at least that similar."""
    groups: list[list[_Word]] = []
    for word in words:
        fitting = (group for group in groups if all(alike[one, word] >= least for one in group))
        if (group := next(fitting, None)) is None:
            groups.append(group := [])
        group.append(word)
    return {word: number for number, group in enumerate(groups) for word in group}


def _action_of(words: Words, content: Words) -> _Word | None:
    """Return the action of a need: its first word if that is one of content, or a last infinitive."""
    table = _table()
    first, second, last = words[0], words[1:2], words[-1]
    starts = first == content[0]
    is_verb = starts and (first in table.actions or not table.articles.isdisjoint(second))
    if is_verb and table.foreign_articles.isdisjoint(second):
        return _Word(first)
    if starts and first.endswith(("ar", "ir", "are", "ere", "ire")):
        return _Word(first, is_english=False)
    if last == content[-1] and last.endswith(("en", "eln", "ern")):
        return _Word(last, is_english=False)
    if starts:
        return _Word(first, is_english=not is_verb or first in table.actions, may_be_noun=not is_verb)
    return None


def _alike(frames: _Frames, texts: Sequence[str], similarity: Similarity | None) -> dict[_Pair, float]:
    """Return the similarity of words in the frame where it is highest; 1 or 0 if the table tells it.

    Two things in a long frame are similar whatever they are, so they must be similar alone, too.
    """
    pairs = [
        (pair, words)
        for words in sorted(frames.values(), key=lambda words: -sum(map(len, words.values())))
        for pair in combinations(sorted(words), 2)
    ]
    alike = {(one, other): float(_are_near(one.stem, other.stem)) for (one, other), _ in pairs}
    read = [(pair, words) for pair, words in pairs if any(word.is_english for word in pair)]
    most = MOST_EMBEDDED if similarity else 0
    if similarity and read:
        in_frames = [_in_one_frame(texts, pair, words) for pair, words in read[:most]]
        alone = [(one.stem, other.stem) for (one, other), _ in read[:most]]
        cosines = similarity(*zip(*in_frames, *alone, strict=True)).reshape(2, -1).T.tolist()
        for (pair, _), (cosine, cosine_alone) in zip(read[:most], cosines, strict=True):
            if pair[0].is_action or cosine_alone >= SAME_THING:
                alike[pair] = max(alike[pair], cosine)
    for pair, _ in read[most:]:
        alike[pair] = max(alike[pair], SAME_ACTION)  # nothing tells whether they mean the same
    opposite = ((one, other) for one, other in alike if _are_opposite(one.stem, other.stem))
    return alike | dict.fromkeys(opposite, 0.0)


def _in_one_frame(texts: Sequence[str], pair: _Pair, needs: Mapping[_Word, Sequence[int]]) -> tuple[str, str]:
    """Return the shortest need with one word, and the same need with the other word.

    An action is first, and only the words before the next preposition tell what it is about.
    """
    one, other = (
        min((texts[need] for need in needs[word]), key=lambda text: (len(text), text)) for word in pair
    )
    if not pair[0].is_action:
        return one, other
    verb, *things = one.split()
    end = next((place for place, each in enumerate(things) if place and each in _table().roles), len(things))
    about = " ".join(("", *things[:end]))
    return verb + about, other.split()[0] + about


def _are_near(one: str, other: str) -> bool:
    """Tell whether two words are at one pole of the table, or are spelt alike."""
    return one[:_INITIALS] == other[:_INITIALS] or not set(_places(one)).isdisjoint(_places(other))


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
    counts = [Counter(own.items()) for own in poles]  # for each cluster, the surfaces at each pole
    size = [1] * len(poles)
    side = np.zeros(linkage.height, dtype=np.int8)
    for merge, (left, right) in enumerate(linkage.select("left", "right").iter_rows()):
        if _differ(_main_poles(counts[left], size[left]), _main_poles(counts[right], size[right])):
            side[merge], stays = (LEFT, right) if size[left] < size[right] else (RIGHT, left)
            counts.append(counts[stays])
            size.append(size[stays])
            continue
        more, fewer = sorted((counts[left], counts[right]), key=len, reverse=True)
        more.update(fewer)
        counts[left] = counts[right] = Counter()
        counts.append(more)
        size.append(size[left] + size[right])
    return side


def _main_poles(counts: Mapping[Sign, int], size: int) -> list[Sign]:
    return [sign for sign, surfaces in counts.items() if surfaces >= MAIN_SHARE * size]


def _differ(one: Sequence[Sign], other: Sequence[Sign]) -> bool:
    """Tell whether the main poles of two clusters differ in a contrast, or whether one is negated."""
    poles = dict(one)
    return any(poles.get(contrast, pole) != pole for contrast, pole in other) or (
        ((NEGATION, NEGATED) in one) != ((NEGATION, NEGATED) in other)
    )


@cache
def _table() -> _Table:
    table = tomllib.loads(text_of(Path(__file__).with_name("contrasts.toml")))
    actions, opposites, kinds, particles, companions = (
        [[part.split(",") for part in row.split("/")] for row in table[name].strip().splitlines()]
        for name in ("actions", "opposites", "kinds", "particles", "companions")
    )
    words = {name: frozenset(map(surface, row.split(","))) for name, row in table["words"].items()}
    words["articles"] |= words["foreign_articles"]
    return _Table(
        places=_places_in(chain(actions, opposites, kinds)),
        opposites=len(actions) + len(opposites),
        actions=frozenset(term.split()[0] for term in _places_in(actions)),
        particles=_places_in(particles),
        companions={word: pole for word, [(_, pole)] in _places_in(companions).items()},
        **words,
    )


def _places_in(rows: Iterable[list[list[str]]]) -> dict[str, list[tuple[int, int]]]:
    """Return the contrasts and poles of each term in some rows."""
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for contrast, poles in enumerate(rows):
        for pole, terms in enumerate(poles):
            for term in dict.fromkeys(map(surface, terms)):
                places[term].append((contrast, pole))
    return dict(places)
