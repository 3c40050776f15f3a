"""Draft an entry for a capability, as a starting point for its author, from what records say."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from itertools import count as numbers_from
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.errors import InvalidInputError, require_kind
from vocabgap.files.parts import Parts
from vocabgap.model.capability import Cover, Tally
from vocabgap.model.lookup import find_capability
from vocabgap.model.moments import iso
from vocabgap.model.record import OPERATION_ALIASES, UNCATEGORIZED
from vocabgap.model.tables import (
    CAPABILITIES,
    EXAMPLE_FIELDS,
    GAPS,
    IMAGE_KEY,
    LINE_KEY,
    RECORDS,
    counted,
    stripped,
)
from vocabgap.ranking.coverage import covered
from vocabgap.ranking.vocabulary import Entry, Vocabulary
from vocabgap.text import content_words, count, ignored_stems, stem, surface, visible, words

SESSIONS: Final = 3  # to test against
_EXAMPLES: Final = 10  # intents
_WORDINGS: Final = 10
_SHARE: Final = 0.5  # least mentions of an operation or category, relative to the most frequent one
_NAME_WORDS: Final = 4  # at most
_SHARED_BY: Final = 0.5  # least share of the mentions that use a word of the name
_NEGATIONS: Final = frozenset({"no", "not"})
_ASIDE: Final = re.compile(r"\([^()]*\)")
_BREAK: Final = re.compile(r"\s[—–-]\s|[:;]")  # the text after it explains the text before it
_EVIDENCE: Final = (
    "timestamp", "image_id", "session_id", "snapshot_hash", "description", "intent", "workaround",
    "satisfaction", *LINE_KEY, "count",
)  # fmt: skip
_EXAMPLES_SCHEMA: Final = {name: RECORDS.schema.get(name, pl.String) for name in EXAMPLE_FIELDS}


class DraftEntry(msgspec.Struct, frozen=True):
    """The entry as in a manifest."""

    name: str
    description: str
    tags: tuple[str, ...]
    touches: tuple[str, ...]


class ChecklistItem(msgspec.Struct, frozen=True):
    """A session to test the entry against."""

    tenant_id: str
    session_id: str | None
    image_id: str | None
    snapshot_hash: str | None
    when: str | None
    log: str
    satisfaction: int | None
    to_do: str


class Evidence(msgspec.Struct, frozen=True):
    """The basis of a draft."""

    capability_id: str
    label: str
    mentions: int
    images: int
    sessions: int
    unsatisfied: int
    rated: int
    wordings: tuple[Tally, ...]
    operations: tuple[Tally, ...]


class Draft(msgspec.Struct, frozen=True):
    """A starting point for an entry.

    Attributes:
        draft: A sentence that calls it a draft.
        entry: The proposed entry.
        examples: What people asked for, most frequent first.
        checklist: Sessions to test the entry against, from different images if possible.
        nearest: Entries to look at first.
        evidence: The basis of the draft.
        notes: What its author should know.
    """

    draft: str
    entry: DraftEntry
    examples: tuple[str, ...]
    checklist: tuple[ChecklistItem, ...]
    nearest: tuple[Cover, ...]
    evidence: Evidence
    notes: tuple[str, ...]


def draft(
    capability: str,
    ranked: pl.DataFrame,
    *,
    gaps: pl.DataFrame | Parts | None = None,
    vocabulary: Vocabulary | None = None,
    stop_words: Iterable[str] = (),
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> Draft:
    """Draft an entry for a capability.

    The description is the most frequent one of the records, of equally frequent ones the most similar to the
    label. Tags are the capability's categories and the words of its name; a vocabulary with tags restricts
    these words to its tags. `touches` are operations with at least half of the most frequent one's mentions.

    Args:
        capability: Its identifier, label or a wording, as `find_capability` takes it.
        ranked: Table `capabilities`.
        gaps: Table `gaps` of the same run; without it only the examples of the capability are used.
        vocabulary: The existing entries. The name differs from theirs, and its words are joined like theirs.
        stop_words: Further words to ignore.
        operation_aliases: Lower-case name to operation, as for `rank`.

    Raises:
        NotFoundError: There is no such capability.
        InvalidInputError: The name may mean several capabilities, or an argument cannot be used.
    """
    CAPABILITIES.require(ranked)
    listed = Vocabulary() if vocabulary is None else vocabulary
    require_kind("vocabulary", listed, Vocabulary, "what vocabgap.load_vocabulary returned")
    table = find_capability(ranked, capability)
    if vocabulary is not None:
        table = covered(table, listed, stop_words=stop_words, operation_aliases=operation_aliases)
    row = table.row(0, named=True)
    records = _records(row, gaps)
    entries = listed.entries
    touches = _frequent(row["operations"])
    notes = [] if touches else ["no record names an operation: find out what the entry has to touch"]
    ignored = ignored_stems(stop_words)
    wordings = {variant["wording"]: variant["mentions"] for variant in row["variants"]}
    chosen = shared_words(row["label"], wordings, ignored)
    name, name_notes = propose_name(chosen, touches, entries, fallback=row["capability_id"])
    checklist = _checklist(records, row["label"])
    if len(checklist) < SESSIONS:
        several = f"the records are from {count(row['sessions'], 'session')} only"
        notes.append(several if row["sessions"] else "no record names its session")
    likeness = partial(_alike, row["label"], ignored=ignored)
    described = _most_frequent(records, "description", likeness) or [row["label"]]
    named = [{"name": name, "mentions": often} for name, often in islice(wordings.items(), _WORDINGS)]
    noun = "gap record" if (records["count"].fill_null(1) == 1).all() else "mention"
    parts = {
        "draft": f"made from {count(row['mentions'], noun)}: check every line before it is authored",
        "entry": {
            "name": name,
            "description": described[0],
            "tags": _tags(row, chosen, entries),
            "touches": touches,
        },
        "examples": _most_frequent(records, "intent")[:_EXAMPLES],
        "checklist": checklist,
        "nearest": row["covered_by"],
        "evidence": {**row, "rated": row["mentions"] - row["unrated"], "wordings": named},
        "notes": [*name_notes, *notes],
    }
    return msgspec.convert(_visible(parts), Draft)


def _visible(value: object) -> object:
    if isinstance(value, dict):
        return {name: _visible(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_visible, value)]
    return visible(value) if isinstance(value, str) else value


def _records(row: Mapping[str, Any], gaps: pl.DataFrame | Parts | None) -> pl.DataFrame:
    if gaps is None:
        examples = pl.DataFrame(row["examples"], schema=_EXAMPLES_SCHEMA).select(_EVIDENCE)
    else:
        if isinstance(gaps, pl.DataFrame):
            GAPS.require(gaps, ("capability_id", "counted", *_EVIDENCE))
        own = Parts.of(gaps).then(partial(counted, capability_id=row["capability_id"]))
        examples = own.collect().select(_EVIDENCE)
    if examples.is_empty():
        raise InvalidInputError(
            f"frame 'gaps' holds no counted record of '{row['capability_id']}'",
            hint="pass the gaps of the run that ranked the capability",
        )
    telling = pl.sum_horizontal(
        stripped(pl.col(name)).fill_null("") != "" for name in ("intent", "workaround")
    )
    return examples.sort(
        pl.col("satisfaction").fill_null(0), telling, "timestamp", *LINE_KEY,
        descending=[False, True, True, *(False for _ in LINE_KEY)], nulls_last=True,
    )  # fmt: skip


def _most_frequent(
    records: pl.DataFrame, column: str, likeness: Callable[[str], float] = lambda _: 0.0
) -> list[str]:
    """Return the distinct texts of a column, most frequent first; spellings of one surface are one.

    Of equally frequent texts the most similar comes first, then the text of the more detailed record.
    """
    spellings: dict[str, Counter[str]] = {}
    for text, often in records.select(column, pl.col("count").fill_null(1)).drop_nulls().iter_rows():
        if text.strip():
            spellings.setdefault(surface(text), Counter())[visible(text)] += often
    texts = {min(own, key=lambda text: (-own[text], text)): own.total() for own in spellings.values()}
    return sorted(texts, key=lambda text: (-texts[text], -likeness(text)))


def _alike(text: str, other: str, ignored: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, 0 to 1 (Dice)."""
    first, second = (set(content_words(surface(phrase), ignored)) for phrase in (text, other))
    return 2.0 * len(first & second) / (len(first) + len(second))


