"""Decisions about a published run, made from Python, and what the next runs make of them."""

import os
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import gap, write_corpus
from builders.reporting import tell_anew_of
from vocabgap.decisions.deciding import Decisions
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.model.settings import ClusterSettings
from vocabgap.pipeline import Run, run

if TYPE_CHECKING:
    from decisions.conftest import Studio

START = datetime(2026, 7, 1, tzinfo=UTC)
LATER = START + timedelta(days=30)


def by_label(made: Run) -> dict[str, dict[str, Any]]:
    return {row["label"]: row for row in made.ranked.to_dicts()}


def test_a_merge_unites_under_the_first_identifier(studio: "Studio") -> None:
    before = by_label(studio.report())
    studio.decide.merge("lens flare", "sky mask", "the same")

    made = by_label(studio.report())

    assert made["sky mask"]["capability_id"] == before["lens flare"]["capability_id"]
    assert made["sky mask"]["mentions"] == 4
    assert "the same" in made["sky mask"]["decisions"][0]


def test_a_split_takes_its_wordings_apart(studio: "Studio") -> None:
    studio.decide.split("film grain", "film grain look")

    made = by_label(studio.report())

    assert (made["film grain"]["mentions"], made["film grain look"]["mentions"]) == (1, 1)


def test_what_a_split_names_as_staying_stays(studio_of: "Callable[..., Studio]") -> None:
    studio = studio_of("film grain look", "grain of film", "grain of film", "film grain", "moon glow")
    studio.cluster = ClusterSettings(threshold=0.95)
    studio.report()

    studio.decide.split("film grain look", "film grain")

    (group,) = [row for row in studio.report().ranked.to_dicts() if "film grain look" in str(row["variants"])]
    assert "film grain" not in [variant["wording"] for variant in group["variants"]]


def test_a_new_label_is_shown_everywhere(studio: "Studio") -> None:
    studio.decide.rename("sky mask", "mask for the sky")

    made = studio.report()

    assert by_label(made)["mask for the sky"]["mentions"] == 3
    assert "mask for the sky" in (made.published.folder / "report.md").read_text(encoding="utf-8")


def test_life_of_a_capability(studio: "Studio") -> None:
    studio.decide.author("sky mask", "sky_mask")
    assert by_label(studio.report())["sky mask"]["status"] == "authored"

    log = studio.root / "one" / "vocabulary_gaps.jsonl"
    log.write_text(
        log.read_text() + log.read_text().splitlines()[0].replace("2026-04-01", "2026-07-09") + "\n"
    )
    assert by_label(studio.report())["sky mask"]["status"] == "regressed"

    studio.decide.dismiss("sky mask", "not ours")
    made = by_label(studio.report())["sky mask"]
    assert (made["status"], made["rank"]) == ("dismissed", 3)

    studio.decide.reopen("sky mask")
    assert by_label(studio.report())["sky mask"]["status"] == "open"


def test_an_undone_merge_and_split_never_were(studio: "Studio") -> None:
    studio.report(previous="none")
    before = studio.files()
    merge = studio.decide.merge("lens flare", "sky mask")
    studio.report()
    split = studio.decide.split("lens flare", ["mask the sky"])
    studio.report(now=LATER)
    assert studio.files() != before

    studio.decide.undo(split.decision_id)
    studio.decide.undo(merge.decision_id)
    studio.report(previous="none")

    assert studio.files() == before


def test_after_an_undo_every_identifier_is_back_though_runs_were_made_meanwhile(studio: "Studio") -> None:
    by_now = ("decisions", "trend", "weekly", "priority", "recency")  # of the moment, not of decisions
    before = studio.report().ranked.drop(by_now)
    merge = studio.decide.merge("lens flare", "sky mask")
    studio.report(now=LATER)
    studio.decide.undo(merge.decision_id)

    after = studio.report(now=LATER + timedelta(days=1)).ranked.drop(by_now)

    assert after.equals(before)


def test_a_run_that_is_made_again_comes_out_the_same(studio: "Studio") -> None:
    studio.report(now=LATER)
    studio.decide.merge("lens flare", "sky mask")
    studio.report(now=LATER + timedelta(days=1))
    before = studio.files()

    studio.report(now=LATER + timedelta(days=1))

    assert studio.files() == before


def test_decisions_outlive_new_data_and_another_cut(studio: "Studio", tmp_path: Path) -> None:
    studio.decide.merge("lens flare", "sky mask")
    studio.decide.split("film grain", ["film grain look"])
    more = {"two": [gap("sky mask tool"), gap("grain of film"), gap("flare of a lens")]}
    write_corpus(tmp_path, more, within=studio.root)

    cuts: tuple[float | Literal["by wording"], ...] = ("by wording", 0.0, 0.3, 0.95)
    for threshold in cuts:
        studio.cluster = ClusterSettings(threshold=threshold)
        made = studio.report()
        where = dict(made.clusters.wordings.select("wording", "cluster").iter_rows())
        assert where["lens flare"] == where["sky mask"]
        assert where["film grain"] != where["film grain look"]
        assert made.ranked["mentions"].sum() == made.scan.records.height == 9


