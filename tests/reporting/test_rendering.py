"""The report of a published run, made again."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import polars as pl
import pytest

from builders import gap, write_corpus
from builders.reporting import publish, tell_anew_of
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.model.selection import Selection
from vocabgap.model.settings import RankBy, RankSettings, Settings
from vocabgap.model.tables import CAPABILITIES, GAPS, GROUPS
from vocabgap.pipeline import Run
from vocabgap.reporting import writing
from vocabgap.reporting.published_run import read_table
from vocabgap.reporting.writing import render, report

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def contents(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


@pytest.fixture
def folder(demo_run: Run, tmp_path: Path) -> Path:
    """A copy of the published demo, to do with as one likes."""
    copy = tmp_path / "run"
    shutil.copytree(demo_run.published.folder, copy)
    return copy


def change_manifest(folder: Path, **changed: object) -> None:
    path = folder / "run.json"
    manifest = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode(manifest | changed))


def test_same_version_makes_the_same_bytes(folder: Path) -> None:
    before = contents(folder)
    made = render(folder)
    assert contents(folder) == before
    assert (made.folder, set(made.files)) == (folder, set(before))


@pytest.mark.parametrize(
    "arguments",
    [
        {"settings": Settings(rank=RankSettings(by=RankBy.PRIORITY, min_images=2))},
        {"selection": Selection(images=("fjord-dawn-0412",))},
        {"share": 4, "settings": Settings(rank=RankSettings(min_images=4))},
    ],
    ids=["settings", "selection", "share"],
)
def test_whatever_was_asked_for_is_asked_for_again(
    demo: Path, tmp_path: Path, arguments: dict[str, object]
) -> None:
    out = publish(tmp_path, demo, **arguments).published.folder
    before = contents(out)
    render(out, share="share" in arguments)
    assert contents(out) == before


def test_a_run_with_a_run_before_is_told_as_it_was(tmp_path: Path) -> None:
    publish(tmp_path, write_corpus(tmp_path, {"heron": [gap("sky mask")]}, name="old"))
    later = datetime(2026, 7, 2, tzinfo=UTC)
    out = publish(
        tmp_path, write_corpus(tmp_path, {"heron": [gap("sky mask"), gap("film grain")]}), now=later
    ).published.folder
    before = contents(out)
    render(out)
    assert contents(out) == before
    assert b"In the run before: 1 mention, rank 1" in before["report.html"]


def test_copy_elsewhere_is_a_whole_run(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    made = render(folder, tmp_path / "copy")
    assert contents(made.folder) == before
    assert contents(folder) == before


def test_face_that_was_lost_or_is_not_there_yet_is_made(folder: Path) -> None:
    whole = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    change_manifest(folder, rendering=None)
    render(folder)
    assert (folder / "report.html").read_bytes() == whole


def test_page_to_share_is_made_when_it_is_asked_for_and_not_kept(folder: Path) -> None:
    assert "share.html" in render(folder, share=True).files
    render(folder)
    assert not (folder / "share.html").exists()


def test_without_records_nothing_can_be_shared(demo_run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report(demo_run.ranked, out, now=NOW)
    with pytest.raises(InvalidInputError, match=r"has no gaps\.parquet"):
        render(out, share=True)


def test_folder_without_a_run_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="has no run"):
        render(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "name", ["capabilities.parquet", "gaps.parquet", "rejects.parquet", "groups.parquet"]
)
def test_missing_table_is_told_and_nothing_changes(folder: Path, name: str) -> None:
    (folder / name).unlink()
    before = contents(folder)
    with pytest.raises(StateError, match=name):
        render(folder)
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["capabilities.parquet", "gaps.parquet", "groups.parquet"])
def test_table_that_was_changed_is_told(folder: Path, name: str) -> None:
    changed = pl.read_parquet(folder / name).head(1)
    changed.write_parquet(folder / name, compression="uncompressed")
    with pytest.raises(StateError, match=rf"{name}' is damaged"):
        render(folder)


def test_run_that_was_replaced_meanwhile_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = writing.write_formats

    def replaced(*arguments: object, **options: object) -> object:
        change_manifest(folder, capabilities=99)
        return write(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "write_formats", replaced)
    with pytest.raises(StateError, match="was replaced during the work"):
        render(folder)
    assert msgspec.json.decode((folder / "run.json").read_bytes())["capabilities"] == 99


@pytest.mark.parametrize("name", ["capabilities.parquet", "gaps.parquet", "groups.parquet"])
def test_column_that_a_table_gained_since_is_filled(folder: Path, name: str) -> None:
    whole = pl.read_parquet(folder / name)
    whole[:, :-1].write_parquet(folder / name)
    tell_anew_of(folder / name)

    render(folder)

    table = {"capabilities": CAPABILITIES, "gaps": GAPS, "groups": GROUPS}[
        name.removesuffix(".parquet")
    ]
    assert read_table(folder, table).schema == whole.schema
