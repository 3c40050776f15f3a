import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import vocabgap as vg
from vocabgap.doors.mcp import workspace as module
from vocabgap.doors.mcp.workspace import Known, Rankings
from vocabgap.model.selection import Selection
from vocabgap.model.settings import DecisionSettings, Settings, VocabularySettings
from vocabgap.pipeline import Analysis, analyse

EVERYTHING = Selection()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Selection]:
    """Every selection that is ranked, once for each time."""
    found: list[Selection] = []

    def counting(root: Path, *, selection: Selection, **named: Any) -> Analysis:  # noqa: ANN401 - handed on
        found.append(selection)
        return analyse(root, selection=selection, **named)

    monkeypatch.setattr(module, "analyse", counting)
    return found


@pytest.fixture
def rankings(photos: Path, vocabulary: Path, tmp_path: Path) -> Rankings:
    settings = Settings(
        decisions=DecisionSettings(file=str(tmp_path / "decisions.jsonl")),
        vocabulary=VocabularySettings(paths=(str(vocabulary),)),
    )
    return Rankings(photos, settings, tmp_path / "out")


def test_a_ranking_is_made_once_while_nothing_changes(rankings: Rankings, made: list[Selection]) -> None:
    assert rankings.of(EVERYTHING) is rankings.of(EVERYTHING)
    assert made == [EVERYTHING]


@pytest.mark.parametrize(
    "changed",
    [
        "photos/heron/vocabulary_gaps.jsonl",
        "photos/owl/vocabulary_gaps.jsonl",
        "decisions.jsonl",
        "entries.csv",
    ],
)
def test_a_ranking_is_made_again_where_a_file_has_changed(
    rankings: Rankings, made: list[Selection], tmp_path: Path, changed: str
) -> None:
    rankings.of(EVERYTHING)
    (tmp_path / changed).parent.mkdir(exist_ok=True)
    with (tmp_path / changed).open("a", encoding="utf-8") as file:
        file.write("\n")
    rankings.of(EVERYTHING)
    assert len(made) == 2


def test_a_ranking_is_made_again_after_a_while(
    rankings: Rankings, made: list[Selection], monkeypatch: pytest.MonkeyPatch
) -> None:
    rankings.of(EVERYTHING)
    later = time.monotonic() + module.KEPT_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    rankings.of(EVERYTHING)
    assert len(made) == 2


def test_few_rankings_are_kept(rankings: Rankings, made: list[Selection]) -> None:
    narrowed = [Selection(images=(str(number),)) for number in range(5)]
    for selection in (*narrowed, narrowed[-1], narrowed[0]):
        rankings.of(selection)
    assert made == [*narrowed, narrowed[0]]


def test_nothing_is_known_before_anything_was_ranked(rankings: Rankings) -> None:
    known = rankings.known()
    assert known.capabilities is None
    assert [entry.name for entry in known.vocabulary.entries] == ["film_look", "sky_mask"]


def test_the_published_run_is_known(rankings: Rankings, photos: Path, tmp_path: Path) -> None:
    assert rankings.known().capabilities is None
    ranked = vg.run(photos, out=tmp_path / "out", now=datetime(2026, 7, 1, tzinfo=UTC)).ranked
    known = rankings.known().capabilities
    assert known is not None
    assert known["capability_id"].to_list() == ranked["capability_id"].to_list()
    assert rankings.known().capabilities is known


def test_what_was_ranked_last_is_known_while_it_is_made_again_and_when_that_is_given_up(
    rankings: Rankings, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = rankings.of(EVERYTHING)
    (photos / "owl").mkdir()
    (photos / "owl" / "vocabulary_gaps.jsonl").touch()
    known: list[Known] = []

    def given_up(*_: object, **__: object) -> None:
        known.append(rankings.known())
        raise TimeoutError

    monkeypatch.setattr(module, "analyse", given_up)
    with pytest.raises(TimeoutError):
        rankings.of(EVERYTHING)
    assert [each.capabilities is found.ranked for each in (*known, rankings.known())] == [True, True]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The manifest of a pack, some folders below the one that is named, of one entry."""
    path = tmp_path / "packs" / "local" / "manifest.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"entries": [{"name": "sky_mask"}]}', encoding="utf-8")
    return path


def test_what_is_known_is_made_ready_once_while_it_is_the_same(
    rankings: Rankings, made: list[Selection], vocabulary: Path
) -> None:
    rankings.of(EVERYTHING)
    first = rankings.index()
    assert rankings.index() is first
    vocabulary.write_text("name,description\nmoon_glow,Glow of the moon\n", encoding="utf-8")
    assert rankings.index() is not first
    assert [each.name for each in rankings.index().nearest("glow of the moon")] == ["moon_glow"]
    assert made == [EVERYTHING]
