"""What the report says of the capabilities, and in which order."""

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from builders import gap, write_corpus
from builders.reporting import headings, publish, summary_of, tables, text_of
from vocabgap.clustering.grouping import cluster
from vocabgap.ingest.scanning import scan
from vocabgap.model.selection import Selection
from vocabgap.pipeline import Run
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting import wording
from vocabgap.reporting.wording import render_markdown

SNAPSHOT = "5e" * 32
NOW = datetime(2026, 7, 1, tzinfo=UTC)


def section(text: str, heading: str) -> str:
    return re.split(r"(?m)^#{2,3} ", text.partition(f"# {heading}")[2])[0]


def test_headline_says_what_is_missing_most_and_how_often(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path,
        {
            "one": [gap("sky mask", satisfaction=-1, session_id="a"), gap("film grain")],
            "two": [
                gap("sky mask", satisfaction=1, session_id="b", timestamp="2026-05-02T00:00:00Z")
            ],
        },
    )
    assert (
        "**sky mask** is asked for most: 2 times on 2 images in 2 sessions,"
        " between 2026-04-01 and 2026-05-02. Of 2 rated workarounds, 1 did not satisfy."
    ) in text_of(publish(tmp_path, root))


def test_a_narrowed_report_tells_since_when_from_all_records(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path,
        {
            "one": [gap("sky mask", timestamp="2026-03-02T00:00:00Z"), gap("sky mask")],
            "two": [gap("sky mask", timestamp="2026-06-20T00:00:00Z")],
        },
    )
    text = text_of(
        publish(tmp_path, root, selection=Selection(since=datetime(2026, 6, 1, tzinfo=UTC)))
    )
    assert (
        "**sky mask** is missing most: asked for once on 1 image, last on 2026-06-20"
        " (first asked for on 2026-03-02)."
    ) in text
    whole = (
        "no clear trend: 1 mention in the last 12 weeks, 1 of them in the last 4, for all records"
    )
    assert f"{whole.capitalize()}." in text
    assert text.count(f"{whole.capitalize()}.") == 2
    assert "In all, 1 record from 1 image asks for 1 capability, on 2026-06-20." in text


def test_table_row_says_what_the_frame_says(demo_run: Run) -> None:
    heading, row, *_ = next(tables(text_of(demo_run)))
    message = dict(zip(heading, row, strict=True))
    first = demo_run.ranked.row(0, named=True)
    assert message["Rank (90 %)"] == f"1 ({first['rank_low']}–{first['rank_high']})"
    assert (message["Capability"], message["Status"]) == (first["label"], first["status"])
    for column in ("Mentions", "Images"):
        assert message[column] == str(first[column.lower()])
    rated = first["unsatisfied"] + first["neutral"] + first["satisfied"]
    assert message["Unsatisfied"] == f"{first['unsatisfied']}/{rated}"
    bars, trend = message["Trend"].split()
    assert (len(bars), trend) == (len(first["weekly"]), first["trend"] or "–")


def test_what_is_no_column_is_with_the_evidence(demo_run: Run) -> None:
    first = demo_run.ranked.row(0, named=True)
    message = section(text_of(demo_run), "1. ")
    assert f"Category {first['intent_category']}. Priority {first['priority']:.2f}. " in message
    assert (
        f"First seen {first['first_seen']:%Y-%m-%d}, last seen {first['last_seen']:%Y-%m-%d}."
        in message
    )
    assert f"12 wordings; their similarity: {first['cohesion']:.2f}." in message


@pytest.mark.parametrize(
    ("top", "title", "shown", "rest"),
    [
        (
            10,
            "The top 10, by mentions",
            10,
            "The other 26 capabilities are in `capabilities.parquet`; `--top` shows more of them here.",
        ),
        (
            35,
            "The top 35, by mentions",
            35,
            "The other 1 capability is in `capabilities.parquet`; `--top` shows more of them here.",
        ),
        (0, "The whole list, by mentions", 36, None),
        (50, "The whole list, by mentions", 36, None),
    ],
)
def test_top_decides_how_many_are_shown(
    *, demo_run: Run, top: int, title: str, shown: int, rest: str | None
) -> None:
    text = render_markdown(summary_of(demo_run.ranked, top=top))
    assert title in headings(text)
    assert len(next(tables(text))) == shown + 1
    assert (rest in text) if rest else ("The other" not in text)


