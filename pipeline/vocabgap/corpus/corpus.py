"""A shared corpus for programs: what `vocabgap corpus` does, as one object."""

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from vocabgap.corpus.chunks import PARSER_ID, Scan, require_whose, scan_version, scope
from vocabgap.corpus.contracts import PushResult
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import Spoof, require_identity, require_tenant
from vocabgap.corpus.incoming import Parser
from vocabgap.corpus.manifest import FileEntry, Manifest, read_manifest
from vocabgap.corpus.payloads import (
    ExportedChunks,
    export_chunks,
    folder_payload,
    gap_log_parser,
    read_payload,
)
from vocabgap.corpus.push import MOST_CHUNKS, push
from vocabgap.corpus.store import Store, open_store
from vocabgap.corpus.upkeep import Forgotten, Overview, forget, lift, orphans_of, overview
from vocabgap.corpus.version import PATH_KEY, Measures, damaged_files, what_is_whole
from vocabgap.corpus.withdrawal import deleted_in_git, empties
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError, require_kind, unusable
from vocabgap.model.settings import Settings
from vocabgap.text import count

if TYPE_CHECKING:
    from vocabgap.corpus.backups import Exported, Restored


def open_corpus(
    folder: str | Path,
    *,
    create: bool = True,
    settings: Settings | None = None,
    parsers: Mapping[str, Parser] | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> "Corpus":
    """Open the shared corpus in a folder.

    Args:
        folder: Where it lies.
        create: Whether one may be made there, by the first push or restore.
        settings: How logs are read, what is done about false claims, and the like; the defaults by default.
        parsers: What takes the files of payloads apart, by the `parserId` that a file names: functions of a
            file (`content`, `source_path`, `entry`) that give its pieces, each a dict with `content` and, if
            known, `kind`, `name`, `line_start`, `line_end` and `source`. The push adds what parsed-chunk-v1
            asks for beside that.
        on_wait: Called with who is at it, where a change has to wait for another writer.

    Raises:
        NotFoundError: There is none, and none is to be made.
        InvalidInputError: The folder is an address, or a parser cannot be called.
    """
    for name, parser in (parsers or {}).items():
        if not callable(parser):
            raise unusable(f"parsers[{name!r}]", "a function of a file that gives its pieces", parser)
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    return Corpus(open_store(folder, create=create, on_wait=on_wait), settings, parsers or {})


class Corpus:
    """A shared corpus: what several people, machines and repositories contribute, and may withdraw."""

    def __init__(self, store: Store, settings: Settings, parsers: Mapping[str, Parser]) -> None:
        self.store = store
        self.parsers = parsers
        self.settings = settings

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
        confirmed: bool | Callable[[], bool] = False,
        now: datetime | None = None,
    ) -> PushResult:
        """Bring in what a folder or a payload holds, and take out what it withdraws.

        What is wrong with single lines or chunks is part of the answer; everything else is done. A gap log of
        a folder takes the place of what is there of its path.

        Args:
            source: An image repository, the file of a payload (`-` for standard input), or a payload.
            tenant: Whose push it is.
            repo: The repository that alone may be touched.
            deleted: For a folder: source paths to withdraw.
            snapshot: For a folder: whether to withdraw what is of no log that is there now.
            base: For a folder: the revision since which deletions count.
            head: The revision up to which they do.
            git: The folder of a git repository that answers for the revisions.
            confirmed: Whether a push that withdraws everything of the repository is meant; a function is
                called for such a push alone.
            now: The moment of the push; the present one by default.

        Raises:
            NotFoundError: No log is in the folder, or there is nothing of a path to withdraw.
            VocabgapError: The folder or the file cannot be read, or it is not said whose push it is.
        """
        tenant = require_identity(tenant, repo)
        if head is not None and base is None:
            raise InvalidInputError("--head is given without --base", hint="say since when deletions count")
        signals = {"deleted": list(deleted), "baseRevision": base, "headRevision": head}
        parser = gap_log_parser(self.settings.sources)
        is_folder = not isinstance(source, Mapping) and Path(source).is_dir()
        if isinstance(source, Mapping):
            payload = source
        elif is_folder:
            if deleted:
                require_whose(self.store.version(), tenant, repo, deleted)
            payload, parser = folder_payload(
                Path(source), tenant, repo, self.settings.scan, signals, snapshot=snapshot
            )
            present = {file["sourcePath"] for file in payload["files"]}
            if not (present or deleted or base) and not (snapshot and self._paths(tenant, repo)):
                raise NotFoundError(
                    f"no log was found in '{source}'",
                    hint="name a folder above the logs; `vocabgap check` tells what they are called",
                )
            for path in present.intersection(deleted):
                raise InvalidInputError(
                    f"'{path}' is to be withdrawn, and is in '{source}'", hint="remove it there first"
                )
            known = self._paths(tenant, repo) if snapshot and present else set()
            is_meant = not known or not known.isdisjoint(present)
            if not is_meant and not (confirmed() if callable(confirmed) else confirmed):
                raise InvalidInputError(
                    f"'{source}' has none of the {count(len(known), 'log')} of {tenant}/{repo}: all would be"
                    " withdrawn; nothing was changed",
                    hint="check --repo, or confirm it with --yes",
                )
        elif deleted or snapshot or base is not None:
            raise InvalidInputError(
                f"'{source}' is no folder: what a payload withdraws, it says itself",
                hint="`deleted`, `manifestSnapshot`, `baseRevision` and `headRevision` are its fields",
            )
        else:
            payload = read_payload(source)
        return push(
            self.store,
            payload,
            tenant=tenant,
            repo=repo,
            spoof=Spoof(self.settings.of(CorpusSettings).tenant_spoof),
            resolver=None if git is None else partial(deleted_in_git, Path(git)),
            parsers={**self.parsers, PARSER_ID: parser},
            whole_logs=is_folder,
            confirmed=empties(payload) and confirmed() if callable(confirmed) else confirmed,
            most=sys.maxsize if is_folder else MOST_CHUNKS,
            now=now,
        )

    def _paths(self, tenant: str, repo: str) -> set[str]:
        """The paths of a repository of which anything was ever pushed, and is not forgotten."""
        try:
            version = self.store.version()
            require_whose(version, tenant, repo)
        except NotFoundError:
            return set()
        return set(version.rows(["source_path"], scope([tenant], [repo]))["source_path"])

    def scan(self, *, tenants: tuple[str, ...] = (), repositories: tuple[str, ...] = ()) -> Scan:
        """The gap records as a scan of their logs would give them; by default those of every tenant."""
        return scan_version(
            self.store.version(), tenants=tenants, repositories=repositories, sources=self.settings.sources
        )

    def export(self, file: str | Path, *, salvage: bool = False) -> "Exported":
        """Write every chunk with its vector to a file of backup-record-v1 records, packed if it is a `.zst`.

        With `salvage` files of the corpus that are damaged are left out.

        Raises:
            VocabgapError: The corpus cannot be read, or the file not be written.
        """
        from vocabgap.corpus.backups import export  # noqa: PLC0415 - loads SciPy

        version = what_is_whole(self.store.folder) if salvage else self.store.version()
        return export(version, Path(file), self.settings)

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
        return export_chunks(self.store.version(), Path(file), tenant=tenant, repo=repo)

    def forget(
        self,
        tenant: str,
        repo: str | None = None,
        *,
        image: str | None = None,
        record: str | None = None,
        compact: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove records of a tenant, and leave them out of every later push and restore.

        Only hashes of them are kept. Their bytes go with the next compaction.

        Args:
            tenant: Whose they are.
            repo: Only those of this repository.
            image: Only those of this image, as the record names it or as its folder is called.
            record: Only the one with this id: that of the chunk or of the gap record.
            compact: Whether to compact the corpus, too: no byte of them is left in its folder.
            dry_run: Whether to remove nothing, and tell what would be removed.

        Raises:
            InvalidInputError: No tenant is named.
            NotFoundError: There are none.
            StateError: The corpus cannot be changed.
        """
        sources, compacts = self.settings.sources, compact and not dry_run
        try:
            forgotten = forget(
                self.store, tenant, repo, image=image, record=record, sources=sources, dry_run=dry_run
            )
        except NotFoundError:
            if compacts:  # they may have been forgotten by a run that was stopped before this
                self.compact()
            raise
        if compacts:
            try:
                self.compact()
            except VocabgapError as error:
                done = f"{count(forgotten.records, 'record')} forgotten, but their bytes are still there"
                error.message = f"{done}: {error.message}"
                error.hint = "they go with `vocabgap corpus compact`"
                raise
        return forgotten

    def lift(self, tenant: str, repo: str | None = None, *, record: str | None = None) -> int:
        """Let what was forgotten come again with the next push or restore; gives how many records.

        Raises:
            NotFoundError: Nothing of that was forgotten.
        """
        return lift(self.store, tenant, repo, record=record)

    def configure(self, tenant: str) -> int:
        """Note that a tenant was configured anew; gives how often by now.

        What is not pushed again becomes stale, and then outdated.

        Raises:
            InvalidInputError: It is no tenant.
            NotFoundError: There is nothing of that tenant.
        """
        tenant_id = require_tenant(tenant)
        with self.store.changing(f"configuration of {tenant_id}") as change:
            require_whose(change, tenant_id)
            return change.configure(tenant_id)

    def remove_orphans(self, tenant: str, *, dry_run: bool = False) -> int:
        """Remove what is left over of a tenant, by the rules that `status` tells; gives how many records.

        Args:
            tenant: Whose they are.
            dry_run: Whether to remove nothing, and tell how many would be removed.

        Raises:
            NotFoundError: There is nothing of that tenant.
        """
        tenant_id, gap = require_tenant(tenant), self.settings.of(CorpusSettings).orphan_version_gap
        if dry_run:
            return orphans_of(self.store.version(), tenant_id, gap)[0].height
        with self.store.changing(f"remove orphans of {tenant_id}") as change:
            orphans, emptied = orphans_of(change, tenant_id, gap)
            change.keep("logs", change.table("logs").join(emptied, on=PATH_KEY, how="anti"))
            return change.delete(pl.col("id").is_in(orphans["id"].implode()))

    def compact(self) -> Measures:
        """Make deletions physical: what was removed is in no file of the corpus afterwards."""
        return self.store.compact()

    def damaged(self) -> dict[str, FileEntry]:
        """The files that are missing or not what was written, by name, with the `rows` that they had."""
        return damaged_files(self.store.folder, read_manifest(self.store.folder) or Manifest())

    def status(self) -> Overview:
        """How much of whom there is, how large it is, and what is left over."""
        return overview(self.store.version(), gap=self.settings.of(CorpusSettings).orphan_version_gap)
