"""`report`, the main command, and `demo`, which makes a workspace to try it."""

import os
import shlex
import shutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from vocabgap.doors.verbs import (
    AS_OF,
    EVIDENCE,
    QUIET,
    SHARE,
    Answer,
    Event,
    OverRoots,
    Panel,
    Place,
    Request,
    SelectionAt,
    argument,
    filtered,
    option,
    verb,
)
from vocabgap.errors import InvalidInputError, NotFoundError, StateError, expanded
from vocabgap.files.atomic import whole_folder
from vocabgap.files.refusals import current_folder, refusing
from vocabgap.model.capability import LABELS
from vocabgap.model.moments import LAST, iso, known_present, parse_present
from vocabgap.model.settings import Settings, shared_from
from vocabgap.text import escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.doors.cli.calls import Call
    from vocabgap.engines.spark import SparkEngine
    from vocabgap.model.capability import Capability
    from vocabgap.pipeline import Run, Selecting
    from vocabgap.reporting.repeating import Repeated
    from vocabgap.reporting.summary import Summary

# Columns of table `capabilities`.
_CSV_COLUMNS: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "first_seen", "last_seen",
    "unsatisfied", "neutral", "satisfied", "unrated", "intent_category", "status", "rank_low", "rank_high",
    "trend", "priority", "covered_by", "mentions_low", "mentions_high", "mixed", "pinned_by",
    "largest_session",
    *LABELS,
)  # fmt: skip


class TextFormat(StrEnum):
    """The format of the printed ranking."""

    TABLE = "table"
    CSV = "csv"
    SHORTLIST = "shortlist"
    PLAN = "plan"


class EngineName(StrEnum):
    """The engine that reads the logs of a report."""

    LOCAL = "local"
    SPARK = "spark"


class Report(OverRoots):
    """The request of `report`, without the filters."""

    text_format: Annotated[TextFormat, option("How to print the ranking.", "--format", panel=Panel.WRITE)] = (
        TextFormat.TABLE
    )
    now: Annotated[str | None, AS_OF] = None
    run_file: Annotated[
        Place | None,
        option(
            "run.json of a report to repeat: with its settings, filters and roots, as of the same moment."
            " Further options override them.",
            "--from",
            panel=Panel.READ,
        ),
    ] = None
    previous: Annotated[
        Place | None,
        option(
            "Folder of the earlier run to compare with, or the word `none`. By default the run in --out.",
            panel=Panel.MORE,
        ),
    ] = None
    share: Annotated[bool, SHARE] = False
    evidence: Annotated[bool, EVIDENCE] = False
    allow_shrink: Annotated[
        bool,
        option(
            "Publish even if more than half of the logs or lines of the earlier run are missing.",
            panel=Panel.MORE,
        ),
    ] = False
    engine: Annotated[EngineName, option("Engine that reads the logs.", panel=Panel.MORE)] = EngineName.LOCAL
    remote: Annotated[
        str | None,
        option(
            "Address of a Spark Connect server, sc://HOST:PORT; by default an engine in this process.",
            panel=Panel.MORE,
        ),
    ] = None
    quiet: Annotated[bool, QUIET] = False


