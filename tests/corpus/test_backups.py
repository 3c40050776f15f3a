"""Backups: every chunk with its vector in a file, and back to the byte."""

import json
import os
import resource
import shutil
import signal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.builders import NORTH, ids_of
from vocabgap.corpus import store
from vocabgap.corpus.backups import DEFAULT_DIMENSION, EMBEDDED_BY, Exported
from vocabgap.corpus.contracts import BACKUP_RECORD, Code, RefusedError, faults
from vocabgap.corpus.corpus import Corpus, open_corpus
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.atomic import write_parquet

OWN = {"tenantId": "north", "repoSlug": "photos", "source": "a.md", "name": "a", "type": "guide"}


def record(number: int = 1, **fields: object) -> dict[str, Any]:
    """Return a backup record of another program."""
    metadata = {**OWN, "name": f"piece {number}"}
    return {
        "id": f"id-{number}",
        "embedding": [0.5, -1.0],
        "metadata": metadata,
        "document": "text",
        **fields,
    }


def write(path: Path, *records: object) -> Path:
    """Write a file of records; a text is a line as it is."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in records]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """Read the records of a file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_backup_keeps_contract_and_order(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)

    outcome = corpus.export(tmp_path / "b.jsonl")

    records = read(tmp_path / "b.jsonl")
    assert outcome == Exported(
        records=3, embedded=3, without_document=0, dimension=DEFAULT_DIMENSION
    )
    assert [item["id"] for item in records] == sorted(item["id"] for item in records)
    assert [faults(BACKUP_RECORD, item) for item in records] == [()] * 3
    assert {len(item["embedding"]) for item in records} == {DEFAULT_DIMENSION}
    assert {item["metadata"][EMBEDDED_BY]["dimension"] for item in records} == {DEFAULT_DIMENSION}


def test_similar_needs_have_similar_vectors(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)
    corpus.export(tmp_path / "b.jsonl")

    vectors = {
        json.loads(item["document"])["description"]: item["embedding"]
        for item in read(tmp_path / "b.jsonl")
    }

    def cosine(one: str, other: str) -> float:
        return float(sum(a * b for a, b in zip(vectors[one], vectors[other], strict=True)))

    assert cosine("sky mask", "mask the sky") > 0.8
    assert abs(cosine("sky mask", "film grain")) < 0.5


FOREIGN = {
    "javascript": '{"id":"a","embedding":[0,-1,1e+21,1e-7,0.0000123,123456789012345680000],'
    '"metadata":{"at":1e+21,"10":1,"9":"é"},"document":null}',
    "python": '{"id": "a", "embedding": [-0.0, 1.0, 1e+21, 1e-07, 1.23e-05, 5e-324], "metadata": {"at": 1.0},'
    ' "document": "caf\\u00e9 \\ud83d\\ude00"}',
    "go": '{"document":"\\u003cb\\u003e \\u2028","embedding":[1,1e-7],"id":"a","metadata":{"n":1e+21}}',
    "rust": '{"id":"a","embedding":[1.0,1e-7,1e21,1.7976931348623157e308],"metadata":{},"document":"<b>é"}',
    "by hand": '{ "document":"\\u0041\\/", "id":"caf\\u00e9","embedding":[1.50,1E+2,-0,12345678901234567890,'
    '0.10000000000000000555], "metadata":{"n" : 1.10,"n":36893488147419103232} }\t\r',
}


@pytest.mark.parametrize("line", FOREIGN.values(), ids=FOREIGN)
def test_foreign_line_is_exported_unchanged(corpus: Corpus, tmp_path: Path, line: str) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", line))

    corpus.export(tmp_path / "again.jsonl")

    assert (tmp_path / "again.jsonl").read_bytes() == f"{line}\n".encode()


