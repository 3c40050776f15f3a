"""The scan: discover the logs, decode them line by line, and account for every line.

A selection narrows a scan to the records that a report is about. The rest is marked, never dropped.
"""

import gc
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final

import polars as pl
from msgspec import structs

from vocabgap.errors import InvalidInputError, alike
from vocabgap.extensions import RootReader, reader_of
from vocabgap.files.budget import MIB
from vocabgap.files.parts import ROW, Parts
from vocabgap.ingest.accounting import (
    DUPLICATE,
    FILTERED,
    NAMED,
    ScanSummary,
    accounted,
    lines_of,
    marks_of,
    summarize,
)
from vocabgap.ingest.discovery import LogFile, discover, looked_for
from vocabgap.ingest.lines import LogDecoder, LogsRead
from vocabgap.ingest.roots import origin_of, repository_slugs, resolve_roots, shown_root
from vocabgap.model.lookup import did_you_mean, some_of
from vocabgap.model.moments import LAST, iso
from vocabgap.model.other import texts_at
from vocabgap.model.record import CATEGORY_ALIASES, OPERATION_ALIASES, SHARED_TENANT, Repair
from vocabgap.model.selection import Selection, as_field, by_path, together
from vocabgap.model.settings import ScanSettings, Settings, overridden, settings_of
from vocabgap.model.sources import IMAGE, Source, checked_sources, without_placeholder
from vocabgap.model.tables import GAPS, NAMES, RECORDS, stripped
from vocabgap.progress import tell
from vocabgap.text import count, excerpt, unit_names

_OTHERS: Final = 5  # files in a message
_TENANT: Final = "tenant"  # the noun of a filter
_NEWEST: Final = ("timestamp", "repo_slug", "source_path", "line", "tenant_id")
_Aliases = Mapping[str, Mapping[str, str]]
_ALIASES: Final = {"category_aliases": CATEGORY_ALIASES, "operation_aliases": OPERATION_ALIASES}
_ARGUMENT_HINT: Final = "`vocabgap manual reference-settings` lists [ingest] with its defaults"


ReadLogs = Callable[[list[LogFile], ScanSettings], LogsRead]
"""A function that reads discovered logs, here or elsewhere."""


@dataclass(frozen=True, repr=False)
class Scan:
    """The tables of a scan, and its account.

    Attributes:
        lines: One row per readable line, with `counted` and `why_not` (table `gaps`), in parts.
        rejects: One row per bad line or unreadable file (table `rejects`).
        files: One row per log that was read (table `files`).
        summary: The account of every line.
        unclear: One row per line whose notes name an earlier record of the image, but correct none: they
            lack `corrects`, or several records fit.
        repositories: The names of the roots. None if a root is a corpus: its repositories are known only
            after reading.
        unread: The paths of data files that fit no source.
    """

    lines: Parts
    rejects: pl.DataFrame
    files: pl.DataFrame
    summary: ScanSummary
    unclear: pl.DataFrame
    repositories: frozenset[str] | None = None
    unread: tuple[str, ...] = ()

    @property
    def sources(self) -> set[str]:
        """The kinds of the logs with lines."""
        return {*self.files.filter(pl.col("lines") > 0)["source"]}

    @cached_property
    def gaps(self) -> pl.DataFrame:
        """One row per readable line (table `gaps`), in memory."""
        return self.lines.collect().select(GAPS.names)

    @property
    def records(self) -> pl.DataFrame:
        """The records that count (table `records`), in memory."""
        return self.lines.each(lambda part: part.filter("counted").select(RECORDS.names))

    def lazy(self) -> pl.LazyFrame:
        """Return the records that count (table `records`), to be read part by part."""
        return self.lines.lazy().filter("counted").select(RECORDS.names)

    @cached_property
    def counted(self) -> int:
        """The number of records that count."""
        return int(self.lines.each(lambda part: part.select(pl.col("counted").sum()))["counted"].sum())

    def select(self, selection: Selection, **aliases: Mapping[str, str]) -> "Scan":
        """Return the scan with every record outside a selection marked as `filtered`.

        `category_aliases` and `operation_aliases` map spellings to names.
        """
        return replace(self, lines=select(self.lines, selection, **aliases))

    def __repr__(self) -> str:
        """Return the account in one line."""
        summary = self.summary
        whole = f"{count(summary.lines, 'line')} in {count(summary.files, 'log')}"
        left_out = f" ({self.counted:,} counted)" if self.counted != summary.records else ""
        parts = (
            count(summary.records, "record") + left_out,
            count(summary.duplicates, "duplicate"),
            f"{summary.superseded:,} superseded",
            count(summary.rejects, "reject"),
        )
        return f"Scan({whole}: {', '.join(parts)})"


