"""What the report says of the capabilities, and in which order."""

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from builders import gap, write_corpus
from builders.reporting import evidence_of, headings, publish, summary_of, tables, text_of
from vocabgap.clustering.grouping import cluster
from vocabgap.ingest.scanning import scan
from vocabgap.model.selection import Selection
from vocabgap.pipeline import Run
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting import markdown
from vocabgap.reporting.markdown import render_markdown, render_shortlist
from vocabgap.reporting.overviews import Categorised
from vocabgap.reporting.sections import render_evidence
from vocabgap.reporting.wording import quote_of
from vocabgap.reporting.writing import render

SNAPSHOT = "5e" * 32
NOW = datetime(2026, 7, 1, tzinfo=UTC)


def section(text: str, heading: str) -> str:
    return re.split(r"(?m)^#{2,3} ", text.partition(f"# {heading}")[2])[0]


def test_the_answer_says_what_to_author_and_why(tmp_path: Path) -> None:
    records = [gap("sky mask", satisfaction=-1, session_id="a"), gap("film grain")]
    later = gap("sky mask", satisfaction=1, session_id="b", timestamp="2026-05-02T00:00:00Z")
    text = text_of(publish(tmp_path, write_corpus(tmp_path, {"one": records, "two": [later]})))
    assert text.startswith(
        "# What to author next\n\n"
        "Author **sky mask**: 2 mentions on 2 images; 1 of 2 workarounds failed."
    )


def test_a_narrowed_report_counts_what_was_selected(tmp_path: Path) -> None:
    first = [gap("sky mask", timestamp="2026-03-02T00:00:00Z"), gap("sky mask")]
    later = [gap("sky mask", timestamp="2026-06-20T00:00:00Z")]
    root = write_corpus(tmp_path, {"one": first, "two": later})
    since = Selection(since=datetime(2026, 6, 1, tzinfo=UTC))
    made = publish(tmp_path, root, selection=since)
    assert "Author **sky mask**: 1 mention on 1 image;" in text_of(made)
    whole = "In all, 1 record from 1 image asks for 1 need, on 2026-06-20."
    assert whole in text_of(made)
    trend = "no clear trend: 1 mention in the last 12 weeks, 1 of them in the last 4"
    assert f"- Trend: {trend}, for all records\n" in evidence_of(made)


def test_a_row_says_what_the_frame_says(demo_run: Run) -> None:
    heading, row, *_ = next(tables(text_of(demo_run)))
    message = dict(zip(heading, row, strict=True))
    first = demo_run.ranked.row(0, named=True)
    assert message["# (90 %)"] == f"1 ({first['rank_low']}–{first['rank_high']})"
    assert message["Need"] == first["label"]
    likely = f"{first['mentions_low']}–{first['mentions_high']}"
    assert message["Mentions (likely)"] == f"{first['mentions']} ({likely})"
    assert message["Images"] == str(first["images"])
    rated = first["unsatisfied"] + first["neutral"] + first["satisfied"]
    assert message["Failed"] == f"{first['unsatisfied']}/{rated}"
    assert len(message["Trend"]) == len(first["weekly"])
    assert message["In their words"] == "“lift the shadows, but do not make it flat”"


def test_what_is_no_column_is_with_the_evidence(demo_run: Run) -> None:
    first = demo_run.ranked.row(0, named=True)
    message = section(evidence_of(demo_run), "1. ")
    assert f"- Category: {first['intent_category']}\n" in message
    assert f"- Priority: {first['priority']:.2f}\n" in message
    seen = f"{first['first_seen']:%Y-%m-%d}, {first['last_seen']:%Y-%m-%d}"
    assert f"- First and last seen: {seen}\n" in message
    assert f"similarity of the wordings {first['cohesion']:.2f}\n" in message


def test_a_report_of_the_demo_fits_into_12_kb_and_has_no_evidence(demo_run: Run) -> None:
    text = text_of(demo_run)
    assert len(text.encode()) <= 12_288
    assert headings(text) == ["What to author next", "The top 10, by mentions"]
    *_, evidence, again = text.rstrip().split("\n\n")
    assert evidence.endswith("`--evidence` writes the evidence of each need to `evidence.md`.")
    assert again.startswith("In the folder of this report, `vocabgap report ")


def test_a_report_says_how_many_categories_were_given(demo_run: Run) -> None:
    given = Categorised(by_operations=3, by_classifier=2, left=1)
    text = render_markdown(replace(demo_run.published.summary, reclassified=given))
    assert "\n6 records had no category. 3 got one from their operations, and 2 from " in text


def test_long_texts_do_not_make_a_report_of_ten_needs_longer_than_12_kb(demo_run: Run) -> None:
    summary = demo_run.published.summary
    long = "*" * 100 + "a_b " * 25
    items = tuple(
        replace(each, label=long, status="claimed", status_by=long, status_since=NOW, mixed=True)
        for each in summary.capabilities
    )
    text = render_markdown(replace(summary, capabilities=items))
    assert 6_000 < len(text.encode()) <= 12_288


