"""The overviews as data, and as Markdown."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from builders.page import listed
from builders.reporting import GITHUB
from vocabgap.model.capability import Tally
from vocabgap.model.effect import Effect
from vocabgap.reporting.listed import DECIDED, TO_AUTHOR
from vocabgap.reporting.overviews import (
    Breakdown,
    Categorised,
    RecurringSet,
    Reject,
    Ungranted,
    Withheld,
)
from vocabgap.reporting.sections import Link, Section, render_evidence, sections_of
from vocabgap.reporting.summary import Summary

MAY_1 = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def full(summary: Summary) -> Summary:
    """A summary that has something for each overview."""
    known = {
        "capability_id": summary.everything[0].capability.capability_id, "label": "a|b", "since": MAY_1,
        "entries": ("sky_`mask`",), "mentions_before": 9, "weeks_before": 8.0, "mentions_after": 1,
        "weeks_after": 8.0, "used_since": 3, "rating_before": -1.0, "verdict": "fewer",
    }  # fmt: skip
    effect = Effect(**{**dict.fromkeys(Effect.__struct_fields__), **known})  # type: ignore[arg-type]
    assert summary.account is not None
    return replace(
        summary,
        effects=(effect,),
        breakdown=Breakdown("plan", ("free", "(none)"), ((1, "sky mask", (3, 4)),)),
        reclassified=Categorised(1, 2, 3),
        account=replace(
            summary.account,
            not_granted=3,
            ungranted=(Ungranted("lut|apply", 2, ("not allowed",)),),
            examples=(Reject("demo", "a|b.jsonl", 3, "invalid_json", "<b>*bold*"),),
        ),
    )


def sections(summary: Summary) -> dict[str, Section]:
    return {each.id: each for each in sections_of(summary)}


def test_each_overview_has_a_tab_and_a_cell_for_each_heading(full: Summary) -> None:
    made = sections(full)
    assert [*made] == [
        "whole", "one-need", "categories", "operations", "together", "breakdown", "effects", "not-granted",
        "account", "rejects", "how", "again",
    ]  # fmt: skip
    assert [*dict.fromkeys(each.tab for each in made.values())] == [
        "Overview",
        "Effects",
        "Account",
        "About",
    ]
    for each in made.values():
        assert each.sentences or each.rows
        assert {len(row) for row in each.rows} <= {len(each.heads)}
        assert {kind for _, kind in each.heads} <= {"text", "sentence", "num", "bar", "code"}


def test_an_overview_without_content_is_not_there(summary: Summary) -> None:
    bare = replace(
        summary,
        everything=(),
        capabilities=(),
        total=0,
        account=None,
        deciding=None,
        doubts=(),
        command="",
    )
    assert sections(bare) == {}
    assert not {"effects", "breakdown", "not-granted", "withheld"} & {*sections(summary)}


def test_a_link_names_a_capability_of_the_report(full: Summary) -> None:
    known = {each.capability.capability_id for each in full.everything}
    cells = [cell for each in sections_of(full) for row in each.rows for cell in row]
    links = [link for cell in cells if isinstance(cell, tuple) for link in cell]
    assert {link.id for link in links} <= known
    assert len(links) > 20


def test_numbers_are_those_of_the_summary(full: Summary) -> None:
    made = sections(full)
    assert made["categories"].rows == tuple(
        (each.name, each.mentions, each.capabilities) for each in full.categories
    )
    assert full.account is not None
    assert ("counted", full.account.counted, "the mentions above") in made["account"].rows
    assert made["breakdown"].rows[0][1:] == (3, 4)


def test_operations_of_needs_to_author_are_one_table(summary: Summary) -> None:
    makings = (
        (1, TO_AUTHOR, {"crop": 2, "exposure": 1}),
        (2, TO_AUTHOR, {"exposure": 5}),
        (3, DECIDED, {"lut": 9}),
    )
    everything = tuple(
        listed(
            summary, group=group, rank=rank, label=f"need {rank}", capability_id=f"cap-{rank}",
            operations=tuple(Tally(*each) for each in tallies.items()),
        )
        for rank, group, tallies in makings
    )  # fmt: skip
    pair = RecurringSet(("crop", "exposure"), 9, 4, 3.0, 3.0, 1.5, ("need 1",))
    made = sections(replace(summary, everything=everything, recurring_sets=(pair,), doubts=None))
    assert made["operations"].rows == (
        ("exposure", 6, 2, (Link("cap-2", "need 2 (5)"), Link("cap-1", "need 1 (1)"))),
        ("crop", 2, 1, (Link("cap-1", "need 1 (2)"),)),
    )
    assert made["together"].rows == (("crop + exposure", 9, 4, "3.0", "3.0", "need 1"),)


def test_a_page_to_share_says_what_it_leaves_out(summary: Summary) -> None:
    shared = replace(
        summary, withheld=Withheld(3, 9, 17, 2, 0), deciding=None, command="", doubts=None
    )
    made = sections(shared)
    assert (
        "9 needs on fewer images, or in fewer folders, with 17 mentions;"
        in made["withheld"].sentences
    )
    assert not {"again", "one-need"} & {*made}


def test_evidence_has_each_need_and_each_overview_as_written(full: Summary) -> None:
    text = render_evidence(full)
    tokens = GITHUB.parse(text)
    headings = [
        tokens[place + 1].content
        for place, each in enumerate(tokens)
        if each.type == "heading_open"
    ]
    needs = [f"{item.rank}. {item.label}" for item in full.capabilities]
    assert headings[1:] == [*needs, *(each.title for each in sections_of(full))]
    shown = {
        "".join(child.content for child in each.children or ())
        for each in tokens
        if each.type == "inline"
    }
    assert {"a|b", "sky_`mask`", "lut|apply", "<b>*bold*", "a|b.jsonl:3"} <= shown
    assert sum(each.type == "table_open" for each in tokens) == sum(
        bool(each.rows) for each in sections_of(full)
    )
