"""Withdrawal: what is forgotten is gone, and after a compaction in no file."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from builders import gap, write_corpus
from corpus.builders import write_photos
from vocabgap.corpus.corpus import Corpus, open_corpus
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME

SCOPES = (("north", "photos"), ("north", "archive"), ("south", "photos"))


@pytest.fixture(scope="module")
def pushed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Push the same logs for two tenants, for one of them under two names, each with a snapshot."""
    folder = tmp_path_factory.mktemp("once")
    corpus = open_corpus(folder / "corpus")
    photos = write_photos(folder)
    for tenant, repo in SCOPES:
        corpus.push(photos, tenant=tenant, repo=repo, snapshot=True)
    return folder / "corpus"


@pytest.fixture
def shared(pushed_once: Path, corpus: Corpus) -> Corpus:
    """Copy that corpus."""
    shutil.copytree(pushed_once, corpus.store.folder)
    return corpus


def left(corpus: Corpus) -> list[tuple[str, str, int]]:
    """Count the records of each repository."""
    rows = corpus.store.version().rows(["tenant_id", "repo_slug"])
    return rows.group_by(pl.all()).len().sort("tenant_id", "repo_slug").rows()


def test_image_is_forgotten_by_the_name_in_a_record(corpus: Corpus, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask"), gap("film grain", image_id="fox-3")]})
    corpus.push(root, tenant="north", repo="photos")

    assert corpus.forget("north", match="FOX-3").records == 1
    assert len(scan(corpus.store.folder).gaps) == 1


@pytest.mark.parametrize(("column", "digits"), [("id", 64), ("name", 64), ("id", 12), ("name", 12)])
def test_record_is_forgotten_by_its_id(shared: Corpus, column: str, digits: int) -> None:
    rows = shared.store.version().rows().filter(tenant_id="north", repo_slug="photos")

    outcome = shared.forget("north", "photos", names=rows[column][0][:digits])

    assert outcome.records == 1
    assert left(shared)[1] == ("north", "photos", 2)


def test_digits_that_begin_several_ids_forget_nothing(corpus: Corpus, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap(f"need {number}") for number in range(600)]})
    corpus.push(root, tenant="north", repo="photos")
    names = corpus.store.version().rows(["name"])["name"].str.head(4)
    shared_by_two = names.filter(names.is_duplicated())[0]

    with pytest.raises(InvalidInputError, match=f"'{shared_by_two}' begins the ids of 2 records"):
        corpus.forget("north", names=shared_by_two)

    assert left(corpus) == [("north", "photos", 600)]


@pytest.mark.parametrize("asked", [{}, {"repo": "photos"}, {"paths": "heron"}])
def test_dry_run_counts_what_is_then_forgotten(shared: Corpus, asked: dict[str, Any]) -> None:
    before = shared.store.version().measures

    tried = shared.forget("north", **asked, dry_run=True)

    assert shared.store.version().measures == before
    assert shared.forget("north", **asked) == tried


def everything_in(folder: Path) -> bytes:
    """Return the content of all files of a corpus, with those in Parquet unpacked."""
    actual = b""
    for path in folder.iterdir():
        actual += path.name.encode() + path.read_bytes()
        if path.suffix == ".parquet":
            actual += pl.read_parquet(path, memory_map=False).write_json().encode()
    return actual


ZEBRA = '{"description": "zebra crossing lines"}'
SCOPED: dict[str, dict[str, Any]] = {
    "tenant": {},
    "repository": {"repo": "zoo"},
    "image": {"paths": "heron"},
    "record": {"names": ZEBRA},
}


@pytest.mark.parametrize("asked", SCOPED.values(), ids=SCOPED)
def test_compaction_removes_the_text(shared: Corpus, tmp_path: Path, asked: dict[str, Any]) -> None:
    root = write_corpus(tmp_path, {"heron": [ZEBRA, ZEBRA[:-1]]}, "zoo")  # the second one is torn
    shared.push(root, tenant="zoo-keeper", repo="zoo", snapshot=True)
    assert everything_in(tmp_path / "corpus").count(b"zebra") > 1
    if "names" in asked:
        (record,) = scan(tmp_path / "corpus", tenants=("zoo-keeper",)).gaps["record_id"]
        asked = {"names": record}

    shared.forget("zoo-keeper", **asked)
    shared.compact()

    whole = everything_in(tmp_path / "corpus")
    assert b"zebra" not in whole
    # Whose repository it was, not what it held.
    assert (b"zoo-keeper" in whole) == bool({"names", "paths"} & asked.keys())
    assert left(shared) == [(tenant, repo, 3) for tenant, repo in sorted(SCOPES)]

    again = shared.push(root, tenant="zoo-keeper", repo="zoo", snapshot=True)

    assert (again.added, again.forgotten) == (0, 1)
    assert b"zebra" not in everything_in(tmp_path / "corpus")


