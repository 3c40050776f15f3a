"""Lines of gap logs beside a scan: with their text, with their repairs, or stored elsewhere."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

import msgspec
import polars as pl
from msgspec import structs

from vocabgap.ingest.decoding import json_type, nulls_for_defaults, object_of
from vocabgap.ingest.discovery import Catalogue, LogFile, discover, resolve_roots
from vocabgap.ingest.lines import FOLDER, TEXT, LineCounts, LogDecoder, blocks_of
from vocabgap.ingest.reading import MIB, UNKNOWN_OFFSET, Block
from vocabgap.ingest.scanning import Scan, by_reader, scan_of, without_cycle_search
from vocabgap.model.record import FIELDS, MAX_LINE_BYTES, SATISFACTION_WORDS, Repair
from vocabgap.model.settings import DEFAULT_TENANT, ScanSettings
from vocabgap.model.sources import Source, shipped_sources
from vocabgap.model.tables import LOGS, RECORDS, REJECTED, REJECTS, Column, Table

LINES: Final = pl.Schema([*RECORDS.schema.items(), (TEXT, pl.String), (FOLDER, pl.String)])
"""Table `records`, the text of the line, and the folder that holds the log."""

_LOG: Final = ("repo_slug", "source_path", "tenant_id", "root_kind", FOLDER)
STORED: Final = Table(
    "stored lines",
    "one line of a log that is kept elsewhere",
    (
        Column("tenant_id", pl.String, "tenant of the line"),
        Column("repo_slug", pl.String, "the repository"),
        Column("root_kind", pl.String, "kind of root"),
        Column("source_path", pl.String, "log file, relative to the root, forward slashes"),
        Column("line", pl.Int64, "line in the file, counted from 1; null if unknown"),
        Column("byte_offset", pl.Int64, "offset of its first byte; null if unknown"),
        Column(FOLDER, pl.String, "folder that holds the log; null if the path says it"),
        Column(TEXT, pl.String, "the line without its newline"),
        Column("id", pl.String, "order of the lines that have the same number"),
    ),
)
"""Input of `scan_stored`."""


@dataclass(frozen=True)
class LogLines:
    """The content of gap logs, line by line.

    Attributes:
        lines: Every readable line (`LINES`), in the order of the logs.
        rejects: Table `rejects`.
        paths: The source paths of all logs, sorted; also of logs without a readable line.
        logs: The rest of each log: columns `source_path`, `folder`, `passed_over` and `rejects` of `LOGS`.
        unlisted: Folders that could not be listed, and links that were not followed.
    """

    lines: pl.DataFrame
    rejects: pl.DataFrame
    paths: tuple[str, ...]
    logs: pl.DataFrame
    unlisted: tuple[str, ...] = ()


def read_lines(root: str | Path, settings: ScanSettings | None = None) -> LogLines:
    """Read every gap log below a root, and keep the text of each line that holds a record."""
    settings = settings or ScanSettings()
    decoder = LogDecoder(settings.tenant, settings.max_expanded_mib * MIB, with_text=True)
    return _log_lines(decoder, [(log, decoder.read(log)) for log in discover(root, settings)])


def text_lines(
    content: str, source_path: str, *, repo_slug: str, sources: Mapping[str, Source] | None = None
) -> LogLines:
    """Read the content of one log as `read_lines` would.

    Args:
        content: The content of the log, not compressed.
        source_path: Its path below its root, with forward slashes: its name tells its kind.
        repo_slug: The repository.
        sources: The kinds of gap logs; the shipped ones by default.
    """
    decoder = LogDecoder(DEFAULT_TENANT, with_text=True)
    log = _handed_over(source_path, repo_slug, _catalogue(sources))
    counts = LineCounts()
    # Half of a surrogate pair is no UTF-8; it stays as it is, so that only its line is rejected.
    for block in blocks_of(log, [content.encode("utf-8", "surrogatepass")]):
        decoder.decode(log, block, counts)
    return _log_lines(decoder, [(log, counts)])


def scan_stored(
    lines: pl.DataFrame, logs: pl.DataFrame | None = None, *, sources: Mapping[str, Source] | None = None
) -> Scan:
    """Decode lines that are kept elsewhere.

    Args:
        lines: Table `STORED`, in any order. A line without a number comes after the others of its log.
        logs: Table `LOGS`: the rest of their logs; nothing by default.
        sources: The kinds of gap logs: the name of a line's log tells its kind.

    Returns:
        The scan of the logs, as far as their lines are at hand: a log's size and digest are those of its
        lines. Rows are ordered by repository, file, tenant and line.
    """
    STORED.require(lines)
    logs = LOGS.empty() if logs is None else logs
    decoder = LogDecoder()
    with without_cycle_search():
        for log, blocks_of_log, content, counts in _stored_logs(lines, logs, _catalogue(sources)):
            for block in blocks_of_log:
                decoder.decode(log, block, counts)
            decoder.add_file(log, len(content), hashlib.sha256(content).hexdigest(), counts)
        read = decoder.tables()
    kept = logs.explode("rejects").drop_nulls("rejects").unnest("rejects").select(REJECTS.names)
    return scan_of(
        read.records,
        pl.concat([kept, read.rejects]).sort("repo_slug", "source_path", "line"),
        read.files.sort("repo_slug", "source_path", maintain_order=True),
        read.repairs,
    )


def _log_lines(decoder: LogDecoder, read: list[tuple[LogFile, LineCounts | None]]) -> LogLines:
    tables = decoder.tables()
    by_log = tables.rejects.group_by("source_path").agg(pl.struct(*REJECTED.to_schema()).alias("rejects"))
    listed = {
        log.source_path: (log.folder, None if counts is None else counts.passed_over)
        for log, counts in read
        if log.problem is None or log.kind.source
    }
    paths = tuple(sorted(listed))
    logs = pl.DataFrame(
        [(path, *listed[path]) for path in paths],
        {name: LOGS.schema[name] for name in ("source_path", FOLDER, "passed_over")},
        orient="row",
    ).join(by_log, on="source_path", how="left")
    unlisted = tuple(sorted({log.source_path for log, _ in read} - listed.keys()))
    return LogLines(pl.concat([LINES.to_frame(), *tables.records]), tables.rejects, paths, logs, unlisted)


def _catalogue(sources: Mapping[str, Source] | None) -> Catalogue:
    return Catalogue(shipped_sources() if sources is None else sources)


def _handed_over(source_path: str, repo_slug: str, catalogue: Catalogue, folder: str = "") -> LogFile:
    """Return a log whose lines are at hand, and which is no file here."""
    parts = [repo_slug.rpartition("/")[2], *source_path.split("/")]
    return LogFile("", repo_slug, source_path, folder or parts[-2], catalogue.kind_of_root(source_path))


def _stored_logs(
    lines: pl.DataFrame, logs: pl.DataFrame, catalogue: Catalogue
) -> Iterator[tuple[LogFile, Iterator[Block], bytes, LineCounts]]:
    """Yield each log with the blocks of its lines, its content at hand, and the counts of the rest."""
    rejects = pl.col("rejects").list.eval(pl.element().struct["line"].is_not_null()).list.sum()
    rest = {
        tuple(key): LineCounts(bad, passed_over)
        for *key, bad, passed_over in logs.filter(pl.col("passed_over").is_not_null())
        .select(*_LOG, rejects.fill_null(0).alias("bad"), "passed_over")
        .iter_rows()
    }
    ordered = lines.sort(*_LOG, "line", "id", nulls_last=True)
    without = logs.join(lines, on=_LOG, how="anti", nulls_equal=True).select(_LOG).rows()
    groups = ordered.group_by(*_LOG, maintain_order=True)
    for key, rows in chain(groups, ((key, lines.clear()) for key in without if key in rest)):
        repo_slug, source_path, tenant_id, root_kind, folder = map(str, key)
        log = _handed_over(source_path, repo_slug, catalogue, "" if key[-1] is None else folder)
        last = int(rows["line"].max() or 0)  # type: ignore[arg-type]
        unnumbered = range(last + 1, last + 1 + rows["line"].null_count())
        texts = rows[TEXT].cast(pl.Binary).to_list()
        yield (
            structs.replace(log, tenant_id=tenant_id, root_kind=root_kind),
            _blocks(
                [*rows["line"].drop_nulls(), *unnumbered],
                rows["byte_offset"].fill_null(UNKNOWN_OFFSET).to_list(),
                texts,
            ),
            b"".join(text + b"\n" for text in texts),
            replace(rest.get(key, LineCounts())),
        )


def _blocks(numbers: list[int], offsets: list[int], lines: list[bytes]) -> Iterator[Block]:
    """Yield lines that follow each other together, and a line over the limit alone, as logs are cut."""
    start = 0
    for end in range(1, len(lines) + 1):
        follows = end < len(lines) and numbers[end] == numbers[end - 1] + 1
        if follows and max(map(len, lines[end - 1 : end + 1])) <= MAX_LINE_BYTES:
            continue
        if len(lines[start]) > MAX_LINE_BYTES:
            shown = [lines[start][:MAX_LINE_BYTES]]
            yield Block(numbers[start], offsets[start], shown, too_long=len(lines[start]))
        else:
            yield Block(numbers[start], offsets[start], lines[start:end])
        start = end


class RepairedLine(msgspec.Struct, frozen=True):
    """One kind of repair in one line of a log: how often, and what was read as what."""

    repo_slug: str
    source_path: str
    line: int
    repair: Repair
    times: int
    detail: str


def repaired_lines(
    roots: str | Path | Iterable[str | Path], settings: ScanSettings | None = None
) -> list[RepairedLine]:
    """Read every gap log below the roots, and list the repairs of the lines that a scan keeps.

    There is one for each line and kind, in the order of the logs. Their times, by kind, are the `repairs` of
    the scan's summary. A shared corpus among the roots is passed over.
    """
    settings = settings or ScanSettings()
    listing = _Listing(settings.tenant, settings.max_expanded_mib * MIB)
    searched = by_reader(resolve_roots(roots)).get(None)
    for log in discover(searched, settings) if searched else ():
        listing.read(log)
    return listing.repaired


class _Listing(LogDecoder):
    """A decoder that also lists the repairs of each line."""

    def __init__(self, tenant_id: str, max_expanded: int) -> None:
        super().__init__(tenant_id, max_expanded)
        self.repaired: list[RepairedLine] = []

    def decode(self, log: LogFile, block: Block, counts: LineCounts) -> None:
        """Decode the lines of a block; one by one if any of them needs repair."""
        if not self._repairs_of(log, block, counts):
            return
        number, offset = block.number, block.offset
        for line in block.lines:
            alone = structs.replace(block, number=number, offset=offset, lines=[line])
            repairs = self._repairs_of(log, alone, LineCounts())
            value = object_of(line) if repairs else {}
            fields = (log.kind.fields.of_shape(value) or log.kind.fields).applied(value)
            for name, times in repairs.items():
                detail = _DETAILS[Repair(name)](fields, log)
                self.repaired.append(
                    RepairedLine(log.repo_slug, log.source_path, number, Repair(name), times, detail)
                )
            number, offset = number + 1, offset + len(line) + 1

    def _repairs_of(self, log: LogFile, block: Block, counts: LineCounts) -> Counter[str]:
        before = self.repairs.copy()
        super().decode(log, block, counts)
        self.count_repeated_keys()
        return self.repairs - before


def _in_words(fields: dict[str, Any], _: LogFile) -> str:
    word = fields["satisfaction"]
    return f"{_shown(word)}, read as {SATISFACTION_WORDS[word.strip().casefold()]}"


def _unknown_fields(fields: dict[str, Any], _: LogFile) -> str:
    return ", ".join(map(_shown, sorted(fields.keys() - set(FIELDS))))


def _shown(value: object) -> str:
    return short_repr(value) if isinstance(value, str | int | float) else json_type(value)


# The detail of a repair, from the fields of its line and its log.
_DETAILS: Final[Mapping[Repair, Callable[[dict[str, Any], LogFile], str]]] = {
    Repair.SATISFACTION_IN_WORDS: _in_words,
    Repair.SATISFACTION_UNKNOWN: lambda fields, _: f"{_shown(fields['satisfaction'])}, read as not rated",
    Repair.NULL_FOR_DEFAULT: lambda fields, _: ", ".join(nulls_for_defaults(fields)),
    Repair.UNKNOWN_FIELD: _unknown_fields,
    Repair.REPEATED_KEY: lambda _, __: "the last value counts",
    Repair.BYTE_ORDER_MARK: lambda _, __: "passed over",
    Repair.TIMESTAMP_WITHOUT_OFFSET: lambda fields, _: f"{_shown(fields['timestamp'])}, read as UTC",
    Repair.TIMESTAMP_UNREADABLE: lambda fields, _: f"{_shown(fields['timestamp'])}, kept without a date",
    Repair.IMAGE_FROM_FOLDER: lambda _, log: f"none is named, read as {_shown(log.folder)}",
    Repair.IMAGE_NOT_FOLDER: lambda fields, log: (
        f"{_shown(fields['image_id'])} in folder {_shown(log.folder)}"
    ),
}
