"""The last runs beside the folder that they are published in."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

import vocabgap as vg
from builders import gap, write_corpus
from builders.command import vocabgap
from builders.reporting import publish
from vocabgap.errors import StateError
from vocabgap.glossary.conflicts import Strictness
from vocabgap.model.settings import GlossarySettings, ReportSettings, Settings
from vocabgap.reporting.waiting import publish_waiting

DAYS = [datetime(2026, 7, day, tzinfo=UTC) for day in (1, 2, 3, 4)]
NAMES = [f"2026-07-0{day}T00-00-00Z" for day in (1, 2, 3, 4)]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, {"one": [gap("sky mask"), gap("film grain")]})


def keep(tmp_path: Path, photos: Path, moment: datetime, most: int = 2) -> None:
    publish(tmp_path, photos, now=moment, settings=Settings(report=ReportSettings(keep=most)))


def kept(tmp_path: Path) -> list[str]:
    return sorted(entry.name for entry in (tmp_path / "out.runs").iterdir())


def test_each_run_is_kept_until_there_are_as_many_newer_ones(photos: Path, tmp_path: Path) -> None:
    for moment, then in zip(DAYS, (NAMES[:1], NAMES[:2], NAMES[1:3], NAMES[2:4]), strict=True):
        keep(tmp_path, photos, moment)
        assert kept(tmp_path) == then

    assert vg.history(tmp_path / "out.runs" / NAMES[2])["moment"].max() == DAYS[2]
    for name in ("report.md", "run.json", "capabilities.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (
            tmp_path / "out.runs" / NAMES[3] / name
        ).read_bytes()


def test_run_that_is_replaced_is_kept_where_keeping_begins_with_its_successor(
    photos: Path, tmp_path: Path
) -> None:
    publish(tmp_path, photos, now=DAYS[0])

    keep(tmp_path, photos, DAYS[1])

    assert kept(tmp_path) == NAMES[:2]


def test_nothing_is_kept_where_nobody_asked(photos: Path, tmp_path: Path) -> None:
    publish(tmp_path, photos, now=DAYS[0])
    publish(tmp_path, photos, now=DAYS[1])

    assert not (tmp_path / "out.runs").exists()


def test_run_made_again_is_kept_once_as_it_is_now(photos: Path, tmp_path: Path) -> None:
    keep(tmp_path, photos, DAYS[0])
    (photos / "one" / "vocabulary_gaps.jsonl").unlink()
    write_corpus(tmp_path, {"two": [gap("lens flare")]}, within=photos)

    keep(tmp_path, photos, DAYS[0])

    assert kept(tmp_path) == NAMES[:1]
    assert "lens flare" in (tmp_path / "out.runs" / NAMES[0] / "report.md").read_text(encoding="utf-8")


def test_only_folders_that_hold_a_run_and_nothing_else_are_removed(photos: Path, tmp_path: Path) -> None:
    runs, elsewhere = tmp_path / "out.runs", tmp_path / "elsewhere"
    publish(tmp_path, photos, out=elsewhere, now=DAYS[0])
    runs.mkdir()
    (runs / "2026-01-01T00-00-00Z").mkdir()
    (runs / "2026-01-02T00-00-00Z").symlink_to(elsewhere, target_is_directory=True)
    publish(tmp_path, photos, out=runs / "2026-01-03T00-00-00Z", now=DAYS[0])
    (runs / "2026-01-03T00-00-00Z" / "notes.txt").write_text("mine")
    publish(tmp_path, photos, out=runs / "2026-01-04T00-00-00Z", now=DAYS[0])
    (runs / "2026-01-04T00-00-00Z" / "report.md").unlink()
    (runs / "2026-01-04T00-00-00Z" / "report.md").symlink_to(elsewhere / "report.md")
    publish(tmp_path, photos, out=runs / "before-the-release", now=DAYS[0])
    (runs / "2026-01-05T00-00-00Z").write_text("a file")
    foreign = kept(tmp_path)

    for moment in DAYS:
        keep(tmp_path, photos, moment, most=1)

    assert kept(tmp_path) == sorted([*foreign, NAMES[-1]])
    assert (elsewhere / "report.md").exists()
    assert (runs / "2026-01-03T00-00-00Z" / "notes.txt").read_text() == "mine"


def test_removal_that_was_stopped_half_way_is_finished(photos: Path, tmp_path: Path) -> None:
    keep(tmp_path, photos, DAYS[0])
    for entry in (tmp_path / "out.runs" / NAMES[0]).iterdir():
        if entry.name != "run.json":
            entry.unlink()

    keep(tmp_path, photos, DAYS[1], most=1)

    assert kept(tmp_path) == NAMES[1:2]


@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_what_lies_in_the_place_of_the_runs_is_told_before_the_work(
    photos: Path, tmp_path: Path, kind: str
) -> None:
    runs = tmp_path / "out.runs"
    runs.write_text("mine") if kind == "file" else runs.symlink_to(tmp_path / "nowhere")
    stages: list[str] = []

    with pytest.raises(StateError, match="expected a folder of runs"):
        publish(
            tmp_path,
            photos,
            settings=Settings(report=ReportSettings(keep=1)),
            on_stage=stages.append,
        )

    assert stages == []


def test_what_a_run_that_was_killed_has_left_of_a_kept_one_goes(photos: Path, tmp_path: Path) -> None:
    runs = tmp_path / "out.runs"
    left, foreign = (runs / f".2026-01-01T00-00-00Z.staging-{name}" for name in ("0123456789ab", "mine"))
    for folder in (left, foreign):
        folder.mkdir(parents=True)
        (folder / "report.md").write_text("half")

    keep(tmp_path, photos, DAYS[0])

    assert (left.exists(), foreign.exists()) == (False, True)


def test_run_that_is_replaced_while_it_is_copied_is_not_kept_half(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tmp_path, photos, now=DAYS[0])

    def copy(source: Path, place: Path) -> None:
        shutil.copyfile(source, place)
        if source.name == "report.md":
            publish(tmp_path, photos, now=DAYS[1])

    monkeypatch.setattr("vocabgap.reporting.keeping.shutil.copy", copy)

    with pytest.raises(StateError, match="was replaced meanwhile"):
        keep(tmp_path, photos, DAYS[2])

    assert kept(tmp_path) == []


def test_dated_link_is_not_written_through(photos: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "out.runs").mkdir()
    (tmp_path / "out.runs" / NAMES[0]).symlink_to(elsewhere, target_is_directory=True)

    with pytest.raises(StateError, match=r"is published in .*out', but was not kept: .* is a link"):
        keep(tmp_path, photos, DAYS[0])

    assert not list(elsewhere.iterdir())
    assert (tmp_path / "out" / "run.json").exists()


def test_copies_are_as_private_as_the_report(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    keep(tmp_path, photos, DAYS[0])

    access = [
        path.stat().st_mode & 0o777 for path in (tmp_path / "out.runs", tmp_path / "out.runs" / NAMES[0])
    ]

    assert access == [0o700, 0o700]


def test_report_that_waited_is_kept_when_it_is_published(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    folder.mkdir()
    senses = "".join(f"  - surface: mask\n    definition: {meaning}\n" for meaning in ("One", "Another"))
    (folder / "team_domain.yaml").write_text(f"terms:\n{senses}", encoding="utf-8")
    settings = Settings(glossary=GlossarySettings(folder=str(folder)), report=ReportSettings(keep=2))
    blocked = publish(tmp_path, photos, now=DAYS[0], settings=settings).blocked
    assert blocked is not None
    assert not (tmp_path / "out.runs").exists()

    publish_waiting(settings.glossary, blocked.retry_token, strictness=Strictness.OFF, keep=2)

    assert kept(tmp_path) == NAMES[:1]


def test_option_goes_before_the_setting(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vocabgap.toml").write_text("[report]\nkeep = 1\n")
    codes = [
        vocabgap("report", photos, "-q", "--now", "2026-07-01").code,
        vocabgap("report", photos, "-q", "--now", "2026-07-02").code,
    ]
    assert kept(tmp_path) == NAMES[1:2]

    codes.append(vocabgap("report", photos, "-q", "--now", "2026-07-03", "--keep", "3").code)
    refused = vocabgap("report", photos, "--keep", "-1")

    assert codes == [0, 0, 0]
    assert kept(tmp_path) == NAMES[1:3]
    assert (refused.code, "--keep" in refused.err) == (2, True)
