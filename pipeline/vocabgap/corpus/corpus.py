"""The shared corpus for programs: the verbs of `vocabgap corpus` as methods of one object."""

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from vocabgap.corpus.chunks import PARSER_ID, require_owner, scan_version, scope
from vocabgap.corpus.extension import CorpusSettings
from vocabgap.corpus.identity import require_identity, require_tenant
from vocabgap.corpus.incoming import Parser
from vocabgap.corpus.manifest import FileEntry, Manifest, read_manifest
from vocabgap.corpus.push import (
    MOST_CHUNKS,
    ExportedChunks,
    PushResult,
    export_chunks,
    folder_payload,
    gap_log_parser,
    push,
    read_payload,
)
from vocabgap.corpus.store import Store, open_store
from vocabgap.corpus.upkeep import Forgotten, Overview, forget, lift, orphans_of, overview
from vocabgap.corpus.version import PATH_KEY, Measures, damaged_files
from vocabgap.corpus.withdrawal import deleted_in_git, empties
from vocabgap.errors import InvalidInputError, NotFoundError, require_kind, unusable
from vocabgap.ingest.scanning import Scan
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
        folder: The folder.
        create: Whether the first push or restore may make a corpus there.
        settings: How to read logs, how to treat false claims, and the like; the defaults by default.
        parsers: Parsers by the `parserId` of a payload's files: functions of a file (`content`,
            `source_path`, `entry`) that yield its pieces, each a dict with `content` and, if known, `kind`,
            `name`, `line_start`, `line_end` and `source`. The push adds the other fields of parsed-chunk-v1.
        on_wait: A function that is called with the name of another writer if a change has to wait.

    Raises:
        NotFoundError: There is no corpus, and none may be made.
        InvalidInputError: The folder is an address, or a parser cannot be called.
    """
    for name, parser in (parsers or {}).items():
        if not callable(parser):
            raise unusable(f"parsers[{name!r}]", "a function of a file that yields its pieces", parser)
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    return Corpus(open_store(folder, create=create, on_wait=on_wait), settings, parsers or {})


class Corpus:
    """A shared corpus: the contributions of several people, machines and repositories."""

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
        """Bring in the content of a folder or a payload, and withdraw the chunks that it withdraws.

        Faults of single lines or chunks are part of the answer; everything else is done. A gap log of a
        folder replaces everything of its path.

        Args:
            source: An image repository, the file of a payload (`-` for standard input), or a payload.
            tenant: The tenant that pushes.
            repo: The only repository that may be touched.
            deleted: For a folder: source paths to withdraw.
            snapshot: For a folder: whether to withdraw all logs that are not in it.
            base: For a folder: the revision since which deletions count.
            head: The revision up to which they count.
            git: The folder of a git repository that has the revisions.
            confirmed: Whether a push may withdraw the whole repository; a function is asked only then.
            now: The moment of the push; the present one by default.

        Raises:
            NotFoundError: The folder has no log, or there is nothing to withdraw.
            VocabgapError: The folder or the file cannot be read, or the tenant or repository is unusable.
        """
        tenant = require_identity(tenant, repo)
        if head is not None and base is None:
            raise InvalidInputError("--head is given without --base", hint="name the first revision, too")
        parser, is_folder = gap_log_parser(self.settings.sources), False
        if isinstance(source, Mapping):
            payload = source
        elif is_folder := Path(source).is_dir():
            signals = {"deleted": list(deleted), "baseRevision": base, "headRevision": head}
            payload, parser = self._read_folder(Path(source), tenant, repo, signals, snapshot, confirmed)
        elif deleted or snapshot or base is not None:
            raise InvalidInputError(
                f"'{source}' is no folder: a payload itself names what it withdraws",
                hint="`deleted`, `manifestSnapshot`, `baseRevision` and `headRevision` are its fields",
            )
        else:
            payload = read_payload(source)
        return push(
            self.store,
            payload,
            tenant=tenant,
            repo=repo,
            refuse_false=self.settings.of(CorpusSettings).tenant_spoof == "reject",
            resolver=None if git is None else partial(deleted_in_git, Path(git)),
            parsers={**self.parsers, PARSER_ID: parser},
            whole_logs=is_folder,
            confirmed=empties(payload) and confirmed() if callable(confirmed) else confirmed,
            most=sys.maxsize if is_folder else MOST_CHUNKS,
            now=now,
        )

    def _read_folder(  # noqa: PLR0917 - as `push` has them
        self,
        folder: Path,
        tenant: str,
        repo: str,
        signals: dict[str, Any],
        snapshot: bool,
        confirmed: bool | Callable[[], bool],
    ) -> tuple[dict[str, Any], Parser]:
        """Return the payload of a folder and its parser; refuse one that is probably another repository."""
        deleted = signals["deleted"]
        if deleted:
            require_owner(self.store.version(), tenant, repo, deleted)
        payload, parser = folder_payload(folder, tenant, repo, self.settings.scan, signals, snapshot=snapshot)
        present = {file["sourcePath"] for file in payload["files"]}
        before = self._paths(tenant, repo) if snapshot else set()
        if not (present or deleted or signals["baseRevision"] or before):
            raise NotFoundError(
                f"no log was found in '{folder}'",
                hint="name a folder above the logs; `vocabgap check` lists their names",
            )
        for path in present.intersection(deleted):
            raise InvalidInputError(
                f"'{path}' is to be withdrawn, but it is in '{folder}'", hint="remove it there first"
            )
        is_other = present and before and before.isdisjoint(present)
        if is_other and not (confirmed() if callable(confirmed) else confirmed):
            raise InvalidInputError(
                f"'{folder}' has none of the {count(len(before), 'log')} of {tenant}/{repo}: all would be"
                " withdrawn; nothing was changed",
                hint="check --repo, or confirm it with --yes",
            )
        return payload, parser

    def _paths(self, tenant: str, repo: str) -> set[str]:
        try:
            version = self.store.version()
            require_owner(version, tenant, repo)
        except NotFoundError:
            return set()
        return set(version.rows(["source_path"], scope([tenant], [repo]))["source_path"])

    def scan(self, *, tenants: tuple[str, ...] = (), repositories: tuple[str, ...] = ()) -> Scan:
        """Read the gap records as a scan of their logs would; by default those of every tenant."""
        return scan_version(
            self.store.version(), tenants=tenants, repositories=repositories, sources=self.settings.sources
        )

    def export(self, file: str | Path) -> "Exported":
        """Write every chunk with its vector to a file of backup-record-v1 records; a `.zst` is compressed."""
        from vocabgap.corpus.backups import export  # noqa: PLC0415 - loads SciPy

        return export(self.store.version(), Path(file), self.settings)

    def restore(self, file: str | Path, *, replace: bool = False) -> "Restored":
        """Restore the records of such a file verbatim; none of them unless all can be restored.

        With `replace`, they replace the whole content of the corpus.
        """
        from vocabgap.corpus.backups import restore  # noqa: PLC0415 - loads SciPy

        return restore(self.store, Path(file), replace=replace)

    def export_chunks(self, file: str | Path, *, tenant: str, repo: str) -> ExportedChunks:
        """Write a repository as a payload that another installation can push."""
        return export_chunks(self.store.version(), Path(file), tenant=tenant, repo=repo)

    def forget(
        self,
        tenant: str,
        repo: str | None = None,
        *,
        image: str | None = None,
        record: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove records of a tenant, and leave them out of every later push and restore.

        The corpus keeps only hashes of them. Their bytes go with the next compaction.

        Args:
            tenant: The owner of the records.
            repo: Only records of this repository.
            image: Only records of this image, as the record names it or as its folder is called.
            record: Only the record with this id: that of the chunk or of the gap record.
            dry_run: Whether to only count them.
        """
        sources = self.settings.sources
        return forget(self.store, tenant, repo, image=image, record=record, sources=sources, dry_run=dry_run)

    def lift(self, tenant: str, repo: str | None = None, *, record: str | None = None) -> int:
        """Let forgotten records come again with the next push or restore; return how many."""
        return lift(self.store, tenant, repo, record=record)

    def configure(self, tenant: str) -> int:
        """Count a new configuration of a tenant; return how many there are.

        Records that the tenant does not push again become stale, and then outdated.
        """
        tenant_id = require_tenant(tenant)
        with self.store.changing(f"configuration of {tenant_id}") as change:
            require_owner(change, tenant_id)
            return change.configure(tenant_id)

    def remove_orphans(self, tenant: str, *, dry_run: bool = False) -> int:
        """Remove the missing and outdated records of a tenant, as `status` counts them; return how many."""
        tenant_id, gap = require_tenant(tenant), self.settings.of(CorpusSettings).orphan_version_gap
        if dry_run:
            return orphans_of(self.store.version(), tenant_id, gap)[0].height
        with self.store.changing(f"remove orphans of {tenant_id}") as change:
            orphans, emptied = orphans_of(change, tenant_id, gap)
            change.keep("logs", change.table("logs").join(emptied, on=PATH_KEY, how="anti"))
            return change.delete(pl.col("id").is_in(orphans["id"].implode()))

    def compact(self) -> Measures:
        """Rewrite the corpus, so that no file of it holds removed records."""
        return self.store.compact()

    def damaged(self) -> dict[str, FileEntry]:
        """Return the missing and the damaged files, by name, with the number of their `rows`."""
        return damaged_files(self.store.folder, read_manifest(self.store.folder) or Manifest())

    def status(self) -> Overview:
        """Return the content of the corpus by repository, its size and its orphans."""
        return overview(self.store.version(), gap=self.settings.of(CorpusSettings).orphan_version_gap)
