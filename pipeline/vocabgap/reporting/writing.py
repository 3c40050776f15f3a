"""Write the files of a run: tables, manifest and report, published together or not at all.

`report` writes them from a ranking; `render` writes the report of a published run again.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as replace_in
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Final

import polars as pl
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError, StateError, require_kind, whole_number
from vocabgap.files.atomic import write_parquet
from vocabgap.files.parts import Parts
from vocabgap.ingest.roots import origin_of
from vocabgap.ingest.scanning import Scan
from vocabgap.model.moments import require_offset
from vocabgap.model.settings import DEFAULT_OUT, DEFAULT_TOP, RankBy, shared_from
from vocabgap.model.tables import (
    CAPABILITIES,
    COMBINATIONS,
    EFFECTS,
    EVENTS,
    GAPS,
    GROUPS,
    HISTORY,
    LINEAGE,
    MENTIONS,
    REJECTS,
    TOTAL,
    counted,
    phrase,
)
from vocabgap.ranking.capabilities import order_of
from vocabgap.ranking.classifying import with_agents_categories
from vocabgap.ranking.combinations import recurring_sets
from vocabgap.ranking.identity import Lineage
from vocabgap.reporting.history import carried_on, earlier_rows
from vocabgap.reporting.manifest import (
    EVIDENCE_NAME,
    MANIFEST_NAME,
    MARKDOWN_NAME,
    PAGE_NAME,
    SHARE_NAME,
    InputFile,
    Manifest,
    Rendering,
    describe_output,
    encode_manifest,
    new_manifest,
    read_manifest,
)
from vocabgap.reporting.markdown import render_markdown
from vocabgap.reporting.page import render_page
from vocabgap.reporting.published_run import published, read_gaps, read_run, read_table, resolve_target
from vocabgap.reporting.sections import render_evidence
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary, Tables, summarise
from vocabgap.text import printable_name

_OPTIONAL: Final = (REJECTS, LINEAGE, GROUPS, COMBINATIONS, EVENTS, EFFECTS)


@dataclass(frozen=True, repr=False)
class Published:
    """A published run."""

    folder: Path  # temporary for a report in an object store
    summary: Summary  # the content of the report
    manifest: Manifest  # the content of `run.json`
    shared: Summary | None = None  # the content of the shareable page

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of the files."""
        return (*(output.name for output in self.manifest.outputs), MANIFEST_NAME)

    @property
    def headline(self) -> str:
        """Return the numbers and the place of the report."""
        return f"{self.summary.headline}, in '{printable_name(origin_of(self.folder) or str(self.folder))}'"

    def __repr__(self) -> str:
        """Return the headline."""
        return f"Published({self.headline})"


