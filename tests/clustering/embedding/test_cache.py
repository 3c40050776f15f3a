"""Cached vectors: the same to the bit, and computed again if a byte was changed. Kinds of CPU."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest

from builders.embedding import write_model, write_tokenizer
from vocabgap.clustering import embedder
from vocabgap.clustering.embedder import Embedder, EmbeddingUse, cpu_kind, load_embedder
from vocabgap.clustering.encoder import Encoder, Grid
from vocabgap.files import user_cache

TEXTS: Final = ["sky", "warm sky", "skin tone", "mask"]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder of a cache that is not there yet."""
    return tmp_path / "kept"


@pytest.fixture
def path(kept: Path) -> Path:
    """Its file."""
    return kept / "embeddings" / embedder.FILE_NAME


@pytest.fixture
def fresh(folder: Path) -> npt.NDArray[np.float32]:
    """The vectors of the texts, computed."""
    return Embedder.load(folder).embed(TEXTS)


def use_of(model: Path, kept: Path, texts: list[str] = TEXTS) -> EmbeddingUse:
    """Embed the texts with a model and its cache, and return the use of the cache."""
    loaded = Embedder.load(model, kept)
    loaded.embed(texts)
    return loaded.use


def test_vectors_are_found_again_to_the_bit(
    folder: Path, kept: Path, fresh: npt.NDArray[np.float32]
) -> None:
    first = Embedder.load(folder, kept)
    second = Embedder.load(folder, str(kept))

    assert first.embed(TEXTS).tobytes() == fresh.tobytes()
    assert second.embed(TEXTS[::-1])[::-1].tobytes() == fresh.tobytes()
    assert first.use == EmbeddingUse(found=0, computed=4)
    assert second.use == EmbeddingUse(found=4, computed=0)


def test_texts_are_kept_while_a_long_run_goes_on(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "_KEPT_AT_ONCE", 2)
    encode = Encoder.encode

    def stop_at_the_last(self: Encoder, texts: list[str]) -> Iterator[tuple[list[int], Grid]]:
        if TEXTS[-1] in texts:
            raise KeyboardInterrupt
        return encode(self, texts)

    with monkeypatch.context() as patched:
        patched.setattr(Encoder, "encode", stop_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            use_of(folder, kept)

    assert use_of(folder, kept) == EmbeddingUse(found=2, computed=2)


@pytest.mark.parametrize("changed", ["onnxruntime", "tokenizers", "cpu", "model"])
def test_another_model_library_or_kind_of_cpu_finds_nothing_and_takes_nothing_away(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    use_of(folder, kept)
    other = folder
    with monkeypatch.context() as patched:
        patched.setattr(
            "vocabgap.clustering.encoder.version",
            lambda name: "0.99.0" if name == changed else version(name),
        )
        if changed == "cpu":
            patched.setattr("platform.machine", lambda: "another")
        if changed == "model":
            other = folder.with_name("other")
            write_model(other / "model.onnx", outputs={"sentence_embedding": "sentence"})
            write_tokenizer(other)
        elsewhere = use_of(other, kept)

    assert elsewhere == EmbeddingUse(found=0, computed=4)
    assert use_of(folder, kept) == EmbeddingUse(found=4, computed=0)


def test_runs_may_use_it_at_once(folder: Path, kept: Path) -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: use_of(folder, kept), range(2)))

    assert use_of(folder, kept) == EmbeddingUse(found=4, computed=0)