def _tags(row: Mapping[str, Any], chosen: Sequence[str], entries: Sequence[Entry]) -> list[str]:
    usual: dict[str, str] = {}
    for tag, _ in Counter(tag for entry in entries for tag in entry.tags).most_common():
        usual.setdefault(surface(tag), tag)
    from_words = [usual[stem(word)] for word in chosen if stem(word) in usual] if usual else chosen
    categories = [name for name in _frequent(row["categories"]) if name != UNCATEGORIZED]
    return list(dict.fromkeys(map(visible, (*categories, *from_words))))


def _frequent(tally: Sequence[Mapping[str, Any]]) -> list[str]:
    most = max((item["mentions"] for item in tally), default=0)
    return [item["name"] for item in tally if item["mentions"] >= _SHARE * most]


def _checklist(records: pl.DataFrame, label: str) -> list[dict[str, object]]:
    """Choose one record of each of three sessions; unknown sessions of an image count as one."""
    session = stripped(pl.col("session_id"))
    named = pl.when(session != "").then(pl.lit("session ") + session)
    image = pl.concat_str(pl.lit("image "), pl.col("repo_slug", "image_id"), ignore_nulls=True)
    chosen = (
        records.with_columns(sitting=pl.coalesce(named, image))
        .unique(["tenant_id", "sitting"], keep="first", maintain_order=True)
        .with_columns(pl.int_range(pl.len()).over(IMAGE_KEY).alias("turn"))
        .sort("turn", maintain_order=True)
        .head(SESSIONS)
    )
    return [_check(row, label) for row in chosen.iter_rows(named=True)]


