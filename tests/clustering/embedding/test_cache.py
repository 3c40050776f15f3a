"""Vectors that are kept: found again to the bit, and never believed once a byte is another."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from builders import gap, write_corpus
from builders.embedding import write_model, write_tokenizer
from vocabgap.clustering.embedding import Embedder, EmbeddingUse, cache, embedder
from vocabgap.clustering.embedding.encoder import Encoder
from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import scan

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

    def stop_at_the_last(self: Encoder, text: str) -> npt.NDArray[np.float32]:
        if text == TEXTS[-1]:
            raise KeyboardInterrupt
        return encode(self, text)

    with monkeypatch.context() as patched:
        patched.setattr(Encoder, "encode", stop_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            stopping.embed(TEXTS)

    again = Embedder.load(folder, kept)
    again.embed(TEXTS)
    assert again.use == EmbeddingUse(found=2, computed=2)


def test_many_files_become_one(folder: Path, kept: Path, files: Callable[[], list[Path]]) -> None:
    words = [f"sky {'a ' * number}" for number in range(cache._MOST_FILES + 1)]
    for word in words:
        Embedder.load(folder, kept).embed([word])

    assert len(files()) == 1
    last = Embedder.load(folder, kept)
    last.embed(words)
    assert last.use == EmbeddingUse(found=len(words), computed=0)


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
    monkeypatch.setattr("onnxruntime.__version__", "1.99.0") if library == "onnxruntime" else (
        monkeypatch.setattr("vocabgap.clustering.embedding.encoder.version", lambda _: "0.99.0")
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
    "emptied": lambda _: b"",
    "cut off": lambda content: content[:-30],
    "a bit in the middle": lambda content: _flip(content, len(content) // 2),
    "the first bit": lambda content: _flip(content, 0),
    "something else": lambda _: b"no Parquet",
}


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
    assert loaded.use.note == f"some embeddings are computed again; removed as damaged: {path.name}"

    again = Embedder.load(folder, kept)
    assert again.embed(TEXTS).tobytes() == fresh.tobytes()
    assert again.use == EmbeddingUse(found=4, computed=0)


def test_a_file_of_another_form_is_not_believed(
    folder: Path, kept: Path, files: Callable[[], list[Path]], fresh: npt.NDArray[np.float32]
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    (path,) = files()
    frame = pl.read_parquet(path)
    for wrong in (frame.select("text"), frame.with_columns(vector=pl.lit(b"short"))):
        wrong.write_parquet(path)
        digest = cache._digest(path.read_bytes())
        path.rename(path.with_name(f"{path.stem[: -len(digest)]}{digest}.parquet"))

        loaded = Embedder.load(folder, kept)
        assert loaded.embed(TEXTS).tobytes() == fresh.tobytes()
        assert loaded.use.note
        (path,) = files()


@pytest.mark.parametrize(
    "number", [errno.EMFILE, errno.EIO, errno.ESTALE, errno.ENOMEM, errno.EACCES], ids=errno.errorcode.get
)
def test_a_file_that_cannot_be_read_just_now_is_told_and_stays(
    folder: Path,
    kept: Path,
    files: Callable[[], list[Path]],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    (path,) = files()
    loaded = Embedder.load(folder, kept)
    open_file = Path.open

    def refuse(file: Path, mode: str = "r", buffering: int = -1) -> IO[Any]:
        if file == path:
            raise OSError(number, os.strerror(number), str(file))
        return open_file(file, mode, buffering)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        with pytest.raises(AccessDeniedError if number == errno.EACCES else StateError) as raised:
            loaded.embed(TEXTS)

    assert f"kept' cannot be used: {os.strerror(number)}" in raised.value.message
    assert loaded.use.note == ""
    assert files() == [path]
    loaded.embed(TEXTS)
    assert loaded.use == EmbeddingUse(found=4, computed=0)


def test_a_damaged_file_that_cannot_be_removed_is_told(
    folder: Path, kept: Path, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    Embedder.load(folder, kept).embed(TEXTS)
    (path,) = files()
    path.write_bytes(b"no Parquet")
    loaded = Embedder.load(folder, kept)

    unlink = Path.unlink

    def refuse(file: Path, missing_ok: bool = False) -> None:
        if file == path:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        unlink(file, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(StateError, match="Read-only file system"):
        loaded.embed(TEXTS)


def test_the_hint_fits_both_the_command_and_python(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> tuple[int, str]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(StateError) as raised:
        Embedder.load(folder, kept)
    assert raised.value.hint == "name another folder, or work without a cache"


def test_a_file_that_another_run_has_just_removed_is_not_missed(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Embedder.load(folder, kept)
    name = f"{loaded._cache.kind if loaded._cache else ''}-{'0' * 32}.parquet"
    monkeypatch.setattr(cache.EmbeddingCache, "_files", lambda self: [self.folder / name])
    loaded.embed(TEXTS)
    assert loaded.use == EmbeddingUse(found=0, computed=4)


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


def test_what_killed_runs_had_begun_is_removed(folder: Path, kept: Path) -> None:
    Embedder.load(folder, kept)
    old, new, foreign = (kept / "embeddings" / name for name in ("old.tmp", "new.tmp", "mine.txt"))
    for path in (old, new, foreign):
        path.touch()
    for path in (old, foreign):
        os.utime(path, (0, 0))

    Embedder.load(folder, kept).embed(TEXTS)

    assert [path.exists() for path in (old, new, foreign)] == [False, True, True]


def test_a_file_in_the_place_of_the_folder_is_told(folder: Path, kept: Path) -> None:
    kept.write_text("mine")
    with pytest.raises(InvalidInputError, match="kept' is no folder"):
        Embedder.load(folder, kept)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (PermissionError(13, "Permission denied"), AccessDeniedError),
        (OSError(28, "No space left on device"), StateError),
    ],
    ids=["permission", "full disk"],
)
def test_a_folder_that_cannot_be_written_is_told_at_the_door(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, raised: type[Exception]
) -> None:
    def refuse(*_: object) -> tuple[int, str]:
        raise error

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(raised, match=f"kept' cannot be used: {error.strerror}"):
        Embedder.load(folder, kept)


def test_a_disk_that_fills_up_is_told_and_leaves_nothing_half_made(
    folder: Path, kept: Path, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    loaded = Embedder.load(folder, kept)
    monkeypatch.setattr(cache, "put_in_place", refuse)
    with pytest.raises(StateError, match="No space left on device"):
        loaded.embed(TEXTS)
    assert files() == []


@pytest.mark.parametrize("first", ["scan", "embed"])
def test_a_cache_of_scans_may_share_the_folder(folder: Path, kept: Path, tmp_path: Path, first: str) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")], "two": [gap("warm skin")]})
    if first == "scan":
        scan(root, cache=kept)
    Embedder.load(folder, kept).embed(TEXTS)
    scan(root, cache=kept)
    write_corpus(tmp_path, {"three": [gap("tone")]}, "more")
    scan([root, root.with_name("more")], cache=kept)  # writes, and tidies up

    loaded = Embedder.load(folder, kept)
    loaded.embed(TEXTS)
    used = scan([root, root.with_name("more")], cache=kept).cache
    assert loaded.use == EmbeddingUse(found=4, computed=0)
    assert isinstance(used, CacheUse)
    assert used.note == ""
    assert used.unchanged + used.resumed + used.read == 3


def test_a_file_of_that_name_is_still_foreign_to_a_scan(kept: Path, tmp_path: Path) -> None:
    kept.mkdir()
    (kept / "embeddings").write_text("mine")
    with pytest.raises(StateError, match="holds other files, such as 'embeddings'"):
        scan(write_corpus(tmp_path, {"one": [gap("sky mask")]}), cache=kept)
