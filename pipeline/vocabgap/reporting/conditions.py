"""Conditions for publishing a run, and gates that let a job fail."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from vocabgap.errors import GateError, StateError
from vocabgap.ingest.scanning import Scan, nothing_read, require_known, silent_files, unmatched
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Gate, Settings
from vocabgap.model.tables import CAME_BACK, NEW, OPENED
from vocabgap.reporting.manifest import read_manifest
from vocabgap.reporting.overviews import account_of, overview_of
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import phrase
from vocabgap.text import count, excerpt

_EMPTY: Final = "--allow-empty publishes an empty report"
_OF_COMEBACK: Final = ("capability_id", "label", "moment", "entry")
_KEPT: Final = 0.5  # share of the earlier logs and lines that must still exist


def require_something(
    scanned: Scan, roots: Sequence[Path], target: Path, settings: Settings, selection: Selection
) -> None:
    """Refuse to publish an empty report in `target`."""
    aliases = settings.aliases_by_argument
    is_part = (selection.tenants or selection.repositories) and scanned.repositories is None
    if not (scanned.summary.files or is_part):
        problem, hint = nothing_read(scanned, roots, settings)
        raise StateError(f"{problem}; {_kept(target)}", hint=f"{hint}; {_EMPTY}")
    unit = settings.unit(scanned.sources)
    require_known(scanned.lines, selection, unit, **aliases)
    if scanned.counted:
        return
    narrowed = ", ".join(f"{name} {excerpt(value)}" for name, value in selection.in_words().items())
    overview = overview_of(scanned.lines)
    account = account_of(scanned.lines, overview, scanned.rejects, scanned.summary)
    if account is not None and account.filtered:
        idle = unmatched(scanned.lines, selection, unit, **aliases)
        why = "; ".join(idle) or f"no record matches {narrowed}"
        minutes = "30m means minutes, 2026-05 a month, and 13w three months; " if selection.dated else ""
        raise StateError(f"{why}; {_kept(target)}", hint=f"use fewer filters; {minutes}{_EMPTY}")
    summary = scanned.summary
    bad = f"; {summary.rejects:,} of them cannot be read" if summary.rejects else ""
    if summary.passed_over:
        others = "further line is no gap for its source", "further lines are no gaps for their source"
        bad += f"; {count(summary.passed_over, *others)}"
    lists = {
        "`vocabgap check` lists the bad lines": summary.rejects,
        "`vocabgap list` shows the records": summary.records,
    }
    notes = silent_files(scanned, settings.sources) or [each for each, number in lists.items() if number]
    none = f"no record in {count(summary.lines, 'line')} of {count(summary.files, 'log')}{bad}"
    raise StateError(
        f"{phrase('nothing', account) if summary.records else none}; {_kept(target)}",
        hint="; ".join([*notes, _EMPTY]),
    )


def require_no_loss(scanned: Scan, target: Path, selection: Selection) -> None:
    """Refuse to replace a run if more than half of its logs or lines are missing now.

    Only roots that both runs read are compared. If all logs are different ones, nothing is compared.
    """
    before = read_manifest(target)
    if before is None or any(
        {*getattr(before.selection, name)} != {*getattr(selection, name)}
        for name in ("tenants", "repositories")  # a run reads only these of a corpus
    ):
        return
    slugs = {log.repo_slug for log in before.inputs}
    if scanned.repositories is not None:
        slugs &= scanned.repositories
    past = {(log.repo_slug, log.source_path): log.lines for log in before.inputs if log.repo_slug in slugs}
    rows = scanned.files.select("repo_slug", "source_path", "lines").iter_rows()
    present = {(slug, path): lines for slug, path, lines in rows if slug in slugs}
    if present and present.keys().isdisjoint(past):
        return
    if len(present) < _KEPT * len(past):
        kind, were, are = "log", len(past), len(present)
        lost = Counter(slug for slug, _ in past.keys() - present.keys())
    else:
        kind, were, are = "line", sum(past.values()), sum(present.values())
        lost = Counter({"/".join(log): lines - present.get(log, 0) for log, lines in past.items()})
    if are >= _KEPT * were:
        return
    worst, number = min(lost.items(), key=lambda item: (-item[1], item[0]))
    raise StateError(
        f"the earlier report had {count(were, kind)}, but now there are {are:,}"
        f" ({number:,} of '{worst}' are missing); {_kept(target)}",
        hint="check that the folder is complete; --allow-shrink publishes anyway",
    )


def _kept(target: Path) -> str:
    kept = f", and the report in '{target}' was not changed" if read_manifest(target) is not None else ""
    return f"nothing was published{kept}"


class Failure(msgspec.Struct, frozen=True, rename={"message": "told"}):
    """A capability or a bad line that fails a gate."""

    gate: Gate
    message: str
    capability_id: str | None = None
    source_path: str | None = None
    line: int | None = None
    answer: str = ""  # the command that answers it


def failures(
    gates: Collection[Gate],
    summary: Summary,
    news: pl.DataFrame,
    rejects: pl.DataFrame,
    *,
    known_mixed: Collection[str] = (),
    options: Sequence[str] = (),
) -> tuple[Failure, ...]:
    """Return the failures of a report, in the order of the gates.

    Each gate fails once per event: `news` are the events, and `rejects` the bad lines, that the previous run
    does not have; it marks the capabilities `known_mixed` as mixed. `new-top` and `mixed` check the shown
    capabilities. Without a previous run, `new-top` never fails. The commands that answer have the words
    `options`.
    """
    failed: dict[Gate, list[Failure]] = {gate: [] for gate in Gate}

    def fail(gate: Gate, name: str, message: str, verb: str, more: str = "") -> None:
        answer = " ".join(filter(None, (f"vocabgap decide {verb}", name, more, shlex.join(options))))
        failed[gate].append(Failure(gate, message, name, answer=answer))

    for name, label, moment, entry in news.filter(kind=CAME_BACK).select(_OF_COMEBACK).iter_rows():
        back = f"'{excerpt(label)}' ({name}) came back{_on(moment)}, authored as '{excerpt(entry)}'"
        fail(Gate.REGRESSED, name, back, "reopen")
    failed[Gate.REJECTS] += _rejects(rejects, _on(summary.before, "new since"))
    opened = {*news.filter(kind=OPENED)["capability_id"]}
    for item in summary.capabilities:
        place = f"'{excerpt(item.label)}' ({item.capability_id}, rank {item.rank:,})"
        if item.status == NEW and item.capability_id in opened:
            asked = f"{place}{_on(item.first_seen, 'first asked for on')}"
            fail(Gate.NEW_TOP, item.capability_id, asked, "claim")
        if item.mixed and item.capability_id not in known_mixed:
            fail(Gate.MIXED, item.capability_id, place, "split", "--wording …")
    return tuple(failure for gate in Gate if gate in gates for failure in failed[gate])


def _on(moment: datetime | None, words: str = "on") -> str:
    return "" if moment is None else f" {words} {moment:%Y-%m-%d}"


def gate_error(failed: Collection[Failure], hint: str) -> GateError:
    """Return the error that lists the failures of each gate, with the commands that answer them."""
    parts, answers, most = [], [], 3
    for gate in dict.fromkeys(each.gate for each in failed):
        met = [each for each in failed if each.gate == gate]
        more = f" and {len(met) - most:,} more" if len(met) > most else ""
        parts.append(f"{gate}: {', '.join(each.message for each in met[:most])}{more}")
        answers += [f"`{each.answer}`" for each in met[:most]]
    gates = count(len(parts), "gate")
    is_back = any(each.gate is Gate.REGRESSED for each in failed)
    better = " (or `decide author`, if the entry is better now)" if is_back else ""
    answer = f"answer with {', '.join(dict.fromkeys(answers))}{better}; {hint}"
    return GateError(f"{gates} failed: {'; '.join(parts)}", hint=answer)


def _rejects(rejects: pl.DataFrame, since: str) -> Iterator[Failure]:
    several = rejects["repo_slug"].n_unique() > 1
    for row in rejects.iter_rows(named=True):
        path = f"{row['repo_slug']}/{row['source_path']}" if several else row["source_path"]
        place = path if row["line"] is None else f"{path}:{row['line']}"
        yield Failure(
            Gate.REJECTS,
            f"{place} {row['reason']}{since}",
            None,
            row["source_path"],
            row["line"],
            "vocabgap check … --write-baseline",
        )
