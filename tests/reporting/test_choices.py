"""What a person may answer about a capability: its parts, and the groups near it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import vocabgap as vg
from builders import gap, write_corpus
from vocabgap.clustering.screens import Neighbour, Part, Screen
from vocabgap.model.selection import Selection
from vocabgap.model.settings import ClusterSettings, DecisionSettings, Settings
from vocabgap.pipeline import Run, run
from vocabgap.reporting.listed import Choices, choices_of
from vocabgap.text import shortened

NOW = datetime(2026, 5, 1, tzinfo=UTC)
OLD, NEW = "2026-02-01T09:00:00Z", "2026-04-20T09:00:00Z"
TRIPOD = ("hold the horizon level", "level horizon", "straighten the horizon of a panorama")
ASKED = {
    "remove dust spots": (OLD, NEW, NEW),
    "dust spot removal": (NEW,),
    "remove sensor dust": (OLD, NEW),
    "spots of dust on the sky": (OLD,),
    "clone out dust": (NEW,),
    **dict.fromkeys(TRIPOD, (NEW, OLD)),
}


def made(folder: Path, **given: object) -> Run:
    settings = Settings(
        cluster=ClusterSettings(embedder="none"),
        decisions=DecisionSettings(file=str(folder / "decided.jsonl")),
    )
    return run(folder / "photos", folder / "out", settings=settings, now=NOW, **given)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [gap(need, timestamp=when) for need, times in ASKED.items() for when in times]
    write_corpus(
        tmp_path, {"quarry": [line | {"session_id": str(at)} for at, line in enumerate(lines)]}
    )
    return tmp_path


def check(made: Run) -> int:
    """Check that choices name what the run has, and that each part can be split off; return their number."""
    rows = {row["capability_id"]: row for row in made.ranked.to_dicts()}
    decide = vg.Decisions(made.published.folder, dry_run=True)
    number = 0
    for each in made.published.manifest.choices:
        variants = [variant["wording"] for variant in rows[each.capability_id]["variants"]]
        assert {name for name, _ in each.near} <= rows.keys() - {each.capability_id}
        for part in each.parts:
            decide.split(each.capability_id, [variants[place] for place in part])
        number += len(each.parts) + len(each.near)
    return number


def test_choices_fit_the_run_whatever_is_selected_and_decided(folder: Path) -> None:
    whole = made(folder)
    assert (
        check(whole)
        > check(made(folder, selection=Selection(until=datetime(2026, 3, 1, tzinfo=UTC))))
        > 0
    )

    made(folder)
    first, other = whole.ranked["label"].head(2)
    decide = vg.Decisions(folder / "out", folder / "decided.jsonl")
    decide.merge(first, other)
    merged = made(folder)

    assert merged.ranked.height == whole.ranked.height - 1
    assert check(merged) > 0


def test_a_group_is_found_by_its_wordings() -> None:
    """Two groups have the same surface, because people separated "C" from "c"."""
    wordings = {"cap-1": ["chart in C", "chart of C"], "cap-2": ["chart in c"], "cap-3": ["legend"]}
    ranked = pl.DataFrame(
        {
            "capability_id": [*wordings],
            "variants": [[{"wording": each} for each in own] for own in wordings.values()],
        }
    )
    parts = (Part(("chart of C", "chart C"), 2, 0.5), Part(("charts C",), 1, 0.4))
    near = (Neighbour("c", 1, ("chart in c",), 0.5), Neighbour("not selected", 1, ("key",), 0.4))
    screen = Screen(
        "chart in C", 5, ("chart in C", "chart of C", "chart C", "charts C"), parts, near, 1.0
    )
    unknown = Screen("key", 1, ("key",), (), (), 1.0)

    assert choices_of([screen, unknown], ranked) == (
        Choices("cap-1", (("cap-2", 0.5),), ((1,),), (0.5,)),
    )


def test_a_page_names_wordings_by_position_or_as_a_whole(tmp_path: Path) -> None:
    long = ["sun behind " + "the very " * 30 + name for name in ("round tower", "old tower")]
    needs = [
        "sun behind the tower",
        "tower with the sun behind",
        "sun behind",
        *long,
        "sun behind " * 300,
    ]
    write_corpus(tmp_path, {"quarry": [gap(need) for need in needs]})
    report = made(tmp_path).published.folder / "report.html"
    block = (
        report.read_text(encoding="utf-8").partition('id="run-data">')[2].partition("</script>")[0]
    )
    data = json.loads(block)
    rows = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    parts = [name for row in rows for _, part, _ in row["parts"] for name in part]

    assert {type(name) for name in parts} == {int, str}
    assert {name for name in parts if isinstance(name, str)} <= {*long}
    assert shortened(long[0], 240) not in parts
