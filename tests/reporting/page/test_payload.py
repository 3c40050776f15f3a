"""The block of data that the script of a page works on."""

import json
from datetime import date, timedelta

import pytest
from msgspec.structs import replace

from builders.page import listed, read
from vocabgap.model.capability import Tally, Wording
from vocabgap.reporting import page as rendering
from vocabgap.reporting.page import MOST_BYTES, encode_payload, payload_of, render_page
from vocabgap.reporting.summary import Summary

DANGEROUS = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "&lt;",
    "\u2028\u2029",
    "\ud800",
]


def test_all_capabilities_are_there_in_order_of_rank(summary: Summary) -> None:
    made = json.loads(encode_payload(payload_of(summary)))
    ranks = [dict(zip(made["columns"], row, strict=True))["rank"] for row in made["rows"]]
    assert ranks == list(range(1, summary.total + 1))


def test_positions_lead_to_names(summary: Summary) -> None:
    made = payload_of(summary)
    first, row = summary.everything[0], made["rows"][0]
    names = [made["operations"][place] for place in row["operations"][::2]]
    assert names == [tally.name for tally in first.capability.operations]
    assert [made["images"][place] for place in row["image_counts"][::2]] == [
        each.name for each in first.on_images
    ]
    assert made["categories"][row["categories"][0]] == first.capability.intent_category


def test_days_begin_with_the_first_day_of_all(summary: Summary) -> None:
    made = payload_of(summary)
    assert (
        made["first_day"]
        == min(day for each in summary.everything for day, _ in each.on_days).isoformat()
    )
    assert min(row["days"][0] for row in made["rows"]) == 0


@pytest.mark.parametrize("text", DANGEROUS)
def test_nothing_in_the_block_ends_it(summary: Summary, text: str) -> None:
    block = encode_payload(payload_of(replace(summary, everything=(listed(summary, label=text),))))
    assert not set("<>&\u2028\u2029") & set(block)
    assert block.encode()
    (row,) = json.loads(block)["rows"]
    assert row[0].startswith("cap-")


def test_many_images_and_days_do_not_make_a_page_too_large(
    summary: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of capabilities with mentions on most days, each on images of its own."""
    monkeypatch.setattr(rendering, "MOST_BYTES", MOST_BYTES // 4)
    monkeypatch.setattr(rendering, "MOST_BLOCK_BYTES", rendering.MOST_BLOCK_BYTES // 4)
    monkeypatch.setattr(rendering, "WITH_ALL_EVIDENCE", 100)
    wordings = tuple(
        Wording(f"a need of some words, put in way {number}", 3, 0.75) for number in range(9)
    )
    everything = tuple(
        listed(
            summary,
            capability_id=f"cap-{rank:012x}",
            rank=rank,
            variants=wordings,
            on_images=tuple(
                Tally(f"market-night-{rank:04}-{number:04}", 1) for number in range(150)
            ),
            on_days=((date(2025, 1, 1) + timedelta(days=rank % 2), 400 - rank % 2),),
        )
        for rank in range(1, 1_001)
    )
    made = replace(summary, capabilities=(), everything=everything, total=len(everything))

    text = render_page(made)

    page = read(text)
    first, last = (
        dict(zip(page.data["columns"], page.data["rows"][at], strict=True)) for at in (0, -1)
    )
    assert len(text.encode()) <= MOST_BYTES // 4
    assert len(first["variants"]) > len(last["variants"]) >= 3
    assert len(first["image_counts"]) > len(last["image_counts"])


def test_where_nothing_else_helps_a_page_lists_fewer(
    summary: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of no more than its frame and some hundred capabilities at their shortest."""
    many = tuple(
        listed(summary, capability_id=f"cap-{rank:012x}", rank=rank) for rank in range(1, 3_001)
    )
    made = replace(summary, capabilities=(), everything=many, total=len(many))
    smallest = len(render_page(replace(made, everything=many[:100])).encode())
    monkeypatch.setattr(rendering, "MOST_BYTES", smallest)
    monkeypatch.setattr(rendering, "MOST_BLOCK_BYTES", smallest)

    text = render_page(made)

    page = read(text)
    assert len(text.encode()) <= smallest
    assert len(page.data["rows"]) == 100
    assert "This page lists 100 of 3,000 needs" in page.text