def _check(row: Mapping[str, Any], label: str) -> dict[str, object]:
    intent, workaround = (visible(row[name] or "") for name in ("intent", "workaround"))
    request = f"ask again: “{intent}”" if intent else f"ask for it: “{visible(label)}”"
    instead = f"; the workaround should not be needed: “{workaround}”" if workaround else ""
    optional = {name: row[name] or None for name in ("session_id", "image_id", "snapshot_hash")}
    return {
        **optional,
        "tenant_id": row["tenant_id"],
        "when": None if row["timestamp"] is None else iso(row["timestamp"]),
        "log": f"{row['repo_slug']}/{row['source_path']}:{row['line']}",
        "satisfaction": row["satisfaction"],
        "to_do": request + instead,
    }


def shared_words(label: str, wordings: Mapping[str, int], ignored: frozenset[str] = frozenset()) -> list[str]:
    """Return the words of a label that most mentions use."""
    mentions: Counter[str] = Counter()
    for wording, often in wordings.items():
        mentions.update(dict.fromkeys(map(stem, words(wording)), often))
    own = _core(label, ignored)
    shared = [word for word in own if mentions[stem(word)] >= _SHARED_BY * sum(wordings.values())] or own
    foremost = sorted(shared, key=lambda word: -mentions[stem(word)])[:_NAME_WORDS]
    return [word for word in own if word in foremost]


def propose_name(
    chosen: Sequence[str], operations: Sequence[str], entries: Sequence[Entry], *, fallback: str
) -> tuple[str, tuple[str, ...]]:
    """Join words into a name that no entry has, as most entries join theirs; return it with notes."""
    parts, join = list(chosen) or words(fallback), _style(entries)
    taken = {entry.name.casefold(): entry.name for entry in entries}
    name = join(parts)
    if name.casefold() not in taken:
        return name, ()
    further = chain(map(words, operations), ([str(number)] for number in numbers_from(2)))
    longer = (join([*parts, *more]) for more in further)
    note = f"the records suggest the name '{taken[name.casefold()]}', which an entry has: check it first"
    return next(name for name in longer if name.casefold() not in taken), (note,)


def _core(label: str, ignored: frozenset[str]) -> list[str]:
    """Return the distinct content words of a label; leave out asides if something else is left."""
    for text in (_BREAK.split(_ASIDE.sub(" ", label))[0], label):
        own: dict[str, str] = {}
        for word in words(text):
            if stem(word) not in ignored and not word.isdigit() and word not in _NEGATIONS:
                own.setdefault(stem(word), word)
        if own:
            return list(own.values())
    return []


def _style(entries: Sequence[Entry]) -> Callable[[Iterable[str]], str]:
    """Return a function that joins words with a dash or an underscore, as most entries do."""
    names = [entry.name for entry in entries if len(words(entry.name)) > 1]
    return ("-" if sum("-" in name for name in names) > len(names) / 2 else "_").join
