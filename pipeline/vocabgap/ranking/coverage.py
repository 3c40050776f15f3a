"""Find capabilities that a vocabulary may already have: agents may have overlooked an entry.

An entry explains a word of the need to the degree that it uses the word (BM25 over name, tags, operations and
description; Robertson and Zaragoza 2009). `explained` is the explained share of the need. A rare word counts
more than a frequent one. A word that no entry uses counts double: it may be what is missing. The share falls
to as little as half if the need does not explain the entry's name.

Agents use operations even if no entry exists. So shared operations raise the `score` that orders the entries.
They do not decide whether an entry covers the need. Each wording counts alone, without its frame.

`Checks` tells what a report would say if the vocabulary had one more entry. A draft quotes wordings of its
need. So its check measures it on the text that it was made from, and says less about later wordings.
"""

import math
import re
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, pairwise, starmap
from typing import Any, Final
from weakref import proxy

import msgspec
import polars as pl

from vocabgap.errors import converted, require_kind
from vocabgap.model.capability import SETTLED, Tally
from vocabgap.model.frames import need
from vocabgap.model.record import OPERATION_ALIASES, fold_operation
from vocabgap.model.settings import DEFAULT_COVERED, Settings
from vocabgap.model.tables import CAPABILITIES, TOTAL
from vocabgap.ranking.vocabulary import Entry, Vocabulary
from vocabgap.text import count, ignored_stems, stem, trigrams, visible, words

SHOWN: Final = 3  # entries listed for a need
ENOUGH: Final = 0.8  # least share of the mentions of its need that an entry covers to pass its check
SATURATION: Final = 1.0  # occurrences at which a word is half explained
LENGTH_SHARE: Final = 0.5  # of the length normalisation of descriptions, 0 to 1
ALIKE: Final = 0.5  # least share of trigrams (Dice) of two words that count as similar
SPELLING: Final = 0.6  # weight of a word with a similar spelling, times its similarity
UNKNOWN: Final = 2.0  # weight of a word that no entry uses, relative to the rarest word
OPERATION: Final = 0.25  # score of an operation that only this entry shares
NAMESAKE: Final = 2.0  # further shares of it if the entry has the operation's name
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+")  # between two sentences
_SAME_DIGITS: Final = 9  # scores that differ only beyond these are the same
_DIGITS = 6  # further ones of a logarithm depend on the machine


@dataclass(frozen=True)
class Match:
    """An entry that covers a need in part."""

    entry: Entry
    score: float  # `explained` and the shared operations, 0 or more; entries are sorted by it
    explained: float  # how far the words of the need and of the entry's name explain each other, 0 to 1
    terms: tuple[tuple[str, float], ...]  # matching words and operations, largest share of the score first