def scan(
    roots: str | Path | Iterable[str | Path],
    *,
    settings: ScanSettings | Settings | None = None,
    tenant_id: str | None = None,
    sources: Mapping[str, Source | Mapping[str, Any]] | None = None,
    hidden: bool | None = None,
    max_expanded_mib: int | None = None,
    source: str | None = None,
    map: Mapping[str, str | Sequence[str]] | None = None,  # noqa: A002 - as the option
    tenants: Sequence[str] = (),
    repositories: Sequence[str] = (),
    shared: bool = True,
    read_logs: ReadLogs | None = None,
) -> Scan:
    """Read every gap log below the roots, and every gap record of the shared corpora among them.

    Args:
        roots: Folders to search for gap logs, files of any name, or folders of shared corpora.
        settings: Defaults of the next six arguments.
        tenant_id: The tenant of records in logs, `local` by default; records of a corpus name their tenant.
        sources: The kinds of gap logs and how each is read: a `Source` or a table of its keys. The shipped
            ones by default.
        hidden: Whether to search files and folders whose name starts with a dot.
        max_expanded_mib: The most MiB that a compressed log may expand to.
        source: The source that reads files among the roots. In folders, it reads the data files that no
            source knows.
        map: The paths of the fields of a record in such files, as in `Source.fields`.
        tenants: Tenants that read the corpora: their own records, and what `neo-shared` shares with all. By
            default everything is read, except private records.
        repositories: Repositories whose records are read from corpora; all by default.
        shared: Whether the records of `neo-shared` are read from corpora.
        read_logs: A function that reads the logs elsewhere, as an engine does.

    Returns:
        Records, rejects and the account of every line. Rows are ordered by repository, file and line. Chunks
        of a corpus that are no gap records count as passed over.

    Raises:
        NotFoundError: A root does not exist.
        AccessDeniedError: A root cannot be read.
        InvalidInputError: No root was given, or an argument is out of bounds.
        StateError: A corpus cannot be read.
    """
    settings = ScanSettings() if settings is None else settings
    settings = overridden(
        settings if isinstance(settings, ScanSettings) else settings_of(settings).scan,
        {"tenant": "tenant_id"},
        _ARGUMENT_HINT,
        tenant=tenant_id,
        sources=None if sources is None else checked_sources(sources),
        hidden=hidden,
        max_expanded_mib=max_expanded_mib,
        source=source,
        map=map,
        is_usual=False if source or map else None,
    )
    scans: list[Scan] = []
    whose = {"tenants": tenants, "repositories": repositories, "shared": shared}
    readers, unread = by_reader(resolve_roots(roots)), list[str]()
    for reader, of_reader in readers.items():
        if reader is not None:
            scans.append(reader.scan.load()(of_reader, sources=settings.sources, **whose))
            continue
        logs = discover(of_reader, settings, unread)
        read = read_here if read_logs is None or not logs else read_logs
        scans.insert(0, scan_of(*read(logs, settings)))
    folders = [root if root.is_dir() else root.parent for root in readers.get(None, [])]
    names = frozenset(repository_slugs(folders)) if not readers.keys() - {None} else None
    found = united(scans)
    lines = found.lines.then(lambda part: part.with_columns(_WITHOUT_PLACEHOLDERS))
    by_depth = sorted(unread, key=lambda path: (path.count("/"), path))
    return replace(found, lines=lines, repositories=names, unread=tuple(by_depth))


# A placeholder counts as an empty workaround, and as an empty missing capability beside a description.
_NEED: Final = pl.col("missing_capability")
_WITHOUT_PLACEHOLDERS: Final = (
    without_placeholder(pl.col("workaround")).alias("workaround"),
    pl.when(stripped(pl.col("description")) != "")
    .then(without_placeholder(_NEED))
    .otherwise(_NEED)
    .alias("missing_capability"),
)