def report(
    ranked: pl.DataFrame,
    out: str | Path = DEFAULT_OUT,
    *,
    scan: Scan | None = None,
    lineage: Lineage | None = None,
    events: pl.DataFrame | None = None,
    effects: pl.DataFrame | None = None,
    now: datetime | None = None,
    top: int = DEFAULT_TOP,
    ranked_by: RankBy | str | None = None,
    share: int | None = None,
    evidence: bool = False,
    manifest: Manifest | None = None,
    earlier: Iterable[str | Path | None] = (),
) -> Published:
    """Write the files of a run and publish them together.

    A run in `out` is replaced. `ranked` is table `capabilities`, in the order of `ranked_by`. Without the
    `scan` of its records, the run has no `gaps.parquet`, `rejects.parquet` and `combinations.parquet`, and no
    account of lines. Without a `lineage`, it has no `lineage.parquet` and `groups.parquet`, and the next run
    cannot recognise the capabilities. Without `events`, the next run fails a gate again for the same event.
    `now` is by default the current time.

    The Markdown shows the first `top` capabilities, or all if `top` is 0. If `share` is given, `share.html`
    is also written; it shows only what is on at least `share` images (2 or more). If `evidence` is true,
    `evidence.md` is also written. A `manifest` replaces `now` and `top`, and has further facts about the run.
    The run continues its own history and the histories in the folders `earlier`.

    Raises:
        InvalidInputError: An argument cannot be used, or two arguments do not fit together.
        StateError: The folder has other files but no run, or the disk refused the files.
        AccessDeniedError: No permission to write to the folder.
    """
    CAPABILITIES.require(ranked)
    require_kind("out", out, (str, os.PathLike), "the path of a folder")
    require_kind("scan", scan, (Scan, NoneType), "what vocabgap.scan returned")
    require_kind("lineage", lineage, (Lineage, NoneType), "what vocabgap.ranking.trace returned")
    require_kind("manifest", manifest, (Manifest, NoneType), "a Manifest")
    moment = require_offset(datetime.now(UTC) if now is None else now, name="now")
    top = whole_number("top", top, hint="0 shows all")
    if share is not None:
        share = shared_from(whole_number("share", share))
        require_kind("scan", scan, Scan, "what vocabgap.scan returned, because sharing needs the records")
    order = order_of(ranked, ranked_by)
    manifest = manifest or new_manifest(moment, ranked.height, Rendering(top, order.value, ""))
    settings = manifest.settings
    gaps = combinations = None
    inputs: tuple[InputFile, ...] = ()
    if scan is not None:
        lines = with_agents_categories(scan.lines, category_aliases=settings.category_aliases)
        gaps = with_capabilities(lines, ranked)
        own = scan.lines.then(counted)
        combinations = recurring_sets(own, operation_aliases=settings.operation_aliases)
        read = scan.files.filter(pl.col("repeats").is_null()).select(InputFile.__struct_fields__)
        inputs = tuple(InputFile(**row) for row in read.iter_rows(named=True))
    tables = Tables(
        ranked,
        gaps,
        None if scan is None else scan.rejects.select(REJECTS.names),
        None if lineage is None else lineage.relations,
        None if lineage is None else lineage.groups,
        combinations,
        events=events,
        effects=effects,
    )
    manifest = replace(manifest, inputs=inputs)
    return _publish(out, tables, manifest, share, evidence=evidence, scan=scan, earlier=earlier)


def render(
    run: str | Path,
    out: str | Path | None = None,
    *,
    share: bool = False,
    evidence: bool = False,
    option: str = "RUN",
) -> Published:
    """Write the report of a published run again, with the layout of this version; tables do not change.

    All files are written to `out`, by default the folder of the run. If `share` is true, `share.html` is also
    written, and `evidence.md` if `evidence` is true or the run has one. `option` names the run in errors.

    Raises:
        NotFoundError: There is no run.
        InvalidInputError: The run has no `gaps.parquet`, which sharing needs.
        StateError: A file is missing, damaged or of another version. Or the run was replaced during the work,
            or the folder has files but no run.
        AccessDeniedError: No permission to read or write a folder.
    """
    place = resolve_target(run, option=option)
    manifest, tables = read_tables(place, option=option)
    fewest = manifest.settings.rank.shared_from if share else None
    if share and tables.gaps is None:
        raise InvalidInputError(
            f"the run in '{place}' has no {GAPS.file}, which sharing needs",
            hint="publish a report with a scan",
        )
    target = place if out is None else out
    evidence = evidence or (place / EVIDENCE_NAME).is_file()
    return _publish(target, tables, manifest, fewest, evidence=evidence, earlier=(place,), again=place)


def read_tables(run: Path, *, option: str) -> tuple[Manifest, Tables]:
    """Return the manifest and the tables of a published run, without its history."""
    manifest, capabilities = read_run(run, option=option)
    outputs = {output.name for output in manifest.outputs}
    gaps = read_gaps(run) if GAPS.file in outputs else None
    others = {table.name: read_table(run, table) if table.file in outputs else None for table in _OPTIONAL}
    return manifest, Tables(capabilities, gaps, **others)