def covered(
    ranked: pl.DataFrame,
    vocabulary: Vocabulary,
    *,
    stop_words: Iterable[str] = (),
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> pl.DataFrame:
    """Fill in the entries nearest to each capability, and the entries that explain its wordings.

    Args:
        ranked: Table `capabilities`.
        vocabulary: What agents can already ask for.
        stop_words: Further words to ignore, as for `cluster`.
        operation_aliases: Lower-case name to operation, as for `rank`.

    Returns:
        The table with up to three entries in column `covered_by`, the nearest first. In `variants`, each
        wording has the entry that explains most of it, and the share that it explains.
    """
    CAPABILITIES.require(ranked, ("label", "operations", "variants"))
    require_kind("vocabulary", vocabulary, Vocabulary, "what vocabgap.load_vocabulary returned")
    converted(operation_aliases, dict[str, str], "operation_aliases")
    index = EntryIndex(vocabulary.entries, stop_words, operation_aliases)
    covers = []
    rows = ranked.select("label", "operations", TOTAL, "variants").iter_rows()
    for label, operations, total, variants in rows:
        shares = {item["name"]: item["mentions"] / total for item in operations}
        covers.append([*map(_row, index.covering(_whole(label, variants), shares))])
    return _explained(ranked.with_columns(_lists("covered_by", covers)), index)


def _explained(ranked: pl.DataFrame, index: "EntryIndex") -> pl.DataFrame:
    """Fill in the entry that explains most of each wording; change nothing if there are no entries."""
    if not index.entries:
        return ranked
    variants = [[each | index.explaining(each["wording"]) for each in row] for row in ranked["variants"]]
    return ranked.with_columns(_lists("variants", variants))


def _lists(name: str, values: Iterable[list[dict[str, Any]]]) -> pl.Series:
    # `pl.Series` would make a frame of each list, and take three times as long.
    return pl.from_dicts([{name: value} for value in values], {name: CAPABILITIES.schema[name]})[name]


def covering_options(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide how `covered` and an index of entries compare."""
    return {"stop_words": settings.cluster.stop_words, "operation_aliases": settings.operation_aliases}


def _whole(label: str, variants: Sequence[Mapping[str, Any]]) -> str:
    """Return the need of the wording whose label is cut; of the first one if lines were left out of it."""
    if "…" not in label:
        return label
    needs = [" ".join(need(each["wording"]).split()) for each in variants]
    return next(
        (text for text in needs if text.startswith(label.partition("…")[0])), next(iter(needs), label)
    )


def probably_covered(threshold: float = DEFAULT_COVERED) -> pl.Expr:
    """Return whether an entry probably covers the wordings of most mentions of a capability.

    If the capability is perhaps several needs, entries must cover all wordings. The result is false without a
    vocabulary.

    Args:
        threshold: The least share of a wording that an entry explains, 0 to 1: `[vocabulary] threshold`.
    """
    explained, mentions = (pl.element().struct.field(name) for name in ("explained", "mentions"))
    within = pl.when(explained >= threshold).then(mentions).otherwise(0)
    covered = pl.col("variants").list.eval(within).list.sum()
    enough = pl.when("mixed").then(covered >= TOTAL).otherwise(2 * covered > TOTAL)
    return enough.alias("probably_covered")


def is_listed() -> pl.Expr:
    """Return whether a report lists a capability as open: established or pinned, and not settled."""
    return ~pl.col("status").is_in(SETTLED) & (pl.col("pinned") | pl.col("established"))


def _texts(wording: str) -> Iterable[str]:
    # Also judge the whole wording: its frame may have been part of the need.
    return dict.fromkeys((need(wording), wording))


class Check(msgspec.Struct, frozen=True):
    """What the log says about an entry."""

    covers: int  # mentions of its need
    mentions: int
    already: tuple[Tally, ...]  # existing entries that cover further mentions
    missed: tuple[str, ...]  # wordings that no entry covers, at most five
    takes: tuple[Tally, ...]  # other open needs that probably exist with the entry, but not yet
    near: str | None  # an existing entry that explains its first sentence
    passes: bool

    def sentences(self, subject: str, source: str) -> list[str]:
        """Describe the result for a person; `source` says what the mentions are."""
        lines = [f"{subject} covers {self.covers} of {count(self.mentions, 'mention')} {source}."]
        shares = ((f"{each.mentions} of {self.mentions}", each.name) for each in self.already)
        lines += [f"{share} are covered already by {name}." for share, name in shares]
        missed = "; ".join(text.rstrip(".") for text in self.missed)
        lines += [f"Not covered: {missed}."] if missed else []
        taken = "; ".join(each.name for each in self.takes)
        lines += [f"It takes other needs: {taken}."] if taken else []
        lines += [f"The entry {self.near} is near: extend it, or say what is new."] if self.near else []
        least = f"{100 * ENOUGH:.0f} %"
        passed = f"It passes: it covers at least {least} and takes no other need."
        failed = f"It fails: it must cover {least} and take no other need."
        return [*lines, passed if self.passes else failed]


@dataclass(frozen=True, eq=False)
class Checks:
    """Checks of entries against a log."""

    ranked: pl.DataFrame
    vocabulary: Vocabulary
    threshold: float
    options: Mapping[str, Any]  # those of `covered`

    def missed(self, entry: Entry, own: pl.DataFrame) -> dict[str, int]:
        """Return the wordings of a need that the entry does not cover, and their mentions."""
        covers, variants = self._covering(entry), own["variants"].item()
        return {each["wording"]: each["mentions"] for each in variants if not covers(each["wording"])}

    def check(self, entry: Entry, own: pl.DataFrame) -> Check:
        """Check an entry that is meant for the need of a table `capabilities` with one row."""
        missed, mentions = self.missed(entry, own), own.select(TOTAL).item()
        total, others, covers = mentions - sum(missed.values()), self._others(entry), self._covering(entry)
        touched = pl.Series([any(map(covers, each)) for each in self._wordings], dtype=pl.Boolean)
        is_other = (pl.col("capability_id") != own["capability_id"].item()) & ~pl.col("status").is_in(SETTLED)
        near = self.ranked.filter(touched & is_other)

        def exist(index: EntryIndex) -> pl.Series:
            return _explained(near, index).select(probably_covered(self.threshold)).to_series()

        before, index = (EntryIndex(those, **self.options) for those in (self.vocabulary.entries, others))
        taken = near.filter(exist(self._with(entry)) & ~exist(before)).select("label", TOTAL)
        already = Counter[str]()
        for wording, often in tuple(missed.items()):
            if name := self._explains(index, wording):
                already[name] += often
                del missed[wording]
        first = _SENTENCES.split(entry.description)[0]
        existing = self._explains(index, first, f"{entry.name} {first}")
        takes, held = tuple(starmap(Tally, taken.iter_rows())), tuple(starmap(Tally, already.most_common()))
        passes = total >= ENOUGH * mentions and not takes
        return Check(total, mentions, held, tuple(map(visible, missed))[:5], takes, existing, passes)

    def _explains(self, index: "EntryIndex", *phrases: str) -> str | None:
        """Return the entry that covers one of the phrases, the one that explains most."""
        best = max(map(index.explaining, phrases), key=lambda found: found["explained"])
        return best["entry"] if best["explained"] >= self.threshold else None

    def _others(self, entry: Entry) -> list[Entry]:
        return [each for each in self.vocabulary.entries if each.name != entry.name]

    @cached_property
    def _with(self) -> Callable[[Entry], "EntryIndex"]:
        """Make the index of the vocabulary and one more entry; keep the last index."""
        return lru_cache(1)(lambda entry: EntryIndex([*self._others(entry), entry], **self.options))

    def _covering(self, entry: Entry) -> Callable[[str], bool]:
        """Return a function that tells whether the entry is the one that covers a wording of the log."""
        alone, index = EntryIndex([entry], **self.options), self._with(entry)
        own, known = (
            {near for word in each.postings for near in self._log.alike(word)} for each in (alone, index)
        )
        # The weight of a word that an entry explains is at most that of a word which one entry uses.
        most, unknown = index.rarity(1), UNKNOWN * index.rarity(0)

        def may_cover(text: frozenset[str], joined: frozenset[str]) -> bool:
            explained = most * len(text & own)
            share = explained / (explained + unknown * len(text - known) or 1.0)
            is_near = not text or (explained and round(share, _DIGITS) >= self.threshold)
            return is_near or not joined.isdisjoint(index.postings)

        def covers(wording: str) -> bool:
            if not any(may_cover(*self._parts(text)) for text in _texts(wording)):
                return False
            return self._explains(index, wording) == entry.name

        return covers

    @cached_property
    def _wordings(self) -> list[list[str]]:
        return [[each["wording"] for each in variants] for variants in self.ranked["variants"]]

    @cached_property
    def _log(self) -> "EntryIndex":
        return EntryIndex([Entry("", tags=tuple(chain.from_iterable(self._wordings)))], **self.options)

    @cached_property
    def _parts(self) -> Callable[[str], tuple[frozenset[str], frozenset[str]]]:
        return cache(self._log.parts)


def _row(match: Match) -> dict[str, Any]:
    return {
        "entry": match.entry.name,
        "pack": match.entry.pack,
        "score": round(match.score, _DIGITS),
        "explained": round(match.explained, _DIGITS),
        "terms": [term for term, _ in match.terms],
    }


class EntryIndex:
    """Entries of different names, indexed by word; their order does not matter."""

    def __init__(
        self,
        entries: Iterable[Entry],
        stop_words: Iterable[str] = (),
        operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
    ) -> None:
        fold = partial(fold_operation, aliases=operation_aliases)
        folded = [replace(one, operations=tuple(dict.fromkeys(map(fold, one.operations)))) for one in entries]
        self.entries = sorted(folded, key=lambda entry: entry.name)
        self._ignored = ignored_stems(stop_words)
        self._similar: dict[str, dict[str, float]] = {}
        self.explaining = lru_cache(1 << 16)(partial(EntryIndex._explaining, proxy(self)))  # no cycle
        self._operations: dict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(self.entries):
            for operation in sorted({name.casefold() for name in entry.operations}):
                self._operations[operation].append(number)
        self._operation_words = {name: frozenset(_stems(name)) for name in self._operations}
        self._names = [tuple(dict.fromkeys(_stems(entry.name))) for entry in self.entries]
        self._namesakes = {entry.name.casefold(): number for number, entry in enumerate(self.entries)}

    @cached_property
    def postings(self) -> Mapping[str, Mapping[int, float]]:
        """Map each word to the entries that use it, and each entry to its weight, 0 to 1."""
        texts = _own_words(self.entries)
        descriptions = [_stems(text) for text in texts]
        mean = sum(map(len, descriptions)) / max(len(descriptions), 1) or 1.0
        postings: dict[str, dict[int, float]] = defaultdict(dict)
        described = zip(self.entries, texts, descriptions, strict=True)
        for number, (entry, text, description) in enumerate(described):
            # The first sentence says what an entry is, so it counts twice.
            short = (entry.name, *entry.tags, *entry.operations, _SENTENCES.split(text)[0])
            counts = Counter(word for part in short for word in _stems(part))
            shrunk = 1.0 - LENGTH_SHARE + LENGTH_SHARE * len(description) / mean
            body = Counter(description)
            for word in sorted((counts.keys() | body.keys()) - self._ignored):
                often = counts[word] + body[word] / shrunk
                postings[word][number] = often / (SATURATION + often)
        return postings

    @cached_property
    def _trigrams(self) -> tuple[Mapping[str, int], Mapping[str, Sequence[str]]]:
        """Return the number of trigrams of each word, and the words that hold each trigram."""
        sizes: dict[str, int] = {}
        holders: dict[str, list[str]] = defaultdict(list)
        for word in self.postings:
            grams = _grams(word)
            sizes[word] = len(grams)
            for gram in grams:
                holders[gram].append(word)
        return sizes, holders

    def rarity(self, holders: int) -> float:
        """Return the IDF (BM25) of a word or operation that some of the entries have."""
        return math.log(1.0 + (len(self.entries) - holders + 0.5) / (holders + 0.5))

    def _weight(self, word: str) -> float:
        holders = len(self.postings.get(word, ()))
        return self.rarity(holders) if holders else UNKNOWN * self.rarity(0)

    def alike(self, word: str) -> Mapping[str, float]:
        """Map the entries' words that are similar to a word to their similarity, 0 to 1."""
        if word not in self._similar:
            sizes, holders = self._trigrams
            grams = _grams(word)
            shared = Counter(other for gram in grams for other in holders.get(gram, ()))
            shares = {other: 2.0 * both / (len(grams) + sizes[other]) for other, both in shared.items()}
            near = {other: SPELLING * share for other, share in shares.items() if share >= ALIKE}
            self._similar[word] = near | ({word: 1.0} if word in self.postings else {})
        return self._similar[word]

    def _need_words(self, phrase: str) -> dict[str, str]:
        """Map the stems of a need to its words; join neighbours that the entries write as one word."""
        written = words(phrase)
        words_of_need: dict[str, str] = {}
        at = 0
        while at < len(written):
            joined = stem("".join(written[at : at + 2]))
            size = 2 if at + 1 < len(written) and joined in self.postings else 1
            name = joined if size > 1 else stem(written[at])
            words_of_need.setdefault(name, " ".join(written[at : at + size]))
            at += size
        # A bare number is a setting, not the need.
        telling = [word for word in words_of_need if word not in self._ignored and not word.isdigit()]
        return {word: words_of_need[word] for word in telling} or words_of_need

    def parts(self, phrase: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the words that count in a phrase, and its neighbours as one word, all stemmed."""
        written = words(phrase)
        telling = frozenset(stem(word) for word in written if not word.isdigit()) - self._ignored
        return telling, frozenset(stem("".join(pair)) for pair in pairwise(written))

    def covering(
        self, phrase: str, operations: Mapping[str, float] | None = None, top: int = SHOWN
    ) -> list[Match]:
        """Return the entries with the greatest scores, equal ones sorted by name; none with score 0.

        Each operation comes with the share of the records that name it. The entry that explains most of the
        need replaces the last match if it is not among them.
        """
        need = self._need_words(phrase)
        by_word = {word: self._explained(word) for word in need}
        total = sum(map(self._weight, need)) or 1.0
        by_operation = {
            name: {number: share * weight for number, weight in self._shared(name).items()}
            for name, share in self._named_operations(need, operations or {}).items()
        }
        # The entry's name can only lower these sums.
        words_alone = _sums((by_word, total))
        bounds = _sums((by_word, total), (by_operation, 1.0))

        def match(number: int) -> Match:
            own = (1.0 + self._name_share(number, need)) / 2.0
            terms = {
                need[word]: own * held[number] / total for word, held in by_word.items() if number in held
            }
            explained = sum(terms.values(), 0.0)
            for name, held in by_operation.items():
                if number in held:
                    terms[name] = terms.get(name, 0.0) + held[number]
            ordered = tuple(sorted(terms.items(), key=lambda term: (-term[1], term[0])))
            return Match(self.entries[number], sum(terms.values()), explained, ordered)

        nearest = _greatest(bounds, match, lambda candidate: candidate.score, top)
        explains = _greatest(words_alone, match, lambda candidate: candidate.explained, 1)
        shown = max((candidate.explained for candidate in nearest), default=0.0)
        if explains and round(explains[0].explained, _SAME_DIGITS) > round(shown, _SAME_DIGITS):
            nearest[-1:] = explains
        return nearest

    def _explaining(self, wording: str) -> dict[str, Any]:
        """Return the entry that explains most of a wording, and the share of the wording."""
        matches = [match for text in _texts(wording) for match in self.covering(text, top=1)]
        best = max(matches, key=lambda match: match.explained, default=None)
        name, share = (best.entry.name, best.explained) if best and best.explained else (None, 0.0)
        return {"entry": name, "explained": round(share, _DIGITS)}

    def _explained(self, word: str) -> dict[int, float]:
        """Map the entries that explain a word to the part of its weight that they explain."""
        best: dict[int, float] = defaultdict(float)
        for other, share in self.alike(word).items():
            # An unknown word counts no more than the known word that it is spelt like.
            weight = share * min(self._weight(word), self._weight(other))
            for number, often in self.postings[other].items():
                best[number] = max(best[number], weight * often)
        return best

    def _name_share(self, number: int, need: Iterable[str]) -> float:
        """Return the share of an entry's name that the need explains, 0 to 1."""
        weights = {word: self._weight(word) for word in self._names[number] if word in self.postings}
        shares = (
            weight * max((self.alike(word).get(part, 0.0) for word in need), default=0.0)
            for part, weight in weights.items()
        )
        return sum(shares) / (sum(weights.values()) or 1.0)

    def _named_operations(self, need: Mapping[str, str], operations: Mapping[str, float]) -> dict[str, float]:
        """Return the share of each involved operation. An operation that the need names has share 1."""
        named = (name for name, parts in self._operation_words.items() if parts and parts <= need.keys())
        shares = dict.fromkeys(named, 1.0)
        for name, share in operations.items():
            shares[name.casefold()] = max(share, shares.get(name.casefold(), 0.0))
        return dict(sorted(shares.items()))

    def _shared(self, operation: str) -> dict[int, float]:
        """Map the entries that share an operation to the part of their scores that it adds."""
        holders = self._operations.get(operation, [])
        share = OPERATION * self.rarity(len(holders)) / self.rarity(1)
        shared = dict.fromkeys(holders, share)
        if operation in self._namesakes:
            number = self._namesakes[operation]
            shared[number] = shared.get(number, 0.0) + NAMESAKE * share
        return shared


def _sums(*shares: tuple[Mapping[str, Mapping[int, float]], float]) -> dict[int, float]:
    """Sum the shares of each entry."""
    sums: dict[int, float] = defaultdict(float)
    for parts, whole in shares:
        for held in parts.values():
            for number, weight in held.items():
                sums[number] += weight / whole
    return sums


def _greatest(
    bounds: Mapping[int, float], match: Callable[[int], Match], value: Callable[[Match], float], top: int
) -> list[Match]:
    """Return the `top` matches by value; `bounds` are upper bounds of the values."""
    best: list[Match] = []
    least = 10.0 ** (1 - _SAME_DIGITS)
    for number, bound in sorted(bounds.items(), key=lambda bounded: (-bounded[1], bounded[0])):
        if len(best) >= top and bound < value(best[top - 1]) - least:
            break
        insort(best, match(number), key=lambda near: (-round(value(near), _SAME_DIGITS), near.entry.name))
    return best[:top]


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _grams(word: str) -> frozenset[str]:
    """Return the trigrams of a word; none if it has a digit, because another digit is another thing."""
    return frozenset(() if any(map(str.isdigit, word)) else trigrams(word))


def _own_words(entries: Sequence[Entry]) -> list[str]:
    """Return the descriptions without the names of other entries.

    A name of one word stays: it may be meant as a word.
    """
    runs_of = {entry.name: re.findall(r"\w+", entry.name) for entry in entries if len(words(entry.name)) > 1}
    often = Counter(run for runs in runs_of.values() for run in runs)
    by_rarest_run: defaultdict[str, list[str]] = defaultdict(list)
    for name, runs in runs_of.items():
        by_rarest_run[min(runs, key=often.__getitem__, default="")].append(name)

    def own_words(own: str, text: str) -> str:
        near = (name for run in {*re.findall(r"\w+", text)} for name in by_rarest_run.get(run, ()))
        names = [name for name in near if name in text and name != own]
        if not names:
            return text
        longest_first = map(re.escape, sorted({*names, own}, key=len, reverse=True))
        others = re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")
        return others.sub(lambda name: name[0] if name[0] == own else " ", text)

    return [own_words(entry.name, entry.description) for entry in entries]
