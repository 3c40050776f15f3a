"""Render a report as Markdown: the short form, one message, and the body of an issue."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from msgspec.structs import replace

from vocabgap.model.capability import Capability
from vocabgap.ranking.drafting import FIRST
from vocabgap.reporting.rows import facts_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import markdown_templates

MOST_BYTES: Final = 1_000_000  # of a report


def render_markdown(summary: Summary, *, has_evidence: bool = False) -> str:
    """Render a report as Markdown, ending in a newline; `has_evidence` tells whether `evidence.md` exists."""
    return fitting("report.md.j2", summary, has_evidence=has_evidence)


def fitting(name: str, summary: Summary, **values: object) -> str:
    """Render a template with as many capabilities in each list as fit into `MOST_BYTES`."""
    template = markdown_templates(summary.unit).get_template(name)
    lists = {name: getattr(summary, name) for name in ("capabilities", "settled")}
    most = max(map(len, lists.values()))
    while True:
        first = replace(summary, **{name: items[:most] for name, items in lists.items()})
        text = template.render(run=first, facts=partial(facts_of, summary), **values)
        size = len(text.encode())
        if size <= MOST_BYTES or most <= 1:
            return text
        most = max(most * MOST_BYTES // size, 1)


def render_shortlist(summary: Summary) -> str:
    """Render the first capabilities of the list as Markdown of at most 2,000 characters: one message.

    If they do not fit, quotes are shorter, or the last capabilities are left out.
    """
    most_characters, long, short, shortest = 2_000, 110, 60, 20
    template = markdown_templates(summary.unit).get_template("shortlist.md.j2")
    sizes = [(FIRST, long), *((rows, short) for rows in range(FIRST, 1, -1)), (1, short), (1, shortest)]
    text = ""
    for rows, most in sizes:
        text = template.render(run=summary, items=summary.capabilities[:rows], most=most).strip()
        if len(text) <= most_characters:
            break
    return text


def render_issue(summary: Summary, need: Capability, identifiers: Iterable[str]) -> str:
    """Render the evidence of a capability as the body of an issue, which begins and ends without a space."""
    template = markdown_templates(summary.unit).get_template("issue.md.j2")
    facts = partial(facts_of, summary)
    return template.render(run=summary, item=need, facts=facts, identifiers=tuple(identifiers)).strip()
