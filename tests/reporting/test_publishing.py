import os
import signal
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from filelock import lock_descriptor

from vocabgap.errors import AccessDeniedError, NotFoundError, StateError
from vocabgap.reporting.published_run import published, read_run

as_root = pytest.mark.skipif(os.geteuid() == 0, reason="the super-user may write everywhere")

MANIFEST = '{"vocabgap": "0.1.0", "schema_version": 1}'


def publish(out: Path, text: str = "new") -> None:
    with published(out) as folder:
        (folder / "report.md").write_text(text)
        (folder / "run.json").write_text(MANIFEST)


def fail_halfway(out: Path, failure: type[BaseException]) -> None:
    with published(out) as folder:
        (folder / "report.md").write_text("half")
        raise failure


def contents(folder: Path) -> dict[str, str]:
    return {entry.name: entry.read_text() for entry in folder.iterdir()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def _narrow_umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_files_appear_together_when_the_block_ends(out: Path) -> None:
    with published(out) as folder:
        (folder / "report.md").write_text("new")
        assert not out.exists()
    assert contents(out) == {"report.md": "new"}


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failing_block_leaves_the_earlier_run_as_it_was(
    out: Path, failure: type[BaseException]
) -> None:
    publish(out, "earlier")
    with pytest.raises(failure):
        fail_halfway(out, failure)
    assert contents(out) == {"report.md": "earlier", "run.json": MANIFEST}
    assert [entry.name for entry in out.parent.iterdir()] == ["out"]


def test_a_disk_that_refuses_is_told_as_such_and_publishes_nothing(out: Path) -> None:
    publish(out, "earlier")
    with pytest.raises(StateError, match="cannot be written: No space left"), published(out):
        raise OSError(28, "No space left on device")
    assert contents(out)["report.md"] == "earlier"


def test_a_file_of_an_earlier_run_that_the_new_one_lacks_goes(out: Path) -> None:
    with published(out) as folder:
        for name in ("report.md", "rejects.parquet", "run.json"):
            (folder / name).write_text(MANIFEST)
    publish(out)
    assert sorted(contents(out)) == ["report.md", "run.json"]


def test_what_a_person_put_beside_a_run_is_carried_over(out: Path) -> None:
    publish(out, "earlier")
    (out / "notes.txt").write_text("ask Mira")
    (out / "sketches").mkdir()
    (out / "sketches" / "one.txt").write_text("drawing")
    publish(out, "later")
    assert (out / "report.md").read_text() == "later"
    assert (out / "notes.txt").read_text() == "ask Mira"
    assert (out / "sketches" / "one.txt").read_text() == "drawing"


def test_a_folder_with_files_but_no_run_is_refused_and_left_alone(out: Path) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("precious")
    with pytest.raises(StateError, match="has files, but no run of vocabgap"):
        publish(out)
    assert contents(out) == {"thesis.txt": "precious"}
    assert [entry.name for entry in out.parent.iterdir()] == ["out"]


def test_a_file_in_the_folder_s_place_is_refused_and_left_alone(out: Path) -> None:
    out.write_text("precious")
    with pytest.raises(StateError, match="is not a folder"):
        publish(out)
    assert out.read_text() == "precious"


def test_a_link_stays_a_link_to_the_folder_that_is_published(tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(tmp_path / "real")
    publish(link, "earlier")
    publish(link, "later")
    assert link.is_symlink()
    assert contents(tmp_path / "real")["report.md"] == "later"


def test_a_run_killed_between_its_two_renames_is_recovered(out: Path) -> None:
    publish(out, "earlier")
    (out / "notes.txt").write_text("ask Mira")
    out.rename(out.with_name(".out.before-0123456789ab"))
    publish(out, "later")
    assert contents(out) == {"report.md": "later", "run.json": MANIFEST, "notes.txt": "ask Mira"}
    assert [entry.name for entry in out.parent.iterdir()] == ["out"]


def test_what_a_killed_run_has_staged_is_removed_by_the_next_one_and_by_readers(out: Path) -> None:
    staged = out.with_name(".out.staging-0123456789ab")
    for use in (publish, lambda out: read_run(out, option="RUN")):
        staged.mkdir(mode=0o700)
        (staged / "report.md").write_text("half")
        with suppress(NotFoundError, StateError):
            use(out)
        assert not staged.exists()


def test_what_is_being_written_is_nobody_elses_to_read(out: Path) -> None:
    with published(out) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_readers_remove_nothing_that_somebody_is_writing(out: Path) -> None:
    publish(out)
    with published(out) as folder:
        (folder / "report.md").write_text("new")
        with pytest.raises(StateError):  # the manifest of these tests is of no version
            read_run(out, option="RUN")
        assert (folder / "report.md").exists()
        (folder / "run.json").write_text(MANIFEST)
    assert contents(out)["report.md"] == "new"


@pytest.mark.parametrize(
    "name",
    [
        ".out.before-x", ".out.before-refactor", ".out.before-0123456789abc", ".out.staging-0123456789AB",
        ".out.staging-", ".out.before-0123456789ab.txt",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_leftover_stays(out: Path, name: str) -> None:
    mine = out.with_name(name)
    mine.mkdir()
    (mine / "run.json").write_text(MANIFEST)
    (mine / "report.md").write_text("mine")

    publish(out)
    publish(out)

    assert contents(mine) == {"run.json": MANIFEST, "report.md": "mine"}


def test_folder_with_the_name_of_a_leftover_that_holds_no_run_stays(out: Path) -> None:
    for role in ("before", "staging"):
        foreign = out.with_name(f".out.{role}-0123456789ab")
        foreign.mkdir()
        (foreign / "report.md").write_text("theirs")
        (foreign / "thesis.txt").write_text("theirs")

    publish(out)

    assert {*contents(out)} == {"run.json", "report.md"}
    for role in ("before", "staging"):
        assert {*contents(out.with_name(f".out.{role}-0123456789ab"))} == {
            "report.md",
            "thesis.txt",
        }


@pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user may give files away")
def test_leftover_of_another_user_stays(out: Path) -> None:
    left = out.with_name(".out.before-0123456789ab")
    left.mkdir()
    (left / "run.json").write_text(MANIFEST)
    os.chown(left, 65534, 65534)

    publish(out)

    assert contents(left) == {"run.json": MANIFEST}


@pytest.mark.usefixtures("_narrow_umask")
def test_permissions_follow_the_umask(out: Path) -> None:
    publish(out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o750
    assert stat.S_IMODE((out / "report.md").stat().st_mode) == 0o640


@as_root
def test_a_parent_that_may_not_be_written_is_access_denied(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(AccessDeniedError, match="cannot be written"):
        publish(closed / "out")


def test_permissions_of_what_is_replaced_are_kept(out: Path) -> None:
    publish(out, "earlier")
    out.chmod(0o700)
    (out / "report.md").chmod(0o600)

    publish(out, "later")

    assert (out.stat().st_mode & 0o777, (out / "report.md").stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )


def test_an_interrupt_waits_until_the_folders_are_in_their_places(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(out, "earlier")
    (out / "notes.txt").write_text("ask Mira")
    rename = Path.rename
    handler = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a job in the background has none

    def interrupted(path: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)

    try:
        with pytest.raises(KeyboardInterrupt):
            publish(out, "later")
    finally:
        signal.signal(signal.SIGINT, handler)

    assert contents(out) == {"report.md": "later", "run.json": MANIFEST, "notes.txt": "ask Mira"}
    assert [entry.name for entry in out.parent.iterdir()] == [out.name]


def left_behind(out: Path) -> Path:
    """What a killed run leaves of the one that it replaced, with somebody's notes."""
    left = out.with_name(f".{out.name}.before-0123456789ab")
    left.mkdir()
    (left / "notes.txt").write_text("ask Mira")
    (left / "run.json").write_text(MANIFEST)
    return left


def test_notes_of_the_same_name_are_both_kept(out: Path) -> None:
    publish(out, "earlier")
    (out / "notes.txt").write_text("written since")
    left = left_behind(out)

    publish(out, "later")

    assert (out / "notes.txt").read_text() == "written since"
    assert (left / "notes.txt").read_text() == "ask Mira"


@pytest.mark.slow
def test_publications_at_the_same_time_lose_nothing(out: Path) -> None:
    publish(out, "earlier")
    (out / "notes.txt").write_text("ask Mira")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: publish(out, f"run {number}"), range(60)))

    assert (out / "notes.txt").read_text() == "ask Mira"
    assert [entry.name for entry in out.parent.iterdir()] == [out.name]


def test_another_publication_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.files.locking.LONGEST_WAIT", 0.1)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert lock_descriptor(descriptor, blocking=False)
        with (
            pytest.raises(StateError, match=f"is held by process {os.getpid()} "),
            published(tmp_path / "out"),
        ):
            pytest.fail("two publications at once")
    finally:
        os.close(descriptor)
    assert list(tmp_path.iterdir()) == []
