"""Embeddings that earlier runs have computed, by the SHA-256 of their text.

Each file holds rows of one model, one runtime and one kind of CPU and is named after them, and after its own
content: a byte that is not the one that was written is seen, and such a file is removed. Files are added and
never changed, so that several runs may use a folder at once; when there are many, they become one.
"""

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from vocabgap.clustering.embedding.encoder import Vector
from vocabgap.errors import InvalidInputError, expanded
from vocabgap.files.atomic import EMBEDDINGS_FOLDER, put_in_place, refused
from vocabgap.files.parquet import write_parquet

SCHEMA: Final = {"text": pl.Binary(), "vector": pl.Binary()}
_MOST_FILES: Final = 12
_ABANDONED: Final = 24 * 3600  # s; no run writes one file for a day
_NAMED_DIGITS: Final = 32  # of a digest, in hex
_FLOAT: Final = np.dtype("<f4")


@dataclass(slots=True)
class EmbeddingCache:
    """The embeddings of one model in the folder of a cache.

    Attributes:
        folder: The folder of embeddings.
        kind: What a vector depends on beside its text, as part of a file's name.
        dims: Dimensions of a vector.
        damaged: Names of the files that were found damaged, and removed.
    """

    folder: Path
    kind: str
    dims: int
    damaged: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, folder: str | Path, depends_on: Sequence[str], dims: int) -> Self:
        """The embeddings of one model in a folder, which is made if there is none.

        Args:
            folder: The folder of the cache; they lie in a folder of their own in it.
            depends_on: A digest (hex), the versions of what computes them, and the kind of CPU.
            dims: Dimensions of a vector.
        """
        place = expanded(folder)
        digest, *others = depends_on
        told = "-".join(re.sub(r"[^0-9A-Za-z.]+", "-", each) for each in others)
        cache = cls(place / EMBEDDINGS_FOLDER, f"{digest[:_NAMED_DIGITS]}-{told}", dims)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            cache.folder.mkdir(mode=0o700, exist_ok=True)
            cache._remove_abandoned()
            cache._temporary().unlink()  # what cannot be written is told before anything is computed
        except (FileExistsError, NotADirectoryError, ValueError) as error:
            raise InvalidInputError(f"cache '{folder}' is no folder", hint="name another one") from error
        except OSError as error:
            raise refused(place, error) from error
        return cache

    def fill(self, vectors: Vector, texts: Sequence[bytes]) -> npt.NDArray[np.bool]:
        """Write the vectors that are known into their rows.

        Args:
            vectors: A row for each text.
            texts: The SHA-256 of each text; all different.

        Returns:
            Which rows were written.
        """
        asked = pl.DataFrame({"text": texts}, schema={"text": pl.Binary()}).with_row_index("place")
        known = np.zeros(len(texts), dtype=bool)
        for frame in self._frames():
            found = asked.join(frame, on="text", how="inner")
            places = found["place"].to_numpy()
            vectors[places] = np.frombuffer(b"".join(found["vector"]), dtype=_FLOAT).reshape(-1, self.dims)
            known[places] = True
        return known

    def add(self, texts: Sequence[bytes], vectors: Vector) -> None:
        """Keep some vectors.

        Args:
            texts: The SHA-256 of each text.
            vectors: A row each.
        """
        rows = [row.tobytes() for row in np.ascontiguousarray(vectors, dtype=_FLOAT)]
        self._write(pl.DataFrame({"text": texts, "vector": rows}, schema=SCHEMA))

    def tidy(self) -> None:
        """Make one file of many."""
        many = self._files()
        if len(many) <= _MOST_FILES:
            return
        frames = list(self._frames())
        if frames:
            kept = self._write(pl.concat(frames).unique("text", keep="first", maintain_order=True))
            many = [path for path in many if path != kept]
        for path in many:
            with suppress(OSError):
                path.unlink()

    @property
    def note(self) -> str:
        """What is to be said of the cache itself; empty where all was well."""
        if not self.damaged:
            return ""
        return f"some embeddings are computed again; removed as damaged: {', '.join(self.damaged)}"

    def _files(self) -> list[Path]:
        try:
            names = sorted(path.name for path in self.folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise refused(self.folder, error) from error
        form = re.compile(rf"{re.escape(self.kind)}-[0-9a-f]{{{_NAMED_DIGITS}}}\.parquet")
        return [self.folder / name for name in names if form.fullmatch(name)]

    def _frames(self) -> Iterator[pl.DataFrame]:
        for path in self._files():
            frame = self._read(path)
            if frame is not None:
                yield frame

    def _read(self, path: Path) -> pl.DataFrame | None:
        """The rows of a file; None where it is damaged, or another run has just made it part of another."""
        try:
            content = path.read_bytes()
            frame = self._parsed(content) if _digest(content) == path.stem[-_NAMED_DIGITS:] else None
            if frame is None:
                # Only its content tells that a file is damaged. One that the system or the disk does not give
                # just now may be good.
                path.unlink()
                self.damaged.append(path.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused(self.folder.parent, error) from error
        return frame

    def _parsed(self, content: bytes) -> pl.DataFrame | None:
        try:
            frame = pl.read_parquet(BytesIO(content))
        except pl.exceptions.PolarsError:
            return None
        if frame.schema != pl.Schema(SCHEMA):
            return None
        return frame if (frame["vector"].bin.size() == self.dims * _FLOAT.itemsize).all() else None

    def _write(self, frame: pl.DataFrame) -> Path:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = self._temporary()
            try:
                write_parquet(frame, temporary, compression_level=1)
                path = self.folder / f"{self.kind}-{_digest(temporary.read_bytes())}.parquet"
                put_in_place(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            raise refused(self.folder.parent, error) from error
        return path

    def _temporary(self) -> Path:
        """A new file that nobody else may read: what people asked for is private, digests of it too."""
        handle, name = tempfile.mkstemp(".tmp", f"{self.kind}-", self.folder)
        os.close(handle)
        return Path(name)

    def _remove_abandoned(self) -> None:
        """Remove what runs that were killed had begun; another run may just be writing."""
        for path in self.folder.glob("*.tmp"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_NAMED_DIGITS]
