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
from vocabgap.clustering.embedding import Embedder, EmbeddingUse, cache, embedder, load_embedder
from vocabgap.clustering.embedding.cache import cpu_kind
from vocabgap.clustering.embedding.model import Encoder, Grid
from vocabgap.files import user_cache

TEXTS: Final = ["sky", "warm sky", "skin tone", "mask"]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The folder of a cache that is not there yet."""
    return tmp_path / "kept"


@pytest.fixture
def files(kept: Path) -> Callable[[], list[Path]]:
    """Lists what is in the folder of embeddings."""
    return lambda: sorted((kept / "embeddings").iterdir())


@pytest.fixture
def fresh(folder: Path) -> npt.NDArray[np.float32]:
    """The vectors of the texts, computed."""
    return Embedder.load(folder).embed(TEXTS)


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
    stopping = Embedder.load(folder, kept)
    encode = Encoder.encode

    def stop_at_the_last(self: Encoder, texts: list[str]) -> Iterator[tuple[list[int], Grid]]:
        if TEXTS[-1] in texts:
            raise KeyboardInterrupt
        return encode(self, texts)

    with monkeypatch.context() as patched:
        patched.setattr(Encoder, "encode", stop_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            stopping.embed(TEXTS)

    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=2, computed=2)


def test_another_model_finds_nothing_and_takes_nothing_away(folder: Path, kept: Path) -> None:
    other = folder.with_name("other")
    write_model(other / "model.onnx", outputs={"sentence_embedding": "sentence"})
    write_tokenizer(other)
    for path in (folder, other):
        loaded = Embedder.load(path, kept)
        loaded.embed(TEXTS)
        assert loaded.use == EmbeddingUse(found=0, computed=4)

    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=4, computed=0)


@pytest.mark.parametrize("changed", ["onnxruntime", "tokenizers", "cpu"])
def test_another_library_or_kind_of_cpu_finds_nothing(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    with monkeypatch.context() as patched:
        patched.setattr(
            "vocabgap.clustering.embedding.model.version",
            lambda name: "0.99.0" if name == changed else version(name),
        )
        if changed == "cpu":
            patched.setattr("platform.machine", lambda: "another")
        elsewhere = Embedder.load(folder, kept)
        elsewhere.embed(TEXTS)
    here = Embedder.load(folder, kept)
    here.embed(TEXTS)

    assert elsewhere.use == EmbeddingUse(found=0, computed=4)
    assert here.use == EmbeddingUse(found=4, computed=0)


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
    files: Callable[[], list[Path]],
    fresh: npt.NDArray[np.float32],
    damage: str,
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    (path,) = files()
    DAMAGE[damage](path)

    loaded = Embedder.load(folder, kept)
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
    assert (loaded.use.found, loaded.use.computed) == (0, 4)
    assert (
        loaded.use.note == "some embeddings are computed again; removed as damaged: vectors.sqlite"
    )

    again = Embedder.load(folder, kept)
    assert again.embed(TEXTS).tobytes() == fresh.tobytes()
    assert again.use == EmbeddingUse(found=4, computed=0)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_used_just_now_costs_time_alone_and_stays(
    folder: Path,
    kept: Path,
    files: Callable[[], list[Path]],
    fresh: npt.NDArray[np.float32],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    monkeypatch.setattr(cache, "_PATIENCE", 0.0)
    with closing(sqlite3.connect(files()[0])) as other:
        other.execute("begin exclusive")
        loaded = Embedder.load(folder, kept)
        assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()

    assert loaded.use.computed == 4
    assert "vectors.sqlite': database is locked" in loaded.use.note
    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=4, computed=0)


def test_a_link_in_its_place_is_not_followed(folder: Path, kept: Path) -> None:
    (kept / "embeddings").mkdir(parents=True)
    theirs = kept.with_name("theirs.sqlite")
    (kept / "embeddings" / cache.FILE_NAME).symlink_to(theirs)

    loaded = Embedder.load(folder, kept)
    loaded.embed(TEXTS)

    assert "embeddings cannot be kept" in loaded.use.note
    assert not theirs.exists()


def test_a_disk_that_fills_up_costs_the_cache_alone(
    folder: Path, kept: Path, fresh: npt.NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Embedder.load(folder, kept)
    with closing(sqlite3.connect(kept / "embeddings" / cache.FILE_NAME)) as connection:
        connection.execute(
            "create table vectors (key blob primary key, vector blob, checksum) without rowid"
        )
    monkeypatch.setattr(cache, "_TABLE", "pragma max_page_count = 2")
    many = [f"sky {'a ' * number}" for number in range(200)]

    vectors = loaded.embed([*TEXTS, *many])

    assert vectors[:4].tobytes() == fresh.tobytes()
    assert "full" in loaded.use.note


def test_runs_may_use_it_at_once(folder: Path, kept: Path) -> None:
    one, other = Embedder.load(folder, kept), Embedder.load(folder, kept)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda run: run.embed(TEXTS), [one, other]))

    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=4, computed=0)


def test_a_file_that_has_grown_too_large_is_begun_anew(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed(texts: list[str]) -> EmbeddingUse:
        loaded = Embedder.load(folder, kept)
        loaded.embed(texts)
        return loaded.use

    embed([f"sky {'a ' * number}" for number in range(200)])
    monkeypatch.setattr(cache, "_MOST_BYTES", 10_000)

    assert embed(["tone"]) == EmbeddingUse(found=0, computed=1)

    assert embed(["sky "]) == EmbeddingUse(found=0, computed=1)
    assert embed(["sky "]) == EmbeddingUse(found=1, computed=0)


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
    assert (tmp_path / "home" / "vocabgap" / "embeddings" / cache.FILE_NAME).exists()


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


def test_nobody_else_may_read_it_and_no_text_is_in_it(
    folder: Path, kept: Path, files: Callable[[], list[Path]]
) -> None:
    Embedder.load(folder, kept).embed(["skin tone"])

    assert b"skin" not in files()[0].read_bytes()
    assert [path.stat().st_mode & 0o777 for path in (kept, kept / "embeddings", *files())] == [
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
    monkeypatch.setattr(cache, "_CPU_LIST", tmp_path / "cpuinfo")

    def tell(content: str) -> str:
        (tmp_path / "cpuinfo").write_text(content)
        return cpu_kind()

    return tell


@pytest.mark.parametrize(
    ("listed", "old", "new"),
    [
        (X86, "flags\t\t: fpu avx avx2", "flags\t\t: fpu avx avx2 avx512f"),
        (X86, "Some CPU", "Some other CPU"),
        (ARM, "asimd", "asimd sve"),
        (ARM, "0xd0b", "0xd40"),
    ],
)
def test_another_model_or_other_instructions_are_another_kind(
    kind_of: KindOf, listed: str, old: str, new: str
) -> None:
    assert kind_of(listed) != kind_of(listed.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("1800.456", "3100.000"), ("fpu avx avx2", "avx2 avx fpu"), ("4000.00", "4100.00")],
)
def test_what_changes_by_the_moment_does_not_count(kind_of: KindOf, old: str, new: str) -> None:
    assert kind_of(X86) == kind_of(X86.replace(old, new))


def test_which_of_several_kinds_comes_first_does_not_count(kind_of: KindOf) -> None:
    first, second = ARM.split("\n\n")
    assert kind_of(ARM) == kind_of(f"{second}\n\n{first}")
