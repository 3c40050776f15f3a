"""Where every line of the logs went: what counts, and why the rest does not."""

from typing import Final

import msgspec
import polars as pl

from vocabgap.ingest import ScanSummary
from vocabgap.records.record import FILE_REASONS, LOG_NAME
from vocabgap.text import count

SHOWN_REJECTS: Final = 20


class Reject(msgspec.Struct, frozen=True):
    """One line that was not read, and why."""

    repo_slug: str
    source_path: str
    line: int | None
    reason: str
    detail: str


class Account(msgspec.Struct, frozen=True):
    """Where every line that is not blank went.

    `lines = records + duplicates + superseded + rejects`, and `records = counted + filtered + not_a_gap`;
    `rules` says of the last which rule marked how many. Beside them stand `passed_over`, lines of other logs
    that are no gaps, and `unread`, why files were not read.
    """

    files: int
    unreadable: int
    lines: int
    records: int
    counted: int
    filtered: int
    duplicates: int
    superseded: int
    rejects: int
    passed_over: int
    repairs: dict[str, int]
    reasons: dict[str, int]
    unread: dict[str, int]
    examples: tuple[Reject, ...]
    not_a_gap: int = 0
    rules: dict[str, int] = {}


def account_of(
    gaps: pl.DataFrame | None, rejects: pl.DataFrame | None, scanned: ScanSummary | None
) -> Account | None:
    """The account of a run; None where no scan is at hand.

    Args:
        gaps: Table `gaps`.
        rejects: Table `rejects`.
        scanned: The account of the scan.
    """
    if gaps is None or scanned is None:
        return None
    counted = int(gaps["counted"].sum())
    marked = gaps["rule"].drop_nulls().value_counts().sort("count", "rule", descending=[True, False])
    not_a_gap = int(marked["count"].sum())
    bad = pl.DataFrame() if rejects is None else rejects.head(SHOWN_REJECTS)
    fields = Reject.__struct_fields__
    return Account(
        files=scanned.files,
        unreadable=scanned.unreadable,
        lines=scanned.lines,
        records=scanned.records,
        counted=counted,
        filtered=scanned.records - counted - not_a_gap,
        duplicates=scanned.duplicates,
        superseded=scanned.superseded,
        rejects=scanned.rejects,
        repairs=scanned.repairs,
        passed_over=scanned.passed_over,
        reasons={reason: n for reason, n in scanned.reasons.items() if reason not in FILE_REASONS},
        unread={reason: n for reason, n in scanned.reasons.items() if reason in FILE_REASONS},
        examples=tuple(Reject(**{name: row[name] for name in fields}) for row in bad.iter_rows(named=True)),
        not_a_gap=not_a_gap,
        rules=dict(marked.iter_rows()),
    )


def nothing(account: Account | ScanSummary | None) -> str:
    """Why there is nothing to rank, in a sentence without its full stop."""
    if account is None:
        return "No record was ranked"
    if isinstance(account, Account) and account.not_a_gap:
        filtered = f"{account.filtered:,} filtered out, " if account.filtered else ""
        whole = count(account.records, "record")
        return f"Nothing is left of {whole}: {filtered}{account.not_a_gap:,} no gap of the vocabulary"
    if isinstance(account, Account) and account.filtered:
        return f"Nothing is left of {count(account.filtered, 'record')}: the filters fit none"
    if not account.files:
        return f"No log was found: nothing below is called {LOG_NAME}, or as another source has it"
    return "Nothing is missing here, as far as these logs tell: no record counts"