def nothing_read(scanned: Scan, roots: Iterable[Path], settings: Settings) -> tuple[str, str]:
    """Return the problem of a scan that read no log, and a hint."""
    where = ", ".join(f"'{origin_of(root) or root}'" for root in roots)
    unread = scanned.summary.unreadable
    if unread:
        first = scanned.rejects.row(0, named=True)
        more = f"; {unread - 1:,} more" * (unread > 1)
        problem = f"no log could be read in {where}: {first['source_path']}: {first['detail']}{more}"
        return problem, "`vocabgap check` lists the unread files"
    hints = _nothing_known(scanned.unread)
    hidden = [] if settings.ingest.hidden else discover(roots, structs.replace(settings.scan, hidden=True))
    if hidden:
        hints.append(f"--hidden also reads hidden folders, with {hidden[0].source_path}")
    hint = (
        f"{'; '.join(hints) or 'check that the folder is complete, or name a folder that contains logs'};"
        " `vocabgap log` begins a log; `vocabgap manual gap-logs` says how to read other logs"
    )
    return f"no log was found in {where}: looked for {looked_for(settings.sources)}", hint


def silent_files(scanned: Scan, sources: Mapping[str, Source]) -> list[str]:
    """Return one note per source that found no gap in its files, and one on unread files.

    Unread `.json`, `.txt` and `.log` files are not named.
    """
    documents = {".json", ".txt", ".log"}
    notes = _nothing_known([path for path in scanned.unread if PurePath(path).suffix not in documents])
    silent = scanned.files.filter(pl.col("lines") == 0, pl.col("passed_over") > 0, pl.col("source") != "")
    for name in sorted({*silent["source"]}):
        paths = sorted(silent.filter(source=name)["source_path"])
        finds = (sources.get(name) or Source()).finds or "the fields of its gaps"
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
        notes.append(f"no gap in {paths[0]}{more}, read as {name}: looked for {finds}")
    return notes


def _nothing_known(paths: Sequence[str]) -> list[str]:
    """Return the sentence on data files that no source knows, if there are any."""
    names = [shown_root(Path(path)) for path in paths[:_OTHERS]]
    named = ", ".join(names) + ", …" * (len(paths) > _OTHERS)
    keys = f"`vocabgap report {shlex.quote(names[0])}` tells its keys" if names else ""
    return [f"nothing known in {count(len(paths), 'file')}: {named}; {keys}"] if names else []


def by_reader(roots: Iterable[Path]) -> dict[RootReader | None, list[Path]]:
    """Group roots by their reader; roots of the reader None are searched for logs."""
    groups: dict[RootReader | None, list[Path]] = {}
    for root in roots:
        groups.setdefault(reader_of(root), []).append(root)
    return groups


def read_here(logs: list[LogFile], settings: ScanSettings) -> LogsRead:
    """Read logs in this process."""
    decoder = LogDecoder(settings.tenant, settings.max_expanded_mib * MIB, entries=settings.entries)
    with without_cycle_search():
        for done, log in enumerate(logs):
            tell("logs", done, len(logs))
            decoder.read(log)
        return decoder.tables()


