"""Embed texts, several at a time, and each text once; keep the vectors for later runs.

The vectors are in one SQLite file that several runs may use at once. The key of a vector is a digest of
everything it depends on: the model, the libraries, the kind of CPU and the text. Each row has a checksum. The
cache never stops a run. If the file cannot be used, vectors are computed again, and a note tells the user. A
file that has grown too large is emptied.
"""

import hashlib
import os
import platform
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Final, Self, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.encoder import (
    Encoder,
    Grid,
    ModelFiles,
    find_minilm,
    find_model,
    libraries,
    load_encoder,
)
from vocabgap.errors import NotFoundError, expanded, installing, require_text
from vocabgap.files import descriptor_of, user_cache, whole
from vocabgap.linkage.rows import usable_cpus
from vocabgap.model.settings import AUTO, MINILM, NO_EMBEDDER

_TEXTS_OF_A_TASK: Final = 64
_KEPT_AT_ONCE: Final = 4096  # texts; a stopped run loses no more than these
FILE_NAME: Final = "vectors.sqlite"
_TABLE: Final = """
create table if not exists vectors
(key blob primary key, vector blob not null, checksum integer not null) without rowid
"""
_MOST_BYTES: Final = 200_000_000  # of the file: a quarter of a million texts of the known model
_PATIENCE: Final = 30.0  # s, for another run that is writing
_NUMBER: Final = np.dtype("<i2")
# The codes of SQLite for a file that is damaged, is no database, or has other tables.
_UNUSABLE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_CPU_LIST: Final = Path("/proc/cpuinfo")  # of Linux
# The lines that tell kinds of CPU apart, on x86 and on Arm.
_TELLING: Final = frozenset(
    {"vendor_id", "cpu family", "model", "model name", "flags"}
    | {"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"}
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EmbeddingUse:
    """The use of a cache of embeddings in a run."""

    found: int  # texts whose vectors were in the cache
    computed: int  # texts that the model was run on
    note: str = ""  # a problem of the cache, for users; empty without one


class Embedder:
    """A sentence embedding model on this machine; see `Embedder.load`.

    On one kind of CPU, a text always has the same vector, bit for bit. The other texts, their order, the
    number of threads and the cache have no influence. Another kind of CPU may round a few numbers to the next
    step, so a cache keeps the vectors of each kind apart.

    Attributes:
        name: The name of the model, without its folder.
        digest: SHA-256 (hex) of the model, its tokenizer and its settings.
        runtime: The library that runs it, with its version.
        processor: The kind of CPU that runs it.
        dims: Dimensions of a vector.
    """

    def __init__(self, files: ModelFiles, *, cache: str | Path | None = None) -> None:
        self._files = files
        self.name = files.name
        if files.dims is None:
            self.digest, self.dims = self._encoder.digest, self._encoder.probe()
        else:  # the model is loaded when a text is to be computed
            self.digest, self.dims = files.digest(), files.dims
        self.runtime, tokenizers = libraries()
        self.processor = cpu_kind()
        self._cache: EmbeddingCache | None = None
        if cache is not None:
            self._cache = EmbeddingCache(
                cache, (self.digest, self.runtime, tokenizers, self.processor), self.dims
            )
        self._found = self._computed = 0
        self._given = hashlib.sha256()

    @classmethod
    def load(cls, model: str | Path, cache: str | Path | None = None) -> Self:
        """Load a model.

        Args:
            model: A folder with `tokenizer.json` and `model.onnx`, as models are published; or the text
                `minilm`: the model of the extra `embed`. For a folder with that name, give `./minilm`.
            cache: A folder that keeps vectors for the next run. If it cannot be used, `use` has a note.

        Raises:
            NotFoundError: There is no such model, or one of its files is missing.
            InvalidInputError: The model is damaged or of an unknown kind.
            AccessDeniedError: The system denies access to a file.
            StateError: The extra `embed` is not installed, or the disk fails.
        """
        return cls(_files_of(model), cache=cache)

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder(self._files)

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts that the model knows, by the first words of their letters' names in Unicode."""
        return self._encoder.scripts()

    @property
    def use(self) -> EmbeddingUse:
        """The numbers of different texts that were cached and computed, over all calls."""
        return EmbeddingUse(self._found, self._computed, self._cache.note if self._cache else "")

    @property
    def vectors(self) -> str:
        """SHA-256 (hex) of the vectors of all calls, each vector of a call once, in order."""
        return self._given.hexdigest()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed some texts.

        Args:
            texts: Any texts. The model ignores the end of long texts.

        Returns:
            Rows of unit length in the order of the texts, shape (n, dims).

        Raises:
            InvalidInputError: The model has no vector for a text; the error names it.
        """
        keys = list(map(_key, texts))
        distinct = dict(zip(keys, texts, strict=True))
        grid = np.empty((len(distinct), self.dims), dtype=np.int16)
        is_cached = np.zeros(len(distinct), dtype=bool)
        if self._cache is not None:
            is_cached = self._cache.fill(grid, list(distinct))
        self._found += int(is_cached.sum())
        if missing := np.flatnonzero(~is_cached).tolist():
            self._compute(missing, list(distinct), list(distinct.values()), grid)
        self._given.update(grid.astype("<i2").tobytes())
        # Sums of squares of whole numbers are exact: equal grids give equal vectors on every machine.
        lengths = np.sqrt(np.square(grid, dtype=np.float64).sum(axis=1, keepdims=True))
        vectors = np.asarray(grid / lengths, dtype=np.float32)
        places = {key: place for place, key in enumerate(distinct)}
        return vectors if len(distinct) == len(keys) else vectors[[places[key] for key in keys]]

    def _compute(self, missing: list[int], keys: list[bytes], texts: list[str], grid: Grid) -> None:
        encoder, stopped = self._encoder, Event()

        def fill(places: list[int]) -> None:
            for rows, vectors in encoder.encode([texts[place] for place in places]):
                grid[[places[row] for row in rows]] = vectors
                if stopped.is_set():
                    return

        pool = ThreadPoolExecutor(usable_cpus(), thread_name_prefix="embedding")
        try:
            for chunk in _cut(missing, _KEPT_AT_ONCE):
                chunk.sort(key=lambda place: len(texts[place]))  # texts of equal length run together
                for task in [pool.submit(fill, part) for part in _cut(chunk, _TEXTS_OF_A_TASK)]:
                    task.result()
                self._computed += len(chunk)
                if self._cache is not None:
                    self._cache.add([keys[place] for place in chunk], grid[chunk])
        finally:
            stopped.set()  # no thread begins another text after Ctrl-C
            pool.shutdown(cancel_futures=True)


def load_embedder(named: str | None) -> Embedder | None:
    """Load the embedder that the settings name; None if they name none, or if `auto` finds none.

    Vectors are kept in the user's cache.
    """
    if named in {None, NO_EMBEDDER}:
        return None
    if named == AUTO:
        files = find_minilm() if all(map(find_spec, ("onnxruntime", "tokenizers"))) else None
        return None if files is None else Embedder(files, cache=user_cache())
    return Embedder(_files_of(named), cache=user_cache())


def _files_of(model: str | Path) -> ModelFiles:
    files = find_minilm() if model == MINILM else find_model(model)
    if files is None:
        raise NotFoundError(
            "the model 'minilm' is not installed",
            hint=f"{installing('embed')}, or name the folder of a model",
        )
    return files


def _cut(places: list[int], size: int) -> list[list[int]]:
    return [places[start : start + size] for start in range(0, len(places), size)]


def _key(text: str) -> bytes:
    require_text("texts", text)
    return hashlib.sha256(text.encode()).digest()


class EmbeddingCache:
    """The embeddings of one model, in a subfolder of the cache.

    Vectors have `dims` dimensions and depend on their text and `depends_on`. `note` is a message for users
    about a problem of the cache.
    """

    def __init__(self, folder: str | Path, depends_on: Sequence[str], dims: int) -> None:
        place = expanded(folder)
        self._file = place / "embeddings" / FILE_NAME
        self._depends_on = "\n".join(depends_on).encode()
        self._dims = dims
        self._patience = _PATIENCE
        self.note = ""
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            self._create()
        except OSError as error:
            self.note = f"embeddings cannot be kept: {error}"

    def fill(self, vectors: Grid, texts: Sequence[bytes]) -> npt.NDArray[np.bool]:
        """Write the known vectors into their rows, and return which rows were written.

        Texts are given by their SHA-256, all different.
        """
        places = {self._key(text): place for place, text in enumerate(texts)}
        keys = list(places)

        def look_up(connection: sqlite3.Connection) -> dict[int, bytes]:
            kept = {}
            keys_of_query = 500
            for start in range(0, len(keys), keys_of_query):
                some = keys[start : start + keys_of_query]
                marks = ",".join("?" * len(some))
                query = f"select key, vector, checksum from vectors where key in ({marks})"  # noqa: S608
                for key, vector, checksum in connection.execute(query, some):
                    if len(vector) != self._dims * _NUMBER.itemsize or crc32(key + vector) != checksum:
                        raise sqlite3.DatabaseError
                    kept[places[key]] = vector
            return kept

        written = np.zeros(len(texts), dtype=bool)
        for place, vector in (self._use(look_up) or {}).items():
            vectors[place] = np.frombuffer(vector, dtype=_NUMBER)
            written[place] = True
        return written

    def add(self, texts: Sequence[bytes], vectors: Grid) -> None:
        """Keep the vectors of some texts, one row per text."""
        blobs = (row.tobytes() for row in np.ascontiguousarray(vectors, dtype=_NUMBER))
        keyed = zip(map(self._key, texts), blobs, strict=True)
        rows = [(key, blob, crc32(key + blob)) for key, blob in keyed]

        def insert(connection: sqlite3.Connection) -> None:
            connection.executemany("insert or ignore into vectors values (?, ?, ?)", rows)
            ((size,),) = connection.execute(
                "select (page_count - freelist_count) * page_size"
                " from pragma_page_count, pragma_freelist_count, pragma_page_size"
            )
            if size > _MOST_BYTES:
                connection.execute("delete from vectors")

        self._use(insert)

    def _create(self) -> None:
        """Create the file for the user only, because digests of needs are private. Follow no link."""
        os.close(descriptor_of(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))

    def _key(self, text: bytes) -> bytes:
        return hashlib.sha256(self._depends_on + text).digest()

    def _use(self, work: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Return the result of some work on the file; None if it fails. Replace a damaged file."""
        if self.note.startswith("embeddings cannot be kept:"):
            return None
        try:
            with closing(sqlite3.connect(self._file, timeout=self._patience)) as connection, connection:
                connection.execute(_TABLE)
                return work(connection)
        except (sqlite3.DatabaseError, TypeError) as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _UNUSABLE:
                self.note = f"embeddings cannot be kept in '{self._file}': {error}"
                self._patience = 0.0  # a run waits once
                return None
            self.note = f"some embeddings are computed again; removed as damaged: {self._file.name}"
            with suppress(OSError):
                self._file.with_name(f"{FILE_NAME}-journal").unlink(missing_ok=True)
                self._file.unlink()
                self._create()
            return None


def cpu_kind() -> str:
    """Return the architecture and a short digest of the models and instructions of all CPUs."""
    machine, lines = platform.machine(), [platform.processor()]
    with suppress(OSError):
        lines = whole(_CPU_LIST).decode(errors="replace").splitlines()
    pairs = ((name.strip(), value) for name, _, value in (line.partition(":") for line in lines))
    # Instructions are sorted, too: the system may list them in any order.
    kinds = {f"{name}: {' '.join(sorted(value.split()))}" for name, value in pairs if name in _TELLING}
    digest = hashlib.sha256("\n".join([machine, *(sorted(kinds) or lines[:1])]).encode()).hexdigest()
    return f"{machine} {digest[:8]}"
