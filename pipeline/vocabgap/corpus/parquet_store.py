"""A shared corpus in a folder of Parquet files, for which no server is needed.

A manifest says which files are a version: parts that hold chunks, one file of what is deleted of them, and
one of path snapshots. All are written once and never changed. The manifest is replaced when they are on the
disk; so readers, who take no lock, see the version before or the version after.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from vocabgap.corpus.changes import ParquetChange, newest
from vocabgap.corpus.manifest import (
    LOCK,
    MANIFEST,
    OURS,
    Manifest,
    read_manifest,
    remove_unnamed,
    write_manifest,
)
from vocabgap.corpus.parts import PartsVersion
from vocabgap.corpus.store import Measures, writing
from vocabgap.errors import StateError
from vocabgap.files.locking import lock_file
from vocabgap.files.signals import deferred_signals
from vocabgap.text import printable_name

# Folders that are to be a corpus: nothing else may be in them.


def require_own(folder: Path, mark: str, but: re.Pattern[str]) -> None:
    """Refuse a folder that is no corpus and holds something else: it is not to be strewn among other files.

    Args:
        folder: The folder.
        mark: The name in it that every corpus of the kind has.
        but: Names of files that may be there, left by a first change that was killed.

    Raises:
        StateError: It does.
        OSError: The system refused.
    """
    if (folder / mark).exists():
        return
    strange = sorted(path.name for path in folder.iterdir() if not but.fullmatch(path.name))
    # What is strange may be the corpus that another writer has begun since.
    if strange and not (folder / mark).exists():
        raise StateError(
            f"'{folder}' is no corpus, and holds other files, such as '{printable_name(strange[0])}'",
            hint="name an empty folder, or one that does not exist yet",
        )


class ParquetStore:
    """A corpus in a folder. The folder is made by the first change.

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
            StateError: It is damaged, or of a newer format.
            AccessDeniedError: It may not be read.
        """
        return newest(self.folder)

    @contextmanager
    def changing(self, purpose: str) -> Iterator[ParquetChange]:
        """As `Store.changing`.

        Raises:
            StateError: As there; or the folder holds something else.
            AccessDeniedError: The system does not let it be written.
        """
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            require_own(self.folder, MANIFEST, OURS)
        with self._alone(purpose):
            change = self._begun()
            try:
                yield change
                with writing(self.folder):
                    manifest = change.manifest()
                    if manifest != change.base:
                        write_manifest(self.folder, manifest)
            finally:
                # What is not removed now is by the next writer.
                with suppress(OSError, StateError):
                    self._clear()

    def compact(self) -> Measures:
        """As `Store.compact`.

        Raises:
            NotFoundError: There is no corpus.
            StateError: As there.
            AccessDeniedError: The system does not let it be written.
        """
        self.version()
        with self.changing("compact") as change:
            before = change.base.files
            change.rewrite()
        named = (read_manifest(self.folder) or Manifest()).files
        left = [name for name in before if name not in named and (self.folder / name).exists()]
        if left:
            raise StateError(
                f"corpus '{self.folder}' is compacted, but '{left[0]}', which still holds what was deleted,"
                " could not be removed",
                hint="see to it that files may be removed there, and compact it again",
            )
        return self.version().measures

    @contextmanager
    def _alone(self, purpose: str) -> Iterator[None]:
        """Be the only writer. What the system refuses is told of the lock, not of what is done under it."""
        with ExitStack() as held:
            with writing(self.folder):
                held.enter_context(
                    lock_file(
                        self.folder / LOCK,
                        f"corpus '{self.folder}'",
                        purpose=purpose,
                        undone="nothing was changed",
                        on_wait=self._on_wait,
                    )
                )
            yield

    def _begun(self) -> ParquetChange:
        """A change of the newest version, once what a writer that was killed has left is gone."""
        with writing(self.folder):
            self._clear()
            return ParquetChange(self.folder, read_manifest(self.folder) or Manifest())

    def _clear(self) -> None:
        with deferred_signals():
            remove_unnamed(self.folder, read_manifest(self.folder) or Manifest())
