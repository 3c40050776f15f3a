"""Draft entries for capabilities, as a starting point for their authors."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, islice
from itertools import count as numbers_from
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.errors import InvalidInputError
from vocabgap.files.parts import Parts
from vocabgap.model.capability import Cover, Tally
from vocabgap.model.frames import need
from vocabgap.model.lookup import find_capability
from vocabgap.model.moments import iso
from vocabgap.model.record import OPERATION_ALIASES, PHRASE_FIELDS, UNCATEGORIZED
from vocabgap.model.settings import Settings
from vocabgap.model.tables import (
    CAPABILITIES,
    EXAMPLE_FIELDS,
    GAPS,
    IMAGE_KEY,
    LINE_KEY,
    RECORDS,
    counted,
    phrase,
    stripped,
)
from vocabgap.ranking.coverage import covered, is_listed, probably_covered
from vocabgap.ranking.vocabulary import Entry, Vocabulary
from vocabgap.text import (
    HYPHEN,
    REQUEST_WORDS,
    content_words,
    count,
    ignored_stems,
    stem,
    surface,
    visible,
    words,
)

FIRST: Final = 5  # capabilities of the shortlist; each gets a draft
_SESSIONS: Final = 3  # to test against
_LINKING_WORDS: Final = """
about above across after against all along among another any around before behind below beside between both
but down during each either every except few inside itself many more most near neither nor off other out
outside over past per same several since some something such through throughout toward towards under until
up via within without
"""
_LINKING: Final = frozenset(_LINKING_WORDS.split())  # beside function words, what no name begins or ends with
# "sky_mask: selects the sky": a name, and what it means.
_NAMED: Final = re.compile(r"(?=\S*_)\S+?(?: [–—-]+|:) (.+)")
_ASKED: Final = re.compile(
    r"(?:\b(?:i|we) |^(?:(?:he|she|they|(?:the|an?) \w+) )?)"
    r"(?:(?:want|need|ask|wish)(?:s|es|ed)?|would like)(?: for)?(?: to)?(?: be able to)? ",
    re.IGNORECASE,
)
# Words of a request that stay when its opening is removed, and of a record that something is missing.
_PERSONAL: Final = REQUEST_WORDS | frozenset(
    ["i", "we", "me", "us", "my", "our", "you", "your", "can", "could", "would", "should", "asked"]
)
_UNSAID: Final = _PERSONAL | frozenset(["no", "not", "cannot", "cant", "too"])
_EVIDENCE: Final = (
    "timestamp", "image_id", "session_id", "snapshot_hash", "intent", "workaround", "satisfaction", *LINE_KEY,
    "count",
)  # fmt: skip


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
        examples: What people asked for in other words, most frequent first.
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

    Description and examples come from wordings without the words of a request. Such a wording has all words
    of the label, and at most as many others. They are spelled like the descriptions of the vocabulary.

    Tags are the capability's categories and the words of its name. If the vocabulary has tags, the draft
    uses no other words. `touches` lists operations with at least half the mentions of the most frequent one.

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
    table = find_capability(ranked, capability)
    if vocabulary is not None:
        table = covered(table, vocabulary, stop_words=stop_words, operation_aliases=operation_aliases)
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
    if len(checklist) < _SESSIONS:
        several = f"the records are from {count(row['sessions'], 'session')} only"
        notes.append(several if row["sessions"] else "no record names its session")
    own, written = _Need(row["label"], wordings, ignored), _form(entries)
    named = [{"name": name, "mentions": often} for name, often in islice(wordings.items(), 10)]
    noun = "gap record" if (records["count"].fill_null(1) == 1).all() else "mention"
    parts = {
        "draft": f"made from {count(row['mentions'], noun)}: check every line before it is authored",
        "entry": {
            "name": name,
            "description": written(own.description()),
            "tags": _tags(row, chosen, entries),
            "touches": touches,
        },
        "examples": [*map(written, own.requests(records)[:10])],
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
        schema = {name: RECORDS.schema.get(name, pl.String) for name in EXAMPLE_FIELDS}
        examples = pl.DataFrame(row["examples"], schema=schema).select("wording", *_EVIDENCE)
    else:
        if isinstance(gaps, pl.DataFrame):
            GAPS.require(gaps, ("capability_id", "counted", *PHRASE_FIELDS, *_EVIDENCE))
        own = Parts.of(gaps).then(partial(counted, capability_id=row["capability_id"]))
        examples = own.collect().select(phrase().alias("wording"), *_EVIDENCE)
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


class _Need:
    """The need of a capability: its label and those wordings that say the same, and no more than that."""

    def __init__(self, label: str, wordings: Mapping[str, int], ignored: frozenset[str]) -> None:
        self._ignored = ignored
        self._label = label
        self._words = self._content(label)
        self._wordings = {wording: often for wording, often in wordings.items() if self.fits(wording)}
        self._surfaces = {surface(_bare(wording)) for wording in (*wordings, label)}
        self._is_renamed = not self._wordings

    def fits(self, wording: str) -> bool:
        """Tell whether a wording has all words of the label, and at most as many others."""
        content = self._content(_bare(wording))
        return self._words <= content and len(content) <= 2 * len(self._words)

    def _content(self, text: str) -> set[str]:
        return set(content_words(surface(text), self._ignored))

    def description(self) -> str:
        """Return what follows a name and a dash, else the most used fuller phrase, else the label."""
        after_name: Counter[str] = Counter()
        phrases: Counter[str] = Counter()
        for wording, often in self._wordings.items():
            named = _NAMED.match(visible(wording))
            if named and _UNSAID.isdisjoint(words(named[1])):
                after_name[named[1]] += often
            text = visible(_bare(wording))
            is_fuller = len(words(text)) > len(words(self._label))
            is_phrase = " " in wording.strip() and "be" not in words(wording)  # "a mask cannot be had"
            if is_fuller and is_phrase and _UNSAID.isdisjoint(words(text)):
                phrases[text] += often
        most = after_name or phrases or Counter([visible(_bare(self._label))])
        return min(most, key=lambda text: (-most[text], len(text), text))

    def requests(self, records: pl.DataFrame) -> list[str]:
        """Return what people asked for in records of the need, in words that are no wording of the group."""
        spellings: dict[str, Counter[str]] = {}
        rows = records.select("wording", "intent", pl.col("count").fill_null(1)).drop_nulls()
        for wording, intent, often in rows.iter_rows():
            polite = re.sub(r"^please,? |,? please\b", "", visible(intent), flags=re.IGNORECASE)
            text = _ASKED.sub("", polite)
            is_request = "?" in text or not _PERSONAL.isdisjoint(words(text))
            is_wording = surface(_bare(text)) in self._surfaces
            if text and not (is_request or is_wording) and (self._is_renamed or self.fits(wording)):
                spellings.setdefault(surface(text), Counter())[text] += often
        texts = {min(own, key=lambda text: (-own[text], text)): own.total() for own in spellings.values()}
        return sorted(texts, key=lambda text: -texts[text])


def _bare(wording: str) -> str:
    """Return a wording without its frame and its request; an identifier may hide another frame."""
    for _ in range(2):
        wording = _ASKED.sub("", need(wording.strip().rstrip(".!?")))
    return wording


def _form(entries: Sequence[Entry]) -> Callable[[str], str]:
    """Return a function that writes a text as most descriptions: with a capital, with a full stop."""
    texts = [entry.description for entry in entries if entry.description] or ["A sentence."]
    has_capital = 2 * sum(not text[0].islower() for text in texts) > len(texts)
    has_stop = 2 * sum(text.endswith(".") for text in texts) > len(texts)

    def written(text: str) -> str:
        text = text.rstrip(" .")
        stop = "." if has_stop and not text.endswith(("!", "…")) else ""
        return (text[:1].upper() + text[1:] if has_capital else text) + stop

    return written


def _tags(row: Mapping[str, Any], chosen: Sequence[str], entries: Sequence[Entry]) -> list[str]:
    usual: dict[str, str] = {}
    for tag, _ in Counter(tag for entry in entries for tag in entry.tags).most_common():
        usual.setdefault(surface(tag), tag)
    from_words = [usual[stem(word)] for word in chosen if stem(word) in usual] if usual else chosen
    categories = [name for name in _frequent(row["categories"]) if name != UNCATEGORIZED]
    return list(dict.fromkeys(map(visible, (*categories, *from_words))))


def _frequent(tally: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names with at least half of the mentions of the most frequent one."""
    most = max((item["mentions"] for item in tally), default=0)
    return [item["name"] for item in tally if 2 * item["mentions"] >= most]


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
        .head(_SESSIONS)
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
    """Return the words of a label that most mentions use; the parts of a hyphenated word stay together."""
    mentions: Counter[str] = Counter()
    for wording, often in wordings.items():
        mentions.update(dict.fromkeys(map(stem, words(wording)), often))
    usage = {parts: max(mentions[stem(word)] for word in parts) for parts in _core(label, ignored)}
    mentioned, most_words = sum(wordings.values()), 4
    shared = [parts for parts, often in usage.items() if 2 * often >= mentioned] or [*usage]
    foremost = sorted(shared, key=lambda parts: -usage[parts])
    lengths = accumulate(map(len, foremost))
    fitting = sum(length <= most_words for length in lengths) or 1
    chosen = [parts for parts in usage if parts in foremost[:fitting]]
    inner = [place for place, parts in enumerate(chosen) if not _LINKING.issuperset(parts)]
    kept = chosen[inner[0] : inner[-1] + 1] if inner else chosen
    return [*chain.from_iterable(kept)][:most_words]