@contextmanager
def without_cycle_search() -> Iterator[None]:
    """Switch off Python's search for reference cycles: records have none.

    The search costs 3 µs per record; decoding costs 1.2.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def united(scans: Iterable[Scan]) -> Scan:
    """Unite one or more scans; a record in two of them counts once."""
    several = list(scans)
    if len(several) == 1:
        return several[0]
    order = ("repo_slug", "source_path", "tenant_id", "line")
    gaps = pl.concat([one.gaps for one in several]).sort(order, maintain_order=True)
    rejects = pl.concat([one.rejects for one in several])
    files = pl.concat([one.files for one in several])
    repairs: Counter[str] = Counter()
    for one in several:
        repairs.update(one.summary.repairs)
    del repairs[Repair.UNCLEAR_CORRECTION]  # they are counted again
    return scan_of(
        lines_of(gaps.select(*RECORDS.names, NAMED)),
        rejects.sort("repo_slug", "source_path", "line", nulls_last=True, maintain_order=True),
        files.sort("repo_slug", "source_path", maintain_order=True),
        repairs,
        gaps.select(pl.arg_where(pl.col("why_not") == DUPLICATE)).to_series(),
    )


def scan_of(
    records: Parts,
    rejects: pl.DataFrame,
    files: pl.DataFrame,
    repairs: Mapping[str, int],
    copies: Iterable[int] = (),
) -> Scan:
    """Decide which lines count, and return the scan of `records` (in order), `rejects` and `files`."""
    marks = marks_of(records, copies)
    summary = summarize(records, marks, rejects, files, repairs)
    return Scan(records.marked(marks.rows).then(accounted), rejects, files, summary, marks.unclear)


def select(lines: Parts, selection: Selection, **aliases: Mapping[str, str]) -> Parts:
    """Return table `gaps` with the rows outside a selection marked as `filtered`.

    Only rows that counted, or that a rule excluded, are marked.
    """
    if not selection:
        return lines
    wanted = pl.lit(value=True)
    for filtered, value in selection.in_force():
        if filtered.where is not None:
            wanted &= filtered.where(value)
            continue
        fold, column = filtered.normaliser({**_ALIASES, **aliases}), filtered.column
        spellings: dict[str, list[str]] = {}
        for raw in _values(lines, column):
            spellings.setdefault(fold(raw), []).append(raw)
        if GAPS.schema[column] == NAMES:
            has = {
                name: pl.col(column).list.set_intersection(raws).list.len() > 0
                for name, raws in spellings.items()
            }
            nothing = pl.lit(value=False)
            sets = (map(fold, together(each, fold, has)) for each in value)
            wanted &= pl.any_horizontal(
                pl.all_horizontal(has.get(name, nothing) for name in names) for names in sets
            )
        else:
            wanted &= pl.col(column).is_in([raw for each in value for raw in spellings.get(fold(each), [])])
    left_out = (pl.col("counted") | pl.col("rule").is_not_null()) & ~wanted.fill_null(value=False)
    columns = (
        pl.col("counted") & ~left_out,
        pl.when(left_out).then(pl.lit(FILTERED)).otherwise("why_not").alias("why_not"),
        pl.when(~left_out).then("rule").alias("rule"),
    )
    return lines.then(lambda part: part.with_columns(columns))


def unmatched(
    lines: Parts, selection: Selection, unit: str = IMAGE, by: str | None = None, **aliases: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a sentence for each value of a selection that no record has, with the nearest values or some.

    `by` is a path that some record must have, too. Without any record, only tenants and repositories are
    checked.
    """
    if lines.each(lambda part: part.select(ROW).head(1)).is_empty():  # a shared corpus was read by these only
        selection = Selection(tenants=selection.tenants, repositories=selection.repositories)
    sentences = []
    for noun, value, names in _absent(lines, selection, unit, aliases, by):
        near = ", ".join(map(excerpt, alike(value, names)))
        there = f"the nearest: {near}" if near else _there_are(noun, names)
        named = f"{_missing(noun, value)}; {as_field(noun, value) or there}"
        sentences.append(reads_shared(value) if _reads_shared(noun, names) else named)
    return (*sentences, *_outside(lines, selection))


def require_known(
    lines: Parts, selection: Selection, unit: str = IMAGE, **aliases: Mapping[str, str]
) -> None:
    """Raise InvalidInputError for a selected name that no record has; the error names similar ones.

    A tenant without records may read the shared ones.
    """
    for noun, value, names in _absent(lines, selection, unit, aliases):
        if not _reads_shared(noun, names):
            hint = as_field(noun, value) or did_you_mean(value, names) or _there_are(noun, names)
            raise InvalidInputError(_missing(noun, value), hint=hint)


def with_newest_session(lines: Parts, selection: Selection) -> tuple[Selection, str | None]:
    """Replace a session called `last` by the newest one of the selected images and time; return both.

    If no record has a session, the selection stays as it is.
    """
    if LAST not in selection.sessions:
        return selection, None
    wider = structs.replace(selection, sessions=(), categories=(), operations=(), match=None, satisfaction=())
    named = pl.col("counted") & (stripped(pl.col("session_id")) != "")
    with_session = select(lines, wider).each(
        lambda part: newest(part.filter(named).select(*_NEWEST, "session_id").collect(), 1).lazy()
    )
    if with_session.is_empty():
        return selection, None
    session = str(newest(with_session, 1)["session_id"][0])
    names = tuple(session if name == LAST else name for name in selection.sessions)
    return structs.replace(selection, sessions=names), session


def newest(records: pl.DataFrame, most: int | None = None) -> pl.DataFrame:
    """Return all records, or the first `most`: the newest first, records without a time last."""
    if most is not None and 0 < most < records.height - records["timestamp"].null_count():
        # Sort only the rows that can be among the first: sorting a million records takes far longer.
        records = records.filter(pl.col("timestamp") >= records["timestamp"].top_k(most).min())
    ordered = records.sort(_NEWEST, descending=[True, False, False, True, False], nulls_last=True)
    return ordered if most is None else ordered.head(min(most, ordered.height))


