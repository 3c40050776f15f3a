"""The reporting stage: ranked capabilities in, a published folder out."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Final

import polars as pl
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError, StateError, expanded, require_kind, whole_number
from vocabgap.files.parquet import write_parquet
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.ingest.scanning import Scan
from vocabgap.ranking.classifying import with_categories
from vocabgap.ranking.lineage import Lineage
from vocabgap.records.moments import require_offset
from vocabgap.reporting.command import Reproduction
from vocabgap.reporting.formats import Tables, settings_of, summary_of, write_faces
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    LINEAGE_NAME,
    MANIFEST_NAME,
    REJECTS_NAME,
    InputFile,
    Manifest,
    OutputFile,
    Parameters,
    Rendering,
    Timing,
    describe_output,
    new_manifest,
    read_manifest,
)
from vocabgap.reporting.overviews import CheckedTerms
from vocabgap.reporting.published_run import published, read_run, read_table, resolve_target
from vocabgap.reporting.summary import Summary
from vocabgap.schema import CAPABILITIES, GAPS, GROUPS, LINEAGE, REJECTS, SETTLED, Table, phrase
from vocabgap.settings.model import (
    DEFAULT_DECISIONS,
    DEFAULT_OUT,
    DEFAULT_TOP,
    RankBy,
    RankSettings,
    Settings,
    overridden,
    shared_from,
)
from vocabgap.text import printable_name

# What a ranking counts first, as its order tells: a report must not say more of it than is so.


_ORDER_HINT: Final = "hand in what vocabgap.rank returned, or some of its rows, in their order"


def order_of(ranked: pl.DataFrame, said: RankBy | str | None = None) -> RankBy:
    """What a ranking counts first.

    What people have decided about may stand anywhere, and what is not established or settled stands behind;
    among the rest, and among those, the numbers say it.

    Args:
        ranked: Table `capabilities`.
        said: What it was ranked by, if that is known; else the first of the rankings that its order fits.

    Raises:
        InvalidInputError: The order is another one than that, or none that a ranking gives.
    """
    fitting = _fitting(ranked) if ranked["rank"].is_sorted() else []
    if not fitting:
        raise InvalidInputError("the capabilities are in no order that a ranking gives", hint=_ORDER_HINT)
    if said is None:
        return fitting[0]
    wanted = overridden(RankSettings(), by=said).by
    if wanted not in fitting:
        raise InvalidInputError(
            f"ranked_by: the capabilities are not ranked by {wanted.value}, but by {fitting[0].value}",
            hint=f"leave ranked_by out, or rank them with by='{wanted.value}'",
        )
    return wanted


def _fitting(ranked: pl.DataFrame) -> list[RankBy]:
    block = (pl.col("status").is_in(SETTLED), pl.col("established"))
    undecided = ranked.filter(pl.col("decisions").list.len() == 0)
    falls = undecided.select((pl.col(by.value).diff() <= 0).over(*block).all() for by in RankBy)
    return [by for by in RankBy if falls[by.value].item()]


@dataclass(frozen=True, repr=False)
class Published:
    """A run as it was published.

    Attributes:
        folder: Where the files are.
        files: Their names.
        summary: What the report says.
        manifest: What `run.json` says.
    """

    folder: Path
    files: tuple[str, ...]
    summary: Summary
    manifest: Manifest

    @property
    def headline(self) -> str:
        """What it holds, and where, in a few words."""
        return f"{self.summary.headline}, in '{printable_name(str(self.folder))}'"

    def __repr__(self) -> str:
        """The same in one line."""
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
    terms: CheckedTerms | None = None,
) -> Published:
    """Write the files of a run and publish them together.

    Args:
        ranked: Table `capabilities`.
        out: The folder to publish; an earlier run there is replaced.
        scan: The scan that was ranked. Without it there is no `gaps.parquet` and no `rejects.parquet`, and
            the report cannot say what was not counted.
        lineage: Where the capabilities come from. Without it there is no `lineage.parquet` and no
            `groups.parquet`, and the next run cannot know them again.
        now: The moment the run counts as its present; the clock's by default.
        top: How many capabilities the Markdown shows; 0 shows all. The Parquet always has all.
        ranked_by: What the ranking counted first: the `by` that it was made with. By default the order of the
            frame tells.
        reproduction: What the run was asked for, to say how to make it again.
        timings: How long the stages took.
        share: Write `share.html`, too, which may leave the machine: it shows what is on so many images, two
            at least.
        terms: What its words mean, where a glossary was asked.

    Raises:
        InvalidInputError: The frame is not a `capabilities` frame, it is not in the order of `ranked_by`, it
            does not rank the scan's records, or an argument cannot be used.
        StateError: The folder holds something that is not a run, or the disk did not take the files.
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
        named = with_categories(scan.gaps, category_aliases=settings.category_aliases)
        gaps = with_capabilities(named, ranked)
        _require_same_records(ranked, gaps)
    tables = Tables(
        ranked,
        gaps,
        None if scan is None else scan.rejects.select(REJECTS.names),
        None if lineage is None else lineage.relations,
        None if lineage is None else lineage.groups,
    )
    told = new_manifest(
        now=moment,
        command="" if reproduction is None else reproduction.command,
        parameters=None
        if reproduction is None
        else Parameters(_without_places(reproduction), reproduction.selection),
        capabilities=ranked.height,
        inputs=() if scan is None else _inputs(scan),
        timings=tuple(timings),
        model=None if reproduction is None else reproduction.model,
        vocabulary=() if reproduction is None else reproduction.vocabulary,
        decisions=None if reproduction is None else reproduction.decided,
        compared=None if reproduction is None else reproduction.compared_with,
        rendering=Rendering(
            top, order_of(ranked, ranked_by).value, "" if reproduction is None else reproduction.deciding
        ),
        terms=terms,
    )
    summary = summary_of(tables, told, None if scan is None else scan.summary)
    with published(out) as folder:
        for name, frame in tables.files.items():
            write_parquet(frame, folder / name)
        manifest = write_faces(folder, tables, summary, replace(told, account=summary.account), share)
    names = (*(output.name for output in manifest.outputs), MANIFEST_NAME)
    return Published(resolve_target(out), names, summary, manifest)


