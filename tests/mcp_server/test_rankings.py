import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import vocabgap as vg
from vocabgap.doors.mcp import workspace as module
from vocabgap.doors.mcp.workspace import Rankings
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
        "entries.jsonl",
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


def test_the_last_ranking_is_kept_beside_that_of_everything(
    rankings: Rankings, made: list[Selection]
) -> None:
    narrowed = [Selection(images=(str(number),)) for number in range(2)]
    for selection in (EVERYTHING, *narrowed, narrowed[-1], narrowed[0], EVERYTHING):
        rankings.of(selection)
    assert made == [EVERYTHING, *narrowed, narrowed[0]]


def test_the_published_run_is_compared_with_before_anything_was_ranked(
    rankings: Rankings, photos: Path, tmp_path: Path
) -> None:
    assert [each.name for each in rankings.index().nearest("dust removal")] == []
    ranked = vg.run(photos, out=tmp_path / "out", now=datetime(2026, 7, 1, tzinfo=UTC)).ranked
    (nearest, *_) = rankings.index().nearest("dust removal")
    assert nearest.name in ranked["capability_id"].to_list()


def test_the_last_ranking_is_compared_with_when_the_next_one_is_given_up(
    rankings: Rankings, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rankings.of(EVERYTHING)
    before = rankings.index()
    (photos / "owl").mkdir()
    (photos / "owl" / "vocabulary_gaps.jsonl").touch()

    def given_up(*_: object, **__: object) -> None:
        assert rankings.index() is before
        raise TimeoutError

    monkeypatch.setattr(module, "analyse", given_up)
    with pytest.raises(TimeoutError):
        rankings.of(EVERYTHING)
    assert rankings.index() is before


def test_what_is_known_is_made_ready_once_while_it_is_the_same(
    rankings: Rankings, made: list[Selection], vocabulary: Path
) -> None:
    rankings.of(EVERYTHING)
    first = rankings.index()
    assert rankings.index() is first
    vocabulary.write_text('{"name": "moon_glow", "description": "Glow of the moon"}', encoding="utf-8")
    assert rankings.index() is not first
    assert [each.name for each in rankings.index().nearest("glow of the moon")] == ["moon_glow"]
    assert made == [EVERYTHING]