def test_a_name_may_be_any_spelling_of_a_wording(studio: "Studio") -> None:
    assert studio.decide.pin("Mask-The-Sky").capability == studio.decide.dismiss("sky mask", "no").capability


def test_a_name_may_be_the_beginning_of_the_identifier(studio: "Studio") -> None:
    (whole,) = studio.report().ranked.filter(label="lens flare")["capability_id"]

    assert studio.decide.pin(whole[:9]).capability == studio.decide.dismiss("lens flare", "no").capability


@pytest.mark.parametrize("name", ["nothing like it", "1", ""])
def test_what_no_capability_is_called_is_not_found(studio: "Studio", name: str) -> None:
    with pytest.raises(NotFoundError, match="no capability is called"):
        studio.decide.pin(name)


def test_an_identifier_that_is_unclear_is_refused(studio: "Studio") -> None:
    path = studio.folder / "out" / "capabilities.parquet"
    pl.read_parquet(path).with_columns(label=pl.lit("mask")).write_parquet(path)
    tell_anew_of(path)

    with pytest.raises(InvalidInputError, match="'mask' means several capabilities: cap-"):
        studio.decide.pin("mask")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda book: book.merge("sky mask", "mask the sky"), "are one capability"),
        (lambda book: book.split("lens flare", "lens flare"), "nothing of 'lens flare' would stay"),
        (lambda book: book.split("lens flare", "sky mask"), "has no wording 'sky mask'"),
        (lambda book: book.dismiss("lens flare", " "), "a dismissal needs a reason"),
        (lambda book: book.author("lens flare", ""), "the entry is blank"),
        (lambda book: book.rename("lens flare", " "), "the new label is blank"),
        (lambda book: book.rename("lens flare", "Sky-Mask"), "another capability is called 'sky mask': cap-"),
        (lambda book: book.rename("lens flare", "lens flare"), "'lens flare' is called that already"),
        (lambda book: book.reopen("lens flare"), "'lens flare' is open: there is nothing to reopen"),
        (lambda book: book.dismiss("lens flare", "\u200b"), "a dismissal needs a reason"),
        (lambda book: book.author("lens flare", "\u2060"), "author needs field 'entry' with"),
        (
            lambda book: book.rename("lens flare", "\u200b\ufeff"),
            "rename needs field 'label' with",
        ),
        (
            lambda book: book.pin("lens flare", "\u200b"),
            r"reason '\\u200b' has no character",
        ),
        (lambda book: book.undo("dec-000000000000"), "no decision is called 'dec-000000000000'"),
        (lambda book: book.undo(" "), "no decision is called ''"),
    ],
)
def test_what_cannot_be_decided_leaves_no_trace(
    studio: "Studio", call: Callable[[Decisions], object], told: str
) -> None:
    with pytest.raises((InvalidInputError, NotFoundError), match=told):
        call(studio.decide)
    assert not (studio.folder / "decisions.jsonl").exists()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda book: book.pin("sky mask"), "'sky mask' is pinned already"),
        (lambda book: book.dismiss("sky mask", "no"), "'sky mask' was dismissed before, for the same reason"),
        (lambda book: book.author("sky mask", "sky"), "'sky mask' was authored before, as 'sky'"),
        (lambda book: book.reopen("sky mask"), "'sky mask' is open: there is nothing to reopen"),
        (lambda book: book.rename("sky mask", "a mask"), "'a mask' is called that already"),
    ],
)
def test_what_is_decided_already_is_refused_before_a_report_follows_it(
    studio: "Studio", call: Callable[[Decisions], object], told: str
) -> None:
    if "open" in told:
        studio.decide.dismiss("sky mask", "no")
    call(studio.decide)

    with pytest.raises(InvalidInputError, match=told):
        call(studio.decide)


def test_what_is_decided_otherwise_is_no_repetition(studio: "Studio") -> None:
    studio.decide.dismiss("sky mask", "no")
    studio.decide.dismiss("sky mask", "never")
    studio.decide.author("sky mask", "sky")
    studio.decide.author("sky mask", "sky_mask")
    studio.decide.reopen("sky mask")
    studio.decide.author("sky mask", "sky_mask")

    assert by_label(studio.report())["sky mask"]["status"] == "authored"


def test_what_was_dismissed_by_the_run_is_reopened(studio: "Studio") -> None:
    dismissal = studio.decide.dismiss("sky mask", "no")
    merge = studio.decide.merge("lens flare", "sky mask")
    studio.report()

    reopened = studio.decide.reopen("lens flare")

    assert studio.decide.in_force() == (dismissal, merge, reopened)