def with_capabilities(gaps: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    """Say of every readable line which capability its wording belongs to.

    Args:
        gaps: Table `gaps`.
        ranked: Table `capabilities`.
    """
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


def _without_places(reproduction: Reproduction) -> Settings:
    """The settings without where files went and lie: that may name a person."""
    ours = reproduction.settings
    embedder = None if reproduction.model is None else reproduction.model.name
    listed = tuple(printable_name(expanded(path).resolve().name) for path in ours.vocabulary.paths)
    return replace(
        ours,
        report=replace(ours.report, out=DEFAULT_OUT),
        cluster=replace(ours.cluster, embedder=embedder),
        vocabulary=replace(ours.vocabulary, paths=listed),
        decisions=replace(ours.decisions, file=DEFAULT_DECISIONS),
        glossary=replace(
            ours.glossary, folder=_name(ours.glossary.folder), events=_name(ours.glossary.events)
        ),
    )


def _name(path: str | None) -> str | None:
    """The name that a path ends in."""
    return None if path is None else printable_name(expanded(path).resolve().name)


def _require_same_records(ranked: pl.DataFrame, gaps: pl.DataFrame) -> None:
    mentions = int(ranked["mentions"].sum())
    counted = gaps.filter("counted").height
    if mentions != counted or gaps.filter(pl.col("counted") & pl.col("capability_id").is_null()).height:
        raise InvalidInputError(
            f"the ranking, of {mentions:,} mentions, is not that of the scan's {counted:,} records",
            hint="hand in the scan whose records were ranked",
        )


def _inputs(scan: Scan) -> tuple[InputFile, ...]:
    return tuple(InputFile(**row) for row in scan.files.iter_rows(named=True))


# The faces of a published run, made again from its tables: by a later version, or to be shared.


_HINT = "make the report again with `vocabgap report`"
_OTHERS = {GAPS_NAME: GAPS, REJECTS_NAME: REJECTS, LINEAGE_NAME: LINEAGE, GROUPS_NAME: GROUPS}


def render(
    run: str | Path,
    out: str | Path | None = None,
    *,
    share: bool = False,
    option: str = "RUN",
    terms: CheckedTerms | None = None,
) -> Published:
    """Make the report of a published run again, as this version writes it; its tables stay as they are.

    Args:
        run: The folder of the run.
        out: The folder to publish all its files in; that of the run by default.
        share: Write `share.html`, too, which may leave the machine.
        option: What names the run on the command line, for the error.
        terms: What its words mean by now; by default what the run says of them.

    Raises:
        NotFoundError: There is no run.
        InvalidInputError: What is to be shared would tell of single images.
        StateError: A file of the run is missing or damaged, or not of this version; or the run was replaced
            meanwhile; or the folder holds something that is not a run.
        AccessDeniedError: A folder may not be read or written.
    """
    place = resolve_target(run, option=option)
    manifest, capabilities = read_run(place, option=option)
    fewest = settings_of(manifest).rank.shared_from if share else None
    listed = {output.name: output for output in manifest.outputs}
    others = {name: table for name, table in _OTHERS.items() if name in listed}
    for name in (CAPABILITIES_NAME, *others):
        _require_untouched(place / name, listed.get(name))
    if share and GAPS_NAME not in others:
        raise InvalidInputError(
            f"the run in '{place}' was published without {GAPS_NAME}, which says what may be shared",
            hint="make a report of a scan",
        )
    tables = Tables(capabilities, *(_read(place, name, table, others) for name, table in _OTHERS.items()))
    target = place if out is None else resolve_target(out)
    told = manifest if terms is None else replace(manifest, terms=terms)
    summary = summary_of(tables, told)
    with published(target) as folder:
        for name in tables.files:
            shutil.copyfile(place / name, folder / name)
        made = write_faces(folder, tables, summary, told, fewest)
        _require_same(place, manifest)
    return Published(target, (*(output.name for output in made.outputs), MANIFEST_NAME), summary, made)


def _read(place: Path, name: str, table: Table, listed: dict[str, Table]) -> pl.DataFrame | None:
    return read_table(place, name, table) if name in listed else None


def _require_untouched(path: Path, listed: OutputFile | None) -> None:
    """Refuse a file that is not the one that the manifest tells of."""
    kind = file_kind(path)
    if kind is not FileKind.FILE:
        raise StateError(f"'{path}' is {kind}, not a file", hint=_HINT)
    if listed is None or describe_output(path).sha256 != listed.sha256:
        raise StateError(f"'{path}' is not the file that {MANIFEST_NAME} beside it tells of", hint=_HINT)


def _require_same(place: Path, manifest: Manifest) -> None:
    """Refuse to put an older run in the place of one that was published while this one was read."""
    if read_manifest(place) != manifest:
        raise StateError(f"the run in '{place}' was replaced meanwhile", hint="try again")
