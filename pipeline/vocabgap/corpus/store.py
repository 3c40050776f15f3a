"""A shared corpus in a folder of Parquet files, for which no server is needed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from vocabgap.corpus.change import Change
from vocabgap.corpus.manifest import (
    LOCK,
    MANIFEST,
    OURS,
    Manifest,
    has_manifest,
    read_manifest,
    remove_unnamed,
    write_manifest,
    writing,
)
from vocabgap.corpus.version import Measures, Version, newest
from vocabgap.errors import NotFoundError, StateError, expanded
from vocabgap.files.locking import lock_file
from vocabgap.files.signals import deferred_signals
from vocabgap.text import printable_name

_DELTA_LOG: Final = "_delta_log"
DELTA_HINT: Final = (
    "`vocabgap corpus export` with the version that made such a table,"
    " and `vocabgap corpus restore` the backup into a new folder"
)


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a shared corpus, be it one that can no longer be read.

    A manifest of something else says nothing: many tools call a file so.
    """
    return has_manifest(folder) or (folder / _DELTA_LOG).is_dir()


def open_store(
    folder: str | Path, *, create: bool = True, on_wait: Callable[[str], None] = lambda _: None
) -> "Store":
    """The corpus in a folder. Nothing is read yet.

    Args:
        folder: Where it lies.
        create: Whether one may be made there by the first change.
        on_wait: Called once, with who holds it, where a change has to wait for another writer.

    Raises:
        NotFoundError: There is none, and none is to be made.
        StateError: It was made as a Delta table, which is no longer read.
    """
    place = expanded(folder)
    if not has_manifest(place):
        if (place / _DELTA_LOG).is_dir():
            raise StateError(f"'{place}' is a Delta table, which is no longer read", hint=DELTA_HINT)
        if not create:
            raise NotFoundError(
                f"'{place}' holds no shared corpus",
                hint="`vocabgap corpus push` and `restore` make one; --corpus names another folder",
            )
    return Store(place, on_wait)


class Store:
    """A corpus in a folder. The folder is made by the first change."""

    def __init__(self, folder: Path, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._on_wait = on_wait

    def version(self) -> Version:
        """The newest version, as it is now: what others write later does not change it.

        Raises:
            NotFoundError: There is no corpus.
            StateError: It is damaged, or of a newer format.
            AccessDeniedError: It may not be read.
        """
        return newest(self.folder)

    @contextmanager
    def changing(self, purpose: str) -> Iterator[Change]:
        """Alone with the corpus. What was changed appears whole when the block ends without an error.

        Args:
            purpose: What is being done, as another writer who finds the corpus locked is told.

        Raises:
            StateError: Another writer is at it, the folder holds something else, or the disk did not take it.
                Nothing has changed then.
            AccessDeniedError: The system does not let it be written.
        """
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._require_own()
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
        """Write anew what is there, and remove every file that holds what is not; gives what is there now.

        What was deleted is in no file of the corpus afterwards.

        Raises:
            NotFoundError: There is no corpus.
            StateError: Another writer is at it, or the disk did not take it.
            AccessDeniedError: The system does not let it be written.
        """
        self.version()
        with self.changing("compact") as change:
            before = change.base.files
            change.rewrite()
        files = (read_manifest(self.folder) or Manifest()).files
        left = [name for name in before if name not in files and (self.folder / name).exists()]
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

    def _begun(self) -> Change:
        """A change of the newest version, once what a writer that was killed has left is gone."""
        with writing(self.folder):
            self._clear()
            return Change(self.folder, read_manifest(self.folder) or Manifest())

    def _clear(self) -> None:
        with deferred_signals():
            remove_unnamed(self.folder, read_manifest(self.folder) or Manifest())

    def _require_own(self) -> None:
        """Refuse a folder that is no corpus and holds something else: it is not to be strewn among that.

        What a first change that was killed has left may be there.
        """
        if (self.folder / MANIFEST).exists():
            return
        strange = sorted(path.name for path in self.folder.iterdir() if not OURS.fullmatch(path.name))
        # What is strange may be the corpus that another writer has begun since.
        if strange and not (self.folder / MANIFEST).exists():
            name = printable_name(strange[0])
            raise StateError(
                f"'{self.folder}' is no corpus, and holds other files, such as '{name}'",
                hint="name an empty folder, or one that does not exist yet",
            )
