"""The overviews of a report as data: all that is not a need. The page and the long Markdown show the same.

A new overview is one `Section` that a function of its tab yields.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from vocabgap.model.tables import CONTINUED
from vocabgap.reporting.listed import TO_AUTHOR
from vocabgap.reporting.markdown import fitting
from vocabgap.reporting.overviews import SHOWN_CATEGORIES, Account, operations_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import capital, day, phrase
from vocabgap.text import excerpt, in_words, unit_names

_SHOWN_OPERATIONS: Final = 60
_SHOWN_NEEDS: Final = 3  # of an operation
# The numbers of an account, and how people call these lines:
_LINES: Final = {
    "counted": "counted",
    "filtered": "filtered out",
    "not_a_gap": "not a gap",
    "not_granted": "not granted",
    "duplicates": "duplicates",
    "superseded": "superseded",
    "rejects": "rejected",
}


class Link(msgspec.Struct, frozen=True):
    """A text that leads to a capability."""

    id: str
    text: str


Cell = str | int | tuple[Link, ...]
Head = tuple[str, str]


class Section(msgspec.Struct, frozen=True):
    """An overview. Texts from logs are excerpts; in sentences, backticks mark what people copy."""

    id: str  # on the page
    title: str
    sentences: tuple[str, ...] = ()  # above the table
    heads: tuple[Head, ...] = ()  # heading and kind: `text`, `sentence`, `num`, `bar` or `code`
    rows: tuple[tuple[Cell, ...], ...] = ()
    after: str = ""  # below the table
    tab: str = ""  # the view of the page that shows it


def sections_of(summary: Summary) -> tuple[Section, ...]:
    """Return the overviews of a report in reading order, without empty ones."""
    tabs = {"Overview": _overview, "Effects": _effects, "Account": _account, "About": _about}
    made = (replace(section, tab=tab) for tab, sections in tabs.items() for section in sections(summary))
    return tuple(each for each in made if each.rows or not each.heads)


def render_evidence(summary: Summary) -> str:
    """Render the evidence of each need and all overviews as Markdown, ending in a newline."""
    return fitting("long.md.j2", summary, sections=sections_of(summary))


def _overview(summary: Summary) -> Iterator[Section]:
    if not summary.total:
        return
    yield Section("whole", "All records", (phrase("whole", summary, unit=summary.unit),))
    heads = _heads("Need", "What happened")
    yield Section("changes", "Since the run before", (), heads, tuple(_changes(summary)))
    doubts = summary.doubts or ()
    heads = _heads("Need", "Perhaps the same", "Command:code")
    pairs = (
        (
            _link(each.capability_id, each.label, each.mentions),
            _link(each.other_id, each.other_label, each.other_mentions),
            f"vocabgap decide merge {each.capability_id} {each.other_id} {summary.deciding or ''}".strip(),
        )
        for each in doubts
    )
    yield Section("one-need", "Perhaps one need", (phrase("doubts", doubts),), heads, tuple(pairs))
    yield _categories(summary)
    yield from _operations(summary)
    if summary.breakdown is not None:
        path, values, counts = msgspec.structs.astuple(summary.breakdown)
        names = {item.rank: item.capability_id for item in summary.capabilities}
        heads = (("Need", "text"), *((excerpt(value, 40), "num") for value in values))
        by_value = (
            (_link(names.get(rank, ""), f"{rank}. {label}"), *numbers) for rank, label, numbers in counts
        )
        yield Section("breakdown", f"Mentions by {excerpt(path)}", (), heads, tuple(by_value))


def _changes(summary: Summary) -> Iterator[tuple[Cell, ...]]:
    for each in summary.everything:
        for relation in each.lineage:
            if relation["relation"] != CONTINUED:
                item = each.capability
                yield _link(item.capability_id, item.label), excerpt(phrase("lineage", relation))


def _categories(summary: Summary) -> Section:
    every, shown = summary.categories, summary.categories[:SHOWN_CATEGORIES]
    notes = []
    if len(every) > len(shown):
        notes.append(phrase("other_categories", summary))
    if sum(each.capabilities for each in every) > summary.total:
        notes.append(phrase("categories", summary))
    if summary.reclassified:
        notes.append(phrase("reclassified", summary.reclassified))
    heads = _heads("Category", "Mentions:bar", "Needs:num")
    rows = tuple((excerpt(each.name), each.mentions, each.capabilities) for each in shown)
    return Section("categories", "By category", (), heads, rows, " ".join(notes))


def _operations(summary: Summary) -> Iterator[Section]:
    heads = _heads("Operation", "Mentions:bar", "Needs:num", "Named most by")
    to_author = [each.capability for each in summary.everything if each.group == TO_AUTHOR]
    rows = (
        (
            excerpt(each.name),
            each.mentions,
            len(each.needs),
            tuple(
                link
                for need, mentions in each.needs[:_SHOWN_NEEDS]
                for link in _link(need.capability_id, need.label, mentions)
            ),
        )
        for each in operations_of(to_author)[:_SHOWN_OPERATIONS]
    )
    yield Section("operations", "Operations", (), heads, tuple(rows))
    units = capital(unit_names(summary.unit)[1])
    numbers = ("Records:num", f"{units}:num", "By chance:num", "Lift:num")
    heads = _heads("Operations", *numbers, "Needs")
    sets = tuple(
        (
            phrase("operations_together", each.operations),
            each.records,
            each.images,
            f"{each.expected:.1f}",
            f"{each.lift:.1f}",
            ", ".join(map(excerpt, each.needs)) or "–",
        )
        for each in summary.beyond_chance
    )
    if summary.recurring_sets or summary.overlong:
        note = phrase("sets", summary, unit=summary.unit)
        shown = ((phrase("lift"),), heads, sets, note) if sets else ((note,),)
        yield Section("together", "Operations that recur together", *shown)


def _effects(summary: Summary) -> Iterator[Section]:
    texts = ("Need", "Entry", "Since", "Before", "After", "Share of the expected", "Satisfaction")
    heads = _heads(*texts, "Used:num", "Verdict")
    rows = (
        (
            _link(each.capability_id, each.label),
            excerpt(", ".join(each.entries)),
            day(each.since),
            phrase("in_weeks", each.mentions_before, each.weeks_before),
            phrase("in_weeks", each.mentions_after, each.weeks_after),
            phrase("share_of_expected", each),
            phrase("ratings", each),
            each.used_since,
            phrase("verdict", each),
        )
        for each in summary.effects
    )
    helped = (phrase("helped", summary),)
    yield Section("effects", "What authoring changed", helped, heads, tuple(rows), phrase("compared"))


def _account(summary: Summary) -> Iterator[Section]:
    account = summary.account
    if account is not None:
        tools = (
            (phrase("tool", each), each.records, ", ".join(map(excerpt, each.rules)))
            for each in account.ungranted
        )
        sentences, note = (phrase("ungranted"),), phrase("other_ungranted", account)
        heads = _heads("Tool", "Records:num", "Why")
        yield Section("not-granted", "Not granted", sentences, heads, tuple(tools), note)
        yield _counted(summary, account)
        rejects = (
            (excerpt(phrase("location", each, summary)), in_words(each.reason), excerpt(each.detail))
            for each in account.examples
        )
        heads, note = _heads("Place:code", "Reason", "Detail"), phrase("more_rejects", account)
        yield Section("rejects", "What could not be read", (), heads, tuple(rejects), note)
    if summary.withheld is not None:
        yield Section("withheld", "What was left out", _lines(summary, "withheld", summary))


def _counted(summary: Summary, account: Account) -> Section:
    rows = (
        (kind, number, phrase("why", name, account, summary))
        for name, kind in _LINES.items()
        for number in [getattr(account, name)]
        if number or name == "counted"
    )
    notes = {"unread": account.unreadable, "repairs": account.repairs}
    after = " ".join(phrase(name, account) for name, some in notes.items() if some)
    heads, title = _heads("Lines", "Number:bar", "Why:sentence"), "What was counted, and what was not"
    return Section("account", title, (phrase("account_line", account),), heads, tuple(rows), after)


def _about(summary: Summary) -> Iterator[Section]:
    if summary.everything:
        words = (tuple(line.split(" | ", 1)) for line in _lines(summary, "how", summary))
        yield Section("how", "How to read this", (), _heads("Word", "Meaning:sentence"), tuple(words))
    if summary.command:
        yield Section("again", "Make this report again", (phrase("again", summary.command),))


def _lines(summary: Summary, name: str, *values: object) -> tuple[str, ...]:
    """Return the lines of a text of `sections.j2`."""
    return tuple(phrase(name, *values, unit=summary.unit, template="sections.j2").splitlines())


def _heads(*heads: str) -> tuple[Head, ...]:
    """Return headings with their kinds; a kind other than `text` follows a colon."""
    return tuple((text, kind or "text") for text, _, kind in (head.partition(":") for head in heads))


def _link(name: str, label: str, mentions: int | None = None) -> tuple[Link, ...]:
    counted = "" if mentions is None else f" ({mentions:,})"
    return (Link(name, f"{excerpt(label)}{counted}"),)
