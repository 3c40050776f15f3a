"""Known bad lines and repaired lines, which `vocabgap check` shows with the account of a scan.

A baseline names a bad line by its file and the digest of its content. If only the number of the line changes,
the line stays known. If its content changes, it does not.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final

import msgspec
import polars as pl
from msgspec import structs

from vocabgap.errors import InvalidInputError, expanded
from vocabgap.files.atomic import write_whole
from vocabgap.files.budget import MIB
from vocabgap.files.journal import Journal
from vocabgap.files.refusals import FileRole
from vocabgap.ingest.decoding import json_type, nulls_for_defaults, object_of
from vocabgap.ingest.discovery import LogFile, discover
from vocabgap.ingest.lines import LineCounts, LogDecoder
from vocabgap.ingest.reading import Block
from vocabgap.ingest.roots import resolve_roots
from vocabgap.ingest.scanning import Scan, by_reader
from vocabgap.model.record import SATISFACTION_TEXTS, Repair, rating_word
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import several
from vocabgap.model.tables import REJECTS
from vocabgap.text import short_hash

_KEY: Final = ("source_path", "sha256")


class KnownLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bad line of a baseline. Its number and its reason are for people; they do not identify it."""

    source_path: str
    sha256: str  # of `raw` in table `rejects`; of the reason, if the reject is a whole file
    line: int | None
    reason: str


def read_baseline(path: str | Path) -> tuple[KnownLine, ...]:
    """Return the bad lines of a baseline; none if there is no file."""
    return tuple(line for _, line in _JOURNAL.read(expanded(path)))


def _decoded(line: bytes, place: str) -> KnownLine:
    try:
        return msgspec.json.decode(line, type=KnownLine)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{place}: expected a line of a baseline: {error}",
            hint="name a file that `vocabgap check --write-baseline` has written",
        ) from error


_JOURNAL: Final = Journal(
    FileRole(
        "baseline", "name another file with --baseline", undone="nothing was written", again="try again"
    ),
    _decoded,
)


def write_baseline(path: str | Path, rejects: pl.DataFrame) -> None:
    """Write the rows of table `rejects` to a baseline; never replace a file that is no baseline."""
    place = expanded(path)
    _JOURNAL.read(place)
    rows = _keyed(rejects).select(KnownLine.__struct_fields__).sort(pl.all(), nulls_last=True)
    with _JOURNAL.role.refusing(place, "written"):
        write_whole(place, msgspec.json.Encoder().encode_lines(rows.to_dicts()), 0o644)


def is_known(rejects: pl.DataFrame, known: Iterable[KnownLine] | pl.DataFrame) -> pl.Series:
    """Tell which rows of table `rejects` a baseline or an earlier table lists; of equal lines, the first."""
    if not isinstance(known, pl.DataFrame):
        keys = [(line.source_path, line.sha256) for line in known]
        known = pl.DataFrame(keys, schema=dict.fromkeys(_KEY, pl.String), orient="row")
    else:
        known = _keyed(known)
    times = known.group_by(_KEY).len("times")
    numbered = _keyed(rejects).with_columns(nth=pl.int_range(pl.len()).over(_KEY))
    joined = numbered.join(times, on=_KEY, how="left", maintain_order="left")
    return joined.select(is_known=pl.col("nth") < pl.col("times").fill_null(0))["is_known"]


def _keyed(rejects: pl.DataFrame) -> pl.DataFrame:
    REJECTS.require(rejects)
    texts = rejects.select(pl.coalesce("raw", "reason"))["raw"]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    return rejects.with_columns(sha256=pl.Series(digests, dtype=pl.String))


class RepairedLine(msgspec.Struct, frozen=True):
    """One kind of repair in one line of a log, with its number and details."""

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

    There is one entry per line and kind, in the order of the logs. The sums of `times` by kind are the
    `repairs` of the scan's summary. A shared corpus among the roots is left out.
    """
    settings = settings or ScanSettings()
    listing = _Listing(settings.tenant, settings.max_expanded_mib * MIB)
    searched = by_reader(resolve_roots(roots)).get(None)
    for log in discover(searched, settings) if searched else ():
        listing.read(log)
    return listing.repaired


def unclear_lines(scanned: Scan) -> list[RepairedLine]:
    """Return the lines whose notes name a record of the image, but correct none."""
    only_one = "the notes name {1}…, and correct nothing; expected `corrects` before it"
    several = "{0} records of the image have {1}…; expected `corrects` before the record_id of one"
    return [
        RepairedLine(
            slug,
            path,
            line,
            Repair.UNCLEAR_CORRECTION,
            1,
            (only_one if fitting == 1 else several).format(fitting, short_hash(reference)),
        )
        for slug, path, line, reference, fitting in scanned.unclear.iter_rows()
    ]


def unreadable_times(scanned: Scan, roots: Iterable[str | Path], settings: ScanSettings) -> str:
    """Return a sentence if a tenth of the timestamps at a named path is unreadable; else nothing."""
    times = scanned.summary.repairs.get(Repair.TIMESTAMP_UNREADABLE, 0)
    paths = several(settings.map.get("timestamp", ()))
    known = scanned.lines.each(lambda part: part.select(pl.col("timestamp").count())).to_series().sum()
    if not paths or 9 * times <= known:
        return ""
    lines = repaired_lines(roots, settings)
    first = next((line.detail for line in lines if line.repair is Repair.TIMESTAMP_UNREADABLE), "")
    example = first.rpartition(", ")[0]
    return (
        f"timestamp ({' or '.join(paths)}): {times:,} of {times + known:,} cannot be read"
        f"{f', such as {example}' * bool(example)}; expected 2026-06-02, or a format behind the path, as in"
        f" 'timestamp={paths[0].partition('|')[0]}|%d/%m/%Y'"
    )


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
        return self.repairs - before


def _shown(value: object) -> str:
    return short_repr(value) if isinstance(value, str | int | float) else json_type(value)


# The detail of a repair, from the fields of its line and its log.
_DETAILS: Final[Mapping[Repair, Callable[[dict[str, Any], LogFile], str]]] = {
    Repair.SATISFACTION_IN_WORDS: lambda fields, _: (
        f"{_shown(fields['satisfaction'])}, read as {SATISFACTION_TEXTS[rating_word(fields['satisfaction'])]}"
    ),
    Repair.SATISFACTION_UNKNOWN: lambda fields, _: f"{_shown(fields['satisfaction'])}, read as not rated",
    Repair.COUNT_UNKNOWN: lambda fields, _: f"{_shown(fields['count'])}, read as 1",
    Repair.NULL_FOR_DEFAULT: lambda fields, _: ", ".join(nulls_for_defaults(fields)),
    Repair.BYTE_ORDER_MARK: lambda _, __: "passed over",
    Repair.TIMESTAMP_WITHOUT_OFFSET: lambda fields, _: f"{_shown(fields['timestamp'])}, read as UTC",
    Repair.TIMESTAMP_UNREADABLE: lambda fields, _: f"{_shown(fields['timestamp'])}, kept without a date",
    Repair.IMAGE_FROM_FOLDER: lambda _, log: f"no image is named, read as {_shown(log.folder)}",
    Repair.IMAGE_NOT_FOLDER: lambda fields, log: (
        f"{_shown(fields['image_id'])} in folder {_shown(log.folder)}"
    ),
}
