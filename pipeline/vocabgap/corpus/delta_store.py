"""A shared corpus as a Delta Lake table, for those who share it with other tools: extra `delta`.

Its parts are written as those of the other store. Where rows are deleted, a part is written anew, as Delta
Lake has it; the old one stays for other readers until the corpus is compacted.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.corpus import delta_table
from vocabgap.corpus.changes import PartsChange
from vocabgap.corpus.chunks import vector_length
from vocabgap.corpus.delta_table import (
    CHUNKS_FOLDER,
    LOG_FOLDER,
    OURS,
    STATE_FOLDER,
    State,
    Table,
    state_rows,
)
from vocabgap.corpus.parquet_store import alone, require_own
from vocabgap.corpus.parts import Part, PartsVersion, write_part
from vocabgap.corpus.store import Measures, missing_file, reading, writing
from vocabgap.errors import StateError
from vocabgap.files.atomic import sync, sync_folder, undisturbed
from vocabgap.files.parquet import write_parquet

_LOCK: Final = "_writer.lock"  # other tools leave alone what begins so
_EMPTY: Final = re.compile(re.escape(_LOCK))


class DeltaStore:
    """A corpus that is a Delta table in a folder. The table is made by the first change.

    Args:
        folder: Where it is.
        on_wait: Called once, with who holds it, where a change has to wait for another writer.
    """

    def __init__(self, folder: Path, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._on_wait = on_wait

    def version(self) -> PartsVersion:
        """As `Store.version`.

        Raises:
            NotFoundError: There is no corpus.
            StateError: It is damaged; or the extra `delta` is not installed.
            AccessDeniedError: It may not be read.
        """
        with reading(self.folder):
            table = Table(self.folder)
            while True:
                try:
                    return PartsVersion(self.folder, table.contents())
                except FileNotFoundError as error:
                    newer = Table(self.folder)
                    if newer.number == table.number:
                        raise missing_file(self.folder, table.number, error) from error
                    table = newer

    @contextmanager
    def changing(self, purpose: str) -> Iterator["DeltaChange"]:
        """As `Store.changing`.

        Raises:
            StateError: As there; or the folder holds something else.
            AccessDeniedError: The system does not let it be written.
        """
        with self._alone(purpose) as change:
            yield change
            with writing(self.folder):
                change.commit()

    def compact(self) -> Measures:
        """As `Store.compact`. Other tools, too, cannot read earlier versions any more then.

        Raises:
            NotFoundError: There is no corpus.
            StateError: As there.
            AccessDeniedError: The system does not let it be written.
        """
        self.version()
        with self._alone("compact") as change:
            change.rewrite()
            with writing(self.folder):
                change.commit()
                table = Table(self.folder)
                table.vacuum()
                for path in sorted(set(self.folder.rglob("*.parquet")) - table.files):
                    if OURS.fullmatch(path.name):  # left by a writer that was killed
                        path.unlink()
        return self.version().measures

    @contextmanager
    def _alone(self, purpose: str) -> Iterator["DeltaChange"]:
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            require_own(self.folder, LOG_FOLDER, _EMPTY)
        with alone(self.folder, purpose, self._on_wait, lock=_LOCK):
            with writing(self.folder):
                if not (self.folder / LOG_FOLDER).is_dir():
                    delta_table.create(self.folder)
                change = DeltaChange(Table(self.folder))
            try:
                yield change
            finally:
                # What is not removed now is when the corpus is compacted.
                with suppress(OSError, StateError):
                    change.clear()


class DeltaChange(PartsChange):
    """A change whose files are committed to a table's log at the end.

    Args:
        table: The version that is changed.

    Raises:
        StateError: A file of that version is missing or damaged.
        OSError: The system refused.
    """

    def __init__(self, table: Table) -> None:
        try:
            contents = table.contents()
        except FileNotFoundError as error:
            raise missing_file(table.folder, table.number, error) from error
        super().__init__(table.folder, contents, self._write_part)
        self._table = table
        self._numbers = count(len(contents.parts) + 1)
        self._written: list[Path] = []
        self._before = table.state()[0]

    def commit(self) -> None:
        """Let what was changed be the newest version; where nothing was, there is none.

        Raises:
            StateError: Another writer's commit came first, or the disk did not take this one.
            OSError: The system refused.
        """
        deleted = self.deleted_by_part
        for part in self.parts:
            if part.entry.number in deleted:
                self.rewrite_part(part)
        lengths = {part.file.path.name: part.entry.dimension for part in self.parts}
        dimensions = {name: length for name, length in lengths.items() if length is not None}
        state = State(self.snapshots, self.config_versions, dimensions)
        path = None
        if state != self._before:
            path = self._new_file(STATE_FOLDER, "state")
            write_parquet(state_rows(state), path)
        for written in self._written:
            sync(written)
        for folder in {written.parent for written in self._written}:
            sync_folder(folder)
        sync_folder(self.folder)
        with undisturbed():
            self._table.commit(self.parts, path)

    def clear(self) -> None:
        """Remove what this change has written and no version names.

        Raises:
            StateError: The table cannot be read.
            OSError: The system refused.
        """
        with undisturbed():
            named = Table(self.folder).files
            for path in self._written:
                if path not in named:
                    path.unlink(missing_ok=True)

    def _write_part(self, rows: pl.DataFrame) -> Part:
        return write_part(
            self._new_file(CHUNKS_FOLDER, "chunks"), next(self._numbers), rows, vector_length(rows)
        )

    def _new_file(self, folder: str, kind: str) -> Path:
        # Writers who share the table's storage, and not its lock, are not to write the same file.
        path = self.folder / folder / f"{kind}-{secrets.token_hex(8)}.parquet"
        path.parent.mkdir(exist_ok=True)
        self._written.append(path)
        return path
