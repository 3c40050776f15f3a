"""A shared corpus for programs: what `vocabgap corpus` does, as one object."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vocabgap.corpus.contracts import PushResult
from vocabgap.corpus.gap_chunks import Scan, scan_version
from vocabgap.corpus.identity import require_identity
from vocabgap.corpus.payloads import (
    ExportedChunks,
    Signals,
    export_stored_chunks,
    read_payload,
    require_revisions,
)
from vocabgap.corpus.push import Prepared
from vocabgap.corpus.store import DELTA_HINT, Store, open_store
from vocabgap.corpus.upkeep import Forgotten, Overview, configure, forget, overview, remove_orphans
from vocabgap.corpus.version import Measures
from vocabgap.errors import InvalidInputError, require_kind
from vocabgap.settings.model import Settings

if TYPE_CHECKING:
    from vocabgap.corpus.backups import Exported, Restored


_NO_SIGNALS = Signals()


def open_corpus(
    folder: str | Path,
    *,
    create: bool = True,
    settings: Settings | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> "Corpus":
    """Open the shared corpus in a folder.

    Args:
        folder: Where it lies.
        create: Whether one may be made there, by the first push or restore.
        settings: How logs are read, what is done about false claims, and the like; the defaults by default.
        on_wait: Called with who is at it, where a change has to wait for another writer.

    Raises:
        NotFoundError: There is none, and none is to be made.
        InvalidInputError: The settings ask for a Delta table.
        StateError: It is a Delta table.
    """
    given = Settings() if settings is None else settings
    require_kind("settings", given, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    if given.corpus.store == "delta":
        raise InvalidInputError(
            "corpus.store: Delta tables are no longer written", hint=f"leave it out; {DELTA_HINT}"
        )
    store = open_store(folder, create=create, on_wait=on_wait)
    return Corpus(store, given)


class Corpus:
    """A shared corpus: what several people, machines and repositories contribute, and may withdraw.

    Args:
        store: What keeps it.
        settings: How logs are read, what is done about false claims, and the like.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings

    def prepare(
        self,
        source: str | Path | Mapping[str, Any],
        *,
        tenant: str,
        repo: str,
        signals: Signals = _NO_SIGNALS,
    ) -> Prepared:
        """Read what is to be pushed: an image repository, a payload's file (`-`: what is piped) or a payload.

        Raises:
            VocabgapError: It cannot be read, or it is not said whose push it is.
        """
        tenant = require_identity(tenant, repo)
        if isinstance(source, Mapping):
            return Prepared(source)
        path = Path(source)
        if not path.is_dir() and signals != _NO_SIGNALS:
            raise InvalidInputError(
                f"'{source}' is no folder: what a payload withdraws, it says itself",
                hint="`deleted`, `manifestSnapshot`, `baseRevision` and `headRevision` are its fields",
            )
        require_revisions(signals)
        if path.is_dir():
            return Prepared.of_folder(path, tenant, repo, self.settings.scan, signals)
        return Prepared(read_payload(path))

    def push(
        self,
        source: str | Path | Mapping[str, Any],
        *,
        tenant: str,
        repo: str,
        deleted: tuple[str, ...] = (),
        snapshot: bool = False,
        base: str | None = None,
        head: str | None = None,
        git: str | Path | None = None,
        confirmed: bool = False,
        now: datetime | None = None,
    ) -> PushResult:
        """Bring in what a folder or a payload holds, and take out what it withdraws.

        What is wrong with single lines or chunks is part of the answer; everything else is done.

        Args:
            source: An image repository, the file of a payload, or a payload.
            tenant: Whose push it is.
            repo: The repository that alone may be touched.
            deleted: For a folder: source paths to withdraw.
            snapshot: For a folder: whether to withdraw what is of no log that is there now.
            base: For a folder: the revision since which deletions count.
            head: The revision up to which they do.
            git: The folder of a git repository that answers for the revisions.
            confirmed: Whether a push that withdraws everything of the repository is meant.
            now: The moment of the push; the present one by default.

        Raises:
            VocabgapError: The folder or the file cannot be read, or it is not said whose push it is.
        """
        prepared = self.prepare(
            source, tenant=tenant, repo=repo, signals=Signals(tuple(deleted), snapshot, base, head)
        )
        return self.carry_out(prepared, tenant=tenant, repo=repo, git=git, confirmed=confirmed, now=now)

    def carry_out(
        self,
        prepared: Prepared,
        *,
        tenant: str,
        repo: str,
        git: str | Path | None = None,
        confirmed: bool = False,
        now: datetime | None = None,
    ) -> PushResult:
        """Push what was prepared."""
        return prepared.into(
            self.store,
            tenant=tenant,
            repo=repo,
            settings=self.settings,
            git=None if git is None else Path(git),
            confirmed=confirmed,
            now=now,
        )

    def scan(self, *, tenants: tuple[str, ...] = (), repositories: tuple[str, ...] = ()) -> Scan:
        """The gap records as a scan of their logs would give them; by default those of every tenant."""
        return scan_version(
            self.store.version(), tenants=tenants, repositories=repositories, sources=self.settings.sources
        )

    def export(self, file: str | Path) -> "Exported":
        """Write every chunk with its vector to a file of backup-record-v1 records, packed if it is a `.zst`.

        Raises:
            VocabgapError: The corpus cannot be read, or the file not be written.
        """
        from vocabgap.corpus.backups import export  # noqa: PLC0415 - loads SciPy

        return export(self.store.version(), Path(file), self.settings)

    def restore(self, file: str | Path, *, replace: bool = False) -> "Restored":
        """Put back the records of such a file, verbatim; none of them unless all can be.

        Args:
            file: The file.
            replace: Whether they take the place of what is there.

        Raises:
            VocabgapError: A record cannot be restored; nothing has changed.
        """
        from vocabgap.corpus.backups import restore  # noqa: PLC0415 - loads SciPy

        return restore(self.store, Path(file), replace=replace)

    def export_chunks(self, file: str | Path, *, tenant: str, repo: str) -> ExportedChunks:
        """Write a repository as a payload, to be pushed elsewhere.

        Raises:
            VocabgapError: The corpus cannot be read, or the file not be written.
        """
        return export_stored_chunks(self.store.version(), Path(file), tenant=tenant, repo=repo)

    def forget(
        self, tenant: str, repo: str | None = None, *, image: str | None = None, record: str | None = None
    ) -> Forgotten:
        """Remove records of a tenant: all, or those of a repository, of an image, or one by its id.

        Raises:
            NotFoundError: There are none.
            StateError: The corpus cannot be changed.
        """
        return forget(self.store, tenant, repo, image=image, record=record, sources=self.settings.sources)

    def configure(self, tenant: str) -> int:
        """Note that a tenant was configured anew: what is not pushed again becomes stale, and then outdated.

        Returns:
            How often the tenant was configured by now.

        Raises:
            InvalidInputError: It is no tenant.
            StateError: The corpus cannot be changed.
        """
        return configure(self.store, tenant)

    def remove_orphans(self) -> int:
        """Remove what is left over and may be removed, by the rules that `status` tells; gives how many."""
        return remove_orphans(self.store, gap=self.settings.corpus.orphan_version_gap)

    def compact(self) -> Measures:
        """Make deletions physical: what was removed is in no file of the corpus afterwards."""
        return self.store.compact()

    def status(self) -> Overview:
        """How much of whom there is, how large it is, and what is left over."""
        return overview(self.store.version(), gap=self.settings.corpus.orphan_version_gap)
