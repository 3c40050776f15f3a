"""A shared corpus in memory, as plain as can be: what the one on disks is compared with."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy

import polars as pl

from vocabgap.corpus.store import Change, Store
from vocabgap.corpus.version import CHUNKS, TABLES, Measures


class MemoryVersion(Change):
    """One whole version; as a change it is a copy that is taken over when all went well."""

    def __init__(self, chunks: pl.DataFrame | None = None) -> None:
        self.chunks = CHUNKS.empty() if chunks is None else chunks
        self._tables = {kind: schema.to_frame() for kind, schema in TABLES.items()}
        self.config_versions: dict[str, int] = {}
        self.added: list[int] = []  # how many each call of `add` was given

    def rows(
        self, columns: Sequence[str] | None = None, where: pl.Expr | None = None
    ) -> pl.DataFrame:
        found = self.chunks if where is None else self.chunks.filter(where)
        found = found.sort("tenant_id", "repo_slug", "source_path", "line", "id")
        return found if columns is None else found.select(columns)

    @property
    def dimension(self) -> int | None:
        lengths = self.chunks["embedding"].list.len().drop_nulls()
        return int(lengths[0]) if len(lengths) else None

    @property
    def measures(self) -> Measures:
        return Measures(version=0, rows=len(self.chunks), deleted=0, parts=1, bytes=0)

    def delete(self, where: pl.Expr) -> int:
        before = len(self.chunks)
        self.chunks = self.chunks.filter(~where.fill_null(value=False))
        return before - len(self.chunks)

    def add(self, rows: pl.DataFrame) -> int:
        CHUNKS.require(rows)
        self.added.append(len(rows))
        new = rows.unique("id", keep="first", maintain_order=True).join(
            self.chunks, on="id", how="anti"
        )
        self.chunks = pl.concat([self.chunks, new])
        return len(new)

    def keep(self, kind: str, table: pl.DataFrame) -> None:
        self._tables = {**self._tables, kind: table}

    def configure(self, tenant_id: str) -> int:
        version = self.config_versions.get(tenant_id, 0) + 1
        self.config_versions = {**self.config_versions, tenant_id: version}
        return version


class MemoryStore(Store):
    """A corpus whose changes appear whole or not at all.

    Attributes:
        current: What it holds.
        purposes: What each change was for.
    """

    def __init__(self, chunks: pl.DataFrame | None = None) -> None:
        self.current = MemoryVersion(chunks)
        self.purposes: list[str] = []

    def version(self) -> MemoryVersion:
        return copy(self.current)

    @contextmanager
    def changing(self, purpose: str) -> Iterator[MemoryVersion]:
        self.purposes.append(purpose)
        change = copy(self.current)
        change.added = list(self.current.added)
        yield change
        self.current = change

    def compact(self) -> Measures:
        return self.current.measures
