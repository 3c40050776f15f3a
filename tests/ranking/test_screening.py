"""Which records are no gap of the vocabulary, and which only sound like it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from benchmarks.labelled import OWN
from builders import outside
from builders.ranking import records
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import NOT_GRANTED_NOTE
from vocabgap.model.sources import rules_in_force
from vocabgap.model.tables import GAPS
from vocabgap.ranking.screening import _may_fit, rule_of, screen

RULES = rules_in_force()


def gaps(*rows: str | Mapping[str, Any]) -> pl.DataFrame:
    """Readable lines that all count, of which only the descriptions or other fields are given."""
    given = [
        {"description": row, "missing_capability": None} if isinstance(row, str) else row
        for row in rows
    ]
    frame = records(given).with_columns(counted=pl.lit(value=True))
    return frame.match_to_schema(GAPS.schema, missing_columns="insert")


@pytest.mark.parametrize(
    "description",
    [
        "no way to resume when the connection was lost",
        "need a primitive that waits when rate limit exceeded",
        "permission denied handling",
        "lacks a step for service unavailable",
    ],
)
def test_who_wishes_for_something_about_failures_names_a_gap(description: str) -> None:
    assert rule_of(description, rules=RULES) is None


def test_an_aside_about_a_failure_leaves_a_gap_what_it_is() -> None:
    aside = "the preview timed out once"
    assert rule_of("wanted a luminosity mask", notes=aside, rules=RULES) is None
    assert rule_of("Curve sampled by eye", "curve_sampler", aside, rules=RULES) is None


@pytest.mark.parametrize("field", ["workaround", "notes"])
def test_an_aside_tells_why_something_failed(field: str) -> None:
    message = {field: "rate limited, waited ten minutes"}
    assert rule_of("Export failed", "export", **message, rules=RULES) == "transient"


@pytest.mark.parametrize(
    ("description", "missing", "rule"),
    [
        ("Export failed: broken pipe", "", "transient"),
        ("Export failed. Broken pipe", "", "transient"),
        ("Broken pipe", "", None),
        ("Export failed: broken pipe", "export", None),
        # The phrase itself is not what tells of a failure.
        ("it crashed the highlights", "", None),
        ("it crashed with an error", "", "transient"),
    ],
)
def test_what_photographs_show_is_a_failure_only_where_something_failed(
    description: str, missing: str, rule: str | None
) -> None:
    assert rule_of(description, missing, rules=RULES) == rule


def test_an_aside_about_another_failure_makes_none_of_a_photograph() -> None:
    broken_pipe = "The broken pipe is in the way"
    assert rule_of(broken_pipe, workaround="the brush failed", rules=RULES) is None
    assert rule_of("Sky replacement", notes="failed: broken pipe", rules=RULES) == "transient"


def test_a_regular_expression_is_searched_as_it_is_written() -> None:
    rules = rules_in_force({"ticket": [r"re:\bINC-[0-9]+"]})
    named = {"description": "Soft glow", "missing_capability": "glow"}
    made = screen(gaps({**named, "notes": "no glow, see inc-204"}, named), rules)
    assert made["rule"].to_list() == ["ticket", None]


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|a)*b", r"(\w*)*!", "(?:a?){30}a{30}b"])
def test_no_regular_expression_takes_longer_than_its_text_is_long(expression: str) -> None:
    rules = rules_in_force({"mine": [f"re:x{expression}"]})
    made = screen(gaps("x" + "a" * 200_000 + "?"), rules)  # with `re` this does not end
    assert made["rule"].to_list() == [None]


def test_marked_records_stay_and_say_which_rule() -> None:
    made = screen(gaps("Soft glow", "The render timed out", "The push was denied"))
    assert made.select("counted", "why_not", "rule").rows() == [
        (True, None, None),
        (False, "not_a_gap", "transient"),
        (False, "not_granted", "permission"),
    ]


@pytest.mark.parametrize(
    ("notes", "rule"),
    [
        (f"call {NOT_GRANTED_NOTE}", "not_enabled"),
        (f"call toolu_7 {NOT_GRANTED_NOTE}: permission", "permission"),
        (f"there was a call {NOT_GRANTED_NOTE}", None),
        ("call of an unknown tool", None),
    ],
)
def test_notes_of_a_call_say_that_it_was_not_granted(notes: str, rule: str | None) -> None:
    call = {"description": "the tool fold was called", "missing_capability": "fold"}
    made = screen(gaps({**call, "notes": notes}))
    assert made.select("why_not", "rule").row(0) == ("not_granted" if rule else None, rule)


def test_a_name_of_what_is_missing_may_be_the_message() -> None:
    message = "The tile store returned 502"
    assert rule_of("Worked an hour later.", message, rules=RULES) == "transient"
    # An agent that cannot do something often names it with the refusal; the need counts.
    assert rule_of("Only two hosts are allowed.", "download of a font: 403", rules=RULES) is None


@pytest.mark.parametrize(
    ("part", "precision", "recall"), [("before", 1.0, 1.0), ("after", 0.94, 0.85)]
)
def test_rules_tell_refusals_from_needs(part: str, precision: float, recall: float) -> None:
    rows = (OWN / "refusals.tsv").read_text(encoding="utf-8").splitlines()
    found = [
        (kind != "gap", rule_of(message, rules=RULES) is not None)
        for where, kind, message in (row.split("\t") for row in rows)
        if where == part
    ]
    right = found.count((True, True))
    assert right / (right + found.count((False, True))) >= precision
    assert right / (right + found.count((True, False))) >= recall


def test_nearly_all_placeholders_are_told_and_hardly_any_gap_is_taken_for_one() -> None:
    labelled = Path(__file__).parents[1] / "data" / "placeholders.tsv"
    rows = [line.split("\t") for line in labelled.read_text(encoding="utf-8").splitlines()]

    rules = screen(gaps(*(text for _, text in rows)))["rule"].to_list()

    kinds = [bool(kind) for kind, _ in rows]
    found = list(zip([rule == "placeholder" for rule in rules], kinds, strict=True))
    right = found.count((True, True))
    assert (len(rows), right + found.count((False, True))) == (60, 30)
    assert right / (right + found.count((True, False))) >= 0.97
    assert right / (right + found.count((False, True))) >= 0.90


def test_a_placeholder_is_judged_by_the_need_alone_and_may_be_added() -> None:
    rules = rules_in_force({"placeholder": ["only: same (procedure|thing) as last year"]})
    made = screen(
        gaps(
            {"description": "Nothing is missing.", "missing_capability": "lasso"},
            {"description": "Cut by hand.", "missing_capability": "Same thing as last year!"},
            "Same thing as last year, with a lasso",
        ),
        rules,
    )
    assert made["rule"].to_list() == [None, "placeholder", None]


def test_a_workaround_that_is_none_is_none_and_the_record_stays_the_same(tmp_path: Path) -> None:
    log = tmp_path / "a" / "vocabulary_gaps.jsonl"
    log.parent.mkdir()
    lines = [{"description": "lasso", "workaround": text} for text in ("None.", "cut by hand")]
    log.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    found = scan(tmp_path).lines.collect()

    assert found["workaround"].to_list() == ["", "cut by hand"]
    assert found["record_id"].n_unique() == 2


def test_nearly_all_failures_are_told_and_hardly_any_gap_is_taken_for_one() -> None:
    # The rule that should say so, empty for a gap; what the record names as missing; what happened.
    labelled = Path(__file__).parents[1] / "data" / "screening.tsv"
    rows = [line.split("\t") for line in labelled.read_text(encoding="utf-8").splitlines()]
    wrong = {
        text: rule
        for rule, missing, text in rows
        if (rule_of(text, missing, rules=RULES) or "") != rule
    }

    # What the rules get wrong, and may get right one day.
    missed, mistaken = wrong
    assert (missed, bool(wrong[missed])) == ("Could not save, the disk is full", True)
    assert mistaken == "The sign for the service is down the road and too dark"
    assert [sum(not rule for rule, _, _ in rows), len(rows)] == [42, 84]


def test_what_does_not_count_anyway_is_not_asked() -> None:
    duplicate = gaps("The render timed out").with_columns(
        counted=pl.lit(value=False), why_not=pl.lit("duplicate")
    )
    assert_frame_equal(screen(duplicate), duplicate)


@given(
    st.sampled_from(
        [
            "timed out", "permission denied", "service is down", "out of memory", "engine doesnt support",
            "failed with broken pipe", "api key is missing", "user doesn't want to proceed",
        ]
    ),
    st.sampled_from(["{}", "{}!", "({})", "so: {}"]),
    st.sampled_from(
        [
            str.upper,
            str.title,
            lambda text: text.replace(" ", "-"),
            lambda text: text.replace("t", "ｔ"),
            lambda text: text.title().replace(" ", ""),
            lambda text: text.replace(" ", "_\t\x01"),
        ]
    ),
)  # fmt: skip
def test_what_fits_a_rule_is_read_however_it_is_spelt(
    phrase: str, frame: str, spelling: Callable[[str], str]
) -> None:
    text = frame.format(spelling(phrase).replace("doesnt", "doesn't"))
    row = pl.DataFrame(
        {"description": [text], "missing_capability": "", "workaround": "", "notes": ""}
    )
    assert rule_of(text, rules=RULES) is not None
    assert row.filter(_may_fit(RULES)).height == 1


def test_no_gap_of_a_real_project_is_marked(pytestconfig: pytest.Config) -> None:
    found = screen(scan(outside(pytestconfig, "chemigram/workspace")).gaps)
    assert found.filter(pl.col("rule").is_not_null()).height == 0


def test_without_rules_every_record_counts() -> None:
    assert screen(gaps("broken pipe", "a sky mask"), [])["counted"].to_list() == [True, True]