@pytest.mark.parametrize(
    ("top", "title", "shown", "rest"),
    [
        (10, "The top 10, by mentions", 10, "The other 26 needs are in `capabilities.parquet`"),
        (35, "The top 35, by mentions", 35, "The other 1 need is in `capabilities.parquet`"),
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


def test_who_asked_is_said_of_each_where_there_are_several(tmp_path: Path) -> None:
    coast = {"one": [gap("sky mask"), gap("film grain")], "two": [gap("sky mask")]}
    roots = [
        write_corpus(tmp_path, coast, name="coast"),
        write_corpus(tmp_path, {"three": [gap("sky mask")]}, name="town"),
    ]
    made = publish(tmp_path, roots)
    text = evidence_of(made)
    often = "- Asked for: in 2 repositories, most often in 'coast' (2)\n"
    assert often in section(text, "1. sky mask")
    assert "- Asked for: only in 'coast'\n" in section(text, "2. film grain")
    assert "They are from 2 repositories of 1 tenant." in text_of(made)


def test_long_lists_show_as_many_needs_as_fit_and_tell_of_the_others(
    demo_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "MOST_BYTES", 100_000)
    summary = demo_run.published.summary
    many = tuple(replace(summary.capabilities[0], rank=rank) for rank in range(1, 1001))
    large = replace(summary, capabilities=many, open_total=len(many))

    shown = sum(heading[0].isdigit() for heading in headings(render_evidence(large)))
    rows = len(next(tables(render_markdown(large)))) - 1

    assert 10 < shown < rows < 1000
    assert f"The other {1000 - rows} needs are in" in render_markdown(large)


def test_one_need_is_shown_however_little_fits(
    demo_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "MOST_BYTES", 1)

    shown = render_evidence(demo_run.published.summary)

    assert sum(heading[0].isdigit() for heading in headings(shown)) == 1


def test_evidence_is_written_on_request_and_the_report_leads_to_it(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]})
    without = publish(tmp_path, root)
    assert "evidence.md" not in without.published.files
    made = publish(tmp_path, root, evidence=True)
    assert "[evidence.md](evidence.md) has the evidence of each need." in text_of(made)
    written = (made.published.folder / "evidence.md").read_text(encoding="utf-8")
    assert written == evidence_of(made)
    assert "evidence.md" in render(made.published.folder).files
    publish(tmp_path, root)
    assert not (made.published.folder / "evidence.md").exists()


@pytest.mark.parametrize("label", ["sky mask", "*" * 200, "§" * 200, "a_b " * 60])
def test_a_shortlist_is_one_message_of_the_first_five_with_a_quote(
    demo_run: Run, label: str
) -> None:
    summary = demo_run.published.summary
    items = tuple(
        replace(each, label=label, pinned=True, pinned_by=label, mixed=True)
        for each in summary.capabilities
    )
    text = render_shortlist(replace(summary, capabilities=items))
    assert len(text) <= 2_000
    assert text.startswith("1. **")
    assert "lift the shadows" in text
    assert text.endswith("`vocabgap draft RANK` drafts an entry.")


def test_a_shortlist_says_what_stands_beside_each_need(demo_run: Run) -> None:
    failed = "23/25 failed"
    rows = render_shortlist(demo_run.published.summary).split("\n")
    assert rows[2:4] == [
        f"2. **sky selection mask** – 28 mentions on 14 images, {failed}; level with 1 and 3",
        "   “A straight gradient cannot follow the roofline, so masking only the sky was not possible.”",
    ]
    assert len(rows) == 12


def test_a_quote_that_only_repeats_the_label_gives_way_to_the_workaround(tmp_path: Path) -> None:
    repeated = [gap("sky mask", intent="wanted a sky mask", workaround="drew it by hand")]
    made = publish(tmp_path, write_corpus(tmp_path, {"one": repeated}))
    [item] = made.published.summary.capabilities
    assert quote_of(item) == "instead: drew it by hand"
    assert quote_of(replace(item, workarounds=())) == "“wanted a sky mask”"
    assert quote_of(replace(item, workarounds=(), examples=())) == ""
    assert quote_of(replace(item, label="x"), most=10) == "“wanted…”"


def test_wordings_are_listed_with_their_counts(tmp_path: Path) -> None:
    needs = ["sky mask", "sky mask", "mask the sky"]
    lines = [gap(need, notes=str(number)) for number, need in enumerate(needs)]
    made = publish(tmp_path, write_corpus(tmp_path, {"one": lines}))
    other = made.ranked["variants"][0][1]
    assert 0 < other["similarity"] < 1
    assert (
        "Wordings:\n\n- sky mask (2, similarity 1.00)\n"
        f"- mask the sky (1, similarity {other['similarity']:.2f})\n\n"
    ) in evidence_of(made)


def test_examples_lead_back_to_image_session_snapshot_and_line(tmp_path: Path) -> None:
    lines = [
        gap("film grain"),
        gap("sky mask", session_id="s-7", snapshot_hash=SNAPSHOT, workaround="drew it"),
    ]
    assert (
        f"- 2026-04-01, image `heron`, session `s-7`, snapshot `{SNAPSHOT[:12]}`,"
        " `heron/vocabulary_gaps.jsonl:2`\\\n  “sky mask” – instead: drew it (not rated)\n"
    ) in evidence_of(publish(tmp_path, write_corpus(tmp_path, {"heron": lines})))


def test_an_example_that_knows_little_says_so(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask", timestamp=None, workaround=" ")]})
    text = evidence_of(publish(tmp_path, root))
    assert (
        "- –, image `heron`, session unknown, no snapshot, `heron/vocabulary_gaps.jsonl:1`\\\n"
        "  “sky mask” – no workaround noted (not rated)\n"
    ) in text


def test_whose_an_example_is_is_said_where_there_are_several_tenants(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]}, name="coast")
    records = pl.concat(scan(root, tenant_id=tenant).records for tenant in ("reeve", "pilot"))
    ranked = rank(records, cluster(records))
    text = render_evidence(summary_of(ranked, top=10))
    assert "`one/vocabulary_gaps.jsonl:1` of `pilot`\\\n" in text
    assert "- Asked for: by 2 tenants in 2 repositories\n" in text
    assert "They are from 2 repositories of 2 tenants." in text
