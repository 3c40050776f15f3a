"""From a gap to an entry: a starting point for whoever authors it, with nothing that no record says."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.errors import InvalidInputError, require_kind
from vocabgap.model.lookup import find_capability
from vocabgap.model.moments import iso
from vocabgap.model.record import OPERATION_ALIASES, UNCATEGORIZED
from vocabgap.model.tables import CAPABILITIES, EXAMPLE_FIELDS, GAPS, RECORDS, stripped
from vocabgap.ranking.coverage import covered, with_folded_operations
from vocabgap.ranking.naming import propose_name, shared_words
from vocabgap.ranking.vocabulary import Entry, Vocabulary
from vocabgap.text import content_words, count, ignored_stems, stem, surface, visible

SESSIONS: Final = 3  # to test against
_EXAMPLES: Final = 10  # intents
_WORDINGS: Final = 10
_SHARE: Final = 0.5  # of the mentions of the most frequent operation, or category, that another has at least
_EVIDENCE: Final = (
    "timestamp", "image_id", "session_id", "snapshot_hash", "description", "intent", "workaround",
    "satisfaction", "tenant_id", "repo_slug", "source_path", "line",
)  # fmt: skip
_EXAMPLES_SCHEMA: Final = {name: RECORDS.schema.get(name, pl.String) for name in EXAMPLE_FIELDS}


class DraftEntry(msgspec.Struct, frozen=True):
    """The entry itself, as a manifest has it."""

    name: str
    description: str
    tags: tuple[str, ...]
    touches: tuple[str, ...]


class Check(msgspec.Struct, frozen=True):
    """A session to test the entry against."""

    tenant_id: str
    session_id: str | None
    image_id: str | None
    snapshot_hash: str | None
    when: str | None
    log: str
    satisfaction: int | None
    to_do: str


class Count(msgspec.Struct, frozen=True):
    """Something that records say, and how many do."""

    name: str
    mentions: int


class Near(msgspec.Struct, frozen=True):
    """An entry of the vocabulary that may cover the need in part."""

    entry: str
    pack: str
    explained: float
    terms: tuple[str, ...]


class Evidence(msgspec.Struct, frozen=True):
    """What the draft was made from."""

    capability_id: str
    label: str
    mentions: int
    images: int
    sessions: int
    unsatisfied: int
    rated: int
    wordings: tuple[Count, ...]
    operations: tuple[Count, ...]


class Draft(msgspec.Struct, frozen=True):
    """A starting point for an entry.

    Attributes:
        draft: Says that it is one.
        entry: The proposed entry.
        examples: What people asked for, most frequent first.
        checklist: Sessions to test the entry against, from different images where possible.
        nearest: Entries to look at first.
        evidence: What it was made from.
        notes: What a person should know of it.
    """

    draft: str
    entry: DraftEntry
    examples: tuple[str, ...]
    checklist: tuple[Check, ...]
    nearest: tuple[Near, ...]
    evidence: Evidence
    notes: tuple[str, ...]


def draft(
    capability: str,
    ranked: pl.DataFrame,
    *,
    gaps: pl.DataFrame | None = None,
    vocabulary: Vocabulary | None = None,
    stop_words: Iterable[str] = (),
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> Draft:
    """Draft an entry for a capability.

    The description is what most records say in `description`, of what as many say that which is most like the
    label. Tags are its categories and, where a vocabulary is given, words of the need that are tags there.
    `touches` are the operations that at least half as many records name as name the most frequent one.

    Args:
        capability: Its identifier, label or a wording, as `find_capability` takes it.
        ranked: Table `capabilities`.
        gaps: Table `gaps` of the same run; without it only the examples of the capability are known.
        vocabulary: What there is already; the name follows its style and is not taken in it.
        stop_words: Words to ignore beside the function words.
        operation_aliases: Lower-case name to operation, as `rank` had them.

    Raises:
        NotFoundError: There is no such capability.
        InvalidInputError: It may be one of several, or an argument cannot be used.
    """
    CAPABILITIES.require(ranked)
    known = Vocabulary() if vocabulary is None else vocabulary
    require_kind("vocabulary", known, Vocabulary, "what vocabgap.load_vocabulary returned")
    capability_table = find_capability(ranked, capability)
    if vocabulary is not None:
        capability_table = covered(
            capability_table, known, stop_words=stop_words, operation_aliases=operation_aliases
        )
    row = capability_table.row(0, named=True)
    records = _records(row, gaps)
    entries = with_folded_operations(known.entries, operation_aliases)
    notes: list[str] = []
    touches = _touches(row, entries, notes)
    wordings = {each["wording"]: each["mentions"] for each in row["variants"]}
    chosen, spare = shared_words(row["label"], wordings, stop_words)
    name, name_notes = propose_name(chosen, spare, touches, entries, fallback=row["capability_id"])
    checklist = _checklist(records, row["label"])
    like = partial(_alike, row["label"], ignored=ignored_stems(stop_words))
    if len(checklist) < SESSIONS:
        notes.append(f"the records tell of {count(len(checklist), 'session')} only")
    return Draft(
        draft=f"made from {count(row['mentions'], 'gap record')}: check every line before it is authored",
        entry=DraftEntry(
            name=visible(name),
            description=next(iter(_most_said(records, "description", like)), visible(row["label"])),
            tags=_tags(row, chosen, entries),
            touches=tuple(map(visible, touches)),
        ),
        examples=tuple(_most_said(records, "intent")[:_EXAMPLES]),
        checklist=checklist,
        nearest=tuple(
            Near(
                visible(near["entry"]),
                visible(near["pack"]),
                near["explained"],
                tuple(map(visible, near["terms"])),
            )
            for near in row["covered_by"]
        ),
        evidence=Evidence(
            capability_id=row["capability_id"],
            label=visible(row["label"]),
            mentions=row["mentions"],
            images=row["images"],
            sessions=row["sessions"],
            unsatisfied=row["unsatisfied"],
            rated=row["mentions"] - row["unrated"],
            wordings=_counts(row["variants"][:_WORDINGS], "wording"),
            operations=_counts(row["operations"], "name"),
        ),
        notes=(*name_notes, *notes),
    )


def _records(row: Mapping[str, Any], gaps: pl.DataFrame | None) -> pl.DataFrame:
    """The capability's records, the most telling ones first."""
    if gaps is None:
        examples = pl.DataFrame(row["examples"], schema=_EXAMPLES_SCHEMA).select(_EVIDENCE)
    else:
        GAPS.require(gaps, ("capability_id", "counted", *_EVIDENCE))
        examples = gaps.filter("counted", capability_id=row["capability_id"]).select(_EVIDENCE)
    if examples.is_empty():
        raise InvalidInputError(
            f"frame 'gaps' holds no counted record of '{row['capability_id']}'",
            hint="hand in the gaps of the run that the capability was ranked in",
        )
    telling = pl.sum_horizontal(
        stripped(pl.col(name)).fill_null("") != "" for name in ("intent", "workaround")
    )
    position = ("tenant_id", "repo_slug", "source_path", "line")
    return examples.sort(
        pl.col("satisfaction").fill_null(0), telling, "timestamp", *position,
        descending=[False, True, True, *(False for _ in position)], nulls_last=True,
    )  # fmt: skip