def test_own_backup_is_restored_exactly(
    corpus: Corpus, other: Corpus, photos: Path, tmp_path: Path
) -> None:
    corpus.push(photos, **NORTH)
    corpus.push({"files": [{"content": "ünï\u2028 code", "sourcePath": "notes.md"}]}, **NORTH)
    corpus.export(tmp_path / "b.jsonl")
    whole = (tmp_path / "b.jsonl").read_bytes()
    disordered = b"\xef\xbb\xbf" + b"\n\n".join(reversed(whole.splitlines()))
    (tmp_path / "c.jsonl").write_bytes(disordered)

    for plain, name in (("b.jsonl", "again.jsonl.zst"), ("c.jsonl", "again.jsonl")):
        other.restore(tmp_path / plain, replace=True)
        other.export(tmp_path / name)
        again = (tmp_path / name).read_bytes()
        assert (zstd.decompress(again) if name.endswith(".zst") else again) == whole
    assert (
        other.store.version().rows(["backup_line"])["backup_line"].null_count() == 4
    )  # stored once


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
foreign = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
            "embedding": st.lists(
                st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3
            ),
            "metadata": st.dictionaries(
                st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=4
            ),
            "document": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda item: str(item["id"]),
)


@settings(max_examples=6)
@given(foreign)
def test_whatever_was_restored_is_exported_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("law")
    source = write(folder / "a.jsonl", *sorted(records, key=lambda item: item["id"].encode()))
    one = open_corpus(folder / "one")
    one.restore(source)

    one.export(folder / "b.jsonl")

    assert (folder / "b.jsonl").read_bytes() == source.read_bytes()