@verb(
    filtered(Report),
    settings=("ingest", "cluster", "categories", "vocabulary", "decisions", "rank", "report", "check"),
)
def report(call: "Call", request: Report, selection_at: SelectionAt) -> Answer:
    """Rank the missing capabilities and publish the report."""
    repetition = _repetition(call, request)
    settings, known = call.settings, call.known_lines()
    roots = call.roots(
        request.roots or (repetition.roots if repetition else ()),
        with_engine=request.engine is not EngineName.LOCAL,
    )
    call.require_decisions()
    present, previous = parse_present(request.now), request.previous
    selection: Selecting = selection_at
    selection_at(known_present(present))  # bad filters are an error before Polars is loaded
    if repetition is not None:
        present = repetition.manifest.now if request.now is None else present
        previous, before = previous or repetition.previous, repetition.selection
        selection = lambda now: selection_at(now).over(before)  # noqa: E731 - filters beside --from override
    fewest = None
    if request.share:  # --min-images 1 is refused, although it is the default
        asked_for = call.flags.get("--min-images")
        fewest = settings.rank.shared_from if asked_for is None else shared_from(asked_for)
    from vocabgap.ingest.checking import unreadable_times
    from vocabgap.ingest.scanning import undated
    from vocabgap.pipeline import STAGES, located, run

    with _engine(request.engine, request.remote) as running, call.output.progress(STAGES) as listener:
        try:
            roots = located(roots, settings, running)
        except NotFoundError as error:
            if repetition is not None and not request.roots:
                error.hint = "name the roots beside --from"
            raise
        result = run(
            roots,
            call.address,
            settings=settings,
            selection=selection,
            now=present,
            config=call.loaded.path,
            previous=previous,
            share=fewest,
            evidence=request.evidence,
            engine=running,
            allow_shrink=request.allow_shrink,
            on_stage=listener,
        )
    notes = _notes(result, settings, known_present(present))
    without_time = undated(result.scan.lines, result.selection)
    unreadable = unreadable_times(result.scan, roots, settings.scan)
    call.note_unread(result.scan)
    if unreadable:
        call.note(unreadable)
    call.note_embeddings(result.embeddings)
    from vocabgap.doors.views import folder_line
    from vocabgap.ingest.checking import is_known
    from vocabgap.ingest.roots import origin_of
    from vocabgap.reporting.conditions import failures, gate_error

    summary, folder = result.published.summary, result.published.folder
    gates, hint = settings.report.fail_on, f"the report is published in '{folder_line(folder)}'"
    bad = result.scan.rejects
    rejects = bad.filter(~is_known(bad, known), ~is_known(bad, result.earlier["rejects"]))
    options = call.repeated(("--decisions",)) + ["--run", folder_line(folder)] * ("--out" in call.flags)
    news, mixed = result.news, {*result.earlier["capabilities"].filter("mixed")["capability_id"]}
    failed = failures(gates, summary, news, rejects, known_mixed=mixed, options=options) if gates else ()
    notes += repetition.changes(result.published.manifest) if repetition else []
    answer = report_answer(summary, notes)
    place = printable_name(origin_of(folder) or str(folder))
    return replace(
        answer,
        events=chain(answer.events, (Event("gate", {"failure": failure}) for failure in failed)),
        result={"out": place, "files": result.published.files, "plan": summary.plan, **answer.result},
        view="report.txt.j2",
        shown=lambda: _shown(result, request.text_format, without_time),
        failure=gate_error(failed, hint=hint) if failed else None,
    )


def report_answer(summary: "Summary", notes: list[str]) -> Answer:
    """Return the capabilities of a report as events, and its totals."""
    return Answer(
        events=chain(
            (Event("capability", {"capability": item}) for item in summary.capabilities),
            (Event("combination", {"combination": recurring}) for recurring in summary.beyond_chance),
        ),
        result={
            "capabilities": summary.total,
            "left_out": summary.open_total - len(summary.capabilities),
            "mentions": summary.mentions,
            "covered": summary.covered_total,
            "settled": summary.settled_total,
            "effects": summary.effects,
            "hidden": summary.hidden,
            "categories": summary.categories,
            "breakdown": summary.breakdown,
            "unit": summary.unit,
            "in_other_languages": summary.in_other_languages,
            "account": summary.account,
            "reclassified": summary.reclassified,
            "notes": notes,
        },
        notes=notes,
    )


def _repetition(call: "Call", request: Report) -> "Repeated | None":
    """Read the run that `--from` names, and let the call use its settings."""
    if request.run_file is None:
        return None
    if call.config is not None:
        raise InvalidInputError("--from and --config exclude each other", hint="omit one of them")
    from vocabgap.reporting.repeating import repeated

    repetition = repeated(request.run_file, call.flags)
    call.loaded = repetition.loaded
    return repetition


def _engine(name: EngineName, remote: str | None) -> "AbstractContextManager[SparkEngine | None]":
    """Return the requested engine; None means this process."""
    if name is EngineName.LOCAL:
        if remote is not None:
            raise InvalidInputError("--remote needs Spark", hint=f"add --engine {EngineName.SPARK}")
        return nullcontext()
    from vocabgap.engines.spark import spark_engine

    return spark_engine(remote)


def _notes(result: "Run", settings: Settings, now: datetime) -> list[str]:
    from vocabgap.decisions.record import decisions_after
    from vocabgap.ingest.scanning import ahead_in_words, silent_files, unmatched

    unit = settings.unit(result.scan.sources)
    lines, by = result.scan.lines, settings.report.by
    notes = [*unmatched(lines, result.selection, unit, by, **settings.aliases_by_argument)]
    notes += silent_files(result.scan, settings.sources)
    notes += [ahead_in_words(result.ahead)] * bool(result.ahead)
    inactive, active = result.decisions.inactive, result.decisions.active
    notes += [f"this decision matches nothing in these logs: {each.summary}" for each in inactive]
    unfollowed = "this decision is not followed, because other decisions contradict it"
    notes += [f"{unfollowed}: {each.summary}" for each in result.decisions.unfollowed]
    later = f"this decision is later than the report, {iso(now)}, but it counts"
    notes += [
        f"{printable_name(str(settings.decisions.file))}:{line}: {later}: {each.summary}"
        for line, each in decisions_after(expanded(settings.decisions.file), now)
        if each in active
    ]
    return notes + [
        f"this decision no longer applies, because its group has outgrown it: {each.summary}"
        for each in active
        if each.decision_id in result.outgrown
    ]