def _most_said(
    records: pl.DataFrame, column: str, likeness: Callable[[str], float] = lambda _: 0.0
) -> list[str]:
    """The distinct texts of a column, most frequent first; spellings of one surface are one.

    Of equally frequent ones that of the greatest likeness comes first, then that of the more telling record.
    """
    spellings: dict[str, Counter[str]] = {}
    for text in records[column].drop_nulls():
        if text.strip():
            spellings.setdefault(surface(text), Counter())[visible(text)] += 1
    said = [min(spelling, key=lambda text: (-spelling[text], text)) for spelling in spellings.values()]
    mentions = [spelling.total() for spelling in spellings.values()]
    order = sorted(range(len(said)), key=lambda at: (-mentions[at], -likeness(said[at])))  # else as they come
    return [said[at] for at in order]


def _alike(text: str, other: str, ignored: frozenset[str]) -> float:
    """How far two texts say the same and nothing besides, 0 to 1: the words that both have (Dice)."""
    first, second = (set(content_words(surface(each), ignored)) for each in (text, other))
    return 2.0 * len(first & second) / (len(first) + len(second))


def _touches(row: Mapping[str, Any], entries: Sequence[Entry], notes: list[str]) -> list[str]:
    """The operations that most records name; for an entry that stands among them, those that it touches."""
    held = {operation for entry in entries for operation in entry.operations}
    by_name = {entry.name.casefold(): entry for entry in entries}
    touches: dict[str, None] = {}
    for name in _frequent(row["operations"]):
        entry = by_name.get(name.casefold())
        if name in held or entry is None or not entry.operations:
            touches[name] = None
            continue
        notes.append(f"'{visible(name)}', which the records name, is an entry: what it touches stands for it")
        touches.update(dict.fromkeys(entry.operations))
    if not touches:
        notes.append("no record names an operation: find out what the entry has to touch")
    return list(touches)


