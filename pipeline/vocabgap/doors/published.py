"""`render`, `diff`, `history` and `draft`: what a published run tells without another scan."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from io import StringIO
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from vocabgap.doors.verbs import QUIET, RUN, SHARE, Answer, Event, Place, Request, argument, option, verb
from vocabgap.errors import ExitCode
from vocabgap.model.moments import in_seconds, iso
from vocabgap.model.settings import DEFAULT_TOP
from vocabgap.text import carried, printable_name

if TYPE_CHECKING:
    import polars as pl

    from vocabgap.doors.cli.calls import Call
    from vocabgap.reporting.listed import Past

_Points = Mapping[str, "tuple[Past, ...]"]
_Number = Annotated[int, Meta(ge=0)]
_CHART: Final = 20  # columns of a chart, at most
_LEVELS: Final = ".:-=+*%#"  # from few to many
_ABSENT: Final = "_"
_PINNED: Final = "*"
_RANKS: Final = 5  # runs whose ranks stand in the list
_DEFAULT_RUNS: Final = 20


class Render(Request, kw_only=True):
    """The request of `render`."""

    run: Annotated[Place, argument("Folder of the published run.", "RUN_DIR")]
    out: Annotated[Place | None, option("Folder to publish all its files in; by default the same.")] = None
    share: Annotated[bool, SHARE] = False
    quiet: Annotated[bool, QUIET] = False


@verb(Render)
def render(call: "Call", request: Render) -> Answer:
    """Make the report of a published run again, as this version writes it."""
    from vocabgap.reporting.writing import render as render_run

    published = render_run(request.run, request.out, share=request.share, option="RUN_DIR")
    return Answer(
        result={
            "out": printable_name(str(published.folder)),
            "files": published.files,
            "capabilities": published.summary.total,
            "mentions": published.summary.mentions,
        },
        view="render.txt.j2",
        shown={"published": published},
    )


class DiffFormat(StrEnum):
    """The format of the printed changes."""

    TEXT = "text"
    MARKDOWN = "markdown"


class Diff(Request, kw_only=True):
    """The request of `diff`."""

    old: Annotated[Place, argument("Folder of the earlier run.")]
    new: Annotated[Place, argument("Folder of the later run.")]
    top: Annotated[_Number, option("Changes of each kind to show; 0 shows all.")] = DEFAULT_TOP
    text_format: Annotated[DiffFormat, option("How to print the changes.", "--format")] = DiffFormat.TEXT
    exit_code: Annotated[bool, option("Exit with 5 if anything changed, and with 0 if not.")] = False


@verb(Diff)
def diff(call: "Call", request: Diff) -> Answer:
    """Compare two published runs and say what changed."""
    from vocabgap.reporting.comparison import Kind, compare, compared_in_words
    from vocabgap.reporting.published_run import read_published

    comparison = compare(read_published(request.old, option="OLD"), read_published(request.new, option="NEW"))
    is_markdown = request.text_format is DiffFormat.MARKDOWN
    return Answer(
        events=(Event("change", {"change": change}) for change in comparison.changes),
        result={
            "earlier": comparison.earlier,
            "later": comparison.later,
            "differences": comparison.differences,
            "embedding": comparison.embedding,
            "unchanged": comparison.unchanged,
            **{kind.value: len(comparison.of(kind)) for kind in Kind},
        },
        text=compared_in_words(comparison, top=request.top, markdown=is_markdown),
        exit_code=ExitCode.GATE if request.exit_code and comparison.changes else ExitCode.DONE,
    )


class DraftFormat(StrEnum):
    """The format of a draft."""

    JSON = "json"
    YAML = "yaml"


class Draft(Request, kw_only=True):
    """The request of `draft`."""

    capability: Annotated[str, argument("An identifier, a label or a wording of the report.")]
    run: Annotated[Place | None, RUN] = None
    draft_format: Annotated[DraftFormat, option("How to write it.", "--format")] = DraftFormat.JSON


@verb(Draft, settings=("--vocabulary",))
def draft(call: "Call", request: Draft) -> Answer:
    """Print a draft of an entry for whoever authors it."""
    from vocabgap.ranking.drafting import draft as draft_of
    from vocabgap.ranking.vocabulary import load_vocabulary
    from vocabgap.reporting.published_run import read_gaps, read_run, telling_of_narrowing

    settings = call.settings
    known, folder = load_vocabulary(settings.vocabulary.paths), request.run or settings.report.out
    _, ranked = read_run(folder, option="--run")
    with telling_of_narrowing(folder):
        made = draft_of(
            request.capability,
            ranked,
            gaps=read_gaps(folder),
            vocabulary=known if settings.vocabulary.paths else None,
            stop_words=settings.cluster.stop_words,
            operation_aliases=settings.operation_aliases,
        )
    is_json = request.draft_format is DraftFormat.JSON
    text = _json(made) if is_json else _yaml(msgspec.to_builtins(made))
    return Answer(result={"draft": made}, text=text)


def _json(value: msgspec.Struct) -> str:
    document = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if carried(document, sys.stdout.encoding or "utf-8") != document:
        return json.dumps(msgspec.to_builtins(value), indent=2)  # which escapes all but ASCII
    return document


def _yaml(value: dict[str, Any]) -> str:
    """Return a document of YAML. Texts are quoted, so that YAML 1.1 reads `on` as text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    def quoted(part: object) -> object:
        if isinstance(part, dict):
            return {key: quoted(item) for key, item in part.items()}
        if isinstance(part, list | tuple):
            return [quoted(item) for item in part]
        return DoubleQuotedScalarString(part) if isinstance(part, str) else part

    writer = YAML()
    writer.width = 1_000_000  # a text stays on its line
    writer.indent(mapping=2, sequence=4, offset=2)
    target = StringIO()
    writer.dump(quoted(value), target)
    return target.getvalue().rstrip("\n")


