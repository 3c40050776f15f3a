import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vocabgap.config import ClusterSettings, RankBy, RankSettings, Settings
from vocabgap.ingest import Selection
from vocabgap.pipeline import Run
from vocabgap.reporting import summarise
from vocabgap.reporting.markdown import render_markdown
from vocabgap.text import visible

Gap = Callable[..., dict[str, object]]
Corpus = Callable[..., Path]
Publish = Callable[..., Run]

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SNAPSHOT = "5e" * 32
NOW = datetime(2026, 7, 1, tzinfo=UTC)
COLUMNS = [
    "#",
    "Capability",
    "Mentions",
    "Images",
    "Sessions",
    "First seen",
    "Last seen",
    "Satisfaction",
    "Category",
    "Operations",
]
HOSTILE = [
    "# not a heading",
    "- 1. + * not a list",
    "1) first",
    "===",
    "--- | --- | ---",
    "a | b | c",
    "\\",
    "` `` ``` ~~~",
    "```sh\nrm -rf /\n```",
    "<script>alert(1)</script><!--",
    "<https://tracker.invalid> https://tracker.invalid www.tracker.invalid",
    "![x](https://tracker.invalid/x.png) [y](javascript:z) [^1] [1]: z",
    "**bold** __strong__ *it* _it_ ~~gone~~ $x$",
    "&lt;&#35;&nbsp;",
    "> quoted\n\n# heading\n\n| a |\n|--|\n",
    "\x1b[31mred\x1b]0;title\x07\u202eesrever\u2066\u200b",
    "{{ run.now }} {% raw %} {# comment #}",
    "@someone #12 :tada:",
    "[/bold] [red]",
    "\u0085\u2028\u2029 next",
    "\x00",
]


def text_of(made: Run) -> str:
    return (made.published.folder / "report.md").read_text(encoding="utf-8")


def shape(tokens: list[Token]) -> list[tuple[str, str, list[str]]]:
    return [(token.type, token.tag, [child.type for child in token.children or ()]) for token in tokens]


def headings(text: str) -> list[str]:
    tokens = GITHUB.parse(text)
    return [following.content for token, following in pairwise(tokens) if token.type == "heading_open"]


def tables(text: str) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for token in GITHUB.parse(text):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and token.level > 3:
            rows[-1].append("".join(child.content for child in token.children or ()))
        elif token.type == "table_close":
            yield rows


def section(text: str, heading: str) -> str:
    return re.split(r"(?m)^#{2,3} ", text.partition(f"# {heading}")[2])[0]


@pytest.fixture
def dressed(gap: Gap, write_corpus: Corpus) -> Callable[..., Path]:
    """A workspace in which every text of every record, and a folder's name, holds the given text."""

    def make(text: str, name: str) -> Path:
        def put(word: str) -> str:
            return f"{text}{word}{text}"

        def line(need: str, number: int) -> dict[str, object]:
            return gap(
                put(need),
                image_id=put(f"image {number}"),
                session_id=put(f"session {number}"),
                snapshot_hash=put("5e5e"),
                workaround=put("drew it by hand"),
                intent=put(f"please {need}"),
                intent_category=put("lighting"),
                operations_involved=[put("exposure"), put("crop"), put("sharpen"), put("grain")],
                vocabulary_used=[put("warm"), put("cold")],
                satisfaction=-1,
                notes=put("later"),
            )

        needs = ["sky mask"] * 3 + ["film grain"] * 2 + ["window frame"]
        folder = f"{visible(text).replace('/', '')} images"
        return write_corpus(
            {folder: [line(need, number) for number, need in enumerate(needs)] + ["no json"]}, name
        )

    return make


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_leaves_the_structure_of_the_report_alone(
    dressed: Callable[..., Path], publish: Publish, tmp_path: Path, text: str
) -> None:
    exact = Settings(cluster=ClusterSettings(threshold=0.0))
    benign = text_of(publish(dressed("kind ", "benign"), settings=exact, out=tmp_path / "benign-out"))
    hostile = text_of(publish(dressed(text, "hostile"), settings=exact, out=tmp_path / "hostile-out"))
    assert shape(GITHUB.parse(hostile)) == shape(GITHUB.parse(benign))