def propose_name(
    chosen: Sequence[str], operations: Sequence[str], entries: Sequence[Entry], *, fallback: str
) -> tuple[str, tuple[str, ...]]:
    """Return an unused name and notes. Its words are joined in the style of most entries."""
    parts, join = list(chosen) or words(fallback), _style(entries)
    taken = {entry.name.casefold(): entry.name for entry in entries}
    name = join(parts)
    if name.casefold() not in taken:
        return name, ()
    further = chain(map(words, operations), ([str(number)] for number in numbers_from(2)))
    longer = (join([*parts, *more]) for more in further)
    note = f"the records suggest the name '{taken[name.casefold()]}', which an entry has: check it first"
    return next(name for name in longer if name.casefold() not in taken), (note,)


def _core(label: str, ignored: frozenset[str]) -> list[tuple[str, ...]]:
    """Return the distinct content words of a label; leave out asides if something else is left.

    Each has its parts: several if it is hyphenated, one of which may be a function word.
    """
    # A dash or colon explains the text before it.
    for text in (re.split(r"\s[—–-]\s|[:;]", re.sub(r"\([^()]*\)", " ", label))[0], label):
        own: list[tuple[str, ...]] = []
        known: set[str] = set()
        for run in text.split():
            parts = [word for word in words(run) if not word.isdigit()]
            for group in [parts] if re.search(HYPHEN, run) else [[word] for word in parts]:
                is_content = any(stem(word) not in ignored and word not in {"no", "not"} for word in group)
                new = tuple(word for word in group if stem(word) not in known)
                if is_content and new:
                    own.append(new)
                    known.update(map(stem, new))
        if own:
            return own
    return []


def _style(entries: Sequence[Entry]) -> Callable[[Iterable[str]], str]:
    """Return a function that joins words with a dash or an underscore, as most entries do."""
    names = [entry.name for entry in entries if len(words(entry.name)) > 1]
    return ("-" if sum("-" in name for name in names) > len(names) / 2 else "_").join


class Candidate(msgspec.Struct, frozen=True):
    """One of the first capabilities, with a draft of its entry."""

    capability_id: str
    draft: DraftEntry


def drafts_of(ranked: pl.DataFrame, vocabulary: Vocabulary, settings: Settings) -> tuple[Candidate, ...]:
    """Return drafts for the first five listed capabilities; those that are probably covered get none.

    Each draft uses the examples of its capability alone, so no records are read.
    """
    first = ranked.filter(is_listed()).head(FIRST)
    missing = first.filter(~probably_covered(settings.vocabulary.threshold))
    drafted = partial(
        draft,
        ranked=ranked,
        vocabulary=vocabulary if settings.vocabulary.paths else None,
        stop_words=settings.cluster.stop_words,
        operation_aliases=settings.operation_aliases,
    )
    return tuple(Candidate(name, drafted(name).entry) for name in missing["capability_id"])
