"""A report in words: as Markdown, and what its numbers mean, which the page says in the same words.

Text from logs is shown in Markdown as it is, and never obeyed: backslashes before ASCII punctuation are
CommonMark (section 2.4). What renderers make links of without being told, addresses and mentions, is code.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import jinja2
import msgspec
from msgspec.structs import replace

from vocabgap.model.capability import FIRST_COVERING, Capability
from vocabgap.model.moments import iso
from vocabgap.model.record import RATING_NAMES
from vocabgap.model.settings import LEAST_WEEKS
from vocabgap.ranking.combinations import LEAST, MOST_OPERATIONS
from vocabgap.ranking.evidence import MAX_WORKAROUNDS
from vocabgap.ranking.intervals import CONFIDENCE, DRAWS, TIED
from vocabgap.ranking.priority import SIGNIFICANCE, recent_weeks
from vocabgap.reporting.doubts import ARE_ONE, ARE_TWO
from vocabgap.reporting.manifest import Difference
from vocabgap.reporting.overviews import SHOWN_CATEGORIES, who_asked, whose
from vocabgap.reporting.summary import Summary
from vocabgap.text import count, escape_unseen, excerpt, in_words, shortened, visible

_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$^]")
_OPENING: Final = re.compile(r"^(\s*)([-+=])")  # a list item, a heading's underline
_NUMBERED: Final = re.compile(r"^(\s*\d{1,9})([.)])")
# What GitHub, GitLab or linkify-it may make a link of, wherever it stands in a word: an address with a scheme
# or without one, of a host, a machine or a person; a mention; a number of an issue, and a commit.
_LINKED: Final = re.compile(
    r"(?ia)//|@(?=\S)|[a-z][a-z0-9+.-]*:(?=\S)|www(?![a-z0-9])|[^\s.]\.(?u:[^\W\d_]){2}|(?:[0-9]+\.){3}[0-9]"
    r"|#(?=[0-9])|\bgh-(?=[0-9])|!(?=[0-9])|(?<![\w-])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b"
)
# A word, and what stands around it: white space, what cannot be code in a cell of a table, and punctuation
# that is no part of an address.
_WORD: Final = re.compile(r"""([\s`|(\[{<"'“‘«]*)([^\s`|]*?)([)\]}>"'”’».,;:!?]*(?=[\s`|]|$))""")
_BACKTICKS: Final = re.compile(r"`+")
_BARS: Final = "▁▂▃▄▅▆▇█"
_COUNTED: Final = {
    "mentions": "mention",
    "images": "image",
    "sessions": "session",
    "unsatisfied": "unsatisfied mention",
}
_UNITS: Final = {"images": ("on", "image"), "sessions": ("in", "known session")}
_HASH_DIGITS: Final = 12
SHOWN_WORDINGS: Final = 25
SEVERAL: Final = "probably several needs"
CONFIDENT: Final = round(100 * CONFIDENCE)
# Numbers that texts of a report name, as they are there.
FIGURES: Final = {
    "draws": DRAWS,
    "confidence": CONFIDENT,
    "tied_from": round(100 * TIED),
    "chance": f"{SIGNIFICANCE:g}",
    "told": FIRST_COVERING,
    "several": SEVERAL,
    "are_one": ARE_ONE,
    "are_two": ARE_TWO,
    "least": LEAST,
    "most_operations": MOST_OPERATIONS,
    "shown_categories": SHOWN_CATEGORIES,
}
MOST_BYTES: Final = 1_000_000  # of a report


