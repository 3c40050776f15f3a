"""One capability as plain data for a page."""

from datetime import UTC, datetime

import pytest

from builders.page import listed
from vocabgap.model.capability import Example, Tally, Wording, Workaround
from vocabgap.reporting.listed import Choices
from vocabgap.reporting.rows import Index, Limits, Row, row_of
from vocabgap.reporting.summary import Summary

WIDE = Limits(characters=240, wordings=500, evidence=5)


@pytest.fixture
def index(summary: Summary) -> Index:
    return Index(summary, WIDE, ())


def example(**changed: object) -> Example:
    given: dict[str, object] = {
        "wording": "sky mask",
        "timestamp": datetime(2026, 4, 1, 23, 30, tzinfo=UTC),
        "image_id": "heron",
        "session_id": "s-1",
        "snapshot_hash": "0123456789abcdef",
        "description": None,
        "intent": "a darker sky",
        "workaround": "drew a gradient",
        "satisfaction": -1,
        "notes": "",
        "tenant_id": "local",
        "repo_slug": "photos",
        "source_path": "heron/vocabulary_gaps.jsonl",
        "line": 7,
        **changed,
    }
    return Example(**given)  # type: ignore[arg-type]


def place(row: Row, index: Index) -> str:
    """Where the first example is found, as a reader of the page puts it together."""
    (example, *_) = row["examples"]
    file = [*index.files][example["file"]]
    image = [*index.images][example["image"]] if file.startswith("/") else ""
    return f"{image}{file}:{example['line']}"


def test_numbers_stay_numbers_and_facts_are_texts(summary: Summary, index: Index) -> None:
    made = listed(summary, mentions=1234, images=56, rank=7, rank_low=3, rank_high=12)
    row = row_of(made, index, WIDE)
    assert (row["mentions"], row["images"], row["rank"]) == (1234, 56, 7)
    facts = dict(
        zip(
            [[*index.labels][place] for place in row["facts"][::2]], row["facts"][1::2], strict=True
        )
    )
    assert facts["Range of its rank"] == "3–12"
    assert facts["Mentions"].startswith("1,234, likely ")


def test_texts_are_shown_not_obeyed_and_cut(summary: Summary, index: Index) -> None:
    made = listed(summary, label="a\u202eb\nc", decisions=("x" * 300,))
    row = row_of(made, index, WIDE)
    assert row["label"] == "a\\u202eb c"
    assert row["past"] == ("x" * 240 + "… (300 characters)",)


def test_names_are_told_once_and_referred_to(summary: Summary, index: Index) -> None:
    first = listed(summary, operations=(Tally("crop", 3), Tally("exposure", 1)))
    second = listed(summary, operations=(Tally("exposure", 2),))
    rows = [row_of(each, index, WIDE) for each in (first, second)]
    assert [row["operations"] for row in rows] == [(0, 3, 1, 1), (1, 2)]
    assert [*index.operations] == ["crop", "exposure"]


@pytest.mark.parametrize(
    ("source_path", "shown"),
    [
        ("heron/vocabulary_gaps.jsonl", "heron/vocabulary_gaps.jsonl:7"),
        ("archive/heron/gaps.jsonl", "archive/heron/gaps.jsonl:7"),
        ("heron-2/gaps.jsonl", "heron-2/gaps.jsonl:7"),
        ("heron", "heron:7"),
    ],
)
def test_an_example_leads_to_its_line(
    summary: Summary, index: Index, source_path: str, shown: str
) -> None:
    row = row_of(listed(summary, examples=(example(source_path=source_path),)), index, WIDE)
    assert place(row, index) == shown


@pytest.mark.parametrize(("size", "parts"), [(2_000, [(1, 50)]), (2_001, [])])
def test_a_part_of_very_long_wordings_is_left_out(
    summary: Summary, index: Index, size: int, parts: list[tuple[int, int]]
) -> None:
    made = listed(
        summary,
        variants=(Wording("x" * size, 1, 0.5),),
        choices=Choices("", parts=((0,),), likely=(0.5,)),
    )
    row = row_of(made, index, Limits(characters=40, wordings=3, evidence=1))
    assert [(mentions, percent) for mentions, _, percent in row["parts"]] == parts


@pytest.mark.parametrize(("rank", "number"), [(1, 3), (500, 3), (501, 1)], ids=str)
def test_only_the_first_have_all_their_evidence_on_a_large_page(
    summary: Summary, index: Index, rank: int, number: int
) -> None:
    made = listed(
        summary,
        rank=rank,
        examples=(example(),) * 3,
        workarounds=tuple(Workaround(f"way {number}", 1) for number in range(3)),
    )
    row = row_of(made, index, Limits(characters=40, wordings=3, evidence=1))
    assert (len(row["examples"]), len(row["workarounds"])) == (number, number)
