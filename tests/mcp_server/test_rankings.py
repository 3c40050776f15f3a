import time
from pathlib import Path
from typing import Any

import pytest

from vocabgap.doors.mcp import workspace as module
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.model.selection import Selection
from vocabgap.model.settings import DecisionSettings, ReportSettings, Settings, VocabularySettings
from vocabgap.pipeline import Analysis, analyse

EVERYTHING = Selection()


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> list[Selection]:
    """Every selection that is ranked, once for each time."""
    selections: list[Selection] = []

    def counting(root: Path, *, selection: Selection, **named: Any) -> Analysis:  # noqa: ANN401 - handed on
        selections.append(selection)
        return analyse(root, selection=selection, **named)

    monkeypatch.setattr("vocabgap.pipeline.analyse", counting)
    return selections


@pytest.fixture
def workspace(photos: Path, vocabulary: Path, tmp_path: Path) -> Workspace:
    settings = Settings(
        decisions=DecisionSettings(file=str(tmp_path / "decisions.jsonl")),
        report=ReportSettings(out=str(tmp_path / "out")),
        vocabulary=VocabularySettings(paths=(str(vocabulary),)),
    )
    return Workspace(photos, settings)


def test_a_ranking_is_kept_until_a_gap_is_logged_and_for_a_while(
    workspace: Workspace, ranked: list[Selection], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workspace.ranking(EVERYTHING) is workspace.ranking(EVERYTHING)
    assert len(ranked) == 1
    workspace.logged += 1
    workspace.ranking(EVERYTHING)
    assert len(ranked) == 2
    later = time.monotonic() + module.KEPT_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    workspace.ranking(EVERYTHING)
    assert len(ranked) == 3


def test_the_last_ranking_is_kept_beside_that_of_everything(
    workspace: Workspace, ranked: list[Selection]
) -> None:
    narrowed = [Selection(images=(str(number),)) for number in range(2)]
    for selection in (EVERYTHING, *narrowed, narrowed[-1], narrowed[0], EVERYTHING):
        workspace.ranking(selection)
    assert ranked == [EVERYTHING, *narrowed, narrowed[0]]