def _publish(
    out: str | Path,
    tables: Tables,
    manifest: Manifest,
    share: int | None,
    *,
    evidence: bool,
    scan: Scan | None = None,
    earlier: Iterable[str | Path | None] = (),
    again: Path | None = None,
) -> Published:
    """Write tables, formats and manifest; `again` is the folder of a run that is rendered again."""
    with published(out) as folder:
        if tables.gaps is not None:  # what follows reads the written rows
            tables = replace_in(tables, gaps=tables.gaps.write(folder / GAPS.file))
        if scan is not None and tables.gaps is not None:
            _require_same_records(tables.capabilities, tables.gaps)
        # The folder is locked here, so the history gets the rows of both of two parallel runs.
        rows = carried_on(tables.capabilities, manifest, tables.lineage, earlier_rows(out, *earlier))
        tables = replace_in(tables, history=rows)
        summary = summarise(tables, manifest, None if scan is None else scan.summary)
        for name, table in tables.files.items():
            if isinstance(table, pl.DataFrame):  # the history is written twice as fast without statistics
                write_parquet(table, folder / name, statistics=name != HISTORY.file)
        with_account = manifest if again else replace(manifest, account=summary.account)
        written, shared = write_formats(folder, tables, summary, with_account, share, evidence=evidence)
        if again is not None and read_manifest(again) != manifest:
            raise StateError(f"the run in '{again}' was replaced during the work", hint="try again")
    return Published(resolve_target(out), summary, written, shared)


def write_formats(
    folder: Path,
    tables: Tables,
    summary: Summary,
    manifest: Manifest,
    fewest: int | None,
    *,
    evidence: bool = False,
) -> tuple[Manifest, Summary | None]:
    """Write the formats for people and the manifest; return the manifest and the shareable summary.

    The shareable page is only written if `fewest` is given: the fewest images of a shown capability.
    """
    shared = None
    texts = {MARKDOWN_NAME: render_markdown(summary, has_evidence=evidence), PAGE_NAME: render_page(summary)}
    if evidence:
        texts[EVIDENCE_NAME] = render_evidence(summary)
    if fewest is not None and tables.gaps is not None:
        aliases = manifest.settings.operation_aliases
        shared = shareable(summary, tables.gaps, fewest, aliases)
        texts[SHARE_NAME] = render_page(shared)
    for name, text in texts.items():
        _write(folder / name, text.encode())
    outputs = tuple(describe_output(folder / name) for name in (*texts, *tables.files))
    written = replace(manifest, outputs=outputs)
    _write(folder / MANIFEST_NAME, encode_manifest(written))
    return written, shared


def with_capabilities(gaps: Parts, ranked: pl.DataFrame) -> Parts:
    """Add the capability of each line to table `gaps`, by its wording."""
    belongs = (
        ranked.select("capability_id", pl.col("variants").list.eval(pl.element().struct.field("wording")))
        .explode("variants")
        .rename({"variants": "wording"})
    )

    def belonging(part: pl.LazyFrame) -> pl.LazyFrame:
        rows = part.drop("capability_id").with_columns(wording=phrase())
        joined = rows.join(belongs.lazy(), on="wording", how="left", maintain_order="left")
        return joined.select(GAPS.names)

    return gaps.then(belonging)


def _require_same_records(ranked: pl.DataFrame, gaps: Parts) -> None:
    without = pl.col("capability_id").null_count().alias("without")
    totals = gaps.each(lambda part: counted(part).select(MENTIONS, without)).sum()
    mentions = int(ranked.select(TOTAL.sum()).item())
    there = int(totals["mentions"].item())
    if mentions != there or totals["without"].item():
        raise InvalidInputError(
            f"the ranking has {mentions:,} mentions, but the scan has {there:,}",
            hint="give the scan whose records were ranked",
        )


def _write(path: Path, content: bytes) -> None:
    """Write a file; name it in a disk error, because the system only does so when a file is opened."""
    try:
        path.write_bytes(content)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
