"""`vocabgap history`: the ranks and mentions of the runs that were published in a folder."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.cli.options import ConfigOption, RunOption, settings_of
from vocabgap.cli.output import Output, available_width, output_of, table
from vocabgap.records.moments import iso
from vocabgap.settings.model import DEFAULT_TOP
from vocabgap.text import count, printable_name, visible

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.reporting.capability import Past

_CHART: Final = 20  # columns that a chart takes at most
_LEVELS: Final = ".:-=+*%#"  # from few to many
_ABSENT: Final = "_"
_RANKS: Final = 5  # runs whose ranks stand in the list
_DEFAULT_RUNS: Final = 20
_NARROW: Final = 100
_NUMBERS: Final = ("#", "mentions", "rank", "images", "sessions", "unsatisfied")
_SPARED: Final = ("images", "sessions", "unsatisfied")


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
) -> None:
    """Show ranks and mentions over the runs that were published in a folder."""
    output = output_of(context)
    settings = settings_of(context).settings
    # What follows loads Polars.
    from vocabgap.reporting.history import comparable, find_in, followed, history_of
    from vocabgap.reporting.published_run import read_run, telling_of_narrowing

    folder = settings.report.out if run is None else run
    manifest, ranked = read_run(folder, option="--run")
    rows = history_of(folder, manifest, ranked)
    known = comparable(rows, manifest.now, manifest.narrowed_or_ranked)
    others = rows["run"].n_unique() - known.height
    if capability is None:
        chosen = ranked.head(top or ranked.height)["capability_id"].to_list()
        shown = followed(rows, known).filter(_among(chosen))
        _list(output, rows, known, chosen, manifest.narrowed_to)
    else:
        with telling_of_narrowing(folder):
            identifier, label = find_in(ranked, rows, printable_name(capability))
        shown = followed(rows, known).filter(_among([identifier]))
        _show(output, shown, f"{visible(label)} ({identifier})", runs)
    for row in shown.iter_rows(named=True):
        output.event("history", **row)
    output.event("result", runs=known.height, rows=shown.height, other_runs=others)
    if others:
        output.note(
            f"{count(others, 'run')} more, narrowed or ranked differently or of a later moment,"
            f" {'is' if others == 1 else 'are'} in history.parquet, too"
        )


def _among(identifiers: Sequence[str], column: str = "part_of") -> "pl.Expr":
    import polars as pl

    return pl.col(column).is_in(list(identifiers))


def _list(
    output: Output, rows: "pl.DataFrame", known: "pl.DataFrame", chosen: Sequence[str], narrowed_to: str
) -> None:
    """A line for each capability: its last ranks, and a chart of its mentions."""
    from vocabgap.reporting.history import points_of

    if output.as_json:
        return
    charted, last = points_of(rows, known, _CHART), points_of(rows, known.tail(_RANKS), _RANKS)
    moments = sorted({past.moment for points in charted.values() for past in points})
    newest = known["moment"].to_list()[-_RANKS:]
    labels = dict(rows.filter(_among(chosen, "capability_id")).select("capability_id", "label").iter_rows())
    cells = []
    for identifier in chosen:
        points = charted.get(identifier)
        if points:
            ranks = {past.moment: past.rank for past in last.get(identifier, ())}
            cells.append(
                (
                    ranks.get(newest[-1]),
                    labels[identifier],
                    points[-1].mentions,
                    _line(points, moments),
                    " ".join(str(ranks.get(moment, "-")) for moment in newest),
                )
            )
    if cells:
        headings = ("#", "capability", "mentions", "over time", f"last {len(newest)} ranks")
        output.text(table(headings, cells, numbers=_NUMBERS, dates=headings[3:]))
    narrowed = f", narrowed to {narrowed_to}" if narrowed_to else ""
    output.text(f"\n{_span(known['moment'].to_list())}{narrowed}.")


def _show(output: Output, shown: "pl.DataFrame", name: str, most: int) -> None:
    """A line for each run of one capability, the newest first, and for each part that it had then."""
    if output.as_json:
        return
    moments = shown["moment"].unique().sort().to_list()
    dates = _dates(moments)
    highest = max(shown["mentions"], default=1)
    newest = moments[-most:] if most else moments
    cells = [
        {
            "run": dates[row["moment"]],
            "rank": row["rank"],
            "mentions": row["mentions"],
            "over time": "#" * ceil(_CHART * row["mentions"] / highest),
            "images": row["images"],
            "sessions": row["sessions"],
            "unsatisfied": row["unsatisfied"],
            "status": row["status"],
            "as": row["label"],
        }
        for row in reversed(shown.to_dicts())
        if row["moment"] in newest
    ]
    spared = _SPARED if available_width() < _NARROW else ()
    once = () if shown["label"].n_unique() > 1 else ("as",)
    headings = [heading for heading in cells[0] if heading not in (*spared, *once)] if cells else []
    output.text(f"{name}: {_span(moments)}\n")
    lines = [[each[heading] for heading in headings] for each in cells]
    output.text(table(headings, lines, numbers=_NUMBERS, dates=("run", "over time", "status")))
    if len(newest) < len(moments):
        output.text(f"\n{count(len(moments) - len(newest), 'earlier run')}; `--runs 0` shows all")


def _line(points: Iterable["Past"], moments: Sequence[datetime]) -> str:
    """A chart of one line: a character for each moment, higher for more mentions."""
    mentions = {past.moment: past.mentions for past in points}
    highest = max(mentions.values())
    return "".join(
        _LEVELS[ceil(len(_LEVELS) * mentions[moment] / highest) - 1] if moment in mentions else _ABSENT
        for moment in moments
    )


def _span(moments: Sequence[datetime]) -> str:
    dates = [*_dates(moments).values()]
    return ", ".join([count(len(dates), "run"), " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]]))])


def _dates(moments: Sequence[datetime]) -> dict[datetime, str]:
    """How each moment is told: by its day, if no two are of one."""
    days = {moment: moment.date().isoformat() for moment in moments}
    return days if len({*days.values()}) == len(days) else {moment: iso(moment) for moment in moments}