def test_part_of_an_earlier_version_lacks_the_newest_column(
    corpus: Corpus, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_earlier(rows: pl.DataFrame, path: Path, **options: Any) -> None:  # noqa: ANN401 - of Polars
        write_parquet(rows.drop("backup_line", strict=False), path, **options)

    with monkeypatch.context() as earlier:
        earlier.setattr(store, "write_parquet", write_earlier)
        corpus.push(photos, **NORTH)
    corpus.push(photos, tenant="south", repo="photos")

    assert corpus.store.version().rows()["backup_line"].to_list() == [None] * 6


def test_restored_record_that_is_there_stays_as_it_is(corpus: Corpus, tmp_path: Path) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", record(1)))

    again = corpus.restore(write(tmp_path / "b.jsonl", record(1, document="other"), record(2)))

    assert (again.records, again.added, again.present) == (2, 1, 1)
    corpus.export(tmp_path / "c.jsonl")
    assert read(tmp_path / "c.jsonl")[0]["document"] == "text"


def test_restored_record_without_an_owner_is_a_shared_one(corpus: Corpus, tmp_path: Path) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", record(1, metadata={})))

    (owner,) = corpus.status().identities
    assert (owner.tenant_id, owner.repo_slug) == ("neo-shared", "neo")


def test_pushed_and_restored_records_are_exported_with_the_corpus_own_dimension(
    corpus: Corpus, photos: Path, tmp_path: Path
) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", record(1)))
    corpus.push(photos, **NORTH)

    outcome = corpus.export(tmp_path / "c.jsonl")

    assert (outcome.dimension, outcome.embedded) == (2, 3)
    assert {len(item["embedding"]) for item in read(tmp_path / "c.jsonl")} == {2}


REFUSED = {
    "another dimension": (
        record(2, embedding=[1.0]),
        "the vector has 1 dimensions, the corpus has 2",
    ),
    "no vector": ({**record(2), "embedding": []}, "$.embedding"),
    "text as a number": (record(2, embedding=["1", 2]), "$.embedding"),
    "not a number": (
        '{"id":"x","embedding":[NaN,1],"metadata":{},"document":""}',
        "JSON is malformed",
    ),
    "beyond all numbers": (
        '{"id":"x","embedding":[1e999,1],"metadata":{},"document":""}',
        "$.embedding",
    ),
    "beyond in metadata": (
        '{"id":"x","embedding":[1,1],"metadata":{"n":1e999},"document":""}',
        "out of range",
    ),
    "half a character": (
        '{"id":"x","embedding":[1,1],"metadata":{},"document":"\\ud800"}',
        "bad.jsonl:3",
    ),
    "surplus field": (record(2, extra=1), "extra"),
    "no document": ({k: v for k, v in record(2).items() if k != "document"}, "document"),
    "metadata no object": (record(2, metadata=[]), "metadata: Expected `object`, got `array`"),
    "no object": ("[]", "Expected `object`"),
    "no json": ("{", "truncated"),
    "twice the same id": (record(3), "line 2 has the same id"),
}


@pytest.mark.parametrize(("bad", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_record_refuses_all(corpus: Corpus, tmp_path: Path, bad: object, message: str) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", record(1)))
    before = corpus.store.version().measures
    source = write(tmp_path / "bad.jsonl", record(4), record(3), bad)

    with pytest.raises((InvalidInputError, RefusedError)) as refused:
        corpus.restore(source)

    assert f"{source}:3: " in refused.value.message
    assert message in refused.value.message
    assert ids_of(corpus) == ["id-1"]
    assert corpus.store.version().measures == before


def test_divergent_name_refuses_the_merge_before_any_write(corpus: Corpus, tmp_path: Path) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", record(1)))

    with pytest.raises(RefusedError) as refused:
        corpus.restore(write(tmp_path / "c.jsonl", record(2), record(1, id="another")))

    assert refused.value.code == Code.DIVERGENCE
    assert ids_of(corpus) == ["id-1"]
    assert corpus.restore(tmp_path / "c.jsonl", replace=True).added == 2


def test_an_empty_backup_replaces_nothing(corpus: Corpus, tmp_path: Path) -> None:
    corpus.restore(write(tmp_path / "b.jsonl", record(1)))

    with pytest.raises(InvalidInputError, match="nothing was replaced"):
        corpus.restore(write(tmp_path / "cut-off.jsonl"), replace=True)
    assert ids_of(corpus) == ["id-1"]


def test_replacing_removes_old_snapshots(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)
    corpus.export(tmp_path / "b.jsonl")
    shutil.rmtree(photos / "heron")
    corpus.push(photos, **NORTH, snapshot=True)

    outcome = corpus.restore(tmp_path / "b.jsonl", replace=True)

    assert (outcome.added, outcome.removed) == (3, 1)
    assert (corpus.status().measures.rows, corpus.status().orphans) == (3, 0)


def test_failed_export_leaves_no_file(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "kept").write_text("")

    with pytest.raises(StateError, match="cannot be written: Is a directory"):
        corpus.export(tmp_path / "b")
    with pytest.raises(StateError, match="cannot be written"):
        corpus.export(tmp_path / "nowhere" / "b.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_export_keeps_pipes_and_links(corpus: Corpus, photos: Path, tmp_path: Path) -> None:
    corpus.push(photos, **NORTH)
    pipe, link, file = (tmp_path / name for name in ("pipe", "link", "b.jsonl"))
    os.mkfifo(pipe)
    file.touch()
    link.symlink_to(file)

    with pytest.raises(StateError, match="cannot be written: it is a pipe"):
        corpus.export(pipe)
    corpus.export(link)

    assert pipe.is_fifo()
    assert link.is_symlink()
    assert file.stat().st_size


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.zst"])
def test_full_disk_keeps_the_file(corpus: Corpus, photos: Path, tmp_path: Path, name: str) -> None:
    corpus.push(photos, **NORTH)
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / name).write_text("the one before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        with pytest.raises(StateError, match=r"cannot be written: File too large.*is unchanged"):
            corpus.export(folder / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)

    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [
        (name, "the one before")
    ]


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.zst"])
def test_backup_of_no_record_goes_around(corpus: Corpus, tmp_path: Path, name: str) -> None:
    corpus.restore(write(tmp_path / "empty.jsonl"))

    assert corpus.export(tmp_path / name).records == 0

    assert open_corpus(tmp_path / "other").restore(tmp_path / name).records == 0


def test_a_compressed_backup_may_not_expand_without_limit(corpus: Corpus, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.jsonl.zst"
    bomb.write_bytes(zstd.compress((b" " * 1023 + b"\n") * (80 << 10)))

    with pytest.raises(InvalidInputError, match=r"may expand to more than \d+ MiB"):
        corpus.restore(bomb)
