"""A change to a corpus whose chunks lie in Parquet parts: new parts beside the old ones, which stay."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.corpus.chunks import fresh_chunks, require_fitting, vector_length
from vocabgap.corpus.compacting import stretches
from vocabgap.corpus.ordering import PATH_KEY, in_order
from vocabgap.corpus.parts import DELETED, Part, collected, rows_of, scan
from vocabgap.corpus.reading import Contents, PartsVersion, rows_in_order
from vocabgap.corpus.refusals import writing
from vocabgap.corpus.store import PathSnapshot

# Every part is a file that readers hold open. From so many on, those are joined that together are small.
_MANY_PARTS: Final = 48
_SMALL_TOGETHER: Final = 262_144  # rows


class PartsChange(PartsVersion):
    """A version in the making. What is added lies in files by then, which no version names until the end.

    Args:
        folder: The corpus.
        contents: The version that is changed.
        write: Writes chunks, in order, to a new part.
    """

    def __init__(self, folder: Path, contents: Contents, write: Callable[[pl.DataFrame], Part]) -> None:
        super().__init__(folder, contents)
        self._write = write
        self._said: dict[tuple[str, str], PathSnapshot | None] = {}

    @property
    def snapshots(self) -> tuple[PathSnapshot, ...]:
        """As `Version.snapshots`, by tenant and repository."""
        return tuple(snapshot for _, snapshot in sorted(self._snapshots().items()))

    @property
    def snapshots_changed(self) -> bool:
        """Whether they are not those of the version that is changed."""
        return bool(self._said) and self.snapshots != super().snapshots

    @property
    def parts(self) -> tuple[Part, ...]:
        """The files of chunks of the version in the making."""
        return tuple(self._parts)

    @property
    def deleted(self) -> pl.DataFrame:
        """Which of their rows are deleted, by part and row."""
        return self._deleted

    @property
    def deleted_by_part(self) -> dict[int, int]:
        """How many rows are deleted of each part that lacks any."""
        return dict(self._deleted.get_column("part").value_counts().iter_rows())

    def delete(self, where: pl.Expr) -> int:
        """As `Change.delete`. Only the columns that the condition names are read."""
        with writing(self.folder):
            found = rows_of(self._parts, scan(self._parts, self._deleted, where))
        self._deleted = pl.concat([self._deleted, found]).sort("part", "row")
        self._drop_emptied()
        return found.height

    def add(self, rows: pl.DataFrame) -> int:
        """As `Change.add`."""
        fresh = fresh_chunks(rows)
        require_fitting(vector_length(fresh), self.dimension)
        with writing(self.folder):
            ids = fresh.select("id").lazy()
            known = scan(self._parts, self._deleted).select("id").join(ids, on="id", how="semi")
            fresh = fresh.join(collected(self._parts, known), on="id", how="anti", maintain_order="left")
            if fresh.is_empty():
                return 0
            self._parts.append(self._write(in_order(fresh)))
            if len(self._parts) >= _MANY_PARTS:
                self._join_small()
        return fresh.height

    def keep_snapshot(self, snapshot: PathSnapshot) -> None:
        """As `Change.keep_snapshot`."""
        self._said[snapshot.tenant_id, snapshot.repo_slug] = snapshot

    def drop_snapshots(self, tenant_id: str, repo_slug: str | None = None) -> int:
        """As `Change.drop_snapshots`."""
        gone = [key for key in self._snapshots() if key[0] == tenant_id and repo_slug in {None, key[1]}]
        self._said.update(dict.fromkeys(gone))
        return len(gone)

    def configure(self, tenant_id: str) -> int:
        """As `Change.configure`."""
        version = self._config_versions.get(tenant_id, 0) + 1
        self._config_versions[tenant_id] = version
        return version

    def rewrite(self) -> None:
        """Write what is there into new parts, each of a stretch of paths, that hold nothing else.

        They are written one by one, so that a corpus need not fit into memory.
        """
        with writing(self.folder):
            counted = scan(self._parts, self._deleted).select(PATH_KEY).group_by(PATH_KEY).len()
            wholes = stretches(collected(self._parts, counted).sort(PATH_KEY))
            if self._deleted.is_empty() and len(self._parts) == len(wholes):
                return
            self._parts = [self._write(self.rows(where=where)) for where in wholes]
        self._deleted = DELETED.to_frame()

    def rewrite_part(self, part: Part) -> None:
        """Write what is there of a part into a new one, which takes its place."""
        with writing(self.folder):
            self._replace([part], self._write(rows_in_order([part], self._deleted)))

    def _snapshots(self) -> dict[tuple[str, str], PathSnapshot]:
        said = {(each.tenant_id, each.repo_slug): each for each in super().snapshots} | self._said
        return {key: snapshot for key, snapshot in said.items() if snapshot is not None}

    def _join_small(self) -> None:
        """Put the smallest parts into one, as many as are small together."""
        rows = 0
        small: list[Part] = []
        for part in sorted(self._parts, key=lambda each: (each.entry.rows, each.entry.number)):
            rows += part.entry.rows
            if rows > _SMALL_TOGETHER:
                break
            small.append(part)
        if len(small) >= _MANY_PARTS // 2:
            self._replace(small, self._write(rows_in_order(small, self._deleted)))

    def _replace(self, old: list[Part], new: Part) -> None:
        self._parts = [part for part in self._parts if part not in old] + [new]
        self._forget_others()

    def _drop_emptied(self) -> None:
        """Let go of parts of which nothing is there any more."""
        deleted = self.deleted_by_part
        self._parts = [part for part in self._parts if deleted.get(part.entry.number, 0) < part.entry.rows]
        self._forget_others()

    def _forget_others(self) -> None:
        numbers = [part.entry.number for part in self._parts]
        self._deleted = self._deleted.filter(pl.col("part").is_in(numbers))