def test_a_merged_capability_leaves_its_label_to_others(studio: "Studio") -> None:
    studio.decide.merge("lens flare", "sky mask")
    studio.decide.rename("lens flare", "sky mask")

    assert by_label(studio.report())["sky mask"]["mentions"] == 4


def test_a_label_that_was_given_since_the_run_is_taken(studio: "Studio") -> None:
    studio.decide.rename("lens flare", "glare")
    studio.decide.rename("sky mask", "lens flare")

    with pytest.raises(InvalidInputError, match="another capability is called 'glare'"):
        studio.decide.rename("film grain", "glare")


def test_a_decision_is_undone_by_any_beginning_that_only_it_has(studio: "Studio") -> None:
    pin = studio.decide.pin("sky mask")

    undo = studio.decide.undo(pin.decision_id[: len("dec-") + 1])

    assert undo.undoes == pin.decision_id


def test_a_beginning_of_several_decisions_lists_them(studio: "Studio") -> None:
    made = [studio.decide.dismiss("sky mask", f"reason {number}") for number in range(33)]
    (first, _), *_ = Counter(each.decision_id[:5] for each in made).most_common(1)
    fitting = [each for each in made if each.decision_id.startswith(first)]

    with pytest.raises(InvalidInputError, match=f"'{first}' means several decisions: ") as refused:
        studio.decide.undo(first)

    assert f"{fitting[0].decision_id} (dismissed 'sky mask'), " in refused.value.message


def test_what_is_undone_cannot_be_undone_again(studio: "Studio") -> None:
    pin = studio.decide.pin("sky mask")
    undo = studio.decide.undo(pin.decision_id)

    with pytest.raises(InvalidInputError, match=f"was undone before, by {undo.decision_id}"):
        studio.decide.undo(pin.decision_id)


def test_where_there_is_no_run_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="holds no run of vocabgap"):
        Decisions(tmp_path / "nowhere").pin("sky mask")


def test_ids_stay_when_records_come_in_other_order(studio: "Studio") -> None:
    expected = by_label(studio.report())
    log = studio.root / "one" / "vocabulary_gaps.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    random.Random(3).shuffle(lines)  # noqa: S311
    log.write_text("".join(lines))

    found = by_label(studio.report(now=LATER))

    assert {label: row["capability_id"] for label, row in found.items()} == {
        label: row["capability_id"] for label, row in expected.items()
    }


@pytest.mark.slow
def test_a_tenth_of_new_records_leaves_the_top_its_ids(demo: Path, tmp_path: Path) -> None:
    before = run(demo, tmp_path / "out", now=START)
    asked = [str(text) for text in before.scan.records["missing_capability"].drop_nulls()]
    rng = random.Random(11)  # noqa: S311
    words = sorted({word for text in asked for word in text.split()})
    more = [" ".join(rng.sample(words, 3)) for _ in range(before.scan.records.height // 10)]
    new = write_corpus(tmp_path, {"new": [gap(need, notes=str(n)) for n, need in enumerate(more)]}, "new")

    after = run([demo, new], tmp_path / "out", now=LATER)

    top = before.ranked.head(100)
    owner = {
        variant["wording"]: row["capability_id"]
        for row in after.ranked.to_dicts()
        for variant in row["variants"]
    }
    same = sum(owner[row["variants"][0]["wording"]] == row["capability_id"] for row in top.to_dicts())
    assert same >= 0.95 * top.height


NEEDS = ["sky mask", "mask the sky", "film grain", "grain of film", "lens flare", "cloud mask", "moon glow"]


@pytest.mark.slow
@given(st.lists(st.sampled_from(NEEDS), min_size=4, max_size=12), st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_merge_that_is_undone_never_was(
    studio_of: "Callable[..., Studio]", needs: list[str], data: st.DataObject
) -> None:
    studio = studio_of(*needs)
    labels = studio.report(previous="none").ranked["label"].to_list()
    before = studio.files()
    if len(labels) < 2:
        return
    first, second = data.draw(st.permutations(labels))[:2]
    merge = studio.decide.merge(first, second)
    assert studio.report().ranked.height == len(labels) - 1
    studio.decide.undo(merge.decision_id)

    studio.report(previous="none")

    assert studio.files() == before


def test_a_pipe_in_the_place_of_a_run_is_not_waited_for(studio: "Studio") -> None:
    place = studio.folder / "out" / "capabilities.parquet"
    place.unlink()
    os.mkfifo(place)

    with pytest.raises(StateError, match="is a pipe, not a file"):
        studio.decide.pin("sky mask")


def test_a_run_that_is_named_must_hold_what_its_groups_are_known_by(studio: "Studio") -> None:
    (studio.folder / "out" / "groups.parquet").unlink()

    with pytest.raises(StateError, match=r"groups\.parquet' does not exist"):
        studio.report("next", previous=studio.folder / "out")
    with pytest.raises(StateError, match=r"groups\.parquet' does not exist \(make the report again"):
        studio.decide.pin("sky mask")
