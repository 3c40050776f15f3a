"""Withdrawal: what is forgotten is gone, and after a compaction in no file."""

from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from vocabgap.corpus.corpus import Corpus
from vocabgap.corpus.upkeep import Forgotten
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.records.record import LOG_NAME

SCOPES = (("north", "photos"), ("north", "archive"), ("south", "photos"))


@pytest.fixture
def shared(corpus: Corpus, photos: Path) -> Corpus:
    """The same logs as pushed by two tenants, by one of them under two names, each with a snapshot."""
    for tenant, repo in SCOPES:
        corpus.push(photos, tenant=tenant, repo=repo, snapshot=True)
    return corpus


def left(corpus: Corpus) -> list[tuple[str, str, int]]:
    """How many records there are of whom."""
    rows = corpus.store.version().rows(["tenant_id", "repo_slug"])
    return rows.group_by(pl.all()).len().sort("tenant_id", "repo_slug").rows()


def test_tenant_is_forgotten_and_no_other(shared: Corpus) -> None:
    assert shared.forget("north") == Forgotten(records=6, paths=4)
    assert left(shared) == [("south", "photos", 3)]


def test_repository_is_forgotten_and_no_other(shared: Corpus) -> None:
    shared.forget("north", "archive")

    assert left(shared) == [("north", "photos", 3), ("south", "photos", 3)]


def test_image_is_forgotten_by_its_folder(shared: Corpus) -> None:
    assert shared.forget("north", "photos", image="heron") == Forgotten(records=2, paths=1)
    assert left(shared)[1] == ("north", "photos", 1)


def test_image_is_forgotten_where_a_record_names_it(corpus: Corpus, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask"), gap("film grain", image_id="fox-3")]})
    corpus.push(root, tenant="north", repo="photos")

    assert corpus.forget("north", image="fox-3").records == 1
    assert len(corpus.scan().gaps) == 1


@pytest.mark.parametrize("column", ["id", "name"])
def test_record_is_forgotten_by_its_id(shared: Corpus, column: str) -> None:
    rows = shared.store.version().rows().filter(tenant_id="north", repo_slug="photos")

    made = shared.forget("north", "photos", record=rows[column][0])

    assert made.records == 1
    assert left(shared)[1] == ("north", "photos", 2)


@pytest.mark.parametrize(
    "asked", [{"tenant": "east"}, {"tenant": "north", "repo": "x"}, {"tenant": "north", "record": "0"}]
)
def test_nothing_to_forget_is_told(shared: Corpus, asked: dict[str, str]) -> None:
    with pytest.raises(NotFoundError, match="nothing to forget"):
        shared.forget(**asked)


def test_nobody_is_not_everybody(shared: Corpus) -> None:
    with pytest.raises(InvalidInputError, match="no tenant is named"):
        shared.forget("")


def everything_in(folder: Path) -> bytes:
    """All that the files of a corpus hold, those in Parquet unpacked."""
    found = b""
    for path in folder.iterdir():
        found += path.name.encode() + path.read_bytes()
        if path.suffix == ".parquet":
            found += pl.read_parquet(path, memory_map=False).write_json().encode()
    return found


@pytest.mark.parametrize("image", [None, "heron"])
def test_what_is_forgotten_is_in_no_file_after_a_compaction(
    shared: Corpus, tmp_path: Path, image: str | None
) -> None:
    line = '{"description": "zebra crossing lines"}'
    root = write_corpus(tmp_path, {"heron": [line]}, "zoo")
    shared.push(root, tenant="zoo-keeper", repo="zoo", snapshot=True)
    assert b"zebra" in everything_in(tmp_path / "corpus")

    shared.forget("zoo-keeper", image=image)
    shared.compact()

    whole = everything_in(tmp_path / "corpus")
    assert b"zebra" not in whole
    assert (b"zoo-keeper" in whole) == (image is not None)  # whose repository it was, not what it held
    assert left(shared) == [(tenant, repo, 3) for tenant, repo in sorted(SCOPES)]


def test_path_of_what_is_forgotten_leaves_the_snapshot(shared: Corpus) -> None:
    shared.forget("north", "photos", image="heron")

    (kept,) = [
        each
        for each in shared.store.version().snapshots
        if (each.tenant_id, each.repo_slug) == ("north", "photos")
    ]
    assert kept.paths == (f"fjord/{LOG_NAME}",)


def test_what_is_forgotten_may_come_again(shared: Corpus, photos: Path) -> None:
    shared.forget("north", "photos", image="heron")

    assert shared.push(photos, tenant="north", repo="photos").added == 2


def test_what_a_chunk_is_called_is_no_id(corpus: Corpus) -> None:
    note = {"content": "about the house", "sourcePath": "notes/today.txt", "name": "Setup"}
    corpus.push({"files": [note]}, tenant="north", repo="photos")

    with pytest.raises(NotFoundError, match="record 'Setup'"):
        corpus.forget("north", record="Setup")


def test_tenant_is_named_as_in_a_push(shared: Corpus) -> None:
    assert shared.forget("@south").records == 3
