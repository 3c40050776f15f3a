"""The commands of `vocabgap corpus`: push gap logs to a shared corpus, remove them, back them up."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from vocabgap.corpus.extension import CorpusSettings
from vocabgap.doors.verbs import (
    NOW,
    WHOSE,
    Answer,
    Event,
    Limit,
    Panel,
    Request,
    SelectionAt,
    Verbs,
    argument,
    filtered,
    option,
    verb,
)
from vocabgap.errors import InvalidInputError
from vocabgap.model.moments import parse_now
from vocabgap.model.settings import DEFAULT_LISTED
from vocabgap.text import count, escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.corpus.corpus import Corpus
    from vocabgap.doors.cli.calls import Call

_SETTINGS: Final = ("--corpus",)
_SELECT: Final = Panel.SELECT
_SHOWN: Final = 20  # shown errors of a push
_BACKUP: Final = argument("A file with one backup record per line; compressed if its name ends in .zst.")
_PATH: Final = option("Only this path or folder.", panel=_SELECT)
_NAME: Final = option("Only this name or id, or the first four or more digits of an id.", panel=_SELECT)
_YES: Final = option("Confirm the removal.", "--yes")
_DRY_RUN: Final = option("Only count the records that would be removed.", "--dry-run")
_NOTE_ON_BYTES: Final = "`vocabgap corpus compact` removes their bytes"


class OfTenant(Request):
    """Base of requests about the records of a tenant."""

    tenant: Annotated[str, option("The tenant that owns the records.")]


class Push(Request, kw_only=True):
    """The request of `push`."""

    tenant: Annotated[
        str | None, option("The tenant that owns the records; by default the one that the payload names.")
    ] = None
    repo: Annotated[
        str | None, option("The repository of the records; by default the one that the payload names.")
    ] = None
    source: Annotated[
        Path,
        argument(
            "An image repository or a payload file; - reads a payload from standard input.",
            "DIR|PAYLOAD.json",
        ),
    ]
    delete: Annotated[tuple[str, ...], option("For a DIR: withdraw all records of this path.")] = ()
    snapshot: Annotated[bool, option("Also withdraw logs that are no longer in DIR.", "--snapshot")] = False
    base: Annotated[str | None, option("Withdraw the files of DIR that git deleted since this revision.")] = (
        None
    )
    git: Annotated[
        Path | None, option("Folder of the git repository with the revisions; DIR by default.")
    ] = None
    yes: Annotated[bool, option("Allow to withdraw all logs of the repository.", "--yes")] = False
    private: Annotated[bool, option("Let only this tenant read the records.", "--private")] = False
    now: Annotated[str | None, NOW] = None


@verb(Push, settings=_SETTINGS)
def push(call: "Call", request: Push) -> Answer:
    """Add gap logs or a payload to the corpus, and withdraw deleted records.

    A second push of the same content changes nothing. A log of DIR replaces all records of its path; a
    payload names what it withdraws. A push changes only its own tenant and repository.
    """
    result = _open(call, create=True).push(
        request.source,
        tenant=request.tenant,
        repo=request.repo,
        deleted=request.delete,
        snapshot=request.snapshot,
        base=request.base,
        git=request.git,
        confirmed=request.yes,
        private=request.private,
        now=None if request.now is None else parse_now(request.now),
    )
    shown = result.errors[:_SHOWN]
    notes = [*result.warnings, *(f"{error.code}: {_place(error.details)}{error.message}" for error in shown)]
    if len(result.errors) > len(shown):
        notes.append(f"and {len(result.errors) - len(shown):,} more; --json lists them all")
    if result.deleted:
        notes.append(_NOTE_ON_BYTES)
    return Answer(
        view="corpus-push.txt.j2", result=result.as_object(), notes=notes, exit_code=result.exit_code
    )


def _open(call: "Call", *, create: bool = False) -> "Corpus":
    """Open the corpus that an option, the environment or the settings name."""
    from vocabgap.corpus.corpus import open_corpus

    return open_corpus(
        call.settings.of(CorpusSettings).folder,
        create=create,
        settings=call.settings,
        on_wait=lambda holder: call.note(f"waiting for {holder}"),
    )


def _unconfirmed(question: str, hint: str = "--dry-run shows what would be removed") -> InvalidInputError:
    message = f"a confirmation is needed: {question} Nothing was changed"
    return InvalidInputError(escape_unseen(message), hint=f"confirm it with --yes; {hint}")


def _place(details: Mapping[str, object]) -> str:
    """Return the place in a payload as a JSON pointer; empty if the message names the file."""
    if "fileIndex" not in details or "sourcePath" in details:
        return ""
    chunk = f", chunk {details['chunkIndex']}" if "chunkIndex" in details else ""
    return f"/files/{details['fileIndex']}{chunk}: "


class ListChunks(Request):
    """The request of `list`."""

    path: Annotated[tuple[str, ...], _PATH] = ()
    kind: Annotated[tuple[str, ...], option("Only this kind, such as gap-record.", panel=_SELECT)] = ()
    name: Annotated[tuple[str, ...], _NAME] = ()
    limit: Limit = DEFAULT_LISTED


@verb(filtered(ListChunks, *WHOSE, "match"), name="list", settings=_SETTINGS)
def list_chunks(call: "Call", request: ListChunks, selection_at: SelectionAt) -> Answer:
    """List the records of the corpus, gaps and all others, newest first.

    `vocabgap --json corpus list --name ID` prints a record whole.
    """
    from vocabgap.corpus.chunks import texts_of
    from vocabgap.corpus.version import GAP_KIND

    reader = selection_at()
    chunks, notes = _open(call).list_chunks(
        **reader.owners, paths=request.path, kinds=request.kind, names=request.name, match=reader.match
    )
    first = chunks[: request.limit or None]
    return Answer(
        events=(
            Event("chunk", chunk | {"metadata": json.loads(chunk["metadata"])})
            for chunk in first.iter_rows(named=True)
        ),
        result={"listed": first.height, "records": chunks.height, "notes": notes},
        view="corpus-list.txt.j2",
        shown=lambda: {
            "chunks": zip(first.to_dicts(), texts_of(first, call.settings.sources), strict=True),
            "gap_kind": GAP_KIND,
        },
        notes=notes,
    )


class Export(Request):
    """The request of `export`."""

    file: Annotated[Path, _BACKUP]


@verb(filtered(Export, *WHOSE), settings=_SETTINGS)
def export(call: "Call", request: Export, selection_at: SelectionAt) -> Answer:
    """Write a backup: records with their vectors, ordered by id, without rejected lines and hashes.

    Without --tenant, the backup also has private records.
    """
    backup = _open(call).export(request.file, **selection_at().owners)
    return Answer(
        view="corpus-export.txt.j2",
        result={"file": printable_name(str(request.file)), **asdict(backup)},
        notes=backup.notes,
    )


class Restore(Request):
    """The request of `restore`."""

    file: Annotated[Path, _BACKUP]
    replace: Annotated[bool, option("Replace the whole content of the corpus.", "--replace")] = False
    yes: Annotated[bool, _YES] = False


@verb(Restore, settings=_SETTINGS)
def restore(call: "Call", request: Restore) -> Answer:
    """Restore a backup verbatim: all of its records, or none."""
    from vocabgap.corpus.contracts import RefusedError
    from vocabgap.corpus.version import is_corpus

    corpus = _open(call, create=True)
    if request.replace and not request.yes and is_corpus(Path(call.settings.of(CorpusSettings).folder)):
        records = corpus.store.version().measures.rows
        question = f"replace {count(records, 'record')} of all tenants?"
        raise _unconfirmed(question, "without --replace, the backup is added to them")
    try:
        restored = corpus.restore(request.file, replace=request.replace)
    except RefusedError as error:
        raise InvalidInputError(f"{error.code}: {error.message}") from error
    return Answer(view="corpus-restore.txt.j2", result=asdict(restored), shown={"replace": request.replace})


@verb(Request, settings=_SETTINGS)
def status(call: "Call", _: Request) -> Answer:
    """Show the records of each repository, the size of the corpus and its orphans."""
    overview = _open(call).status()
    return Answer(
        view="corpus-status.txt.j2",
        result={
            "corpus": printable_name(call.settings.of(CorpusSettings).folder),
            **{name: getattr(overview, name) for name in (*overview.__struct_fields__, "orphans")},
        },
    )


class Forget(OfTenant):
    """The request of `forget`."""

    repo: Annotated[str | None, option("Only records of this repository.", panel=_SELECT)] = None
    path: Annotated[tuple[str, ...], _PATH] = ()
    name: Annotated[tuple[str, ...], _NAME] = ()
    match: Annotated[str | None, option("Only records with this text, in any case.", panel=_SELECT)] = None
    lift: Annotated[bool, option("Let the next push bring forgotten records back.", "--lift")] = False
    dry_run: Annotated[bool, _DRY_RUN] = False
    yes: Annotated[bool, _YES] = False


@verb(Forget, settings=_SETTINGS)
def forget(call: "Call", request: Forget) -> Answer:
    """Remove records of a tenant for good: those that `list` shows with the same options.

    The corpus keeps their hashes, so that no later push or restore brings them back.
    """
    corpus, tenant, is_dry = _open(call), request.tenant, request.dry_run
    if request.lift:
        if request.path or request.match is not None or is_dry:
            raise InvalidInputError(
                "--lift allows only --tenant, --repo and --name", hint="the corpus keeps only their hashes"
            )
        lifted = corpus.lift(tenant, request.repo, names=request.name)
        return Answer(view="corpus-forget.txt.j2", result={"records": lifted}, shown={"step": "lifted"})
    forget_these = partial(
        corpus.forget, tenant, request.repo, paths=request.path, names=request.name, match=request.match
    )
    if not (is_dry or request.yes):
        raise _unconfirmed(f"forget {count(forget_these(dry_run=True).records, 'record')} of {tenant}?")
    return Answer(
        view="corpus-forget.txt.j2",
        result=forget_these(dry_run=is_dry)._asdict() | ({"dry_run": True} if is_dry else {}),
        shown={"step": "tried" if is_dry else "done", "tenant": tenant},
        notes=[] if is_dry else [_NOTE_ON_BYTES],
    )


@verb(OfTenant, settings=_SETTINGS)
def configure(call: "Call", request: OfTenant) -> Answer:
    """Start a new configuration of a tenant: records that it does not push again become stale."""
    version = _open(call).configure(request.tenant)
    return Answer(
        view="corpus-configure.txt.j2", result={"tenant": request.tenant, "config_version": version}
    )


class RemoveOrphans(OfTenant):
    """The request of `admin remove-orphans`."""

    dry_run: Annotated[bool, _DRY_RUN] = False
    yes: Annotated[bool, _YES] = False


@verb(RemoveOrphans, name="remove-orphans", settings=_SETTINGS)
def remove_orphans(call: "Call", request: RemoveOrphans) -> Answer:
    """Remove the records of a tenant that `status` counts as missing or outdated."""
    corpus = _open(call)
    is_dry = request.dry_run
    if not (is_dry or request.yes) and (orphans := corpus.remove_orphans(request.tenant, dry_run=True)):
        raise _unconfirmed(f"remove {count(orphans, 'record')} of {request.tenant}?")
    orphans = corpus.remove_orphans(request.tenant, dry_run=is_dry)
    return Answer(
        view="corpus-remove-orphans.txt.j2",
        result={"records": orphans, **({"dry_run": True} if is_dry else {})},
        notes=[_NOTE_ON_BYTES] if orphans and not is_dry else [],
    )


@verb(Request, settings=_SETTINGS)
def compact(call: "Call", _: Request) -> Answer:
    """Rewrite the files of the corpus without removed records."""
    measures = _open(call).compact()
    return Answer(view="corpus-compact.txt.j2", result=asdict(measures), shown={"measures": measures})


ADMIN: Final = Verbs("admin", "Maintain a shared corpus.", (configure, remove_orphans))
CORPUS: Final = Verbs(
    "corpus",
    "Collect gap logs in a corpus, to share them.\n\n`vocabgap report FOLDER` also reports on a corpus.",
    (push, list_chunks, export, restore, status, forget, compact, ADMIN),
)
