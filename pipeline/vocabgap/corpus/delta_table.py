"""The log of a Delta Lake table that is a corpus: which files a version has, and how the next is committed.

Column `role` partitions the table: `chunk` has the chunks, and `state` one row whose content says, as JSON,
what else the version holds. So one commit changes both, or neither.
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

import msgspec
import polars as pl

from vocabgap.corpus.chunks import vector_length
from vocabgap.corpus.manifest import PartEntry
from vocabgap.corpus.parts import Contents, OpenFile, Part, readable
from vocabgap.corpus.store import PathSnapshot, no_corpus, unconfirmed
from vocabgap.errors import StateError
from vocabgap.files.atomic import sync, sync_folder
from vocabgap.schema import CHUNKS

LOG_FOLDER: Final = "_delta_log"
_ROLE: Final = "role"
_STATE: Final = "state"
CHUNKS_FOLDER: Final = f"{_ROLE}=chunk"
STATE_FOLDER: Final = f"{_ROLE}={_STATE}"
_COMMIT: Final = re.compile(r"[0-9]{20}\.json")
OURS: Final = re.compile(r"(chunks|state)-[0-9a-f]{16}\.parquet")
"""Files that a corpus has written; other tools may have written others."""

# What only other tools' tables have, and would be read wrongly without.
_UNREAD: Final = frozenset({"deletionVectors", "columnMapping"})
_FILES: Final = pl.Schema(
    {"path": pl.String(), "size_bytes": pl.Int64(), "num_records": pl.Int64(), "partition.role": pl.String()}
)


class State(msgspec.Struct, frozen=True):
    """What a version holds besides its chunks.

    Attributes:
        snapshots: The path snapshots, by tenant and repository.
        config_versions: How often each tenant was configured.
        dimensions: How long the vectors are in each file that has any.
    """

    snapshots: tuple[PathSnapshot, ...] = ()
    config_versions: dict[str, int] = {}
    dimensions: dict[str, int] = {}


class Table:
    """The newest version of a table, as its log has it.

    Args:
        folder: The table.

    Raises:
        NotFoundError: There is none.
        StateError: It is no corpus, or cannot be read; or the extra `delta` is not installed.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / LOG_FOLDER).is_dir():
            raise no_corpus(folder)
        self.folder = folder
        with told(folder):
            self._table = _library("deltalake").DeltaTable(str(folder))
            features = set(self._table.protocol().reader_features or ())
            files = pl.DataFrame(self._table.get_add_actions(flatten=True))
            self.number: int = self._table.version()
        if strange := [name for name in _FILES.names() if name not in files.columns]:
            raise StateError(
                f"'{folder}' is a Delta table and no corpus: its files have no '{strange[0]}'",
                hint="name another folder",
            )
        if features & _UNREAD:
            raise StateError(
                f"Delta table '{folder}' has feature '{min(features & _UNREAD)}', which is not read here",
                hint="drop it with the tool that has added it",
            )
        self._files = files.select(_FILES.names()).cast(_FILES).sort("path")

    @property
    def files(self) -> set[Path]:
        """The version's files."""
        return {self._path(name) for name in self._files.get_column("path")}

    def contents(self) -> Contents:
        """What the version holds, its files held open.

        Raises:
            FileNotFoundError: A file is not there (any more).
            StateError: A file is damaged.
            OSError: The system refused.
        """
        state, size = self.state()
        chunks = self._files.filter(pl.col("partition.role") != _STATE)
        parts = [
            self._part(number, name, file_size, rows, state)
            for number, (name, file_size, rows, _) in enumerate(chunks.iter_rows(), start=1)
        ]
        every = sum(path.stat().st_size for path in self.folder.rglob("*.parquet"))
        return Contents(
            self.number,
            parts,
            snapshots=lambda: state.snapshots,
            config_versions=state.config_versions,
            other_bytes=size,
            old_bytes=every - size - sum(part.entry.bytes for part in parts),
        )

    def state(self) -> tuple[State, int]:
        """What the version holds besides its chunks, and how many bytes the file of that has.

        Raises:
            FileNotFoundError: The file is not there (any more).
            StateError: It is damaged.
            OSError: The system refused.
        """
        found = self._files.filter(pl.col("partition.role") == _STATE)
        if found.is_empty():
            return State(), 0
        name, size, _, _ = found.row(0)
        file = OpenFile(self._path(name), size)
        with readable(file.path):
            content = pl.read_parquet(file.stream(), columns=["content"]).item()
        try:
            return msgspec.json.decode(content, type=State), size
        except msgspec.DecodeError as error:
            raise StateError(f"'{file.path}' is damaged: {error}") from error

    def commit(self, parts: Sequence[Part], state: Path | None) -> None:
        """Let some parts be the next version.

        Args:
            parts: All of its parts; those that are not there yet are on the disk.
            state: The new file of its state; None where that stays.

        Raises:
            StateError: Another writer's commit came first, or the disk did not take this one.
        """
        before = {self._path(name): (name, role) for name, _, _, role in self._files.iter_rows()}
        after = {part.file.path: part.entry.rows for part in parts}
        if state is not None:
            after[state] = 1
        gone = [
            (name, role)
            for path, (name, role) in before.items()
            if path not in after and (role != _STATE or state is not None)
        ]
        new = [(path, rows) for path, rows in after.items() if path not in before]
        if not gone and not new:
            return
        library = _library("deltalake.transaction")
        now = time.time_ns() // 1_000_000
        removed = [library.RemoveAction(name, True, now, None, {_ROLE: role}) for name, role in gone]
        added = [
            library.AddAction(
                path.relative_to(self.folder).as_posix(),
                path.stat().st_size,
                {_ROLE: path.parent.name.removeprefix(f"{_ROLE}=")},
                now,
                True,
                json.dumps({"numRecords": rows}),
            )
            for path, rows in new
        ]
        with told(self.folder):
            self._table.create_write_transaction(
                [*removed, *added],
                mode="append",
                schema=self._table.schema(),
                partition_by=[_ROLE],
                commit_properties=library.CommitProperties(max_commit_retries=0),
            )
        self._sync_log()

    def _sync_log(self) -> None:
        """Wait until the newest commit is on the disk, which the library does not do.

        Raises:
            StateError: The commit is there, but the disk does not confirm it.
        """
        log = self.folder / LOG_FOLDER
        try:
            sync(max(path for path in log.iterdir() if _COMMIT.fullmatch(path.name)))
            sync_folder(log)
        except OSError as error:
            raise unconfirmed(self.folder, error) from error

    def vacuum(self) -> None:
        """Remove the files of earlier versions.

        Raises:
            StateError: The system refused.
        """
        with told(self.folder):
            old = self._table.vacuum(retention_hours=0, enforce_retention_duration=False)
            if any(self._path(name).exists() for name in old):
                self._table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    def _part(self, number: int, name: str, size: int, rows: int | None, state: State) -> Part:
        file = OpenFile(self._path(name), size)
        dimension = state.dimensions.get(file.path.name)
        ours = OURS.fullmatch(file.path.name) is not None
        with readable(file.path):
            if rows is None:
                rows = pl.read_parquet(file.stream(), columns=["id"]).height
            if not ours:  # another tool has written it anew
                dimension = vector_length(pl.read_parquet(file.stream(), columns=["embedding"]))
        return Part(PartEntry(number, rows, size, 0, dimension), file, ordered=ours)

    def _path(self, name: str) -> Path:
        parts = PurePosixPath(unquote(name)).parts
        if ".." in parts or parts[:1] == ("/",) or "://" in name:
            raise StateError(
                f"Delta table '{self.folder}' has file '{name}', which lies elsewhere",
                hint="copy the table as a whole",
            )
        return self.folder.joinpath(*parts)


