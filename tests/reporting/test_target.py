from datetime import UTC, datetime
from pathlib import Path

import pytest

from vocabgap.errors import InvalidInputError, StateError
from vocabgap.reporting.published_run import check_target, previous_run, read_run, resolve_target

NOW = datetime(2026, 6, 15, tzinfo=UTC)
MANIFEST = '{"vocabgap": "0.1.0", "schema_version": 1}'


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def test_an_empty_folder_will_do(target: Path) -> None:
    check_target(target)


def test_a_folder_with_an_earlier_run_will_do(target: Path) -> None:
    (target / "run.json").write_text(MANIFEST)
    (target / "notes.txt").write_text("mine")

    check_target(target)


@pytest.mark.parametrize(
    "content", ["", "{}", '{"mine": 1}', "[]", '{"vocabgap": 3, "schema_version": 1}']
)
def test_somebody_elses_run_json_makes_no_run(target: Path, content: str) -> None:
    (target / "run.json").write_text(content)

    with pytest.raises(
        StateError, match=r"no run of vocabgap: run\.json is damaged, or of another program"
    ):
        check_target(target)


@pytest.mark.parametrize("previous", [None, "out"])
def test_what_a_run_knows_is_not_lost_where_its_manifest_is_damaged(
    target: Path, previous: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(target.parent)
    (target / "run.json").write_text(MANIFEST)

    with pytest.raises(
        StateError, match=r"run\.json' is damaged or of another version.*--previous none"
    ):
        previous_run(target, previous)

    assert previous_run(target, "none")(NOW).groups is None


def test_a_folder_that_has_the_name_of_a_file_of_ours_is_not_removed(target: Path) -> None:
    (target / "run.json").write_text(MANIFEST)
    (target / "report.md").mkdir()

    with pytest.raises(StateError):
        check_target(target)


@pytest.mark.parametrize("inside", [".", "photos", "photos/deeper"])
def test_a_folder_that_holds_what_is_scanned_is_refused(target: Path, inside: str) -> None:
    (target / "run.json").write_text(MANIFEST)

    with pytest.raises(StateError, match="contains the scanned logs"):
        check_target(target, [(target / inside).resolve()])


def test_the_current_folder_is_refused(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(target)

    with pytest.raises(StateError, match="current folder"):
        check_target(target)


def test_a_link_that_loops_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(InvalidInputError, match="--out"):
        resolve_target(tmp_path / "loop" / "out")


def test_the_error_names_what_named_the_folder(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)

    with pytest.raises(InvalidInputError, match=r"^--run: "):
        read_run(loop / "run", option="--run")
    with pytest.raises(InvalidInputError, match=r"^--previous: "):
        previous_run(tmp_path, loop / "run")