class History(Request):
    """The request of `history`."""

    capability: Annotated[
        str | None, argument("An identifier, a label or a wording; all capabilities by default.")
    ] = None
    run: Annotated[Place | None, RUN] = None
    top: Annotated[_Number, option("Capabilities to show; 0 shows all.")] = DEFAULT_TOP
    runs: Annotated[_Number, option("Runs of one capability to show, the newest; 0 shows all.")] = (
        _DEFAULT_RUNS
    )


@verb(History, settings=())
def history(call: "Call", request: History) -> Answer:
    """Show ranks and mentions over the runs that were published in a folder."""
    from vocabgap.reporting.history import RunKey, comparable, find_in, followed, history_of, points_of
    from vocabgap.reporting.published_run import read_run, telling_of_narrowing

    folder = request.run or call.settings.report.out
    manifest, ranked = read_run(folder, option="--run")
    rows = history_of(folder, manifest, ranked)
    known = comparable(rows, RunKey.of(manifest))
    shown: dict[str, object] = {"narrowed_to": manifest.narrowed_to}
    if request.capability is None:
        top = ranked.head(request.top or ranked.height)
        labels = dict(top.select("capability_id", "label").iter_rows())
        charted, last = points_of(rows, known, _CHART), points_of(rows, known.tail(_RANKS), _RANKS)
        shown |= {
            "rows": _list(labels, charted, last),
            "ranks": min(known.height, _RANKS),
            "dates": [*_dates(known["moment"].to_list()).values()],
        }
    else:
        with telling_of_narrowing(folder):
            labels = dict([find_in(ranked, rows, request.capability)])
    parts = followed(rows, known)
    parts = parts.filter(parts["part_of"].is_in([*labels])).sort("moment", "rank")
    if request.capability is not None:
        ((name, label),) = labels.items()
        shown |= {"name": name, "label": label, **_parts(parts, most=request.runs)}
    return Answer(
        events=(Event("history", row) for row in parts.iter_rows(named=True)),
        result={"runs": known.height, "other_runs": rows["run"].n_unique() - known.height},
        view="history.txt.j2",
        shown=shown,
    )


def _list(labels: Mapping[str, str], charted: _Points, last: _Points) -> list[tuple[object, ...]]:
    """Return a row for each capability: rank, label, mentions, a chart and the last ranks."""
    moments, newest = (
        sorted({past.moment for points in each.values() for past in points}) for each in (charted, last)
    )
    rows: list[tuple[object, ...]] = []
    for name, label in labels.items():
        ranks = {past.moment: _rank(past.rank, is_pinned=past.pinned) for past in last.get(name, ())}
        if name in charted and newest[-1] in ranks:
            over_time = {past.moment: past.mentions for past in charted[name]}
            line = _chart(over_time, moments)
            lasting = " ".join(ranks.get(moment, "-") for moment in newest)
            rows.append((ranks[newest[-1]], label, charted[name][-1].mentions, line, lasting))
    return rows


def _parts(parts: "pl.DataFrame", *, most: int) -> dict[str, object]:
    """Return the rows of one capability, the newest run first, and the dates of its runs."""
    rows = parts.to_dicts()
    moments = [*dict.fromkeys(row["moment"] for row in rows)]
    dates, shown = _dates(moments), {*moments[-most:]}
    highest = max((row["mentions"] for row in rows), default=0)
    newest = sorted(rows, key=lambda row: (row["moment"], -row["rank"]), reverse=True)
    cells = [
        row
        | {
            "run": dates[row["moment"]],
            "rank": _rank(row["unpinned_rank"] or row["rank"], is_pinned=row["unpinned_rank"] is not None),
            "over time": "#" * ceil(_CHART * row["mentions"] / highest),
            "as": row["label"],
        }
        for row in newest
        if row["moment"] in shown
    ]
    return {"rows": cells, "dates": [*dates.values()], "earlier": len(moments) - len(shown)}


def _rank(rank: int, *, is_pinned: bool) -> str:
    return f"{rank}{_PINNED}" if is_pinned else str(rank)


def _chart(mentions: Mapping[datetime, int], moments: Sequence[datetime]) -> str:
    """Return a character for each moment, higher for more mentions."""
    highest = max(mentions.values())
    return "".join(
        _LEVELS[ceil(len(_LEVELS) * mentions[moment] / highest) - 1] if moment in mentions else _ABSENT
        for moment in moments
    )


def _dates(moments: Sequence[datetime]) -> dict[datetime, str]:
    """Return each moment as its day, or more precisely if two are on one day."""
    for precision in (datetime.date, in_seconds):
        dates = {moment: str(precision(moment)) for moment in moments}
        if len({*dates.values()}) == len(dates):
            return dates
    return {moment: iso(moment) for moment in moments}