@pytest.mark.parametrize("text", HOSTILE)
def test_report_holds_no_control_or_direction_character(
    dressed: Callable[..., Path], publish: Publish, text: str
) -> None:
    report_text = text_of(publish(dressed(text, "hostile")))
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]", report_text
    )


def test_hostile_label_reads_as_it_was_written(gap: Gap, write_corpus: Corpus, publish: Publish) -> None:
    label = "# <b>sky</b> | *mask* \\ [x](y)"
    table = next(tables(text_of(publish(write_corpus({"one": [gap(label)]})))))
    assert table[1][1] == label


def test_first_line_is_the_title_and_the_last_ends_the_file(demo_run: Run) -> None:
    text = text_of(demo_run)
    assert text.startswith("# What to author next\n")
    assert text.endswith("Counted as of 2026-07-01T00:00:00Z.\n")


def test_headline_says_what_is_missing_most_and_how_often(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    root = write_corpus(
        {
            "one": [gap("sky mask", satisfaction=-1, session_id="a"), gap("film grain")],
            "two": [gap("sky mask", satisfaction=1, session_id="b", timestamp="2026-05-02T00:00:00Z")],
        }
    )
    assert (
        "**sky mask** is what is missing most: asked for 2 times on 2 images in 2 sessions,"
        " between 2026-04-01 and 2026-05-02; of 2 rated workarounds, 1 did not satisfy."
    ) in text_of(publish(root))


def test_headline_of_a_single_record_is_in_the_singular(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    text = text_of(publish(write_corpus({"one": [gap("sky mask", session_id="a")]})))
    assert "asked for once on 1 image in 1 session, on 2026-04-01." in text
    assert "In all, 1 record from 1 image ask" in text


def test_records_without_a_readable_time_are_told_as_such(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    text = text_of(publish(write_corpus({"one": [gap("sky mask", timestamp=None)]})))
    assert "at unknown times" in text


def test_table_shows_ten_capabilities_in_ten_columns(demo_run: Run) -> None:
    heading, *rows = next(tables(text_of(demo_run)))
    assert heading == COLUMNS
    assert [row[0] for row in rows] == [str(rank) for rank in range(1, 11)]
    assert {len(row) for row in rows} == {10}


def test_table_row_says_what_the_frame_says(demo_run: Run) -> None:
    row = next(tables(text_of(demo_run)))[1]
    first = demo_run.ranked.row(0, named=True)
    assert row[:5] == [
        "1",
        first["label"],
        *(str(first[name]) for name in ("mentions", "images", "sessions")),
    ]
    assert row[5:7] == [first["first_seen"].strftime("%Y-%m-%d"), first["last_seen"].strftime("%Y-%m-%d")]
    assert row[8] == first["intent_category"]


@pytest.mark.parametrize(
    ("top", "title", "shown", "rest"),
    [
        (
            10,
            "The top 10, by mentions",
            10,
            "The other 29 capabilities are in `capabilities.parquet`; `--top 0` shows all of them here.",
        ),
        (
            38,
            "The top 38, by mentions",
            38,
            "The other 1 capability is in `capabilities.parquet`; `--top 0` shows all of them here.",
        ),
        (0, "The whole list, by mentions", 39, None),
        (50, "The whole list, by mentions", 39, None),
    ],
)
def test_top_decides_how_many_are_shown(
    demo_run: Run, top: int, title: str, shown: int, rest: str | None
) -> None:
    text = render_markdown(summarise(demo_run.ranked, now=NOW, top=top, ranked_by="mentions"))
    assert title in headings(text)
    assert len(next(tables(text))) == shown + 1
    assert (rest in text) if rest else ("The other" not in text)


@pytest.mark.parametrize("by", [by for by in RankBy if by is not RankBy.MENTIONS])
def test_another_ranking_is_named(demo: Path, publish: Publish, by: RankBy) -> None:
    text = text_of(publish(demo, settings=Settings(rank=RankSettings(by=by))))
    assert f"The top 10, by {by.value}" in headings(text)
    assert f"stands first by {by.value}" in text


def test_wordings_are_listed_with_their_counts(gap: Gap, write_corpus: Corpus, publish: Publish) -> None:
    needs = ["sky mask", "sky mask", "mask the sky"]
    lines = [gap(need, notes=str(number)) for number, need in enumerate(needs)]
    assert "Worded as:\n\n- sky mask (2)\n- mask the sky (1)\n\n" in text_of(
        publish(write_corpus({"one": lines}))
    )


@pytest.mark.parametrize(
    ("wordings", "remainder"),
    [(25, None), (26, "- and 1 other wording, in"), (40, "- and 15 other wordings, in")],
)
def test_a_long_list_of_wordings_is_cut_at_twenty_five(
    gap: Gap, write_corpus: Corpus, publish: Publish, wordings: int, remainder: str | None
) -> None:
    # One surface, so one capability, however many ways it is punctuated.
    lines = [gap(f"sky{'!' * number} mask") for number in range(wordings)]
    text = section(text_of(publish(write_corpus({"one": lines}))), "1. sky")
    assert len(re.findall(r"(?m)^- sky", text)) == min(wordings, 25)
    assert (remainder in text) if remainder else ("other wording" not in text)


def test_examples_lead_back_to_image_session_snapshot_and_line(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    lines = [
        gap("film grain"),
        gap("sky mask", session_id="s-7", snapshot_hash=SNAPSHOT, workaround="drew it"),
    ]
    assert (
        f"- 2026-04-01, image `heron`, session `s-7`, snapshot `{SNAPSHOT[:12]}`,"
        " `heron/vocabulary_gaps.jsonl:2`\\\n  “sky mask” – instead: drew it (not rated)\n"
    ) in text_of(publish(write_corpus({"heron": lines})))


def test_an_example_that_knows_little_says_so(gap: Gap, write_corpus: Corpus, publish: Publish) -> None:
    text = text_of(publish(write_corpus({"heron": [gap("sky mask", timestamp=None, workaround=" ")]})))
    assert (
        "- –, image `heron`, session unknown, no snapshot, `heron/vocabulary_gaps.jsonl:1`\\\n"
        "  “sky mask” – no workaround noted (not rated)\n"
    ) in text


def test_an_example_whose_intent_is_blank_shows_its_description(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    record = gap("Only the sky, please.", intent="  ", missing_capability="sky mask")
    text = text_of(publish(write_corpus({"heron": [record]})))
    assert "  “sky mask”: Only the sky, please. – no workaround noted" in text


def test_three_examples_of_every_capability_that_has_them(demo_run: Run) -> None:
    text = text_of(demo_run)
    for item in demo_run.published.summary.capabilities:
        evidence = re.split(r"(?m)^#{2,3} ", text.partition(f"\n### {item.rank}. ")[2])[0]
        assert len(re.findall(r"(?m)^- .*image `.*vocabulary_gaps\.jsonl:\d+`\\$", evidence)) == 3


def test_sections_come_in_order(demo_run: Run) -> None:
    top_level = [heading for heading in headings(text_of(demo_run)) if not heading[0].isdigit()]
    assert top_level == [
        "What to author next",
        "The top 10, by mentions",
        "The evidence",
        "By category",
        "Operations that recur together",
        "What was counted, and what was not",
        "Make this report again",
    ]


def test_categories_and_combinations_are_those_of_the_summary(demo_run: Run) -> None:
    summary = demo_run.published.summary
    _, categories, combinations, _ = tables(text_of(demo_run))
    assert categories[1:] == [[c.name, str(c.mentions), str(c.capabilities)] for c in summary.categories]
    assert combinations[1:] == [
        [" + ".join(c.operations), str(c.mentions), str(c.images), str(c.capabilities)]
        for c in summary.combinations
    ]


def test_operations_that_never_recur_together_are_told_as_such(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    assert "No two records name the same two or more operations." in text_of(
        publish(write_corpus({"one": [gap("sky mask")]}))
    )


def test_what_was_not_counted_is_counted(demo_run: Run) -> None:
    account = demo_run.published.summary.account
    assert account is not None
    rows = {row[0]: row[1] for row in list(tables(text_of(demo_run)))[-1][1:]}
    assert rows == {
        "counted": str(account.counted),
        "filtered out": "0",
        "duplicates": str(account.duplicates),
        "superseded": str(account.superseded),
        "rejected": str(account.rejects),
    }


def test_a_narrowed_report_says_to_what_and_how_many_were_left_out(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    root = write_corpus({"one": [gap("sky mask")], "two": [gap("film grain")], "three": [gap("crop")]})
    text = text_of(publish(root, selection=Selection(images=("one", "two"), modules=(), sessions=())))
    assert "Narrowed to image one or two.\n" in text
    assert "| filtered out | 1 |" in text


def test_rejects_are_named_with_file_line_and_reason(write_corpus: Corpus, publish: Publish) -> None:
    text = text_of(publish(write_corpus({"one": ["", "[1]"]})))
    assert "- `one/vocabulary_gaps.jsonl:2`: not an object – expected an object, found a list\n" in text


def test_rejects_and_examples_name_the_repository_where_several_are_read(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    left = write_corpus({"one": [gap("sky mask"), "[1]"]}, "left")
    right = write_corpus({"one": [gap("film grain"), "[1]"]}, "right")
    text = text_of(publish([left, right]))
    for place in ("left/one/vocabulary_gaps.jsonl", "right/one/vocabulary_gaps.jsonl"):
        assert f"`{place}:1`" in text
        assert f"`{place}:2`" in text


def test_rejects_name_the_repository_even_if_all_that_counts_is_in_one(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    left = write_corpus({"one": [gap("sky mask")]}, "left")
    right = write_corpus({"one": ["[1]"]}, "right")
    assert "- `right/one/vocabulary_gaps.jsonl:1`: not an object" in text_of(publish([left, right]))


def test_a_long_list_of_rejects_is_cut_at_twenty(write_corpus: Corpus, publish: Publish) -> None:
    text = text_of(publish(write_corpus({"one": ["[1]"] * 23})))
    assert len(re.findall(r"(?m)^- `one/", text)) == 20
    assert "- and 3 more, in `rejects.parquet`\n" in text


def test_a_log_that_could_not_be_read_is_told_beside_the_lines(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    root = write_corpus({"one": [gap("sky mask")]})
    (root / "two" / "vocabulary_gaps.jsonl").mkdir(parents=True)
    text = text_of(publish(root))
    assert "1 log, folder or link was not read: 1 unreadable file." in text
    assert "- `two/vocabulary_gaps.jsonl`: unreadable file – " in text


def test_a_link_that_leads_out_of_the_root_is_told_beside_the_lines(
    gap: Gap, write_corpus: Corpus, publish: Publish
) -> None:
    root = write_corpus({"one": [gap("sky mask")]})
    (root / "two").symlink_to(write_corpus({"two": [gap("film grain")]}, "elsewhere"))
    assert "1 log, folder or link was not read: 1 link not followed." in text_of(publish(root))


def test_lines_of_other_logs_that_are_no_gaps_are_told_beside_the_lines(
    write_corpus: Corpus, publish: Publish
) -> None:
    root = write_corpus({"one": []})
    wish = {"event": "$mcp_missing_capability", "properties": {"$mcp_intent": "sky mask"}}
    events = [wish, {"event": "$pageview"}, {"event": "click"}]
    (root / "one" / "posthog.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    text = text_of(publish(root))
    assert "2 lines of other logs are no gaps, and not among these." in text
    assert "| counted | 1 |" in text


def test_the_command_that_makes_it_again_is_quoted(demo_run: Run) -> None:
    assert "```sh\nvocabgap report demo --now 2026-07-01T00:00:00Z\n```\n" in text_of(demo_run)


@pytest.mark.parametrize("lines", [[], ["", "  "], ["[1]"]], ids=["no line", "blank lines", "rejects only"])
def test_a_report_without_a_record_says_so(write_corpus: Corpus, publish: Publish, lines: list[str]) -> None:
    text = text_of(publish(write_corpus({"one": lines})))
    assert "**Nothing is missing here, as far as these logs tell: no record counts.**" in text
    assert headings(text) == [
        "What to author next",
        "What was counted, and what was not",
        "Make this report again",
    ]


def test_a_report_without_any_log_says_so(write_corpus: Corpus, publish: Publish) -> None:
    assert "0 logs with 0 lines that are not blank:" in text_of(publish(write_corpus({})))


def test_paragraphs_are_parted_by_exactly_one_blank_line(demo_run: Run) -> None:
    text = text_of(demo_run)
    assert "\n\n\n" not in text
    assert not re.search(r"(?m)[ \t]+$", text)
