"""The block of data that the script of a page works on."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from msgspec.structs import replace

from builders.page import listed, read
from vocabgap.model.capability import Tally, Wording
from vocabgap.reporting import page as rendering
from vocabgap.reporting.listed import Past
from vocabgap.reporting.page import LEVELS, MOST_BYTES, encode_payload, payload_of, render_page
from vocabgap.reporting.rows import Limits
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


def test_the_script_shows_the_first_of_a_long_list_until_somebody_asks(summary: Summary) -> None:
    assert payload_of(summary)["shown"] == {
        "list": 10, "more": 50, "facts": 4, "examples": 2, "workarounds": 3, "wordings": 5,
        "images": 12, "most_images": 100,
    }  # fmt: skip


def sizes(summary: Summary, level: Limits) -> tuple[int, ...]:
    """Return how much a page shows of a need: characters, wordings, examples, images, runs, names."""
    (row,) = payload_of(summary, level)["rows"]
    lists = ("variants", "examples", "image_counts", "history", "operations")
    wordings, examples, images, runs, names = (len(row[name]) for name in lists)
    return row["label"].index("…"), wordings, examples, images // 2, runs, names // 2


def test_a_large_page_shows_less_of_each_need(summary: Summary) -> None:
    moments = [datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(30)]
    (example, *_) = summary.everything[0].capability.examples
    need = listed(
        summary,
        rank=1_000,
        label="lamp glow " * 30,
        variants=tuple(Wording(f"lamp glow {number}", 1, 0.5) for number in range(600)),
        examples=(example,) * 9,
        operations=tuple(Tally(f"glow {number}", 1) for number in range(1_500)),
        on_images=tuple(Tally(f"quay-{number}", 1) for number in range(200)),
        history=tuple(Past(moment, 1, 1) for moment in moments),
    )
    alone = replace(summary, capabilities=(), everything=(need,))

    assert [sizes(alone, level) for level in LEVELS] == [
        (240, 500, 5, 100, 24, 1_500), (240, 500, 5, 100, 24, 1_000), (240, 200, 2, 100, 24, 200),
        (160, 50, 1, 30, 24, 50), (120, 20, 1, 12, 12, 20), (80, 10, 1, 12, 12, 10),
        (60, 5, 1, 6, 6, 5), (40, 3, 1, 3, 6, 3), (40, 3, 0, 3, 6, 3), *[(20, 1, 0, 3, 0, 2)] * 5,
    ]  # fmt: skip
    assert [level.rows for level in LEVELS[-6:]] == [10_000, 10_000, 4_000, 1_500, 500, 100]


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
