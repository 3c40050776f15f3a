from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs

import vocabgap as vg
from builders import gap, write_corpus
from vocabgap.doors.cli.app import run as command
from vocabgap.errors import NotFoundError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.runtime import configured_runtime
from vocabgap.model.settings import Settings

NOW = datetime(2026, 7, 1, tzinfo=UTC)
REGION, DISGUISE = "A region of an image", "What hides a face"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_corpus(
        tmp_path, {"heron": [gap("sky mask"), gap("film grain")], "fjord": [gap("mask the sky")]}
    )


def settings_with(tmp_path: Path, *meanings: str, strictness: str = "medium") -> Settings:
    folder = tmp_path / "glossary"
    folder.mkdir()
    listed = "".join(f"  - surface: mask\n    definition: {meaning}\n" for meaning in meanings)
    (folder / "team_domain.yaml").write_text(f"terms:\n{listed}", encoding="utf-8")
    glossary = GlossarySettings(folder=str(folder), strictness=strictness)  # type: ignore[arg-type]
    return structs.replace(Settings(), glossary=glossary)


def stopped(logs: Path, tmp_path: Path, settings: Settings) -> BlockedByConflictError:
    with pytest.raises(BlockedByConflictError) as raised:
        vg.run(logs, tmp_path / "out", settings=settings, now=NOW)
    assert not (tmp_path / "out").exists()
    return raised.value


def test_contested_word_stops_the_report_with_a_question(photos: Path, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, REGION, DISGUISE)

    error = stopped(photos, tmp_path, settings)

    assert "'mask'. Nothing was published." in error.message
    assert error.hint.endswith(", then try again")
    assert (error.exit_code, error.retry_token) == (4, "")
    assert [conflict.context for conflict in error.conflicts] == ["sky mask"]
    assert [path.name for path in (tmp_path / "glossary" / "events").iterdir()] == [
        "report.events.jsonl"
    ]


def test_report_is_published_once_somebody_has_answered(
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    settings_with(tmp_path, REGION, DISGUISE)
    report = ["report", str(photos), "--glossary", "glossary", "--strictness", "medium", "-q"]

    codes = [command(report)]
    answer = capsys.readouterr().err.split("`vocabgap ")[1].split("`")[0].split()
    codes += [command([*answer, "--select", "1"]), command(report)]

    assert codes == [4, 0, 0]
    assert (tmp_path / "out" / "report.html").is_file()


def test_off_checks_and_logs_but_stops_nothing(photos: Path, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, REGION, DISGUISE, strictness="off")

    vg.run(photos, tmp_path / "out", settings=settings, now=NOW)

    events = read_events(configured_runtime(settings.of(GlossarySettings)).logs).events
    names = {type(each.event).__name__ for each in events}
    assert {
        "TermCandidateObserved",
        "SemanticCheckEvaluated",
        "GlossaryClarificationRequested",
    } <= names
    assert "GenerationBlockedBySemanticConflict" not in names


def test_glossary_that_does_not_exist_is_told(photos: Path, tmp_path: Path) -> None:
    settings = structs.replace(Settings(), glossary=GlossarySettings(folder=str(tmp_path / "none")))
    with pytest.raises(NotFoundError, match="not initialized"):
        vg.run(photos, tmp_path / "out", settings=settings, now=NOW)
