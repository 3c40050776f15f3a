"""Decisions that the page of a report saved are recorded all together, or not at all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders.decisions import Studio
from vocabgap.errors import InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.listing.deciding import Decisions

RUN = "2026-07-01T00:00:00Z"


def named(studio: Studio, wording: str) -> dict[str, str]:
    row = studio.rows()[wording]
    return {"capability_id": row["capability_id"], "label": row["label"]}


def line(action: str, capability: dict[str, str], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
    return {"run": RUN, "action": action, "capability": capability, **more}


def saved(studio: Studio, *lines: dict[str, Any]) -> Path:
    path = studio.folder / "page.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    return path


def test_the_next_report_follows_every_line(studio: Studio) -> None:
    sky, grain, flare = (named(studio, each) for each in ("sky mask", "film grain", "lens flare"))
    path = saved(
        studio,
        line("merge", sky, other=flare, reason="same need"),
        line("split", grain, wordings=["film grain look"]),
        line("rename", sky, label="sky and flare"),
        line("author", grain, entry="film_grain"),
    )

    made = studio.decide.apply(path)

    rows = studio.rows()
    assert [each.action for each in made] == ["merge", "split", "rename", "author"]
    assert studio.decide.all() == made
    assert (
        rows["lens flare"]["capability_id"]
        == rows["sky mask"]["capability_id"]
        == sky["capability_id"]
    )
    assert rows["lens flare"]["label"] == "sky and flare"
    assert rows["film grain"]["capability_id"] != rows["film grain look"]["capability_id"]
    assert (rows["film grain"]["status"], rows["film grain look"]["status"]) == ("authored", "open")


def test_lines_may_come_from_a_pipe_and_of_another_run(studio: Studio) -> None:
    pin = line("pin", named(studio, "sky mask")) | {"run": "2026-06-30T00:00:00Z"}
    message: list[str] = []

    studio.decide.apply([json.dumps(pin).encode()], message.append)

    assert studio.rows()["sky mask"]["pinned"]
    assert message == ["2026-06-30T00:00:00Z"]


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"action": "pinn"}, InvalidInputError, "field 'action': .*, expected one of merge, .*claim .cor"),
        ({"action": "undo"}, InvalidInputError, "field 'action': a page saves no 'undo'"),
        ({"action": "merge"}, InvalidInputError, "merge needs field 'other'"),
        ({"action": "dismiss"}, InvalidInputError, "a dismissal needs a reason .correct"),
        ({"entry": "sky_mask"}, InvalidInputError, "pin has no field 'entry' .*nothing was decided"),
        ({"action": "split", "wordings": ["moon"]}, NotFoundError, "'lens flare' is called 'moon'"),
        ({"time": RUN}, InvalidInputError, "unknown field 'time'"),
        ({"capability": {"capability_id": "cap-1", "label": "moon"}}, NotFoundError, "'moon' .cap-1. is not"),
        ({"capability": {"capability_id": 7, "label": ""}}, InvalidInputError, "'capability.capability_id'"),
        ({"run": 7}, InvalidInputError, "field 'run'"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_nothing_is_recorded(
    studio: Studio, change: dict[str, Any], kind: type[VocabgapError], message: str
) -> None:
    good, bad = (line("pin", named(studio, each)) for each in ("sky mask", "lens flare"))
    path = saved(studio, good, bad | change)

    with pytest.raises(kind, match=rf"page\.jsonl:2: .*{message}"):
        studio.decide.apply(path)
    assert studio.decide.all() == ()


def test_a_capability_with_another_label_is_refused(studio: Studio) -> None:
    sky = named(studio, "sky mask") | {"label": "moon mask"}

    with pytest.raises(InvalidInputError, match="is 'sky mask' in the run, not 'moon mask'"):
        studio.decide.apply(saved(studio, line("pin", sky)))


def test_a_file_without_a_line_is_refused(studio: Studio) -> None:
    path = saved(studio)
    path.write_text("\n \n")

    with pytest.raises(InvalidInputError, match="it has no decision"):
        studio.decide.apply(path)


def test_a_conflict_names_the_other_person_and_leaves_the_file_as_it_was(studio: Studio) -> None:
    studio.decide.split("film grain", "film grain look")
    grain = named(studio, "film grain")
    lone = line("merge", named(studio, "film grain look"), other=named(studio, "film grain"))

    with pytest.raises(
        StateError, match=r"split 'film grain look' off .*, 2026-07-01T00:01:00Z by ana"
    ):
        studio.decide.apply(saved(studio, line("pin", grain), lone))
    assert len(studio.decide.all()) == 1


def test_a_merge_that_the_file_has_already_is_refused_in_both_directions(studio: Studio) -> None:
    sky, flare = named(studio, "sky mask"), named(studio, "lens flare")
    path = saved(studio, line("merge", sky, other=flare), line("merge", flare, other=sky))

    with pytest.raises(
        InvalidInputError, match=r"page\.jsonl:2: .* is already merged with .*: 2026-07-01 ana"
    ):
        studio.decide.apply(path)
    assert studio.decide.all() == ()


def test_a_trial_records_nothing(studio: Studio) -> None:
    path = saved(studio, line("pin", named(studio, "sky mask")))
    trial = Decisions(studio.folder / "out", studio.folder / "decisions.jsonl", dry_run=True)

    (made,) = trial.apply(path)

    assert made.what == "pinned 'sky mask'"
    assert not (studio.folder / "decisions.jsonl").exists()


def test_only_the_saved_wordings_leave(studio_of: Callable[..., Studio]) -> None:
    studio = studio_of("film grain", "film-grain", "film grain look")
    studio.report()
    path = saved(studio, line("split", named(studio, "film grain"), wordings=["film grain"]))

    studio.decide.apply(path)

    rows = studio.rows()
    (alone,) = rows["film grain"]["variants"]
    assert (alone["wording"], len(rows["film-grain"]["variants"])) == ("film grain", 2)