def _tags(row: Mapping[str, Any], chosen: Sequence[str], entries: Sequence[Entry]) -> tuple[str, ...]:
    """The categories, and words of the need; of a vocabulary that has tags only those that are tags in it."""
    usual: dict[str, str] = {}
    for tag, _ in Counter(tag for entry in entries for tag in entry.tags).most_common():
        usual.setdefault(surface(tag), tag)
    said = [usual[stem(word)] for word in chosen if stem(word) in usual] if usual else chosen
    categories = [name for name in _frequent(row["categories"]) if name != UNCATEGORIZED]
    return tuple(dict.fromkeys(visible(tag) for tag in (*categories, *said)))


def _frequent(tally: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of a tally that are not far behind its most frequent one."""
    most = max((each["mentions"] for each in tally), default=0)
    return [each["name"] for each in tally if each["mentions"] >= _SHARE * most]


def _checklist(records: pl.DataFrame, label: str) -> tuple[Check, ...]:
    """One record of each of three sessions; an image without a known session is taken for one."""
    session = stripped(pl.col("session_id"))
    known = pl.when(session != "").then(pl.lit("session ") + session)
    image = pl.concat_str(pl.lit("image "), pl.col("repo_slug", "image_id"), ignore_nulls=True)
    chosen = (
        records.with_columns(sitting=pl.coalesce(known, image))
        .unique(["tenant_id", "sitting"], keep="first", maintain_order=True)
        .with_columns(pl.int_range(pl.len()).over("tenant_id", "repo_slug", "image_id").alias("turn"))
        .sort("turn", maintain_order=True)
        .head(SESSIONS)
    )
    return tuple(_check(row, label) for row in chosen.iter_rows(named=True))


def _check(row: Mapping[str, Any], label: str) -> Check:
    intent, workaround = (visible(row[name] or "") for name in ("intent", "workaround"))
    request = f"ask again: “{intent}”" if intent else f"ask for it: “{visible(label)}”"
    instead = f"; what was done instead should not be needed: “{workaround}”" if workaround else ""
    return Check(
        tenant_id=visible(row["tenant_id"]),
        session_id=_shown(row["session_id"]),
        image_id=_shown(row["image_id"]),
        snapshot_hash=_shown(row["snapshot_hash"]),
        when=None if row["timestamp"] is None else iso(row["timestamp"]),
        log=visible(f"{row['repo_slug']}/{row['source_path']}:{row['line']}"),
        satisfaction=row["satisfaction"],
        to_do=request + instead,
    )


def _counts(tally: Iterable[Mapping[str, Any]], name: str) -> tuple[Count, ...]:
    return tuple(Count(visible(each[name]), each["mentions"]) for each in tally)


def _shown(value: str | None) -> str | None:
    return visible(value or "") or None
