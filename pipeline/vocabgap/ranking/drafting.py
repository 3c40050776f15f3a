"""Draft entries for capabilities, as a starting point for their authors, and check them against the log."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from itertools import count as numbers_from
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.errors import converted
from vocabgap.files.parts import Parts
from vocabgap.model.capability import Cover
from vocabgap.model.frames import need
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import OPERATION_ALIASES, PHRASE_FIELDS, UNCATEGORIZED
from vocabgap.model.settings import DEFAULT_COVERED, Settings
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
from vocabgap.ranking.coverage import Check, Checks, covered, covering_options, is_listed, probably_covered
from vocabgap.ranking.vocabulary import Entry, Form, Vocabulary
from vocabgap.text import (
    HYPHEN,
    REQUEST_WORDS,
    content_words,
    count,
    ignored_stems,
    indented_json,
    literal,
    stem,
    surface,
    visible,
    words,
)

FIRST: Final = 5  # capabilities of the shortlist; each gets a draft
_SESSIONS: Final = 3  # to test against
_LONGEST: Final = 1_024  # characters of a skill's description
_LONGEST_NAME: Final = 64  # characters of a skill's name, and of a tool's
_NAME_WORDS: Final = 4
_SEVERAL: Final = "the group is perhaps several needs: leave out what the entry is not for"
_ALIKE: Final = 0.7  # least share of the words of a need in a wording whose intent is an example
_QUOTED: Final = 20  # wordings that a description may quote
_LINKING_WORDS: Final = """
about above across after against all along among another any around before behind below beside between both
but down during each either every except few inside itself many more most near neither nor off other out
outside over past per same several since some something such through throughout toward towards under until
up via while within without
"""
_LINKING: Final = frozenset(_LINKING_WORDS.split())  # beside function words, what no name begins or ends with
_ASKED: Final = re.compile(
    r"(?:\b(?:i|we) |^(?:(?:he|she|they|(?:the|an?) \w+) )?)"
    r"(?:(?:want|need|ask|wish)(?:s|es|ed)?|would like)(?: for)?(?: to)?(?: be able to)? ",
    re.IGNORECASE,
)
# Words of a request that stay when its opening is removed.
_PERSONAL: Final = REQUEST_WORDS | frozenset(
    ["i", "we", "me", "us", "my", "our", "you", "your", "can", "could", "would", "should", "asked"]
)
_UNSAID: Final = _PERSONAL | frozenset(["no", "not", "cannot", "cant", "dont", "doesnt", "isnt", "missing"])
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
    check: str = ""  # what it says of the log


class Draft(msgspec.Struct, frozen=True):
    """A starting point for an entry."""

    draft: str  # a sentence that calls it a draft
    form: Form  # of the file that `text` returns
    entry: DraftEntry
    check: Check
    examples: tuple[str, ...]  # what people asked for in other words, most frequent first
    checklist: tuple[str, ...]  # sessions to test the entry against, from different images if possible
    nearest: tuple[Cover, ...]  # entries to look at first
    notes: tuple[str, ...]  # what its author should know

    def text(self, encoding: str = "utf-8") -> str:
        """Return the file of the entry."""
        name, description = self.entry.name, self.entry.description
        if self.form is Form.TOOL:
            schema = {"type": "object", "properties": {}}
            return indented_json({"name": name, "description": description, "inputSchema": schema}, encoding)
        if self.form is Form.MANIFEST:
            return indented_json(self, encoding)
        called, told = (indented_json(text, encoding) for text in (name, description))
        asked = ["## When", "", *(f"- {literal(example)}" for example in self.examples), ""]
        tests = ["## Try it on", "", *(f"- [ ] {literal(each)}" for each in self.checklist)]
        front = ["---", f"name: {called}", f"description: {told}", "---", "", f"# {name}", ""]
        return "\n".join(front + asked * bool(self.examples) + tests)


def draft(
    capability: str,
    ranked: pl.DataFrame,
    *,
    gaps: pl.DataFrame | Parts | None = None,
    vocabulary: Vocabulary | None = None,
    form: Form | None = None,
    stop_words: Iterable[str] = (),
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
    checks: Checks | None = None,
) -> Draft:
    """Draft an entry for a capability, and check it.

    The description has the label, and as many wordings as the entry needs to cover 80 % of the mentions,
    but none with which it takes another need. Examples are intents of records that have the label's words.

    Tags are the capability's categories and the words of its name. If the vocabulary has tags, the draft
    uses no other words. `touches` lists operations with at least half the mentions of the most frequent one.

    Args:
        capability: Its identifier, label or a wording, as `find_capability` takes it.
        ranked: Table `capabilities`.
        gaps: Table `gaps` of the same run; without it only the examples of the capability are used.
        vocabulary: The existing entries. The name differs from theirs, and its words are joined like theirs.
        form: The form to write; by default that of most entries of the vocabulary.
        stop_words: Further words to ignore.
        operation_aliases: Lower-case name to operation, as for `rank`.
        checks: The checks to use, by default with the default threshold.

    Raises:
        NotFoundError: There is no such capability.
        InvalidInputError: The name may mean several capabilities, or an argument cannot be used.
    """
    CAPABILITIES.require(ranked)
    options: Any = {"stop_words": stop_words, "operation_aliases": operation_aliases}
    listed = Vocabulary() if vocabulary is None else vocabulary
    checks = checks or Checks(ranked, listed, DEFAULT_COVERED, options)
    table = find_capability(ranked, capability)
    if vocabulary is not None:
        table = covered(table, vocabulary, **options)
    row, form = table.row(0, named=True), converted(form or listed.form, Form, "form")
    records, touches, ignored = _records(row, gaps), _frequent(row["operations"]), ignored_stems(stop_words)
    chosen = name_words(row["label"], ignored)
    name, notes = propose_name(chosen, touches, listed.entries, row["capability_id"], form)
    tags = tuple(_tags(row, chosen, listed.entries))
    likeness = _likeness(row["label"], ignored)
    plain = Entry(name, tags=tags, operations=tuple(touches)) if form is Form.MANIFEST else Entry(name)
    entry, check = _described(plain, table, checks, likeness)
    noun = "gap record" if (records["count"].fill_null(1) == 1).all() else "mention"
    parts = {
        "draft": f"made from {count(check.mentions, noun)}: check every line before it is authored",
        "form": form,
        "entry": {
            "name": name, "description": entry.description, "tags": tags, "touches": touches,
            "check": " ".join(check.sentences("The entry", "that it was made from")),
        },
        "check": msgspec.to_builtins(check),
        "examples": _requests(records, row, likeness)[:10],
        "checklist": _checklist(records, row["label"]),
        "nearest": row["covered_by"],
        "notes": (*notes, *([_SEVERAL] if row["mixed"] else [])),
    }  # fmt: skip
    return msgspec.convert(_visible(parts), Draft)


def _described(
    entry: Entry, own: pl.DataFrame, checks: Checks, likeness: Callable[[str], float]
) -> tuple[Entry, Check]:
    """Describe an entry by the label and by wordings, until it covers enough; return it with its check."""
    mentions = {each["wording"]: each["mentions"] for each in own["variants"].item()}
    # Quote first what has the words of the need, and last what asks or complains.
    best_first = sorted(mentions, key=lambda text: (-mentions[text] * likeness(text), len(text), text))
    best_first.sort(key=lambda text: not _UNSAID.isdisjoint(words(_clause(text))))
    label, quotes = _sentence(visible(_bare(own["label"].item()))), list[str]()
    described = replace(entry, description=label)
    check, missed = checks.check(described, own), checks.missed(described, own)
    for wording in best_first[:_QUOTED]:
        # A clause says the need in fewer words; if it does not suffice, quote the whole wording.
        for text in (_clause(wording), visible(_bare(wording))):
            if check.passes or check.takes or wording not in missed:
                break
            quoted = f"{label.rstrip('.')} – use it for: {'; '.join([*quotes, text])}."
            trial = replace(entry, description=quoted)
            left = checks.missed(trial, own)
            if len(quoted) > _LONGEST or sum(left.values()) >= sum(missed.values()):
                continue
            found = checks.check(trial, own)
            if not found.takes:
                described, check, missed, quotes = trial, found, left, [*quotes, text]
    return described, check


def _clause(wording: str) -> str:
    """Return the first part of a wording without its frame; the whole if that is a single word."""
    text = visible(_bare(wording)).rstrip(" .")
    first = re.split(r"[,;(]| [–—-] |[:.] ", text)[0].strip()
    return first if " " in first else text


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
    telling = pl.sum_horizontal(
        stripped(pl.col(name)).fill_null("") != "" for name in ("intent", "workaround")
    )
    return examples.sort(
        pl.col("satisfaction").fill_null(0), telling, "timestamp", *LINE_KEY,
        descending=[False, True, True, *(False for _ in LINE_KEY)], nulls_last=True,
    )  # fmt: skip


def _likeness(label: str, ignored: frozenset[str]) -> Callable[[str], float]:
    """Return a function that tells which share of the words of a need a wording has."""
    own = set(content_words(surface(_bare(label)), ignored))
    return lambda wording: len(own.intersection(surface(_bare(wording)).split())) / max(len(own), 1)


def _requests(records: pl.DataFrame, row: Mapping[str, Any], likeness: Callable[[str], float]) -> list[str]:
    """Return what people asked for in words that are no wording of the need."""
    phrases = (row["label"], *(each["wording"] for each in row["variants"]))
    wordings = {surface(_bare(text)) for text in phrases}
    spellings: dict[str, Counter[str]] = {}
    rows = records.select("wording", "intent", pl.col("count").fill_null(1)).drop_nulls()
    for wording, intent, often in rows.iter_rows():
        polite = re.sub(r"^please,? |,? please\b", "", visible(intent), flags=re.IGNORECASE)
        text = _sentence(_ASKED.sub("", polite))
        is_request = "?" in text or not _PERSONAL.isdisjoint(words(text))
        is_own = intent.strip() and likeness(wording) >= _ALIKE
        if is_own and not is_request and surface(_bare(text)) not in wordings:
            spellings.setdefault(surface(text), Counter())[text] += often
    texts = {min(own, key=lambda text: (-own[text], text)): own.total() for own in spellings.values()}
    return sorted(texts, key=lambda text: -texts[text])


def _bare(wording: str) -> str:
    """Return a wording without its frame and its request; an identifier may hide another frame."""
    for _ in range(2):
        wording = _ASKED.sub("", need(wording.strip().rstrip(".!?")))
    return wording


def _sentence(text: str) -> str:
    text = text.rstrip(" .")
    return text[:1].upper() + text[1:] + ("" if text.endswith(("!", "…")) else ".")


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


def _checklist(records: pl.DataFrame, label: str) -> list[str]:
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
    return [_to_do(row, label) for row in chosen.iter_rows(named=True)]


def _to_do(row: Mapping[str, Any], label: str) -> str:
    intent, workaround = (visible(row[name] or "") for name in ("intent", "workaround"))
    asked = f"ask again: “{intent}”" if intent else f"ask for it: “{visible(label)}”"
    instead = f"; the workaround should not be needed: “{workaround}”" if workaround else ""
    session = f" (session {row['session_id']})" if row["session_id"] else ""
    return f"{row['repo_slug']}/{row['source_path']}:{row['line']}{session}: {asked}{instead}"


def name_words(label: str, ignored: frozenset[str] = frozenset()) -> list[str]:
    """Return the first words of a need, without linking words at the ends."""
    chosen = _core(_bare(label), ignored)[:_NAME_WORDS]
    inner = [place for place, word in enumerate(chosen) if word not in _LINKING]
    return chosen[inner[0] : inner[-1] + 1] if inner else chosen


def propose_name(
    chosen: Sequence[str], operations: Sequence[str], entries: Sequence[Entry], fallback: str, form: Form
) -> tuple[str, tuple[str, ...]]:
    """Return an unused name, joined as in most entries, and notes. Skills and tools keep to short ASCII."""
    join = "-".join if form is Form.SKILL else _style(entries)
    parts, most = list(chosen) or words(fallback), None
    if form is not Form.MANIFEST:
        plain = unicodedata.normalize("NFKD", " ".join(parts)).encode("ascii", "ignore").decode()
        parts, operations, most = words(plain) or words(fallback), (), _LONGEST_NAME

    def named(*more: str) -> str:
        end = join(["", *more])
        return join(parts)[: most and most - len(end)].strip("-_") + end

    taken = {entry.name.casefold(): entry.name for entry in entries}
    if named().casefold() not in taken:
        return named(), ()
    further = chain(map(words, operations), ([str(number)] for number in numbers_from(2)))
    note = f"the records suggest the name '{taken[named().casefold()]}', which an entry has: check it first"
    return next(name for more in further if (name := named(*more)).casefold() not in taken), (note,)


def _core(label: str, ignored: frozenset[str]) -> list[str]:
    """Return the distinct content words of a label; leave out asides if something else is left.

    A hyphenated word keeps its function words.
    """
    # A dash or colon explains the text before it.
    for text in (re.split(r"\s[—–-]\s|[:;]", re.sub(r"\([^()]*\)", " ", label))[0], label):
        own: dict[str, str] = {}
        for run in text.split():
            parts = [word for word in words(run) if not word.isdigit()]
            for group in [parts] if re.search(HYPHEN, run) else [[word] for word in parts]:
                if any(stem(word) not in ignored and word not in {"no", "not"} for word in group):
                    own |= {stem(word): word for word in group if stem(word) not in own}
        if own:
            return [*own.values()]
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
    missing = first.filter(~probably_covered(settings.vocabulary.threshold))["capability_id"]
    known = vocabulary if settings.vocabulary.paths else None
    options = covering_options(settings)
    checks = Checks(ranked, vocabulary, settings.vocabulary.threshold, options)
    drafted = partial(draft, ranked=ranked, vocabulary=known, checks=checks, **options)
    return tuple(Candidate(name, drafted(capability=name).entry) for name in missing)
