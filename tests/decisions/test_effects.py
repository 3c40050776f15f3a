"""`decide` says what decisions change, and the next report agrees."""

from collections.abc import Callable
from typing import Any

import pytest

from builders.decisions import Studio
from vocabgap.decisions.effects import Effect
from vocabgap.decisions.record import Decision
from vocabgap.errors import StateError
from vocabgap.listing.deciding import Decisions

FACTS = ("label", "rank", "mentions", "status")
Call = Callable[[Decisions], Decision]
CALLS: dict[str, Call] = {
    "merge": lambda book: book.merge("lens flare", "sky mask"),
    "split": lambda book: book.split("sky mask", "mask the sky"),
    "rename": lambda book: book.rename("film grain", "grain"),
    "pin": lambda book: book.pin("lens flare"),
    "dismiss": lambda book: book.dismiss("sky mask", "no"),
    "author": lambda book: book.author("film grain", "grain"),
}


def facts(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The facts of each capability; a need of the first run is as open as any."""
    return {
        row["capability_id"]: {fact: row[fact] for fact in FACTS} | {"pinned": row["pinned"]}
        for row in rows
    }


def told(effects: tuple[Effect, ...], when: str) -> dict[str, dict[str, Any]]:
    found = {
        each.capability_id: {fact: getattr(each, when + fact) for fact in FACTS} for each in effects
    }
    return {name: row for name, row in found.items() if row["rank"] is not None}


@pytest.mark.parametrize(
    ("action", "is_undone"),
    [*((action, False) for action in CALLS), ("merge", True), ("pin", True)],
)
def test_the_next_report_is_as_told(studio: Studio, action: str, is_undone: bool) -> None:
    made = CALLS[action](studio.decide)
    if is_undone:
        studio.report()
        made = studio.decide.undo(last=True)
    before = facts(Decisions(studio.folder / "out")._published.capabilities.to_dicts())

    effects = studio.decide.effects([made])

    after = facts(studio.report().ranked.to_dicts())
    changed = {
        name
        for name in {*before, *after}
        if {**before.get(name, {}), "rank": 0} != {**after.get(name, {}), "rank": 0}
    }
    assert {each.capability_id for each in effects} == changed
    for when, rows in (("previous_", before), ("", after)):
        assert told(effects, when) == {
            name: {fact: row[fact] for fact in FACTS}
            for name, row in rows.items()
            if name in changed
        }
    assert not any(each.is_estimate for each in effects)


def test_a_merged_capability_is_told_with_its_successor(studio: Studio) -> None:
    made = studio.decide.merge("lens flare", "sky mask")

    kept, gone = studio.decide.effects([made])

    assert (kept.previous_label, kept.label) == ("lens flare", "sky mask")
    assert gone.merged_into == "sky mask"
    assert (kept.previous_rank, kept.rank, kept.previous_mentions, kept.mentions) == (3, 1, 1, 4)


def test_a_trial_of_a_decision_takes_earlier_decisions_into_account(studio: Studio) -> None:
    studio.decide.merge("lens flare", "film grain")
    trial = Decisions(studio.folder / "out", studio.folder / "decisions.jsonl", dry_run=True)

    kept, _ = trial.effects([trial.merge("sky mask", "lens flare")])

    assert (kept.previous_mentions, kept.mentions) == (3, 6)


def test_what_a_decision_replaces_is_told(studio: Studio) -> None:
    dismissal = studio.decide.dismiss("sky mask", "no")
    pin = studio.decide.pin("sky mask")

    authored = studio.decide.author("sky mask", "sky_mask")
    undo = studio.decide.undo(pin.decision_id)

    assert studio.decide.replaced([authored]) == (dismissal,)
    assert studio.decide.replaced([undo]) == (pin,)


def test_a_run_without_its_records_is_refused(studio: Studio) -> None:
    made = studio.decide.pin("sky mask")
    (studio.folder / "out" / "gaps.parquet").unlink()

    with pytest.raises(StateError, match=r"gaps\.parquet' does not exist"):
        studio.decide.effects([made])
