"""Embeddings of earlier runs, in one SQLite file that several runs may use at once.

The key of a vector is a digest of everything it depends on: the model, the libraries, the kind of CPU and the
text. Each row has a checksum. The cache never stops a run. If the file cannot be used, vectors are computed
again, and a note tells the user. A file that has grown too large is emptied.
"""

import hashlib
import os
import platform
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.embedding.model import Grid
from vocabgap.errors import expanded
from vocabgap.files.opening import descriptor_of, whole

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
