import os
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.ingest import assert_every_line_is_accounted_for, write_log
from vocabgap.ingest.discovery import discover
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.model.record import LOG_NAME, RejectReason

Burrow = Callable[[int, str], None]

NOT_FOLLOWED = RejectReason.LINK_NOT_FOLLOWED.value
UNREADABLE = RejectReason.UNREADABLE_FILE.value
NEED = {"description": "soft reeds"}
FOLDERS = ["a", "b", "a/c", ".den", ".den/d"]

# A link: the folder that it lies in, and the folder or the other link that it names.
links = st.lists(
    st.tuples(
        st.sampled_from(FOLDERS), st.sampled_from([*FOLDERS, ".", "a/link-0", ".den/link-1"])
    ),
    max_size=6,
)


def lay(workspace: Path, laid: Mapping[str, str]) -> Path:
    """Lays links in the workspace: their names to what they name."""
    for name, target in laid.items():
        (workspace / name).symlink_to(target)
    return workspace


@pytest.fixture
def burrow(workspace: Path) -> Iterator[Burrow]:
    """Digs folders of one name into each other, deeper than a path may be, with an empty log at the end."""
    end = os.open(workspace, os.O_RDONLY)
    dug: list[str] = []

    def enter(name: str) -> None:
        nonlocal end
        left, end = end, os.open(name, os.O_RDONLY, dir_fd=end)
        os.close(left)

    def dig(levels: int, name: str) -> None:
        for _ in range(levels):
            os.mkdir(name, dir_fd=end)
            enter(name)
            dug.append(name)
        os.close(os.open(LOG_NAME, os.O_WRONLY | os.O_CREAT, dir_fd=end))

    yield dig
    os.unlink(LOG_NAME, dir_fd=end)
    for name in dug:  # what tidies up after the tests would recurse
        enter("..")
        os.rmdir(name, dir_fd=end)
    os.close(end)


def read(scanned: Scan) -> list[str]:
    return scanned.files["source_path"].to_list()