def create(folder: Path) -> None:
    """Make an empty table in a folder.

    Raises:
        StateError: The system refused; or the extra `delta` is not installed.
    """
    with told(folder):
        _library("deltalake").DeltaTable.create(
            str(folder), schema=pl.Schema({**CHUNKS.schema, _ROLE: pl.String()}), partition_by=[_ROLE]
        )


def state_rows(state: State) -> pl.DataFrame:
    """A state as the one row of its file."""
    content = msgspec.json.encode(state).decode()
    return pl.DataFrame([{"id": _STATE, "content": content}], schema=CHUNKS.schema)


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """Let what the library refuses be told as the state of the corpus.

    Raises:
        StateError: It refused.
    """
    problems = _library("deltalake.exceptions")
    try:
        yield
    except problems.CommitFailedError as error:
        raise StateError(
            f"Delta table '{folder}' was changed by another writer meanwhile: {_first_line(error)}",
            hint="nothing was changed; try again",
        ) from error
    except (problems.DeltaError, OSError) as error:
        raise StateError(f"Delta table '{folder}' cannot be used: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _library(name: str) -> Any:  # noqa: ANN401 - modules that need not be installed, taken as they are
    try:
        return import_module(name)
    except ImportError as error:
        raise StateError(
            "a corpus that is a Delta table needs deltalake, which is not installed",
            hint="pip install 'vocabgap[delta]'",
        ) from error
