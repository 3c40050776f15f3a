"""`vocabgap corpus status`, `forget`, `configure`, `remove-orphans`, `compact`: what is there, or to go."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.cli.corpus_options import CorpusOption, TenantOption, opened
from vocabgap.cli.options import ConfigOption
from vocabgap.cli.output import output_of
from vocabgap.text import count, escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.corpus.overview import Identity
    from vocabgap.corpus.store import Measures

_KIB: Final = 1024
_BYTES_GO: Final = "their bytes go with `vocabgap corpus compact`"
_NUMBERS: Final = ("records", "gap records", "paths", "missing", "stale", "outdated")


def status(
    context: typer.Context,
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Say how many records there are of whom, how large the corpus is, and what is left over in it."""
    output = output_of(context)
    held = opened(output, corpus_folder, config)
    found = held.status()
    place = printable_name(held.settings.corpus.folder)
    output.event(
        "result",
        corpus=place,
        measures=asdict(found.measures),
        identities=found.identities,
        dimension=found.dimension,
        orphan_version_gap=found.orphan_version_gap,
        orphans=found.orphans,
        rules=found.rules,
        compaction_due=found.compaction_due,
    )
    if output.as_json:
        return
    from vocabgap.cli.tables import table  # noqa: PLC0415 - loads rich

    if found.identities:
        headings = ("tenant", "repository", "root kind", *_NUMBERS)
        output.text(table(headings, [_row(each) for each in found.identities], numbers=_NUMBERS) + "\n")
    output.text(escape_unseen(f"{place}: {_measured(found.measures)}"))
    output.text(
        f"compaction is due: {found.compaction_due}" if found.compaction_due else "compaction is not due"
    )
    if found.orphans or any(each.stale for each in found.identities):
        output.text(f"{count(found.orphans, 'record')} may be removed (vocabgap corpus remove-orphans)")
        for rule in found.rules:
            output.text(f"  {rule}")


def forget(
    context: typer.Context,
    tenant: TenantOption,
    repo: Annotated[
        str | None, typer.Option(help="Only those of this repository.", show_default=False)
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            help="Only those of this image, as a record names it or its folder is called.", show_default=False
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(help="Only the one with this id, of a chunk or a gap record.", show_default=False),
    ] = None,
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove records of a tenant for good: without further options all of them."""
    output = output_of(context)
    held = opened(output, corpus_folder, config)
    made = held.forget(tenant, repo, image=image, record=record)
    output.event("result", **asdict(made))
    output.text(f"{count(made.records, 'record')} forgotten, {count(made.paths, 'path')} with nothing left")
    output.note(_BYTES_GO)


def configure(
    context: typer.Context,
    tenant: TenantOption,
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Note that a tenant was configured anew: what it does not push again falls behind (see `status`)."""
    output = output_of(context)
    version = opened(output, corpus_folder, config).configure(tenant)
    output.event("result", tenant=tenant, config_version=version)
    output.text(escape_unseen(f"configuration {version:,} of {tenant}; what is of earlier ones is stale"))


def remove_orphans(
    context: typer.Context,
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Remove what `status` counts as missing or outdated."""
    output = output_of(context)
    removed = opened(output, corpus_folder, config).remove_orphans()
    output.event("result", records=removed)
    output.text(f"{count(removed, 'record')} removed")
    if removed:
        output.note(_BYTES_GO)


def compact(
    context: typer.Context,
    corpus_folder: CorpusOption = None,
    config: ConfigOption = None,
) -> None:
    """Write anew what is there: what was removed is in no file of the corpus afterwards."""
    output = output_of(context)
    made = opened(output, corpus_folder, config).compact()
    output.event("result", **asdict(made))
    output.text(_measured(made))


def _row(each: "Identity") -> tuple[object, ...]:
    counts = (each.records, each.gap_records, each.paths, each.missing, each.stale, each.outdated)
    return (each.tenant_id, each.repo_slug, each.root_kind, *(f"{number:,}" for number in counts))


def _measured(measures: "Measures") -> str:
    size = f"{measures.bytes / _KIB:,.0f} KiB in {count(measures.parts, 'file')} of records"
    gone = f", {measures.deleted:,} deleted whose bytes are still there" if measures.deleted else ""
    return f"version {measures.version:,}, {count(measures.rows, 'record')}{gone}; {size}"
