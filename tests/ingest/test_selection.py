from datetime import UTC, datetime

import pytest
from polars.testing import assert_frame_equal

from builders import gap
from builders.ingest import write_log
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.scanning import Scan, scan, with_newest_session
from vocabgap.model.record import SHARED_TENANT
from vocabgap.model.selection import Selection


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    root = tmp_path_factory.mktemp("selection") / "shoots"
    twice = gap("b", timestamp="2026-03-02T00:00:00Z", session_id="s-2", intent_category="tone")
    both, blurs = ["toneequalizer", "blurs"], ["blurs"]
    write_log(
        root,
        "fox-3",
        gap("a", timestamp="2026-03-01T00:00:00Z", session_id="s-1", intent_category="tonal"),
        twice,
        twice,
        gap("c", timestamp="monday", operations_involved=both),
    )
    masked = {"operations_involved": ["toneequal"], "intent_category": "mask"}
    looks = {"operations_involved": blurs, "intent_category": "Film Look"}
    write_log(
        root,
        "heron-11",
        gap("d", timestamp="2026-03-03T00:00:00Z", **looks),
        gap("e", timestamp=None, session_id="s-1", **masked),
    )
    return scan(root)


def chosen(scanned: Scan, selection: Selection) -> str:
    return "".join(scanned.select(selection).records["description"])


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


def test_a_selection_of_nothing_in_particular_changes_nothing(scanned: Scan) -> None:
    assert not Selection()
    assert_frame_equal(scanned.select(Selection()).gaps, scanned.gaps)


def test_records_outside_a_selection_are_marked_and_not_dropped(scanned: Scan) -> None:
    narrowed = scanned.select(Selection(images=("heron-11",))).gaps

    why_not = ["filtered", "filtered", "duplicate", "filtered", None, None]
    assert narrowed["why_not"].to_list() == why_not
    assert narrowed["counted"].to_list() == [False, False, False, False, True, True]
    assert_frame_equal(narrowed.drop("counted", "why_not"), scanned.gaps.drop("counted", "why_not"))


def test_the_account_of_the_lines_is_that_of_the_whole_scan(scanned: Scan) -> None:
    assert scanned.select(Selection(images=("fox-3",))).summary == scanned.summary


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(since=day(2)), "bd"),
        (Selection(until=day(2)), "a"),
        (Selection(since=day(1), until=day(3)), "ab"),
        (Selection(since=day(4)), ""),
        (Selection(images=("fox-3",)), "abc"),
        (Selection(images=("fox-3", "heron-11")), "abcde"),
        (Selection(images=("fox",)), ""),
        (Selection(sessions=("s-1",)), "ae"),
        (Selection(sessions=("s-1", "s-2")), "abe"),
        (Selection(tenants=("local",)), "abcde"),
        (Selection(tenants=("north",)), ""),
        (Selection(repositories=("shoots",), images=("heron-11",)), "de"),
        (Selection(repositories=("archive",)), ""),
        (Selection(categories=("tone",)), "ab"),
        (Selection(categories=("TONAL",)), "ab"),
        (Selection(categories=("local",)), "e"),
        (Selection(categories=("tone", "mask")), "abe"),
        (Selection(categories=("Film Look",)), "d"),
        (Selection(categories=("uncategorized",)), "c"),
        (Selection(categories=("detail",)), ""),
        (Selection(operations=("toneequal",)), "ce"),
        (Selection(operations=("Tone Equalizer",)), "ce"),
        (Selection(operations=("blurs",)), "cd"),
        (Selection(operations=("blur",)), ""),
        (Selection(operations=("blurs", "toneequal")), "cde"),
        (Selection(operations=("blurs+Tone Equalizer",)), "c"),
        (Selection(operations=("blurs+blur", "toneequal")), "ce"),
        (Selection(images=("heron-11",), operations=("toneequal",)), "e"),
        (Selection(since=day(1), sessions=("s-1",)), "a"),
        (Selection(categories=("tone",), sessions=("s-2",), until=day(2)), ""),
    ],
    ids=repr,
)
def test_selections(scanned: Scan, selection: Selection, expected: str) -> None:
    assert chosen(scanned, selection) == expected


def test_a_selection_is_told_in_words_and_as_options() -> None:
    selection = Selection(images=("fox-3", "heron-11"), no_shared=True, satisfaction=(-1, None))

    assert selection.in_words() == {
        "image": "fox-3 or heron-11", SHARED_TENANT: "left out", "satisfaction": "unsatisfied or not rated",
    }  # fmt: skip
    options = ("--image", "fox-3", "--image", "heron-11", "--no-shared")
    assert tuple(selection.words())[: len(options)] == options
    assert (bool(selection), bool(Selection())) == (True, False)


def test_further_aliases_fold_on_both_sides(scanned: Scan) -> None:
    narrowed = scanned.select(
        Selection(categories=("look",), operations=("soften",)),
        category_aliases={"film look": "style", "look": "style"},
        operation_aliases={"soften": "blurs"},
    )

    assert narrowed.records["description"].to_list() == ["d"]


@pytest.mark.parametrize(("since", "until"), [(day(2), day(1)), (day(1), day(1))])
def test_a_selection_that_ends_before_it_begins_is_refused(
    since: datetime, until: datetime
) -> None:
    with pytest.raises(InvalidInputError, match=r"since .* until"):
        Selection(since=since, until=until)


@pytest.mark.parametrize("name", ["since", "until"])
def test_a_moment_without_an_offset_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"{name}: .*offset"):
        Selection(**{name: datetime(2026, 3, 1)})  # type: ignore[arg-type]  # noqa: DTZ001


@pytest.mark.parametrize(
    ("selection", "sessions", "newest"),
    [
        (Selection(sessions=("last", "s-9")), ("s-2", "s-9"), "s-2"),
        (Selection(sessions=("last",), categories=("local",)), ("s-2",), "s-2"),
        (Selection(sessions=("last",), until=datetime(2026, 3, 2, tzinfo=UTC)), ("s-1",), "s-1"),
        (Selection(sessions=("last",), since=datetime(2026, 3, 3, tzinfo=UTC)), ("last",), None),
        (Selection(sessions=("s-1",)), ("s-1",), None),
    ],
)
def test_the_last_session_is_the_newest_of_the_selected_time(
    scanned: Scan, selection: Selection, sessions: tuple[str, ...], newest: str | None
) -> None:
    chosen, session = with_newest_session(scanned.lines, selection)

    assert (chosen.sessions, session) == (sessions, newest)
