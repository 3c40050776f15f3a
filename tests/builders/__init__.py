"""Builders of gap logs on disk, shared by every test."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

LOG = "vocabulary_gaps.jsonl"

OUTSIDE = "outside_data"


def outside(config: pytest.Config, name: str) -> Path:
    """Gives a place among the data that are no part of the project; without it the test is skipped."""
    place = Path(config.getini(OUTSIDE), name)
    if not place.exists():
        pytest.skip(
            f"needs '{place}', which lies beside the project; -o {OUTSIDE}=FOLDER names another"
        )
    return place


def gap(need: str, **fields: object) -> dict[str, object]:
    """Makes one gap record: the need, and whatever other fields a test is about."""
    return {"timestamp": "2026-04-01T10:00:00Z", "description": need, "workaround": "", **fields}


def weekly(need: str, *mentions: int, begin: str = "2026-03-02") -> list[dict[str, object]]:
    """Makes so many records of a need in each week from a Monday on, each in a session of its own."""
    first = datetime.fromisoformat(f"{begin}T00:00:00+00:00")
    return [
        gap(
            need,
            timestamp=(first + timedelta(weeks=week, hours=1 + 12 * number)).isoformat(),
            session_id=f"{need} {week} {number}",
        )
        for week, several in enumerate(mentions)
        for number in range(several)
    ]


def steady(weeks: int, begin: str = "2026-03-02") -> list[dict[str, object]]:
    """Makes five needs that are asked for three times a week: the others beside which a need comes back."""
    needs = "lens flare", "red eye fix", "level the horizon", "perspective warp", "halo repair"
    return [record for need in needs for record in weekly(need, *[3] * weeks, begin=begin)]


def write_corpus(
    tmp_path: Path,
    images: Mapping[str, Iterable[Mapping[str, object] | str]],
    name: str = "photos",
    within: Path | None = None,
) -> Path:
    """Writes a workspace: image to its lines, each a record or the text of a line as it is."""
    root = (within or tmp_path) / name
    root.mkdir(parents=True)
    for image, lines in images.items():
        log = root / image / LOG
        log.parent.mkdir(parents=True)
        written = [
            line if isinstance(line, str) else json.dumps({"image_id": image, **line})
            for line in lines
        ]
        log.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
    return root


def three_needs(tmp_path: Path, *more: Mapping[str, object]) -> Path:
    """Writes a workspace: three needs, one asked for twice in two sessions; one line is no record."""
    heron = [
        gap("sky mask", intent_category="local", satisfaction=-1, session_id="s-1"),
        gap("film grain", timestamp="2026-05-01T00:00:00Z", operations_involved=["grain"]),
    ]
    fjord: list[Mapping[str, object] | str] = [
        gap("mask the sky", timestamp="2026-05-02T00:00:00Z", session_id="s-2"),
        *more,
        "no json",
    ]
    return write_corpus(tmp_path, {"heron": heron, "fjord": fjord})


def write_config(tmp_path: Path, text: str) -> Path:
    """Writes a settings file of some other name than the one that is found by itself."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path