def listen(name: str) -> None:
    """Leaves a socket of that name in the current folder."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)  # not by its path, which would be too long for a socket


def rejected(scanned: Scan) -> list[tuple[str, str]]:
    return list(scanned.rejects.select("source_path", "reason").iter_rows())


@pytest.mark.parametrize(
    ("laid", "expected"),
    [
        pytest.param({"away": "../elsewhere"}, ["away"], id="out of the roots"),
        pytest.param(
            {"more": "../shoots-2"}, ["more"], id="to a folder whose name begins like the root's"
        ),
        pytest.param(
            {"album": ".away", ".away": "../elsewhere"}, ["album"], id="out through another link"
        ),
        pytest.param({"album": "album"}, ["album"], id="to itself"),
        pytest.param({"a": "b", "b": "a"}, ["a", "b"], id="to each other"),
        pytest.param({"album": ".store"}, ["album"], id="to a hidden folder"),
        pytest.param(
            {LOG_NAME: f"../elsewhere/secret/{LOG_NAME}"}, [LOG_NAME], id="to a log outside"
        ),
        pytest.param({LOG_NAME: "/dev/null"}, [LOG_NAME], id="to a device"),
        pytest.param({LOG_NAME: "/dev/zero"}, [LOG_NAME], id="to a device without end"),
    ],
)
def test_a_link_that_must_not_be_followed_is_one_reject(
    laid: dict[str, str], expected: list[str], workspace: Path, tmp_path: Path
) -> None:
    write_log(workspace, "fox-3", NEED)
    (workspace / ".store").mkdir()
    for name in ("elsewhere", "shoots-2"):
        write_log(tmp_path / name, "secret", {"description": "not yours"})

    scanned = scan(lay(workspace, laid))

    assert rejected(scanned) == [(name, NOT_FOLLOWED) for name in expected]
    assert scanned.gaps["description"].to_list() == ["soft reeds"]


@pytest.mark.parametrize(
    "laid",
    [
        pytest.param({"album": "zoo/fox-3"}, id="to a folder of the root"),
        pytest.param({"zoo/fox-3/up": "..", "zoo/fox-3/here": "."}, id="to folders above"),
        pytest.param({"zoo/on": "../heron-11", "heron-11/on": "../zoo"}, id="between two folders"),
    ],
)
def test_a_folder_is_searched_under_its_own_name_only(
    laid: dict[str, str], workspace: Path
) -> None:
    for image in ("zoo/fox-3", "heron-11"):
        write_log(workspace, image)

    scanned = scan(lay(workspace, laid))

    assert read(scanned) == [f"heron-11/{LOG_NAME}", f"zoo/fox-3/{LOG_NAME}"]
    assert rejected(scanned) == []


def test_a_chain_of_links_longer_than_the_stack_does_not_end_the_scan(workspace: Path) -> None:
    write_log(workspace, "heron-11")
    write_log(workspace, ".chain")
    chain = {f".chain/{number}": f"{number - 1}" for number in range(1, 1500)}
    root = lay(workspace, {".chain/0": ".", **chain, "album": ".chain/1499"})

    assert f"heron-11/{LOG_NAME}" in read(scan(root))


@pytest.mark.parametrize(
    ("image", "target", "roots"),
    [
        pytest.param("heron-11", "zoo", ["zoo"], id="to a root"),
        pytest.param("heron-11", "zoo/heron-11", ["zoo"], id="into a root"),
        pytest.param(
            ".store/heron-11", "zoo/.store/heron-11", ["zoo", "zoo/.store"], id="into two roots"
        ),
    ],
)
def test_a_log_belongs_to_its_own_root_whatever_links_lead_to_it(
    image: str, target: str, roots: list[str], workspace: Path
) -> None:
    workspace = lay(workspace, {"album": f"../{target}"})
    write_log(workspace.parent / "zoo", image)

    scanned = scan([workspace, *(workspace.parent / root for root in roots)])

    assert scanned.files["repo_slug"].to_list() == [Path(roots[-1]).name]
    assert rejected(scanned) == []


@pytest.mark.parametrize(
    "said", [{"image_id": "heron-11"}, {}], ids=["image said", "image from folder"]
)
def test_records_of_a_linked_log_are_duplicates(said: dict[str, str], workspace: Path) -> None:
    write_log(workspace, "heron-11", {**NEED, **said})
    write_log(workspace, "album").unlink()

    scanned = scan(lay(workspace, {f"album/{LOG_NAME}": f"../heron-11/{LOG_NAME}"}))

    assert read(scanned) == [f"album/{LOG_NAME}", f"heron-11/{LOG_NAME}"]
    assert scanned.gaps["why_not"].to_list() == ["duplicate", None]


def test_a_dead_link_matters_only_if_it_has_the_name_of_a_log(workspace: Path) -> None:
    assert rejected(scan(lay(workspace, {LOG_NAME: "gone", "album": "gone"}))) == [
        (LOG_NAME, UNREADABLE)
    ]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, listen])
def test_a_pipe_folder_or_socket_with_the_name_of_a_log_is_one_reject(
    make: Callable[[str], None], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    make(LOG_NAME)

    scanned = scan(workspace)

    assert rejected(scanned) == [(LOG_NAME, UNREADABLE)]
    assert scanned.rejects.select("line", "byte_offset", "raw").rows() == [(None, None, "")]
    assert_every_line_is_accounted_for(scanned, 0)


def test_a_deep_tree_is_read_to_the_bottom(burrow: Burrow, workspace: Path) -> None:
    burrow(1500, "d")

    assert read(scan(workspace)) == ["d/" * 1500 + LOG_NAME]


def test_folders_beyond_a_path_are_one_reject(burrow: Burrow, workspace: Path) -> None:
    burrow(30, "d" * 200)
    write_log(workspace, "heron-11")

    assert scan(workspace).summary.reasons == {UNREADABLE: 1}
    assert read(scan(workspace)) == [f"heron-11/{LOG_NAME}"]


def test_hidden_names_are_searched_where_that_is_asked_for(workspace: Path) -> None:
    write_log(workspace, "heron-11/.cache")
    write_log(workspace, ".store")
    root = lay(workspace, {"album": ".store"})

    assert read(scan(root)) == []
    assert read(scan(root, hidden=True)) == [f".store/{LOG_NAME}", f"heron-11/.cache/{LOG_NAME}"]


@given(links)
def test_links_never_make_a_log_be_read_twice(laid: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        for name in FOLDERS:
            Path(root, name).mkdir()
            Path(root, name, LOG_NAME).touch()
        for number, (within, target) in enumerate(laid):
            Path(root, within, f"link-{number}").symlink_to(Path(root, target))

        found = [log for log in discover([root]) if log.problem is None]

        assert {log.source_path for log in found} >= {
            f"{name}/{LOG_NAME}" for name in ("a", "b", "a/c")
        }
        assert max(Counter(os.path.realpath(log.path) for log in found).values()) == 1