def _shown(result: "Run", text_format: TextFormat, without_time: int = 0) -> dict[str, object]:
    """Return the values for the view: the text in another format, or the summary."""
    from vocabgap.doors.views import comma_separated
    from vocabgap.reporting.markdown import render_shortlist

    published, text = result.published, ""
    if text_format is TextFormat.SHORTLIST:
        text = render_shortlist(published.summary)
    elif text_format is TextFormat.CSV:
        text = comma_separated(_CSV_COLUMNS, [_cells(item) for item in published.summary.capabilities])
    planned = text_format is TextFormat.PLAN
    values = {"text": text, "planned": planned, "summary": published.summary}
    return {**values, "published": published, "undated": without_time}


def _cells(item: "Capability") -> list[object]:
    covered = "; ".join(each.entry for each in item.covered)
    values = [covered if name == "covered_by" else getattr(item, name) for name in _CSV_COLUMNS]
    return [iso(value) if isinstance(value, datetime) else value for value in values]


_EMBEDDER: Final = "VOCABGAP_EMBEDDER"
_ELSEWHERE: Final = "name a new folder: `vocabgap demo DIR`"


class Demo(Request):
    """The request of `demo`."""

    folder: Annotated[Place, argument("Folder to create; it must be new or empty.", "DIR")] = "vocabgap-demo"


@verb(Demo)
def demo(call: "Call", request: Demo) -> Answer:
    """Create a workspace of made-up gap logs with a report, to try vocabgap.

    Your own settings and decisions are not used.
    """
    from vocabgap.model.loading import resolve_settings
    from vocabgap.pipeline import STAGES, run
    from vocabgap.reporting.manifest import PAGE_NAME
    from vocabgap.reporting.published_run import resolve_target

    target = resolve_target(request.folder, option="DIR")
    flags = {"--out": str(target / "out"), "--decisions": str(target / "decisions.jsonl")}
    model = {_EMBEDDER: os.environ.get(_EMBEDDER, "")}  # other variables would change the demo
    settings = resolve_settings(os.devnull, model, flags).settings
    with refusing(f"'{request.folder}' cannot be written", hint=_ELSEWHERE):
        _write(target)
    with call.output.progress(STAGES) as listener:
        result = run(target, settings=settings, now=LAST, on_stage=listener)
    page, summary = result.published.folder / PAGE_NAME, result.published.summary
    from vocabgap.doors.views import folder_line

    steps = _steps(folder_line(target), summary)
    return Answer(
        result={
            "folder": printable_name(str(target)),
            "page": printable_name(str(page)),
            "capabilities": summary.total,
            "mentions": summary.mentions,
            "next": [*steps],
        },
        view="demo.txt.j2",
        shown=lambda: {**_shown(result, TextFormat.TABLE), "steps": steps},
    )


def _write(target: Path) -> None:
    """Copy the workspace of the package into a new or empty folder, completely or not at all."""
    source = Path(str(files("vocabgap") / "demo"))
    with whole_folder(target, (), lambda _: False, partial(_require_nothing, target)) as staging:
        for path in source.rglob("*"):
            if path.is_file() and path.suffix != ".png":  # only for the README
                place = staging / path.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)  # without the permissions of a package


def _require_nothing(target: Path) -> None:
    is_empty = not os.path.lexists(target) or (target.is_dir() and not any(target.iterdir()))
    if not is_empty or target == current_folder():  # the new folder would replace it
        raise StateError(f"'{escape_unseen(str(target))}' is not a new or empty folder", hint=_ELSEWHERE)


def _steps(folder: str, summary: "Summary") -> dict[str, str]:
    """Return the next commands, with their purpose."""
    first, second = (shlex.quote(visible(item.label)) for item in summary.capabilities[:2])
    return {
        f"cd {shlex.quote(folder)}": "go to the folder of the files",
        f"vocabgap show {first}": "show the evidence of one need",
        "vocabgap check .": "list the lines that could not be read",
        f"vocabgap decide pin {second} --why 'asked for by ana'": "rank it first from now on",
        f"vocabgap report . --now {LAST} --vocabulary vocabulary.json": "report again; also look for"
        " existing entries",
        "vocabgap status": "show the last run and the changed settings",
    }