def test_wordings_are_listed_with_their_counts(tmp_path: Path) -> None:
    needs = ["sky mask", "sky mask", "mask the sky"]
    lines = [gap(need, notes=str(number)) for number, need in enumerate(needs)]
    made = publish(tmp_path, write_corpus(tmp_path, {"one": lines}))
    other = made.ranked["variants"][0][1]
    assert 0 < other["similarity"] < 1
    assert (
        "Wordings:\n\n- sky mask (2, similarity 1.00)\n"
        f"- mask the sky (1, similarity {other['similarity']:.2f})\n\n"
    ) in text_of(made)


def test_examples_lead_back_to_image_session_snapshot_and_line(tmp_path: Path) -> None:
    lines = [
        gap("film grain"),
        gap("sky mask", session_id="s-7", snapshot_hash=SNAPSHOT, workaround="drew it"),
    ]
    assert (
        f"- 2026-04-01, image `heron`, session `s-7`, snapshot `{SNAPSHOT[:12]}`,"
        " `heron/vocabulary_gaps.jsonl:2`\\\n  “sky mask” – instead: drew it (not rated)\n"
    ) in text_of(publish(tmp_path, write_corpus(tmp_path, {"heron": lines})))


def test_an_example_that_knows_little_says_so(tmp_path: Path) -> None:
    text = text_of(
        publish(
            tmp_path,
            write_corpus(tmp_path, {"heron": [gap("sky mask", timestamp=None, workaround=" ")]}),
        )
    )
    assert (
        "- –, image `heron`, session unknown, no snapshot, `heron/vocabulary_gaps.jsonl:1`\\\n"
        "  “sky mask” – no workaround noted (not rated)\n"
    ) in text


def test_who_asked_is_said_of_the_first_and_of_each_where_there_are_several(tmp_path: Path) -> None:
    roots = [
        write_corpus(
            tmp_path,
            {"one": [gap("sky mask"), gap("film grain")], "two": [gap("sky mask")]},
            name="coast",
        ),
        write_corpus(tmp_path, {"three": [gap("sky mask")]}, name="town"),
    ]
    text = text_of(publish(tmp_path, roots))
    assert "on 2026-04-01. It is asked for in 2 repositories, most often in 'coast' (2)." in text
    assert (
        "3 mentions (likely 3) on 3 images in 0 known sessions,"
        " asked for in 2 repositories, most often in 'coast' (2)." in section(text, "1. sky mask")
    )
    assert "in 0 known sessions, asked for only in 'coast'." in section(text, "2. film grain")
    assert "They are from 2 repositories of 1 tenant." in text


def test_whose_an_example_is_is_said_where_there_are_several_tenants(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]}, name="coast")
    records = pl.concat(scan(root, tenant_id=tenant).records for tenant in ("reeve", "pilot"))
    ranked = rank(records, cluster(records))
    text = render_markdown(summary_of(ranked, top=10))
    assert "`one/vocabulary_gaps.jsonl:1` of `pilot`\\\n" in text
    assert "It is asked for by 2 tenants in 2 repositories." in text
    assert "They are from 2 repositories of 2 tenants." in text


def test_a_report_has_as_many_capabilities_as_fit_and_tells_of_the_others(
    demo_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wording, "MOST_BYTES", 100_000)
    summary = demo_run.published.summary
    first = summary.capabilities[0]
    many = tuple(replace(first, rank=rank) for rank in range(1, 101))

    text = render_markdown(replace(summary, capabilities=many, open_total=len(many)))

    shown = sum(title.startswith(tuple("123456789")) for title in headings(text))
    assert 100_000 / 3 < len(text.encode()) <= 100_000
    assert f"The other {100 - shown} capabilities are in `capabilities.parquet`" in text
