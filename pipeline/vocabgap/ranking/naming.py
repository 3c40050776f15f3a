"""A name for an entry that does not exist yet, in the style of those that do."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Final

from vocabgap.ranking.vocabulary import Entry
from vocabgap.text import ignored_stems, stem, words

MOST_WORDS: Final = 4
SHARED_BY: Final = 0.5  # of the mentions, that use a word of the name
_HABIT: Final = 0.75  # of names, that begin (or end) alike where it is a habit
_FAMILY: Final = 3  # names that make a habit at least
_ENDS: Final = {0: "begin", -1: "end"}
_NEGATIONS: Final = frozenset({"no", "not"})
_ASIDE: Final = re.compile(r"\([^()]*\)")
_BREAK: Final = re.compile(r"\s[—–-]\s|[:;]")  # what follows explains what stands before


def shared_words(
    label: str, wordings: Mapping[str, int], stop_words: Iterable[str] = ()
) -> tuple[list[str], list[str]]:
    """The words of a need that most of its mentions use, and those that are left."""
    ignored = ignored_stems(stop_words)
    mentions: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for wording, often in wordings.items():
        for word in {word for word in words(wording) if _tells(word, ignored)}:
            spellings[stem(word)][word] += often
        mentions.update(dict.fromkeys(map(stem, words(wording)), often))
    own = _core(label, ignored)
    shared = [word for word in own if mentions[stem(word)] >= SHARED_BY * sum(wordings.values())] or own
    foremost = sorted(shared, key=lambda word: -mentions[stem(word)])[:MOST_WORDS]
    chosen = [word for word in own if word in foremost]
    held = {stem(word) for word in chosen}
    left = sorted(spellings.keys() - held, key=lambda each: (-mentions[each], each))
    return chosen, [min(spellings[each], key=lambda word: (-spellings[each][word], word)) for each in left]


def propose_name(
    chosen: Sequence[str],
    spare: Sequence[str],
    operations: Sequence[str],
    entries: Sequence[Entry],
    *,
    fallback: str,
) -> tuple[str, tuple[str, ...]]:
    """Put words together as the entries that touch the same operations do, into a name that no entry has.

    What a person should know of the name comes with it.

    A word of the need that three quarters of the names that hold it, at least three, have first or last goes
    there. So does a word that the need does not say, where as many siblings have it there: the entries that
    touch the same operations and no others. Words are spelt as in the names of the vocabulary.
    """
    touched = set(map(str.casefold, operations))
    siblings = [entry for entry in entries if touched and touched == set(map(str.casefold, entry.operations))]
    used, usual = _usual_spellings(entries)
    parts = [word if word in used else usual.get(stem(word), word) for word in chosen] or words(fallback)
    notes: list[str] = []
    for at in _ENDS:
        parts = _with_affix(parts, entries, siblings, notes, at=at)
    join = _style(siblings or entries)
    taken = {entry.name.casefold(): entry.name for entry in entries}
    name = join(parts)
    if name.casefold() in taken:
        notes.append(
            f"the records suggest the name '{taken[name.casefold()]}', which an entry has: check it first"
        )
        further = chain(map(words, (*spare, *operations)), ([str(number)] for number in count(2)))
        longer = (join([*parts, *more]) for more in further)
        name = next(each for each in longer if each.casefold() not in taken)
    return name, tuple(notes)


def _tells(word: str, ignored: frozenset[str]) -> bool:
    """Whether a word is one of a name: a bare number is a setting, and "no manual curve" asks for one."""
    return stem(word) not in ignored and not word.isdigit() and word not in _NEGATIONS


def _core(label: str, ignored: frozenset[str]) -> list[str]:
    """The words of a label, once each, without what is said aside, if anything is left."""
    for text in (_BREAK.split(_ASIDE.sub(" ", label))[0], label):
        own: dict[str, str] = {}
        for word in words(text):
            if _tells(word, ignored):
                own.setdefault(stem(word), word)
        if own:
            return list(own.values())
    return []


def _usual_spellings(entries: Sequence[Entry]) -> tuple[set[str], dict[str, str]]:
    """The words of the vocabulary's names, and each stem to the spelling that several names have."""
    used = Counter(word for entry in entries for word in words(entry.name))
    usual: dict[str, str] = {}
    for word in sorted(used, key=lambda word: (-used[word], word)):
        if used[word] > 1:
            usual.setdefault(stem(word), word)
    return set(used), usual


def _with_affix(
    parts: list[str], entries: Sequence[Entry], siblings: Sequence[Entry], notes: list[str], *, at: int
) -> list[str]:
    """The words with one in first or last place that other names have there, where it is their habit."""
    every, own = _several(entries), _several(siblings)
    said = {word: [name for name in every if word in name] for word in parts}
    unsaid = (
        {}
        if any(_is_habit(word, names, at) for word, names in said.items())
        else {name[at]: own for name in own if name[at] not in parts and len(own) == len(siblings)}
    )
    habits = {word: names for word, names in (said | unsaid).items() if _is_habit(word, names, at)}
    if not habits:
        return parts
    affix = min(habits, key=lambda word: (-len(habits[word]), word))
    if parts[at] == affix:
        return parts
    among = "with that word" if affix in said else "that touch the same operations"
    number = sum(name[at] == affix for name in habits[affix])
    notes.append(
        f"{number} of {len(habits[affix])} names {among} {_ENDS[at]} with '{affix}', so this one does"
    )
    others = [word for word in parts if word != affix]
    return [affix, *others] if at == 0 else [*others, affix]


def _several(entries: Sequence[Entry]) -> list[list[str]]:
    """The words of the names that have several."""
    return [parts for entry in entries if len(parts := words(entry.name)) > 1]


def _is_habit(word: str, names: Sequence[list[str]], at: int) -> bool:
    alike = sum(name[at] == word for name in names)
    return alike >= _FAMILY and alike >= _HABIT * len(names)


def _style(entries: Sequence[Entry]) -> Callable[[Iterable[str]], str]:
    """How names of several words are written; `snake_case` where nothing tells otherwise."""
    names = [entry.name for entry in entries if len(words(entry.name)) > 1]
    dashed = sum("-" in name for name in names)
    camel = sum(not any(mark in name for mark in "-_ ") for name in names)
    if dashed > len(names) / 2:
        return "-".join
    return _camel if camel > len(names) / 2 else "_".join


def _camel(parts: Iterable[str]) -> str:
    first, *others = parts
    return "".join((first, *map(str.capitalize, others)))
