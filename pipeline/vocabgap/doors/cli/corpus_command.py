"""`vocabgap corpus`: what several people and machines contribute to one corpus, and withdraw."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from vocabgap.corpus.extension import DEFAULT_CORPUS, CorpusSettings
from vocabgap.doors.cli.groups import Commands
from vocabgap.doors.cli.options import ConfigOption, NowOption, TrustOption, settings_of, with_options
from vocabgap.doors.cli.output import Output, output_of, table
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.signals import end_reads
from vocabgap.model.moments import parse_now
from vocabgap.text import count, escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.corpus.corpus import Corpus
    from vocabgap.corpus.push import PushResult
    from vocabgap.corpus.upkeep import Identity
    from vocabgap.corpus.version import Measures


corpus = Commands(
    "corpus",
    "Share gap logs: bring them into one corpus, take them out again, hand it on.\n\n"
    "`vocabgap report FOLDER` reports on a corpus as it does on logs.",
)

admin = Commands("admin", "Look after a shared corpus, and what only its contracts need.")
corpus.add_typer(admin)

_SHOWN_ERRORS: Final = 20
_FILE_HELP = "One backup record a line; compressed if it is called .zst."
_KIB: Final = 1024
_NUMBERS: Final = ("records", "gap records", "rejects", "paths", "missing", "stale", "outdated")

CorpusOption = Annotated[
    str | None, typer.Option("--corpus", help=f"Folder of the shared corpus.  [default: {DEFAULT_CORPUS}]")
]
TenantOption = Annotated[str, typer.Option("--tenant", help="Whose records they are.")]
RepoOption = Annotated[str, typer.Option("--repo", help="The repository that they are of.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Change nothing, and say what would be removed.")
]


class CorpusOptions(NamedTuple):
    """Which corpus, by which settings."""

    corpus: CorpusOption = None
    config: ConfigOption = None
    trust: TrustOption = False


@corpus.command()
@with_options(CorpusOptions)
def push(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            help="An image repository, or the file of a payload; - reads one from standard input.",
            metavar="DIR|PAYLOAD.json",
        ),
    ],
    tenant: TenantOption,
    repo: RepoOption,
    delete: Annotated[
        list[str] | None, typer.Option(help="Withdraw what is of this path; may be repeated. For a DIR.")
    ] = None,
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Withdraw the logs, too, that are not in DIR any more.")
    ] = False,
    base: Annotated[
        str | None, typer.Option(help="Withdraw what git deleted since this revision of DIR.")
    ] = None,
    head: Annotated[str | None, typer.Option(help="Up to this revision.  [default: HEAD]")] = None,
    git: Annotated[
        Path | None,
        typer.Option(help="Folder of the git repository that knows the revisions; DIR by default."),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Do not ask before all logs of the repository are withdrawn."),
    ] = False,
    now: NowOption = None,
) -> None:
    """Bring in gap logs or a payload, and withdraw what it says is gone.

    What is pushed twice is there once. A log of DIR takes the place of what is there of its path; a payload
    withdraws what it names. Only what is of this tenant and repository is ever touched.
    """
    output = output_of(context)
    moment = None if now is None else parse_now(now)
    shared_corpus = _open(context, create=True)
    result = shared_corpus.push(
        source,
        tenant=tenant,
        repo=repo,
        deleted=tuple(map(printable_name, delete or ())),
        snapshot=snapshot,
        base=base,
        head="HEAD" if base is not None and head is None else head,
        git=git if git is not None or base is None else source,
        confirmed=yes or partial(_confirmed, source, tenant, repo),
        now=moment,
    )
    _print_pushed(output, result)
    if result.deleted:
        _note_bytes(context)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _open(context: typer.Context, *, create: bool = False) -> "Corpus":
    """The corpus that an option, the environment or the settings name; one is made there if that is said."""
    output, settings = output_of(context), settings_of(context).settings
    from vocabgap.corpus.corpus import open_corpus

    return open_corpus(
        settings.of(CorpusSettings).folder,
        create=create,
        settings=settings,
        on_wait=lambda holder: output.note(escape_unseen(f"waiting for {holder}")),
    )


def _confirmed(source: Path, tenant: str, repo: str) -> bool:
    """Whether everything is to be withdrawn; without a terminal nobody can be asked."""
    if str(source) == "-" or not _terminal():
        return False
    _ask(f"Withdraw everything of {tenant}/{repo}?", hint="push without the empty snapshot")
    return True


def _terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: str, *, hint: str = "--dry-run shows what would be removed") -> None:
    """Go on only where a person says so."""
    if not _terminal():
        message = f"nobody can be asked: {question[0].lower()}{question[1:]} Nothing was changed"
        raise InvalidInputError(escape_unseen(message), hint=f"confirm it with --yes; {hint}")
    end_reads()
    if not typer.confirm(escape_unseen(question), err=True):
        raise InvalidInputError("not confirmed: nothing was changed", hint=hint)


def _print_pushed(output: Output, result: "PushResult") -> None:
    output.event("result", **result.as_object())
    for warning in result.warnings:
        output.note(escape_unseen(str(warning)))
    for error in result.errors[:_SHOWN_ERRORS]:
        output.note(escape_unseen(f"{error.code}: {_place(error.details)}{error.message}"))
    _note_more(output, len(result.errors))
    output.text(
        f"{count(result.ingested - result.forgotten, 'record')} pushed, {result.added:,} of them new;"
        f" {result.deleted:,} withdrawn{_left_out(result.forgotten)};"
        f" {count(len(result.errors), 'error')}"
    )


def _left_out(forgotten: int) -> str:
    """How many records were left out, if any."""
    return f"; {forgotten:,} left out, forgotten earlier (forget --lift)" if forgotten else ""


def _corpus_named(context: typer.Context) -> str:
    """The option that names the corpus, as it was given, for a command that is told."""
    given = context.params.get("corpus")
    return f" --corpus {shlex.quote(printable_name(given))}" if given else ""


def _note_bytes(context: typer.Context) -> None:
    output_of(context).note(f"their bytes go with `vocabgap corpus compact{_corpus_named(context)}`")


def _note_more(output: Output, number: int) -> None:
    if number > _SHOWN_ERRORS:
        output.note(f"and {number - _SHOWN_ERRORS:,} more; --json lists them all")


def _place(details: Mapping[str, object]) -> str:
    """Where in a payload something stands, as a JSON pointer; nothing for what names its file itself."""
    if "fileIndex" not in details or "sourcePath" in details:
        return ""
    chunk = f", chunk {details['chunkIndex']}" if "chunkIndex" in details else ""
    return f"/files/{details['fileIndex']}{chunk}: "


@corpus.command("export-chunks", hidden=True)
@admin.command("export-chunks")
@with_options(CorpusOptions)
def export_chunks(
    context: typer.Context,
    tenant: TenantOption,
    repo: RepoOption,
    file: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
) -> None:
    """Write the records of a repository as a payload, for another installation to push."""
    output = output_of(context)
    payload = _open(context).export_chunks(file, tenant=tenant, repo=repo)
    for chunk in payload.left_out[:_SHOWN_ERRORS]:
        output.note(escape_unseen(f"left out: {chunk}"))
    _note_more(output, len(payload.left_out))
    place = printable_name(str(file))
    summary = f"{count(payload.chunks, 'record')} in {place}; {len(payload.left_out):,} left out"
    output.result(escape_unseen(summary), file=place, **payload._asdict())


@corpus.command()
@with_options(CorpusOptions)
def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=_FILE_HELP)],
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Leave out files of the corpus that are damaged.")
    ] = False,
) -> None:
    """Write a backup: every record with its vector, ordered by id; no rejected lines, no hashes."""
    output = output_of(context)
    shared_corpus = _open(context)
    for problem in _damage(shared_corpus) if salvage else ():
        output.note(f"left out: {problem}")
    backup = shared_corpus.export(file, salvage=salvage)
    place = printable_name(str(file))
    summary = f"{count(backup.records, 'record')} of {backup.dimension:,} dimensions in {place}"
    summary += f"; {count(backup.embedded, 'vector')} made for it{_absent(backup.without_document)}"
    output.result(escape_unseen(summary), file=place, **asdict(backup))


@corpus.command()
@with_options(CorpusOptions)
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=_FILE_HELP)],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take out everything that is there, in the same step.")
    ] = False,
) -> None:
    """Put a backup back, verbatim: all of its records, or none where one of them cannot be."""
    output = output_of(context)
    shared_corpus = _open(context, create=True)
    from vocabgap.corpus.contracts import RefusedError

    try:
        restored = shared_corpus.restore(file, replace=replace)
    except RefusedError as error:
        raise InvalidInputError(f"{error.code}: {error.message}") from error
    summary = f"{count(restored.records - restored.forgotten, 'record')} restored"
    summary += f", {restored.added:,} of them new"
    summary += f"; {restored.removed:,} replaced" if replace else ""
    summary += _absent(restored.without_document) + _left_out(restored.forgotten)
    output.result(summary, **asdict(restored))


def _damage(shared_corpus: "Corpus") -> list[str]:
    """What is damaged in a corpus, a line for each file."""
    return [
        f"{name}, with {count(entry.rows, 'row')}, is damaged"
        for name, entry in shared_corpus.damaged().items()
    ]


def _absent(number: int) -> str:
    return f"; {number:,} without a document" if number else ""


@corpus.command()
@with_options(CorpusOptions)
def status(
    context: typer.Context,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every file first, and name all that are damaged.")
    ] = False,
) -> None:
    """Say how many records there are of whom, how large the corpus is, and what is left over in it."""
    output = output_of(context)
    shared_corpus = _open(context)
    if verify and (problems := _damage(shared_corpus)):
        from vocabgap.corpus.manifest import DAMAGED_HINT

        raise StateError("; ".join(problems), hint=DAMAGED_HINT)
    overview = shared_corpus.status()
    place = printable_name(shared_corpus.settings.of(CorpusSettings).folder)
    output.event(
        "result",
        corpus=place,
        measures=overview.measures,
        identities=overview.identities,
        dimension=overview.dimension,
        orphan_version_gap=overview.orphan_version_gap,
        orphans=overview.orphans,
        forgotten=overview.forgotten,
        rules=overview.rules,
        compaction_due=overview.compaction_due,
    )
    if output.as_json:
        return
    if overview.identities:
        headings = ("tenant", "repository", "root kind", *_NUMBERS)
        output.text(table(headings, [_row(each) for each in overview.identities], numbers=_NUMBERS) + "\n")
    output.text(escape_unseen(f"{place}: {_measured(overview.measures)}"))
    due = overview.compaction_due
    command = f"`vocabgap corpus compact{_corpus_named(context)}`"
    output.text(f"compaction is due: {due} ({command})" if due else "compaction is not due")
    if overview.forgotten:
        output.text(f"{count(overview.forgotten, 'record')} forgotten, and left out where they come again")
    if overview.orphans or any(each.stale for each in overview.identities):
        output.text(
            f"{count(overview.orphans, 'record')} may be removed"
            f" (`vocabgap corpus admin remove-orphans --tenant TENANT{_corpus_named(context)}`)"
        )
        for rule in overview.rules:
            output.text(f"  {rule}")


@corpus.command()
@with_options(CorpusOptions)
def forget(
    context: typer.Context,
    tenant: TenantOption,
    repo: Annotated[str | None, typer.Option(help="Only those of this repository.")] = None,
    image: Annotated[
        str | None,
        typer.Option(help="Only those of this image, as a record names it or its folder is called."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(help="Only the one with this id, or the beginning of it, as `vocabgap list` has it."),
    ] = None,
    lift: Annotated[
        bool,
        typer.Option("--lift", help="Take back what was forgotten: let it come again with the next push."),
    ] = False,
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Compact the corpus, too: no byte of them is left in its folder."),
    ] = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
) -> None:
    """Remove records of a tenant for good: without further options all of them.

    Hashes of them are kept, so that no later push or restore brings them back.
    """
    output, shared_corpus = output_of(context), _open(context)
    if lift:
        if image is not None or compact or dry_run:
            raise InvalidInputError(
                "--lift goes with --tenant, --repo and --record alone", hint="only hashes of them are kept"
            )
        lifted = shared_corpus.lift(tenant, repo, record=record)
        output.result(f"{count(lifted, 'record')} may come again", records=lifted)
        return
    forget_these = partial(shared_corpus.forget, tenant, repo, image=image, record=record)
    if dry_run or not yes:
        chosen = forget_these(dry_run=True)
        what = f"{count(chosen.records, 'record')} of {tenant}"
        if dry_run:
            left = f"{count(chosen.paths, 'path')} with nothing left"
            output.result(
                escape_unseen(f"{what} would be forgotten, {left}"), **chosen._asdict(), dry_run=True
            )
            return
        _ask(f"Forget {what}?")
    forgotten = forget_these(compact=compact)
    records, paths = count(forgotten.records, "record"), count(forgotten.paths, "path")
    output.result(f"{records} forgotten, {paths} with nothing left", **forgotten._asdict())
    if not compact:
        _note_bytes(context)


@corpus.command(hidden=True)
@admin.command()
@with_options(CorpusOptions)
def configure(context: typer.Context, tenant: TenantOption) -> None:
    """Note that a tenant was configured anew: what it does not push again falls behind (see `status`)."""
    output = output_of(context)
    version = _open(context).configure(tenant)
    summary = f"configuration {version:,} of {tenant}; what is of earlier ones is stale"
    output.result(escape_unseen(summary), tenant=tenant, config_version=version)


@corpus.command("remove-orphans", hidden=True)
@admin.command("remove-orphans")
@with_options(CorpusOptions)
def remove_orphans(
    context: typer.Context, tenant: TenantOption, dry_run: DryRunOption = False, yes: YesOption = False
) -> None:
    """Remove what `status` counts as missing or outdated of a tenant."""
    output, shared_corpus = output_of(context), _open(context)
    orphans = shared_corpus.remove_orphans(tenant, dry_run=True)
    records = count(orphans, "record")
    if dry_run:
        output.result(f"{records} would be removed", records=orphans, dry_run=True)
        return
    if orphans and not yes:
        _ask(f"Remove {records} of {tenant}?")
    removed = shared_corpus.remove_orphans(tenant)
    output.result(f"{count(removed, 'record')} removed", records=removed)
    if removed:
        _note_bytes(context)


@corpus.command()
@with_options(CorpusOptions)
def compact(context: typer.Context) -> None:
    """Write anew what is there: what was removed is in no file of the corpus afterwards."""
    measures = _open(context).compact()
    output_of(context).result(_measured(measures), **asdict(measures))


def _row(each: "Identity") -> tuple[object, ...]:
    counts = (getattr(each, heading.replace(" ", "_")) for heading in _NUMBERS)
    return (each.tenant_id, each.repo_slug, each.root_kind, *(f"{number:,}" for number in counts))


def _measured(measures: "Measures") -> str:
    size = f"{measures.bytes / _KIB:,.0f} KiB in {count(measures.parts, 'file')} of records"
    gone = f", {measures.deleted:,} deleted whose bytes are still there" if measures.deleted else ""
    return f"version {measures.version:,}, {count(measures.rows, 'record')}{gone}; {size}"