def render_markdown(summary: Summary) -> str:
    """Render a report as Markdown, ending in a newline.

    It has as many capabilities of each list as fit into `MOST_BYTES`, and says how many others there are.
    """
    template = _ENVIRONMENT.get_template("report.md.j2")
    lists = {name: getattr(summary, name) for name in ("capabilities", "covered", "settled")}
    most = max(map(len, lists.values()))
    while True:
        first = replace(summary, **{name: items[:most] for name, items in lists.items()})
        text = template.render(run=first, shown_wordings=SHOWN_WORDINGS)
        size = len(text.encode())
        if size <= MOST_BYTES or most <= 1:
            return text
        most = max(most * MOST_BYTES // size, 1)


def escape(value: object) -> str:
    """Text as one line of Markdown that renders as itself, in a paragraph, a heading or a table cell.

    A word that may become a link is a code span: many look for addresses where backslashes are gone already.
    """
    text = _WORD.sub(_escaped, excerpt(str(value)))
    text = _NUMBERED.sub(r"\1\\\2", text)
    return _OPENING.sub(r"\1\\\2", text)


def _escaped(found: re.Match[str]) -> str:
    before, word, after = found.groups()
    shown = f"`{word}`" if _LINKED.search(word) else _SPECIAL.sub(r"\\\g<0>", word)
    return _SPECIAL.sub(r"\\\g<0>", before) + shown + _SPECIAL.sub(r"\\\g<0>", after)


def code(value: object) -> str:
    """Text as a Markdown code span, outside tables: the fence is longer than any backticks inside.

    White space stays as it is: what is shown as code is there to be copied.
    """
    text = shortened(escape_unseen(str(value)))
    if not text:
        return "` `"
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    # One space on both sides is taken off again (CommonMark 6.1), unless there is nothing but spaces.
    padding = " " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def number(value: int) -> str:
    """A whole number with commas: 1,204."""
    return f"{value:,}"


def day(moment: datetime | None) -> str:
    """The date of a moment in UTC, or a dash."""
    return "–" if moment is None else moment.date().isoformat()


def rating(satisfaction: int | None) -> str:
    """How one workaround was rated."""
    return RATING_NAMES[satisfaction]


def short_hash(digest: str) -> str:
    """The first digits of a hash: enough to tell it from others."""
    return visible(digest)[:_HASH_DIGITS]


def satisfaction(capability: Capability) -> str:
    """How the workarounds were rated."""
    if not capability.rated:
        return "not rated"
    share = f"{capability.unsatisfied:,} of {capability.rated:,} unsatisfied"
    return share if not capability.unrated else f"{share}, {capability.unrated:,} not rated"


def interval(capability: Capability) -> str:
    """The interval of the rank; of what is pinned, only that it is."""
    if capability.unpinned_rank is not None:
        return "pinned"
    return _between(capability.rank_low, capability.rank_high)


def pinned(capability: Capability, ranked_by: str) -> str:
    """Who pinned it, and where it would stand without that; empty where no pin puts it first."""
    if capability.unpinned_rank is None:
        return ""
    place = by_counts(capability.unpinned_rank, capability.rank_low, capability.rank_high, ranked_by)
    return f"pinned by {capability.pinned_by}; {place}"


def by_counts(rank: int, low: int | None, high: int | None, ranked_by: str) -> str:
    """The rank that what is counted gives, with its interval."""
    span = f", {low:,} to {high:,}" if low and high and low != high else ""
    return f"by {ranked_by} rank {rank:,}{span}"


def rank_of(capability: Capability, ranked_by: str) -> str:
    """The rank, and how sure it is."""
    if capability.unpinned_rank is not None:
        return f"{capability.rank:,}, {pinned(capability, ranked_by)}"
    low, high = (f"{rank:,}" for rank in (capability.rank_low, capability.rank_high))
    sure = f"{capability.rank:,}, with {CONFIDENT} % confidence"
    return sure if low == high else f"{sure} between {low} and {high}"


def too_close(ties: Sequence[tuple[int, int]]) -> str:
    """Which ranks the numbers do not put in an order, without a full stop; empty where there are none."""
    if not ties:
        return ""
    two = len(ties) == 1 and ties[0][1] - ties[0][0] == 1
    spans = [f"{first:,} {'and' if two else 'to'} {last:,}" for first, last in ties]
    told = ", ".join(spans[:-1]) + (" and " if len(spans) > 1 else "") + spans[-1]
    return f"{told} are too close to call"


def likely(capability: Capability) -> str:
    """Between which numbers its mentions probably lie, however wordings are grouped."""
    return _between(capability.mentions_low, capability.mentions_high)


def _between(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def trend(capability: Capability) -> str:
    """Which way it goes, with the mentions that say so."""
    if capability.first_seen is None:
        return "no date can be read"
    if capability.trend is None and not any(capability.weekly):
        return "no trend, for nothing was logged lately"
    if capability.trend is None:
        return f"too early for a trend: the first record of all is less than {LEAST_WEEKS} weeks old"
    recent = recent_weeks(len(capability.weekly))
    weeks = f"in the last {len(capability.weekly)} weeks"
    if not any(capability.weekly):
        return f"{capability.trend}: no mention {weeks}"
    last = "the last week" if recent == 1 else f"the last {recent}"
    lately = sum(capability.weekly[-recent:])
    whole = f"{count(sum(capability.weekly), 'mention')} {weeks}"
    return f"{capability.trend}: {whole}, {f'{lately:,}' if lately else 'none'} of them in {last}"


def sparkline(weekly: tuple[int, ...]) -> str:
    """Mentions a week as a row of bars, the newest last; a week without any is the lowest."""
    most = max(weekly, default=0)
    return "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if most else _BARS[0] for number in weekly)


def factors(capability: Capability) -> str:
    """What the priority is made of."""
    parts = (("reach", capability.reach), ("need", capability.need), ("recency", capability.recency))
    return f"{capability.priority:.2f} (" + ", ".join(f"{name} {value:.2f}" for name, value in parts) + ")"


def is_pinned_ahead(capability: Capability, others: tuple[Capability, ...], ranked_by: str) -> bool:
    """Whether one that counts more stands behind it: only what people decided does that."""
    value = getattr(capability, ranked_by)
    return any(getattr(each, ranked_by) > value for each in others if each.rank > capability.rank)


def overtaken(capability: Capability) -> str:
    """In how many of the draws the next one is level with it, or ahead; empty if that is not known."""
    if capability.next_ahead is None or capability.unpinned_rank is not None:
        return ""
    return f"{100 * capability.next_ahead:.0f} %"


def place_of(
    capability: Capability, others: tuple[Capability, ...], ranked_by: str, ties: tuple[tuple[int, int], ...]
) -> str:
    """By how much the first one leads, and how sure that is; one thing a sentence."""
    if capability.unpinned_rank is not None:
        place = msgspec.structs.replace(capability, rank=capability.unpinned_rank, unpinned_rank=None)
        return f"Without the pin its rank by {ranked_by} would be {rank_of(place, ranked_by)}."
    behind = next((each for each in others if each.rank > capability.rank), None)
    sentences = []
    if behind is not None:
        sentences.append(_lead(getattr(capability, ranked_by), getattr(behind, ranked_by), ranked_by))
    tie = [tie for tie in ties if tie[0] <= capability.rank <= tie[1]]
    if tie:
        leads = sentences and sentences[0].startswith("it leads")
        sentences.append(f"{'but ' * bool(leads)}ranks {too_close(tie)}")
    share = overtaken(capability)
    if share and behind is not None and behind.rank == capability.rank + 1:
        how = f"with other images the next is level or ahead in {share} of cases"
        sentences.append(f"It could be overtaken: {how}")
    sentences.append(f"Its rank is {rank_of(capability, ranked_by)}")
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences)


def _lead(value: float, next_value: float, ranked_by: str) -> str:
    if ranked_by not in _COUNTED:
        return f"its {ranked_by} is {value:.2f}, that of the next {next_value:.2f}"
    lead = int(value - next_value)
    if lead < 0:
        return f"the next has {count(-lead, f'more {_COUNTED[ranked_by]}')}"
    return f"it leads by {count(lead, _COUNTED[ranked_by])}" if lead else f"by {ranked_by} the next is level"


def how_often(capability: Capability) -> str:
    """What is to be said before the most frequent workaround."""
    return "Most often done instead" if capability.workarounds[0].mentions > 1 else "Done instead"


def as_often(capability: Capability) -> str:
    """How often that was done, and how many other workarounds are as frequent; to be said after it.

    Only so many workarounds are kept: where all of these are equally frequent, there may be more.
    """
    most = capability.workarounds[0].mentions
    equal = sum(each.mentions == most for each in capability.workarounds)
    if equal == 1:
        return f" ({count(most, 'time')})"
    at_least = "at least " if equal == MAX_WORKAROUNDS else ""
    return f" ({count(most, 'time')}), and {at_least}{count(equal - 1, 'other thing')} just as often"


def too_few(fewest: Mapping[str, int]) -> str:
    """What one lacks that is not established: how many of which column it would need, such as two images."""
    lacks = []
    for column, least in fewest.items():
        place, unit = _UNITS.get(column, ("of", column.removesuffix("s")))
        if least > (column == "images"):  # each is on one image at least
            lacks.append(f"{place} fewer than {count(least, unit)}")
    return " or ".join(lacks)


def in_what(differences: Sequence[Difference]) -> str:
    """In what two runs are narrowed, or ranked, differently."""
    return "; ".join(f"{each.filter}: {each.earlier} before, {each.later} now" for each in differences)


def changes(kinds: dict[str, int]) -> str:
    """What became of the capabilities since the run before."""
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number) or "nothing changed"


# What the templates call these functions by.
FILTERS: Final = {
    function.__name__: function
    for function in (
        as_often,
        changes,
        count,
        day,
        factors,
        how_often,
        in_what,
        in_words,
        interval,
        is_pinned_ahead,
        iso,
        likely,
        number,
        overtaken,
        pinned,
        place_of,
        rank_of,
        rating,
        satisfaction,
        short_hash,
        sparkline,
        too_close,
        too_few,
        trend,
        who_asked,
        whose,
    )
}


def _strong(value: object) -> str:
    return f"**{escape(value)}**"


def environment(*, autoescape: bool, **filters: Callable[..., object]) -> jinja2.Environment:
    """What renders the templates of a format that has these filters beside those of all formats."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("vocabgap.reporting"),
        autoescape=autoescape,  # noqa: S701 - of no use but for HTML and SVG
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters.update(FILTERS, **filters)
    templates.globals.update(FIGURES)
    return templates


# Every text from a log goes through `escape` or `code`, which a test holds.
_ENVIRONMENT: Final = environment(autoescape=False, data=escape, code=code, strong=_strong)
