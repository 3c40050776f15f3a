"""Decisions about a published run, made from Python, and what the next runs make of them."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import gap, write_corpus
from builders.decisions import Studio
from builders.reporting import compared_in_words
from vocabgap.decisions.record import Action, append_decisions, decide, subject
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.model.settings import ClusterSettings
from vocabgap.pipeline import Run, run
from vocabgap.reporting.comparison import compare
from vocabgap.reporting.published_run import read_published

START = datetime(2026, 7, 1, tzinfo=UTC)
LATER = START + timedelta(days=30)


def by_label(made: Run) -> dict[str, dict[str, Any]]:
    return {row["label"]: row for row in made.ranked.to_dicts()}


def test_life_of_a_capability(studio: Studio) -> None:
    studio.decide.author("sky mask", "sky_mask")
    assert by_label(studio.report())["sky mask"]["status"] == "authored"

    log = studio.root / "one" / "vocabulary_gaps.jsonl"
    log.write_text(
        log.read_text() + log.read_text().splitlines()[0].replace("2026-04-01", "2026-07-09") + "\n"
    )
    made = by_label(studio.report())["sky mask"]
    assert (made["status"], made["mentions"]) == ("authored", 1)  # one mention is no return

    studio.decide.dismiss("sky mask", "not ours")
    made = by_label(studio.report())["sky mask"]
    assert (made["status"], made["rank"]) == ("dismissed", 3)

    studio.decide.reopen("sky mask")
    assert by_label(studio.report())["sky mask"]["status"] == "open"


def test_decisions_outlive_new_data_and_another_cut(studio: Studio, tmp_path: Path) -> None:
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


def test_a_merge_keeps_the_first_identifier_though_the_grouping_unites_both_later(
    studio_of: Callable[..., Studio],
) -> None:
    studio = studio_of("film grain", "film grain", "film grain look")
    studio.cluster = ClusterSettings(threshold=0.05)
    kept = studio.rows()["film grain look"]["capability_id"]
    studio.decide.merge("film grain look", "film grain")
    studio.report()

    studio.cluster = ClusterSettings(threshold=0.9)

    assert [studio.rows()["film grain"]["capability_id"] for _ in range(2)] == [kept, kept]
    studio.decide.undo(last=True)
    assert studio.rows()["film grain"]["capability_id"] != kept


def relations(made: Run) -> set[tuple[str, bool | None]]:
    """The merges and splits of a run since the run before, and whether people decided them."""
    rows = made.lineage.relations.select("relation", "decided").iter_rows()
    return {row for row in rows if row[0] in {"merged", "split"}}


def test_lineage_tells_decisions_from_new_groups(studio: Studio) -> None:
    studio.decide.merge("lens flare", "sky mask")
    studio.decide.split("film grain", "film grain look")
    assert relations(studio.report(now=LATER)) == {("merged", True), ("split", True)}

    for _ in range(2):
        studio.decide.undo(last=True)
    assert relations(studio.report(now=START)) == {("merged", True), ("split", True)}

    studio.cluster = ClusterSettings(threshold=0.0)
    assert relations(studio.report(now=LATER)) == {("split", False)}


def test_a_comparison_of_runs_tells_decisions_from_new_groups(studio: Studio) -> None:
    studio.decide.merge("lens flare", "sky mask")
    studio.report("next")
    studio.cluster = ClusterSettings(threshold=0.0)
    studio.report("last")
    runs = [
        read_published(studio.folder / name, option="--run") for name in ("out", "next", "last")
    ]

    merged, split = (compared_in_words(compare(*pair), top=0) for pair in (runs[:2], runs[1:]))

    assert "Merged: people decided so (1)\n\n  sky mask (cap-" in merged
    assert "Split by new records or another grouping (2)\n\n  " in split


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("merge", ("sky mask", "mask the sky"), "are the same capability"),
        ("split", ("lens flare", "lens flare"), "no wording of 'lens flare' would stay"),
        ("split", ("lens flare", "sky mask"), "is called 'sky mask'"),
        ("dismiss", ("lens flare", " "), "a dismissal needs a reason"),
        ("author", ("lens flare", ""), "the entry is blank"),
        ("rename", ("lens flare", " "), "the label is blank"),
        ("rename", ("lens flare", "Sky-Mask"), "another capability has the label 'sky mask': cap-"),
        ("rename", ("lens flare", "lens flare"), "'lens flare' already has this label"),
        ("reopen", ("lens flare",), "'lens flare' is already open"),
        ("author", ("lens flare", "\u2060"), "author needs field 'entry' with"),
        ("pin", ("lens flare", "\u200b"), r"reason '\\u200b' has no visible character"),
        ("undo", ("dec-000000000000",), "no decision is called 'dec-000000000000'"),
        ("undo", (), "an undo takes the identifier of a decision, or `--last`"),
    ],
)
def test_what_cannot_be_decided_leaves_no_trace(
    studio: Studio, verb: str, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises((InvalidInputError, NotFoundError), match=message):
        getattr(studio.decide, verb)(*arguments)
    assert not (studio.folder / "decisions.jsonl").exists()


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("pin", (), "'sky mask' is already pinned"),
        ("dismiss", ("no",), "'sky mask' was already dismissed for the same reason"),
        ("author", ("sky",), "'sky mask' was already authored as 'sky'"),
        ("reopen", (), "'sky mask' is already open"),
        (
            "claim",
            (),
            "'sky mask' is already claimed by ana since 2026-07-01: .* ana claimed 'sky mask'",
        ),
        ("merge", ("lens flare",), "is already merged with .* ana merged"),
        ("rename", ("a mask",), "'a mask' already has this label"),
    ],
)
def test_what_is_decided_already_is_refused_before_a_report_follows_it(
    studio: Studio, verb: str, arguments: tuple[str, ...], message: str
) -> None:
    if verb == "reopen":
        studio.decide.dismiss("sky mask", "no")
    getattr(studio.decide, verb)("sky mask", *arguments)

    with pytest.raises(InvalidInputError, match=message):
        getattr(studio.decide, verb)("sky mask", *arguments)


def test_a_later_decision_is_not_replaced_by_an_earlier_one(studio: Studio) -> None:
    earlier = studio.decide
    studio.decide.dismiss("sky mask", "no")

    with pytest.raises(
        InvalidInputError, match=r"has a decision that overrules this one: .* ana dismissed"
    ):
        earlier.author("sky mask", "sky")


def test_of_decisions_of_one_moment_none_is_made_that_an_earlier_one_overrules(
    studio: Studio,
) -> None:
    same_moment = studio.decide
    same_moment.dismiss("sky mask", "no")

    def author_often() -> None:  # their identifiers decide, and cannot rise each time
        for number in range(20):
            same_moment.author("sky mask", f"sky {number}")

    with pytest.raises(InvalidInputError, match=r"has a decision that overrules"):
        author_often()


def test_a_label_that_was_given_since_the_run_is_taken(studio: Studio) -> None:
    studio.decide.rename("lens flare", "glare")
    studio.decide.rename("sky mask", "lens flare")

    with pytest.raises(InvalidInputError, match="another capability has the label 'glare'"):
        studio.decide.rename("film grain", "glare")


def test_a_decision_is_undone_once_by_any_beginning_that_only_it_has(studio: Studio) -> None:
    pin, merge = studio.decide.pin("sky mask"), studio.decide.merge("sky mask", "lens flare")

    with pytest.raises(InvalidInputError, match=f"several.*{pin.decision_id}.*{merge.decision_id}"):
        studio.decide.undo("dec-")
    undo = studio.decide.undo(pin.decision_id[:-1])
    assert undo.undoes == pin.decision_id
    with pytest.raises(InvalidInputError, match=f"was already undone by {undo.decision_id}"):
        studio.decide.undo(pin.decision_id)


@pytest.mark.parametrize(("name", "open_one"), [("film grain look", 0), ("cap", 1)])
def test_what_is_decided_right_after_a_split_is_about_the_named_side(
    studio: Studio, name: str, open_one: int
) -> None:
    parts = ("film grain", "film grain look")
    identifier = studio.rows()["film grain"]["capability_id"]
    studio.decide.split(identifier, "film grain look")

    studio.decide.author(identifier if name == "cap" else name, "grain")

    rows = studio.rows()
    statuses = [rows[parts[place]]["status"] for place in (open_one, 1 - open_one)]
    assert statuses == ["open", "authored"]


def test_the_last_active_decision_is_undone_without_its_name(studio: Studio) -> None:
    pin, merge = studio.decide.pin("sky mask"), studio.decide.merge("sky mask", "lens flare")

    undone = [studio.decide.undo(last=True).undoes for _ in range(2)]

    assert undone == [merge.decision_id, pin.decision_id]
    with pytest.raises(NotFoundError, match="has no decision to undo"):
        studio.decide.undo(last=True)


@pytest.mark.slow
def test_a_tenth_of_new_records_leaves_the_top_its_ids(demo: Path, tmp_path: Path) -> None:
    before = run(demo, tmp_path / "out", now=START)
    asked = [str(text) for text in before.scan.records["missing_capability"].drop_nulls()]
    rng = random.Random(11)  # noqa: S311
    words = sorted({word for text in asked for word in text.split()})
    more = [" ".join(rng.sample(words, 3)) for _ in range(before.scan.records.height // 10)]
    new = write_corpus(
        tmp_path, {"new": [gap(need, notes=str(n)) for n, need in enumerate(more)]}, "new"
    )

    after = run([demo, new], tmp_path / "out", now=LATER)

    top = before.ranked.head(100)
    owner = {
        variant["wording"]: row["capability_id"]
        for row in after.ranked.to_dicts()
        for variant in row["variants"]
    }
    same = sum(
        owner[row["variants"][0]["wording"]] == row["capability_id"] for row in top.to_dicts()
    )
    assert same >= 0.95 * top.height


NEEDS = [
    "sky mask",
    "mask the sky",
    "film grain",
    "grain of film",
    "lens flare",
    "cloud mask",
    "moon glow",
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(NEEDS), min_size=4, max_size=12), st.data())
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_merge_that_is_undone_never_was(
    studio_of: Callable[..., Studio], needs: list[str], data: st.DataObject
) -> None:
    studio = studio_of(*needs)
    labels = studio.report(previous="none").ranked["label"].to_list()
    before = studio.files()
    if len(labels) < 2:
        return
    first, second = data.draw(st.permutations(labels))[:2]
    kept = studio.decide.merge(first, second, "the same").capability
    made = studio.report(now=LATER).ranked
    assert made.height == len(labels) - 1
    assert kept is not None
    assert "the same" in made.filter(capability_id=kept.capability_id)["decisions"].item()[0]
    studio.decide.undo(studio.decide.all()[-1].decision_id)

    studio.report(previous="none")

    assert studio.files() == before


def test_a_run_that_is_named_must_hold_what_its_groups_are_known_by(studio: Studio) -> None:
    (studio.folder / "out" / "groups.parquet").unlink()

    with pytest.raises(StateError, match=r"groups\.parquet' does not exist"):
        studio.report("next", previous=studio.folder / "out")
    with pytest.raises(StateError, match=r"does not exist \(make the report again"):
        studio.decide.pin("sky mask")


def test_a_confirmation_does_not_narrow_a_later_decision(studio_of: Callable[..., Studio]) -> None:
    """A person first left two groups apart, and later merged them and dismissed the result."""
    studio = studio_of("lens flare", *["moon glow"] * 3)
    flare = studio.rows()["lens flare"]
    apart = decide(
        Action.CONFIRM,
        subject(flare["capability_id"], "lens flare", ["lens flare"]),
        actor="ana",
        time=START - timedelta(days=1),
        wordings=("moon glow",),
    )
    append_decisions(studio.folder / "decisions.jsonl", [apart], lambda _: None)

    studio.decide.merge("lens flare", "moon glow")
    studio.report()
    studio.decide.dismiss("lens flare", "a matter of taste")

    assert studio.rows()["lens flare"]["status"] == "dismissed"