def test_forgotten_line_that_broke_has_no_text(corpus: Corpus, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask"), ZEBRA]})
    corpus.push(root, tenant="north", repo="photos")
    zebra = scan(corpus.store.folder).gaps.filter(line=2)["record_id"].item()
    corpus.forget("north", names=zebra)
    corpus.compact()
    log = root / "heron" / LOG_NAME
    log.write_text(log.read_text().removesuffix("}\n") + "\n")

    pushed = corpus.push(root, tenant="north", repo="photos")

    assert len(pushed.errors) == scan(corpus.store.folder).summary.rejects == 1
    assert b"zebra" not in everything_in(tmp_path / "corpus")
    assert corpus.lift("north") == 1
    corpus.push(root, tenant="north", repo="photos")
    assert b"zebra" in everything_in(tmp_path / "corpus")


def test_rejects_are_forgotten_with_their_image_repository_or_tenant(shared: Corpus) -> None:
    cases: tuple[tuple[dict[str, Any], int], ...] = (
        ({"repo": "photos", "paths": "heron"}, 3),
        ({"repo": "photos", "paths": "fjord"}, 2),
        ({}, 1),
    )
    for asked, rejects in cases:
        shared.forget("north", **asked)

        assert scan(shared.store.folder).summary.rejects == rejects


def test_forgotten_records_do_not_come_again(shared: Corpus, photos: Path, tmp_path: Path) -> None:
    backup = tmp_path / "b.jsonl"
    shared.export(backup)
    shared.forget("north", "photos", paths="heron")

    pushed = shared.push(photos, tenant="north", repo="photos")
    assert (pushed.added, pushed.forgotten) == (0, 2)
    for replace in (False, True):
        restored = shared.restore(backup, replace=replace)
        assert (restored.forgotten, restored.records) == (2, 9)
        assert restored.added == (7 if replace else 0)

    assert shared.status().forgotten == 2
    assert left(shared)[1] == ("north", "photos", 1)


def test_another_repository_may_get_forgotten_records(shared: Corpus, photos: Path) -> None:
    shared.forget("north", "photos")

    assert shared.push(photos, tenant="north", repo="right-name").added == 3


def test_rewritten_or_moved_record_stays_forgotten(corpus: Corpus, tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask", image_id="heron")]})
    corpus.push(root, tenant="north", repo="photos")
    corpus.forget("north", paths="heron")
    (root / "heron").rename(root / "elsewhere")
    log = root / "elsewhere" / LOG_NAME
    log.write_text(
        json.dumps(json.loads(log.read_text()), indent=None, separators=(" , ", " : ")) + "\n"
    )

    assert corpus.push(root, tenant="north", repo="photos").forgotten == 1


@pytest.mark.parametrize(
    "asked", [{}, {"repo": "photos"}, {"names": "id"}, {"names": "name"}], ids=str
)
def test_lifted_records_come_again(shared: Corpus, photos: Path, asked: dict[str, str]) -> None:
    rows = shared.store.version().rows().filter(tenant_id="north", repo_slug="photos")
    if "names" in asked:
        asked = {"names": rows[asked["names"]][0]}
    shared.forget("north", "photos")
    expected = 1 if "names" in asked else 3

    assert shared.lift("north", **asked) == expected

    pushed = shared.push(photos, tenant="north", repo="photos")
    assert (pushed.added, pushed.forgotten) == (expected, 3 - expected)
    assert shared.status().forgotten == 3 - expected


def test_text_that_is_missing_is_not_forgotten(corpus: Corpus, tmp_path: Path) -> None:
    backup = tmp_path / "b.jsonl"
    record = {"embedding": [1.0], "metadata": {"tenantId": "north", "source": "a.md"}}
    texts = {"one": "a heron", "two": None}
    lines = [json.dumps(record | {"id": name, "document": text}) for name, text in texts.items()]
    backup.write_text("\n".join(lines))
    corpus.restore(backup)

    assert corpus.forget("north", match="HERON") == (1, 0)
    assert corpus.store.version().rows(["id"])["id"].to_list() == ["two"]