def test_a_file_that_has_grown_too_large_is_begun_anew(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_of(folder, kept, [f"sky {'a ' * number}" for number in range(200)])
    monkeypatch.setattr(embedder, "_MOST_BYTES", 10_000)

    assert use_of(folder, kept, ["tone"]) == EmbeddingUse(found=0, computed=1)
    assert use_of(folder, kept, ["sky "]) == EmbeddingUse(found=0, computed=1)
    assert use_of(folder, kept, ["sky "]) == EmbeddingUse(found=1, computed=0)


def _write(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


DAMAGE: Final[dict[str, Callable[[Path], object]]] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "the first bit": lambda path: path.write_bytes(b"R" + path.read_bytes()[1:]),
    "something else": lambda path: path.write_bytes(
        b"no database, but longer than the head of one: " * 10
    ),
    "another vector": lambda path: _write(path, "update vectors set vector = zeroblob(8)"),
    "a short vector": lambda path: _write(path, "update vectors set vector = x'00'"),
    "a text": lambda path: _write(path, "update vectors set vector = 'tonetone'"),
    "another table": lambda path: _write(
        path, "drop table vectors; create table vectors (mine text)"
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_computed_again_and_told(
    folder: Path,
    kept: Path,
    path: Path,
    fresh: npt.NDArray[np.float32],
    damage: str,
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    DAMAGE[damage](path)

    loaded = Embedder.load(folder, kept)
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
    assert (loaded.use.found, loaded.use.computed) == (0, 4)
    assert (
        loaded.use.note == "some embeddings are computed again; removed as damaged: vectors.sqlite"
    )

    assert use_of(folder, kept) == EmbeddingUse(found=4, computed=0)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_used_just_now_costs_time_alone_and_stays(
    folder: Path,
    kept: Path,
    path: Path,
    fresh: npt.NDArray[np.float32],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    monkeypatch.setattr(embedder, "_PATIENCE", 0.0)
    with closing(sqlite3.connect(path)) as other:
        other.execute("begin exclusive")
        loaded = Embedder.load(folder, kept)
        assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()

    assert loaded.use.computed == 4
    assert "vectors.sqlite': database is locked" in loaded.use.note
    assert use_of(folder, kept) == EmbeddingUse(found=4, computed=0)


def test_a_link_in_its_place_is_not_followed(folder: Path, kept: Path) -> None:
    (kept / "embeddings").mkdir(parents=True)
    theirs = kept.with_name("theirs.sqlite")
    (kept / "embeddings" / embedder.FILE_NAME).symlink_to(theirs)

    assert "embeddings cannot be kept" in use_of(folder, kept).note
    assert not theirs.exists()


def test_a_disk_that_fills_up_costs_the_cache_alone(
    folder: Path,
    kept: Path,
    path: Path,
    fresh: npt.NDArray[np.float32],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = Embedder.load(folder, kept)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "create table vectors (key blob primary key, vector blob, checksum) without rowid"
        )
    monkeypatch.setattr(embedder, "_TABLE", "pragma max_page_count = 2")
    many = [f"sky {'a ' * number}" for number in range(200)]

    vectors = loaded.embed([*TEXTS, *many])

    assert vectors[:4].tobytes() == fresh.tobytes()
    assert "full" in loaded.use.note


def test_the_user_has_a_cache_without_asking(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    first, second = (load_embedder(str(folder)) for _ in range(2))
    assert first is not None
    assert second is not None

    first.embed(TEXTS)
    second.embed(TEXTS)

    assert second.use == EmbeddingUse(found=4, computed=0)
    assert (tmp_path / "home" / "vocabgap" / "embeddings" / embedder.FILE_NAME).exists()


def test_without_a_usable_folder_it_is_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache() == Path("~/.cache/vocabgap").expanduser()


@pytest.mark.usefixtures("homeless")
def test_without_a_home_nothing_is_kept(folder: Path, fresh: npt.NDArray[np.float32]) -> None:
    loaded = load_embedder(str(folder))
    assert loaded is not None
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()


def test_a_cache_that_cannot_be_used_is_a_note(
    folder: Path, kept: Path, fresh: npt.NDArray[np.float32]
) -> None:
    kept.write_text("no folder")
    loaded = Embedder.load(folder, kept)

    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
    assert loaded.use.note.startswith("embeddings cannot be kept")


def test_nobody_else_may_read_it_and_no_text_is_in_it(folder: Path, kept: Path, path: Path) -> None:
    Embedder.load(folder, kept).embed(["skin tone"])

    assert b"skin" not in path.read_bytes()
    assert [place.stat().st_mode & 0o777 for place in (kept, path.parent, path)] == [
        0o700,
        0o700,
        0o600,
    ]


X86: Final = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some CPU @ 2.00GHz
cpu MHz\t\t: 2000.123
flags\t\t: fpu avx avx2
bogomips\t: 4000.00

processor\t: 1
vendor_id\t: GenuineIntel
model name\t: Some CPU @ 2.00GHz
cpu MHz\t\t: 1800.456
flags\t\t: fpu avx avx2
bogomips\t: 4000.00
"""
ARM: Final = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd
CPU implementer\t: 0x41
CPU part\t: 0xd0c

processor\t: 1
BogoMIPS\t: 50.00
Features\t: fp asimd
CPU implementer\t: 0x41
CPU part\t: 0xd0b
"""

KindOf = Callable[[str], str]


@pytest.fixture
def kind_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KindOf:
    """Gives the kind of CPU of a machine whose list of CPUs has this content."""
    monkeypatch.setattr(embedder, "_CPU_LIST", tmp_path / "cpuinfo")

    def tell(content: str) -> str:
        (tmp_path / "cpuinfo").write_text(content)
        return cpu_kind()

    return tell


@pytest.mark.parametrize(
    ("listed", "old", "new", "is_same"),
    [
        (X86, "flags\t\t: fpu avx avx2", "flags\t\t: fpu avx avx2 avx512f", False),
        (X86, "Some CPU", "Some other CPU", False),
        (ARM, "asimd", "asimd sve", False),
        (ARM, "0xd0b", "0xd40", False),
        # What changes with time, and the order of instructions or CPUs, does not count.
        (X86, "1800.456", "3100.000", True),
        (X86, "fpu avx avx2", "avx2 avx fpu", True),
        (ARM, ARM, "\n\n".join(ARM.split("\n\n")[::-1]), True),
    ],
)
def test_the_kind_of_cpu_is_its_models_and_instructions(
    kind_of: KindOf, listed: str, old: str, new: str, is_same: bool
) -> None:
    assert (kind_of(listed) == kind_of(listed.replace(old, new))) is is_same
