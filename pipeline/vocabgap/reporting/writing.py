"""The files of a run: tables, manifest and report, published together or not at all.

`report` writes them from a ranking; `render` writes the report of a published run again.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
from vocabgap.ingest.scanning import Scan
from vocabgap.model.moments import require_offset
from vocabgap.model.settings import DEFAULT_OUT, DEFAULT_TOP, RankBy, Settings, shared_from
from vocabgap.model.tables import CAPABILITIES, COMBINATIONS, GAPS, GROUPS, LINEAGE, REJECTS, phrase
from vocabgap.ranking.capabilities import order_of
from vocabgap.ranking.classifying import with_agents_categories
from vocabgap.ranking.combinations import recurring_sets
from vocabgap.ranking.identity import Lineage
from vocabgap.reporting.history import carried_on, earlier_rows
from vocabgap.reporting.listed import Doubt
from vocabgap.reporting.manifest import (
    COMBINATIONS_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    HISTORY_NAME,
    LINEAGE_NAME,
    MANIFEST_NAME,
    MARKDOWN_NAME,
    PAGE_NAME,
    REJECTS_NAME,
    SHARE_NAME,
    InputFile,
    Manifest,
    Rendering,
    Timing,
    describe_output,
    encode_manifest,
    new_manifest,
    read_manifest,
)
from vocabgap.reporting.overviews import Place
from vocabgap.reporting.page import render_page
from vocabgap.reporting.published_run import published, read_run, read_table, resolve_target
from vocabgap.reporting.reproduction import Reproduction
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary, Tables, summarise
from vocabgap.reporting.wording import render_markdown
from vocabgap.text import printable_name

_HINT: Final = "make the report again with `vocabgap report`"
_OPTIONAL: Final = {
    GAPS_NAME: GAPS,
    REJECTS_NAME: REJECTS,
    LINEAGE_NAME: LINEAGE,
    GROUPS_NAME: GROUPS,
    COMBINATIONS_NAME: COMBINATIONS,
}


@dataclass(frozen=True, repr=False)
class Published:
    """A published run."""

    folder: Path
    files: tuple[str, ...]  # their names
    summary: Summary  # the content of the report
    manifest: Manifest  # the content of `run.json`
    combinations: pl.DataFrame | None = None  # the table of that name; None without a scan
    shared: Summary | None = None  # the content of the shareable page

    @property
    def headline(self) -> str:
        """Return the numbers of the report, and its folder."""
        return f"{self.summary.headline}, in '{printable_name(str(self.folder))}'"

    def __repr__(self) -> str:
        """Return the headline."""
        return f"Published({self.headline})"


def report(
    ranked: pl.DataFrame,
    out: str | Path = DEFAULT_OUT,
    *,
    scan: Scan | None = None,
    lineage: Lineage | None = None,
    now: datetime | None = None,
    top: int = DEFAULT_TOP,
    ranked_by: RankBy | str | None = None,
    reproduction: Reproduction | None = None,
    timings: Iterable[Timing] = (),
    share: int | None = None,
    doubts: Iterable[Doubt] | None = None,
    places: Iterable[Place] = (),
    earlier: Iterable[str | Path | None] = (),
) -> Published:
    """Write the files of a run and publish them together.

    An earlier run in `out` is replaced. `ranked` is table `capabilities`, in the order of `ranked_by`.
    Without a `scan` of its records there are no `gaps.parquet`, `rejects.parquet` and `combinations.parquet`,
    and no account of lines. Without a `lineage` there are no `lineage.parquet` and `groups.parquet`, and the
    next run cannot recognise the capabilities. `now` is the clock's moment by default.

    The Markdown shows the `top` first capabilities, or all if it is 0. `share` also writes `share.html`, with
    what is on so many images, at least two. `doubts` is None if nobody looked for any. The run continues the
    histories of the folders `earlier`, beside that of the run that it replaces.

    Raises:
        InvalidInputError: An argument cannot be used, or they do not fit each other.
        StateError: The folder holds something that is no run, or the disk did not take the files.
        AccessDeniedError: The folder may not be written.
    """
    CAPABILITIES.require(ranked)
    require_kind("out", out, (str, os.PathLike), "the path of a folder")
    require_kind("scan", scan, (Scan, NoneType), "what vocabgap.scan returned")
    require_kind("lineage", lineage, (Lineage, NoneType), "what vocabgap.ranking.trace returned")
    require_kind("reproduction", reproduction, (Reproduction, NoneType), "a Reproduction")
    moment = require_offset(datetime.now(UTC) if now is None else now, name="now")
    top = whole_number("top", top, hint="0 shows all")
    if share is not None:
        share = shared_from(whole_number("share", share))
        require_kind(
            "scan", scan, Scan, "what vocabgap.scan returned, for what may be shared is in the records"
        )
    settings = Settings() if reproduction is None else reproduction.settings
    gaps = None
    if scan is not None:
        categorised = with_agents_categories(scan.gaps, category_aliases=settings.category_aliases)
        gaps = with_capabilities(categorised, ranked)
        _require_same_records(ranked, gaps)
    tables = Tables(
        ranked,
        gaps,
        None if scan is None else scan.rejects.select(REJECTS.names),
        None if lineage is None else lineage.relations,
        None if lineage is None else lineage.groups,
        None
        if gaps is None
        else recurring_sets(gaps.filter("counted"), operation_aliases=settings.operation_aliases),
    )
    manifest = replace(
        new_manifest(moment, ranked.height, Rendering(top, order_of(ranked, ranked_by).value, "")),
        inputs=() if scan is None else tuple(InputFile(**row) for row in scan.files.iter_rows(named=True)),
        timings=tuple(timings),
        doubts=None if doubts is None else tuple(doubts),
        places=tuple(places),
    )
    if reproduction is not None:
        manifest = reproduction.described_in(manifest)
    return _publish(out, tables, manifest, share, scan=scan, earlier=earlier)


def render(
    run: str | Path,
    out: str | Path | None = None,
    *,
    share: bool = False,
    option: str = "RUN",
) -> Published:
    """Make the report of a published run again, as this version writes it; its tables stay as they are.

    All its files go to `out`, by default the folder of the run. `share` also writes `share.html`, which may
    leave the machine. `option` names the run in errors.

    Raises:
        NotFoundError: There is no run.
        InvalidInputError: The run has no `gaps.parquet`, and so nothing to share.
        StateError: A file is missing, damaged or of another version, the run was replaced meanwhile, or the
            folder holds something that is not a run.
        AccessDeniedError: A folder may not be read or written.
    """
    place = resolve_target(run, option=option)
    manifest, capabilities = read_run(place, option=option)
    fewest = manifest.settings.rank.shared_from if share else None
    outputs = {output.name: output for output in manifest.outputs}
    if share and GAPS_NAME not in outputs:
        raise InvalidInputError(
            f"the run in '{place}' was published without {GAPS_NAME}, which says what may be shared",
            hint="make a report of a scan",
        )
    tables = Tables(
        capabilities,
        *(read_table(place, name, _OPTIONAL[name]) if name in outputs else None for name in _OPTIONAL),
    )
    return _publish(place if out is None else out, tables, manifest, fewest, earlier=(place,), again=place)


def _publish(
    out: str | Path,
    tables: Tables,
    manifest: Manifest,
    share: int | None,
    *,
    scan: Scan | None = None,
    earlier: Iterable[str | Path | None] = (),
    again: Path | None = None,
) -> Published:
    """Write tables, formats and manifest; `again` is the folder of the run whose report is made again."""
    with published(out) as folder:
        # Nobody else publishes here now, so that the history has both of two runs at once.
        rows = carried_on(tables.capabilities, manifest, tables.lineage, earlier_rows(out, *earlier))
        tables = replace_in(tables, history=rows)
        summary = summarise(tables, manifest, None if scan is None else scan.summary)
        for name, frame in tables.files.items():  # without statistics, the history takes half the time
            write_parquet(frame, folder / name, statistics=name != HISTORY_NAME)
        with_account = manifest if again else replace(manifest, account=summary.account)
        written, shared = write_formats(folder, tables, summary, with_account, share)
        if again is not None and read_manifest(again) != manifest:
            raise StateError(f"the run in '{again}' was replaced meanwhile", hint="try again")
    names = (*(output.name for output in written.outputs), MANIFEST_NAME)
    return Published(resolve_target(out), names, summary, written, tables.combinations, shared)


def write_formats(
    folder: Path, tables: Tables, summary: Summary, manifest: Manifest, fewest: int | None
) -> tuple[Manifest, Summary | None]:
    """Write the formats that people read and the manifest; return the manifest and the shareable summary.

    There is a shareable page only if `fewest` says on how many images a capability must be.
    """
    shared = None
    texts = {MARKDOWN_NAME: render_markdown(summary), PAGE_NAME: render_page(summary)}
    if fewest is not None and tables.gaps is not None:
        aliases = manifest.settings.operation_aliases
        shared = shareable(summary, tables.gaps.filter("counted"), fewest, aliases)
        texts[SHARE_NAME] = render_page(shared)
    for name, text in texts.items():
        with _named(folder / name) as path:
            path.write_text(text, encoding="utf-8", newline="\n")
    written = replace(
        manifest, outputs=tuple(describe_output(folder / name) for name in (*texts, *tables.files))
    )
    with _named(folder / MANIFEST_NAME) as path:
        path.write_bytes(encode_manifest(written))
    return written, shared


def with_capabilities(gaps: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    """Add to table `gaps` the capability that the wording of each line belongs to."""
    GAPS.require(gaps)
    belongs = (
        ranked.select("capability_id", pl.col("variants").list.eval(pl.element().struct.field("wording")))
        .explode("variants")
        .rename({"variants": "wording"})
    )
    return (
        gaps.drop("capability_id")
        .with_columns(phrase().alias("wording"))
        .join(belongs, on="wording", how="left", maintain_order="left")
        .select(GAPS.names)
    )


def _require_same_records(ranked: pl.DataFrame, gaps: pl.DataFrame) -> None:
    mentions = int(ranked["mentions"].sum())
    counted = gaps.filter("counted").height
    if mentions != counted or gaps.filter(pl.col("counted") & pl.col("capability_id").is_null()).height:
        raise InvalidInputError(
            f"the ranking, of {mentions:,} mentions, is not that of the scan's {counted:,} records",
            hint="hand in the scan whose records were ranked",
        )


@contextmanager
def _named(path: Path) -> Iterator[Path]:
    """Name the file in an error of the disk; the system does so only for a file that is opened."""
    try:
        yield path
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