def _absent(
    lines: Parts, selection: Selection, unit: str, aliases: _Aliases, by: str | None = None
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each selected name or path that no record has: its noun, the name, and the existing names."""
    for filtered, value in selection.in_force():
        if filtered.column:
            fold = filtered.normaliser({**_ALIASES, **aliases})
            names = sorted(set(map(fold, _values(lines, filtered.column))))
            noun = unit_names(unit)[0] if filtered.column == "image_id" else filtered.noun
            is_list = GAPS.schema[filtered.column] == NAMES
            asked = [name for each in value for name in (together(each, fold, names) if is_list else [each])]
            yield from ((noun, name, names) for name in asked if fold(name) not in names)
    of_breakdown = [] if by is None else [(by, ())]
    for path, wanted in (*by_path(selection.where), *of_breakdown):
        names = sorted(_texts(lines, texts_at(path)))
        if not names:
            yield "column", path, sorted(_texts(lines, texts_at()))
        yield from ((path, value, names) for value in wanted if names and value not in names)


def _values(lines: Parts, column: str) -> pl.Series:
    return _texts(lines, pl.col(column), is_list=GAPS.schema[column] == NAMES)


def _texts(lines: Parts, value: pl.Expr, *, is_list: bool = True) -> pl.Series:
    distinct = (value.explode() if is_list else value).drop_nulls().unique()
    return lines.each(lambda part: part.select(distinct)).to_series().unique()


def newest_moment(lines: Parts, clock: datetime) -> tuple[datetime, int]:
    """Return the newest timestamp of the records that count, and how many are later than the clock.

    Later timestamps are ignored; if there are no others, the moment is that of the clock.
    """
    moment = pl.col("timestamp").filter("counted")
    columns = (moment.filter(moment <= clock).max().alias("newest"), (moment > clock).sum().alias("ahead"))
    of_parts = lines.each(lambda part: part.select(columns))
    newest = of_parts["newest"].max()
    return newest if isinstance(newest, datetime) else clock, int(of_parts["ahead"].sum())


def ahead_in_words(number: int) -> str:
    """Describe the number of records that are later than the clock."""
    have = "has" if number == 1 else "have"
    return f"{count(number, 'record')} {have} a date in the future; `--now last` ignores such dates"


def undated(lines: Parts, selection: Selection) -> int:
    """Count the records without a readable timestamp that a selection by date has left out."""
    left_out = pl.col("timestamp").filter(pl.col("why_not") == FILTERED).null_count()
    return int(lines.each(lambda part: part.select(left_out))["timestamp"].sum()) if selection.dated else 0


def reads_shared(tenant: str) -> str:
    """Return a note on a tenant without records that reads the shared ones."""
    return f"{_missing(_TENANT, tenant)}; only the shared records of {SHARED_TENANT} are read"


def _there_are(noun: str, names: Sequence[str]) -> str:
    return some_of(names) if names else f"check the spelling; no other {noun} was read"


def _reads_shared(noun: str, names: Collection[str]) -> bool:
    return noun == _TENANT and SHARED_TENANT in names


def _missing(what: str, name: str) -> str:
    return f"no record has {what} '{excerpt(name)}'"


def _outside(lines: Parts, selection: Selection) -> tuple[str, ...]:
    window = Selection(since=selection.since, until=selection.until)
    within = [filtered.where(value) for filtered, value in window.in_force() if filtered.where]
    if not within:
        return ()
    time = pl.col("timestamp")
    columns = (
        pl.all_horizontal(within).any().alias("any"),
        time.min().alias("oldest"),
        time.max().alias("newest"),
    )
    of_parts = lines.each(lambda part: part.select(columns))
    if of_parts["any"].any():
        return ()
    span = [f"since {iso(selection.since)}"] if selection.since is not None else []
    span += [f"before {iso(selection.until)}"] if selection.until is not None else []
    sentence = f"no record {' and '.join(span)}"
    oldest, newest = of_parts["oldest"].min(), of_parts["newest"].max()
    if not (isinstance(oldest, datetime) and isinstance(newest, datetime)):
        return (f"{sentence}: no timestamp can be read",)
    return (f"{sentence}: the oldest record has the time {iso(oldest)}, the newest {iso(newest)}",)
