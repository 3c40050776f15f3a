"""`vocabgap history`: the ranks and mentions of the runs that were published in a folder."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from vocabgap.doors.cli.options import ConfigOption, RunOption, TrustOption, settings_of
from vocabgap.doors.cli.output import Output, available_width, output_of, table
from vocabgap.model.moments import in_seconds, iso
from vocabgap.model.settings import DEFAULT_TOP
from vocabgap.text import count, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.reporting.listed import Past

_Points = Mapping[str, "tuple[Past, ...]"]
_CHART: Final = 20  # columns that a chart takes at most
_LEVELS: Final = ".:-=+*%#"  # from few to many
_ABSENT: Final = "_"
_PINNED: Final = "*"
_RANKS: Final = 5  # runs whose ranks stand in the list
_DEFAULT_RUNS: Final = 20
_NARROW: Final = 100
_NUMBERS: Final = ("#", "mentions", "rank", "images", "sessions", "unsatisfied")
_SPARED: Final = ("images", "sessions", "unsatisfied")
_CHARTED, _AS = "over time", "as"
_HEADINGS: Final = ("run", "rank", "mentions", _CHARTED, *_SPARED, "status", _AS)


def history(
    context: typer.Context,
    capability: Annotated[
        str | None, typer.Argument(help="An identifier, a label or a wording; all of them by default.")
    ] = None,
    run: RunOption = None,
    top: Annotated[int, typer.Option(min=0, help="Capabilities to show; 0 shows all.")] = DEFAULT_TOP,
    runs: Annotated[
        int, typer.Option(min=0, help="Runs to show of one capability, the newest; 0 shows all.")
    ] = _DEFAULT_RUNS,
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """Show ranks and mentions over the runs that were published in a folder."""
    output = output_of(context)
    settings = settings_of(context).settings
    # What follows loads Polars.
    from vocabgap.reporting.history import RunKey, comparable, find_in, followed, history_of, points_of
    from vocabgap.reporting.published_run import read_run, telling_of_narrowing

    folder = settings.report.out if run is None else run
    manifest, ranked = read_run(folder, option="--run")
    rows = history_of(folder, manifest, ranked)
    known = comparable(rows, RunKey.of(manifest))
    narrowed = f", narrowed to {manifest.narrowed_to}" if manifest.narrowed_to else ""
    if capability is None:
        labels = dict(ranked.head(top or ranked.height).select("capability_id", "label").iter_rows())
        if not output.as_json:
            charted, last = points_of(rows, known, _CHART), points_of(rows, known.tail(_RANKS), _RANKS)
            _list(output, labels, charted, last)
            output.text(f"{_span(known['moment'].to_list())}{narrowed}.")
    else:
        with telling_of_narrowing(folder):
            labels = dict([find_in(ranked, rows, printable_name(capability))])
    if output.as_json or capability is not None:
        parts = followed(rows, known)
        shown = parts.filter(parts["part_of"].is_in([*labels])).sort("moment", "rank")
        for row in shown.iter_rows(named=True):
            output.event("history", **row)
        if capability is not None:
            _show(output, shown.to_dicts(), *labels.items(), most=runs)
    others = rows["run"].n_unique() - known.height
    output.event("result", runs=known.height, other_runs=others)
    if others:
        output.note(
            f"{count(others, 'run')} more, narrowed or ranked differently or of a later moment,"
            f" {'is' if others == 1 else 'are'} in history.parquet, too"
        )


def _list(output: Output, labels: Mapping[str, str], charted: _Points, last: _Points) -> None:
    """A line for each capability: its last ranks, and a chart of its mentions."""
    moments, newest = (
        sorted({past.moment for points in each.values() for past in points}) for each in (charted, last)
    )
    cells = []
    for name, label in labels.items():
        ranks = {past.moment: _rank(past.rank, past.pinned) for past in last.get(name, ())}
        if name in charted and newest[-1] in ranks:
            over_time = {past.moment: past.mentions for past in charted[name]}
            told = " ".join(ranks.get(moment, "-") for moment in newest)
            now = ranks[newest[-1]]
            cells.append((now, label, charted[name][-1].mentions, _line(over_time, moments), told))
    if cells:
        headings = ("#", "capability", "mentions", "over time", f"last {count(len(newest), 'rank')}")
        output.text(table(headings, cells, numbers=_NUMBERS, dates=headings[3:]))
        _explain_pins(output, [told for *_, told in cells])
        output.text("")


def _show(output: Output, rows: list[dict[str, Any]], named: tuple[str, str], *, most: int) -> None:
    """A line for each run of one capability, the newest first, and for each part that it had then."""
    moments = [*dict.fromkeys(row["moment"] for row in rows)]
    dates, shown = _dates(moments), {*moments[-most:]}
    output.text(f"{visible(named[1])} ({named[0]}): {_span(moments)}\n")
    if not rows:
        return
    highest = max(row["mentions"] for row in rows)
    spared = {*_SPARED} if available_width() < _NARROW else set()
    spared |= {_AS} if len({row["label"] for row in rows}) == 1 else set()
    headings = [heading for heading in _HEADINGS if heading not in spared]
    cells = [
        row
        | {
            "run": dates[row["moment"]],
            "rank": _rank(row["unpinned_rank"] or row["rank"], row["unpinned_rank"] is not None),
            _CHARTED: "#" * ceil(_CHART * row["mentions"] / highest),
            _AS: row["label"],
        }
        for row in sorted(rows, key=lambda row: (row["moment"], -row["rank"]), reverse=True)
        if row["moment"] in shown
    ]
    lines = [[cell[heading] for heading in headings] for cell in cells]
    output.text(table(headings, lines, numbers=_NUMBERS, dates=("run", _CHARTED, "status")))
    _explain_pins(output, [cell["rank"] for cell in cells])
    if len(shown) < len(moments):
        output.text(f"\n{count(len(moments) - len(shown), 'earlier run')}; `--runs 0` shows all")


def _rank(rank: int, pinned: bool) -> str:
    return f"{rank}{_PINNED}" if pinned else str(rank)


def _explain_pins(output: Output, ranks: Sequence[str]) -> None:
    if _PINNED in "".join(ranks):
        output.text(
            f"{_PINNED} pinned then: the rank is that by its counts; what it stood before is a rank lower"
        )


def _line(mentions: Mapping[datetime, int], moments: Sequence[datetime]) -> str:
    """A chart of one line: a character for each moment, higher for more mentions."""
    highest = max(mentions.values())
    return "".join(
        _LEVELS[ceil(len(_LEVELS) * mentions[moment] / highest) - 1] if moment in mentions else _ABSENT
        for moment in moments
    )


def _span(moments: Sequence[datetime]) -> str:
    dates = [*_dates(moments).values()]
    ends = " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]]))
    return f"{count(len(dates), 'run')}{', ' if ends else ''}{ends}"


def _dates(moments: Sequence[datetime]) -> dict[datetime, str]:
    """How each moment is told: by its day, or to the second, if no two are of one."""
    for told in (datetime.date, in_seconds):
        dates = {moment: str(told(moment)) for moment in moments}
        if len({*dates.values()}) == len(dates):
            return dates
    return {moment: iso(moment) for moment in moments}
