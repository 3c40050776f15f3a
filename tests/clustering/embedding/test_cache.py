"""Vectors that are kept: found again to the bit, and never believed once a byte is another."""

import sqlite3
import time
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
from vocabgap.clustering.embedding.encoder import Encoder, Grid
from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError, VocabgapError
from vocabgap.files.caches import user_cache

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


def test_vectors_are_found_again_to_the_bit(folder: Path, kept: Path, fresh: npt.NDArray[np.float32]) -> None:
    first = Embedder.load(folder, kept)
    second = Embedder.load(folder, str(kept))

    assert first.embed(TEXTS).tobytes() == fresh.tobytes()
    assert second.embed(TEXTS[::-1])[::-1].tobytes() == fresh.tobytes()
    assert first.use == EmbeddingUse(found=0, computed=4)
    assert second.use == EmbeddingUse(found=4, computed=0)


def test_new_texts_are_added_to_those_that_are_there(folder: Path, kept: Path) -> None:
    Embedder.load(folder, kept).embed(TEXTS[:2])
    Embedder.load(folder, kept).embed(TEXTS[1:])
    third = Embedder.load(folder, kept)
    third.embed(TEXTS)
    assert third.use == EmbeddingUse(found=4, computed=0)


def test_texts_are_kept_while_a_long_run_goes_on(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "_KEPT_AT_ONCE", 2)
    stopping = Embedder.load(folder, kept, threads=1)
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


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_another_version_of_a_library_finds_nothing(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    monkeypatch.setattr(
        "vocabgap.clustering.embedding.encoder.version",
        lambda name: "0.99.0" if name == library else version(name),
    )
    later = Embedder.load(folder, kept)
    later.embed(TEXTS)
    assert later.use == EmbeddingUse(found=0, computed=4)


def test_another_kind_of_cpu_finds_nothing(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    with monkeypatch.context() as patched:
        patched.setattr("platform.machine", lambda: "another")
        elsewhere = Embedder.load(folder, kept)
        elsewhere.embed(TEXTS)
    here = Embedder.load(folder, kept)
    here.embed(TEXTS)
    assert elsewhere.use == EmbeddingUse(found=0, computed=4)
    assert here.use == EmbeddingUse(found=4, computed=0)


def _flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


DAMAGE: Final[dict[str, Callable[[bytes], bytes]]] = {
    "cut off": lambda content: content[: len(content) // 2],
    "the first bit": lambda content: _flip(content, 0),
    "something else": lambda _: b"no database, and longer than the head of one: " * 10,
}


@pytest.mark.parametrize("value", ["'never'", "x'00'", "cast(x'80' as text)"])
@pytest.mark.parametrize("column", ["vector", "checksum", "used"])
def test_a_value_of_another_type_is_damage(
    folder: Path, kept: Path, files: Callable[[], list[Path]], column: str, value: str
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    (path,) = files()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"update vectors set {column} = {value}")  # noqa: S608

    Embedder.load(folder, kept).embed(TEXTS)

    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=4, computed=0)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_computed_again_and_told(
    folder: Path, kept: Path, files: Callable[[], list[Path]], fresh: npt.NDArray[np.float32], damage: str
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    (path,) = files()
    path.write_bytes(DAMAGE[damage](path.read_bytes()))

    loaded = Embedder.load(folder, kept)
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
    assert (loaded.use.found, loaded.use.computed) == (0, 4)
    assert loaded.use.note == "some embeddings are computed again; removed as damaged: vectors.sqlite"

    again = Embedder.load(folder, kept)
    assert again.embed(TEXTS).tobytes() == fresh.tobytes()
    assert again.use == EmbeddingUse(found=4, computed=0)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("vector", [bytes(16), b"short"])
def test_a_vector_that_is_not_what_was_written_is_not_believed(
    folder: Path, kept: Path, files: Callable[[], list[Path]], fresh: npt.NDArray[np.float32], vector: bytes
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    with closing(sqlite3.connect(files()[0])) as connection, connection:
        connection.execute("update vectors set vector = ?", [vector])

    loaded = Embedder.load(folder, kept)
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
    assert loaded.use.note


def test_a_database_of_another_form_is_replaced(
    folder: Path, kept: Path, files: Callable[[], list[Path]]
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    _execute(files()[0], "drop table vectors; create table vectors (mine text)")

    Embedder.load(folder, kept).embed(TEXTS)
    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=4, computed=0)


def _execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(sql)


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


def test_a_file_that_stays_locked_is_waited_for_once(
    folder: Path, kept: Path, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    monkeypatch.setattr(cache, "_PATIENCE", 0.5)
    with closing(sqlite3.connect(files()[0])) as other:
        other.execute("begin exclusive")
        loaded = Embedder.load(folder, kept)
        start = time.monotonic()
        for text in TEXTS:
            loaded.embed([text])
        waited = time.monotonic() - start

    assert 0.5 <= waited < 1.0


def test_a_link_in_its_place_is_not_followed(folder: Path, kept: Path) -> None:
    (kept / "embeddings").mkdir(parents=True)
    theirs = kept.with_name("theirs.sqlite")
    (kept / "embeddings" / cache.FILE_NAME).symlink_to(theirs)

    with pytest.raises(StateError, match="cannot be used"):
        Embedder.load(folder, kept)

    assert not theirs.exists()


def test_a_disk_that_fills_up_costs_the_cache_alone(
    folder: Path, kept: Path, fresh: npt.NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Embedder.load(folder, kept)
    with closing(sqlite3.connect(kept / "embeddings" / cache.FILE_NAME)) as connection:
        connection.execute(
            "create table vectors (key blob primary key, vector blob, checksum, used) without rowid"
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


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (PermissionError(13, "Permission denied"), AccessDeniedError),
        (OSError(28, "No space left on device"), StateError),
    ],
    ids=["permission", "full disk"],
)
def test_a_folder_that_cannot_be_written_is_told_at_the_door(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, raised: type[VocabgapError]
) -> None:
    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr(cache.EmbeddingCache, "_create", refuse)
    with pytest.raises(raised, match=f"kept' cannot be used: {error.strerror}") as caught:
        Embedder.load(folder, kept)
    assert caught.value.hint.endswith("name another folder, or work without a cache")


def test_what_was_not_used_for_longest_is_dropped_where_it_has_grown_too_large(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embed_on(day: int, texts: list[str]) -> EmbeddingUse:
        monkeypatch.setattr(cache, "_today", lambda: day)
        loaded = Embedder.load(folder, kept)
        loaded.embed(texts)
        return loaded.use

    many = [f"sky {'a ' * number}" for number in range(200)]
    embed_on(1, TEXTS)
    embed_on(2, many)
    embed_on(3, TEXTS[:2])
    monkeypatch.setattr(cache, "_MOST_BYTES", 10_000)

    embed_on(3, ["tone"])  # drops 51 of 205

    monkeypatch.setattr(cache, "_MOST_BYTES", 1_000_000)
    assert embed_on(4, TEXTS[:2]) == EmbeddingUse(found=2, computed=0)
    assert embed_on(4, TEXTS[2:]) == EmbeddingUse(found=0, computed=2)
    assert embed_on(4, many) == EmbeddingUse(found=151, computed=49)


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


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_cache_folder_that_can_be_meant_it_is_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    assert user_cache() == Path("~/.cache/vocabgap").expanduser()


@pytest.mark.usefixtures("homeless")
def test_without_a_home_nothing_is_kept(folder: Path, fresh: npt.NDArray[np.float32]) -> None:
    loaded = load_embedder(str(folder))
    assert loaded is not None
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()


def test_a_cache_of_the_user_that_cannot_be_used_is_a_note(
    folder: Path, tmp_path: Path, fresh: npt.NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    loaded = load_embedder(str(folder))
    assert loaded is not None
    assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
    assert loaded.use.note.startswith("embeddings cannot be kept")


def test_nobody_else_may_read_it(folder: Path, kept: Path, files: Callable[[], list[Path]]) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    assert [path.stat().st_mode & 0o777 for path in (kept, kept / "embeddings", *files())] == [
        0o700,
        0o700,
        0o600,
    ]


def test_no_text_is_in_it(folder: Path, kept: Path, files: Callable[[], list[Path]]) -> None:
    Embedder.load(folder, kept).embed(["skin tone"])
    assert b"skin" not in files()[0].read_bytes()


def test_a_file_in_the_place_of_the_folder_is_told(folder: Path, kept: Path) -> None:
    kept.write_text("mine")
    with pytest.raises(InvalidInputError, match="kept' is no folder"):
        Embedder.load(folder, kept)
