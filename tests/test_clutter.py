"""What is no part of a need: markup, addresses, emoji, tickets, traces, footers, headings, shared lines."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.clustering import asking
from vocabgap import cluster
from vocabgap.clutter import _HEADING, shared_lines, without_clutter, without_lines
from vocabgap.model.frames import label_of, need
from vocabgap.text import surface

TEXTS = json.loads(Path(__file__).with_name("data").joinpath("clutter.json").read_text("utf-8"))


@pytest.mark.parametrize("text", TEXTS["clutter"])
def test_clutter_is_no_part_of_a_need(text: str) -> None:
    assert surface(text) in {surface("split a stay"), surface("split a stay,")}
    assert need(text).lower().strip(" .,") == "split a stay"


@pytest.mark.parametrize("text", TEXTS["needs"])
def test_what_only_looks_like_clutter_stays(text: str) -> None:
    assert without_clutter(text) == text


@pytest.mark.parametrize(
    "text", ["🙂", "https://inn.example", "INN-204", "<br>", "Sent from my iPhone"]
)
def test_a_text_of_nothing_but_clutter_stays_whole(text: str) -> None:
    assert without_clutter(text) == text


@given(st.text(alphabet='ab <>*[](#)-:\n"/.@Fileat1', max_size=60))
def test_a_text_with_a_word_keeps_one(text: str) -> None:
    assert any(map(str.isalnum, without_clutter(text))) == any(map(str.isalnum, text))


def neighbours(parts: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield each repeat without bound that may directly follow another one in a pattern."""
    is_open = False
    for kind, value in parts:
        is_repeat = kind is _constants.MAX_REPEAT
        if is_repeat or kind is _constants.SUBPATTERN:
            yield from neighbours(value[-1])
        for branch in value[1] if kind is _constants.BRANCH else ():
            yield from neighbours(branch)
        is_endless = is_repeat and value[1] == _constants.MAXREPEAT
        if is_endless and is_open:
            yield value
        is_open = is_endless or (is_open and is_repeat and value[0] == 0)


def test_no_run_of_signs_can_be_split_between_two_repeats_of_a_heading() -> None:
    assert [*neighbours(_parser.parse(r"[:.]*(?:please)?[:*]*$"))]
    assert not [*neighbours(_parser.parse(_HEADING.pattern, _HEADING.flags))]
    for heading in ("Summary?: **", "summary: please describe. :_", "**Summary**", "summary ::"):
        assert without_clutter(f"close gate\n{heading}") == "close gate"
    assert without_clutter("close gate\nsummary::x") == "close gate\nsummary::x"


def test_prose_beside_a_trace_stays() -> None:
    (trace,) = (text for text in TEXTS["clutter"] if text.startswith("Traceback") and "\n" in text)
    told = without_clutter(f"A stay cannot be split.\n{trace}")
    assert told == "A stay cannot be split.\nsplit a stay"


NEEDS = (
    "split a stay",
    "export the bill as PDF",
    "a map of the rooms",
    "late check-out",
    "towels on request",
)


def test_lines_that_many_texts_share_part_no_needs_and_name_none() -> None:
    notice = "This form was filled in at the front desk of the harbour inn."
    shared = [f"## Your wish for the inn\n{need}\n\nRoom service desk\n{notice}" for need in NEEDS]

    found = cluster(asking(*NEEDS, *shared))

    assert found.clusters["mentions"].to_list() == [2] * len(NEEDS)
    assert {*found.clusters["label"]} == {*NEEDS}
    assert {*found.wordings["wording"]} == {*NEEDS, *shared}  # as they were written


def test_a_sentence_that_many_texts_end_with_parts_no_needs() -> None:
    written = [f"{need.capitalize()}. Sent by the tablet in the lobby!" for need in NEEDS]

    found = cluster(asking(*NEEDS, *written))

    assert found.clusters["mentions"].to_list() == [2] * len(NEEDS)
    assert not found.clusters["label"].str.contains("lobby").any()


def test_a_title_or_a_whole_text_that_many_share_is_a_need() -> None:
    titled = [
        f"Split a stay\n{reason}" for reason in ("guests leave", "rooms change", "a bill each")
    ]

    assert shared_lines([*titled, *NEEDS]) == frozenset()
    assert (
        shared_lines([f"{need}\nsplit a stay" for need in NEEDS] + ["split a stay"]) == frozenset()
    )


@pytest.mark.parametrize(
    ("title", "is_shared"), [("Wish:", True), ("For the lobby,", True), ("Wish", False)]
)
def test_a_heading_is_shared_by_a_few_and_any_other_title_by_half(
    title: str, is_shared: bool
) -> None:
    few = [f"{title}\n{need}" for need in NEEDS[:3]]

    assert (title in shared_lines([*few, *NEEDS[3:], *map(str.upper, NEEDS)])) == is_shared
    assert title in shared_lines(f"{title}\n{need}" for need in NEEDS)


def test_a_text_of_one_sentence_is_whole_though_a_blank_follows_its_end() -> None:
    shared = [f"{need}\n\nLobby, first floor." for need in NEEDS]

    assert shared_lines(shared) == {"Lobby, first floor."}
    assert shared_lines([*shared, "Lobby, first floor. "]) == frozenset()


@given(
    st.lists(st.lists(st.sampled_from([*NEEDS, "Best,", "Wish:"]), min_size=1).map("\n".join)),
    st.randoms(),
)
def test_the_order_of_texts_changes_no_shared_line_and_none_becomes_empty(
    texts: list[str], shuffle: random.Random
) -> None:
    shared = shared_lines(texts)

    assert shared_lines(shuffle.sample(texts, len(texts))) == shared
    assert all(without_lines(text, shared) for text in texts)


@given(st.text(alphabet="ab \n", max_size=200))
def test_a_label_is_one_line_of_at_most_80_characters(text: str) -> None:
    label = label_of(text)

    assert len(label) <= 80
    assert label == " ".join(label.split())
    assert label == " ".join(text.split()) or label.endswith("…")


def test_long_labels_that_would_be_equal_get_a_number() -> None:
    long = "a plan of the harbour inn that shows each room with its beds and its view of the "

    labels = cluster(
        asking(f"{long}{'sea ' * 40}", f"{long}{'moor ' * 40}"), threshold=0.01
    ).clusters["label"]

    assert labels.n_unique() == 2
    assert all(len(label) <= 84 for label in labels)
