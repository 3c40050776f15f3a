"""What a job may insist on: conditions of a published report that make its command fail."""

from collections.abc import Collection, Iterator

import msgspec
import polars as pl

from vocabgap.errors import GateError
from vocabgap.ingest.baseline import KnownLine, is_known
from vocabgap.model.settings import Gate
from vocabgap.model.tables import NEW, REGRESSED
from vocabgap.reporting.summary import Summary
from vocabgap.text import count, excerpt

_SHOWN = 3  # of what one gate met, in a message


class Failure(msgspec.Struct, frozen=True):
    """One thing for which a gate does not hold: a capability, or a line that could not be read."""

    gate: Gate
    told: str  # in words
    capability_id: str | None = None
    source_path: str | None = None
    line: int | None = None


def failures(
    gates: Collection[Gate],
    summary: Summary,
    ranked: pl.DataFrame,
    rejects: pl.DataFrame,
    known: Collection[KnownLine] = (),
) -> tuple[Failure, ...]:
    """Why a report does not pass, in the order of the gates.

    `regressed` looks at all capabilities, `new-top` and `mixed` at those that the report shows first. Nothing
    is new in a run that was compared with none.

    Args:
        gates: What is asked for.
        summary: What the report says.
        ranked: Table `capabilities`.
        rejects: Table `rejects`.
        known: Bad lines that do not count.
    """
    shown = [(item, (item.capability_id, item.label, item.rank)) for item in summary.capabilities]
    found = {
        Gate.REGRESSED: ranked.filter(status=REGRESSED).select("capability_id", "label", "rank").rows(),
        Gate.NEW_TOP: [named for item, named in shown if item.status == NEW],
        Gate.MIXED: [named for item, named in shown if item.mixed],
    }
    failed = {
        gate: [
            Failure(gate, f"'{excerpt(label)}' ({name}, rank {rank:,})", name) for name, label, rank in rows
        ]
        for gate, rows in found.items()
    }
    failed[Gate.REJECTS] = [*_rejects(rejects.filter(~is_known(rejects, known)))]
    return tuple(each for gate in Gate if gate in gates for each in failed[gate])


def gate_error(failed: Collection[Failure], hint: str) -> GateError:
    """The error that names what each gate met."""
    parts = []
    for gate in dict.fromkeys(each.gate for each in failed):
        met = [each.told for each in failed if each.gate == gate]
        more = f" and {len(met) - _SHOWN:,} more" if len(met) > _SHOWN else ""
        parts.append(f"{gate}: {', '.join(met[:_SHOWN])}{more}")
    gates = count(len(parts), "gate")
    return GateError(f"{gates} {'does' if len(parts) == 1 else 'do'} not hold: {'; '.join(parts)}", hint=hint)


def _rejects(rejects: pl.DataFrame) -> Iterator[Failure]:
    several = rejects["repo_slug"].n_unique() > 1
    for row in rejects.iter_rows(named=True):
        path = f"{row['repo_slug']}/{row['source_path']}" if several else row["source_path"]
        place = path if row["line"] is None else f"{path}:{row['line']}"
        yield Failure(Gate.REJECTS, f"{place} {row['reason']}", None, row["source_path"], row["line"])
