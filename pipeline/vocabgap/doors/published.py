"""`render`, `diff`, `history` and `draft`: commands that read only published runs."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from vocabgap.doors.verbs import (
    EVIDENCE,
    QUIET,
    RUN,
    SHARE,
    Answer,
    Event,
    Place,
    Request,
    argument,
    option,
    verb,
)
from vocabgap.errors import ExitCode, NotFoundError
from vocabgap.model.settings import DEFAULT_TOP
from vocabgap.ranking.vocabulary import Form
from vocabgap.text import printable_name, visible

if TYPE_CHECKING:
    from polars import DataFrame

    from vocabgap.doors.cli.calls import Call
    from vocabgap.reporting.listed import Past

_Number = Annotated[int, Meta(ge=0)]


class Render(Request, kw_only=True):
    """The request of `render`."""

    run: Annotated[Place, argument("Folder of the published run.", "RUN_DIR")]
    out: Annotated[Place | None, option("Folder to publish in; by default RUN_DIR.")] = None
    share: Annotated[bool, SHARE] = False
    evidence: Annotated[bool, EVIDENCE] = False
    quiet: Annotated[bool, QUIET] = False


@verb(Render)
def render(_call: "Call", request: Render) -> Answer:
    """Write a published report again, with the layout of this version."""
    from vocabgap.reporting.writing import render as render_run

    published = render_run(
        request.run, request.out, share=request.share, evidence=request.evidence, option="RUN_DIR"
    )
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


class Diff(Request, kw_only=True):
    """The request of `diff`."""

    old: Annotated[Place, argument("Folder of the earlier run.")]
    new: Annotated[Place, argument("Folder of the later run.")]
    top: Annotated[_Number, option("Number of changes of each kind to show; 0 shows all.")] = DEFAULT_TOP
    exit_code: Annotated[bool, option("Exit with 5 if anything changed, else with 0.")] = False


@verb(Diff)
def diff(_call: "Call", request: Diff) -> Answer:
    """Show what changed between two published runs."""
    from vocabgap.reporting.comparison import Kind, compare
    from vocabgap.reporting.published_run import read_published

    comparison = compare(read_published(request.old, option="OLD"), read_published(request.new, option="NEW"))
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
        view="diff.txt.j2",
        shown={"comparison": comparison, "kinds": Kind, "top": request.top},
        exit_code=ExitCode.GATE if request.exit_code and comparison.changes else ExitCode.DONE,
    )


class Draft(Request, kw_only=True):
    """The request of `draft`."""

    capability: Annotated[str, argument("Identifier, label or wording of the capability.")]
    form: Annotated[Form | None, option("Form of the entry; by default that of the vocabulary.", "--as")] = (
        None
    )
    entry: Annotated[Path | None, option("Check the entries of this file instead.", place=True)] = None
    check: Annotated[bool, option("Exit with 5 if a check fails.")] = False
    run: Annotated[Place | None, RUN] = None


@verb(Draft, settings=("--vocabulary",))
def draft(call: "Call", request: Draft) -> Answer:
    """Draft a vocabulary entry, and check it against the log."""
    from vocabgap.listing.finding import named
    from vocabgap.model.lookup import find_capability
    from vocabgap.ranking.coverage import Checks, covering_options
    from vocabgap.ranking.drafting import draft as draft_of
    from vocabgap.ranking.vocabulary import load_vocabulary
    from vocabgap.reporting.published_run import read_gaps, read_published

    settings = call.settings
    known, folder = load_vocabulary(settings.vocabulary.paths), request.run or settings.report.out
    published = read_published(folder, option="--run")
    ranked, name = published.capabilities, named(published, request.capability)
    options = covering_options(settings)
    checks = Checks(ranked, known, settings.vocabulary.threshold, options)
    result: dict[str, object]
    if request.entry is not None:
        need, given = find_capability(ranked, name), load_vocabulary(request.entry).entries
        found = {visible(entry.name): checks.check(entry, need) for entry in given}
        source, notes, result = f"of '{need['label'].item()}'", [], {"checks": found}
        text = "\n".join(line for own, check in found.items() for line in check.sentences(own, source))
    else:
        vocabulary, form = known if settings.vocabulary.paths else None, request.form
        parts: Any = {"gaps": read_gaps(folder), "vocabulary": vocabulary, "form": form, "checks": checks}
        made = draft_of(name, ranked, **parts, **options)
        found, notes, result = {made.entry.name: made.check}, [made.entry.check, *made.notes], {"draft": made}
        text = made.text(sys.stdout.encoding or "utf-8")
    failed = request.check and not all(check.passes for check in found.values())
    return Answer(result=result, text=text, notes=notes, exit_code=ExitCode.GATE if failed else ExitCode.DONE)


class Issues(Request, kw_only=True):
    """The request of `issues`."""

    known: Annotated[
        Path,
        argument("JSON file of the known issues, as `gh issue list --json` writes it in the Action.", "FILE"),
    ]
    run: Annotated[Place | None, RUN] = None
    top: Annotated[_Number, option("Number of needs that get an issue if they have none.")] = 3


@verb(Issues, settings=())
def issues(call: "Call", request: Issues) -> Answer:
    """Plan the issues of the needs on GitHub: one per need, without sending anything.

    Each line is a method, a path and the fields of `gh api`, separated by tabs.
    """
    from vocabgap.files.refusals import existing_content
    from vocabgap.reporting.issues import plan, read_issues

    known = read_issues(existing_content(request.known, "file of issues", "check its name"))
    steps = [*plan(request.run or call.settings.report.out, known, request.top)]
    lines = ("\t".join((each.method, each.path, json.dumps(each.fields))) for each in steps)
    return Answer(
        events=(Event("issue", each._asdict()) for each in steps),
        result={"steps": len(steps)},
        text="\n".join(lines),
    )


class History(Request):
    """The request of `history`."""

    capability: Annotated[
        str | None, argument("Identifier, label or wording of one capability; by default all.")
    ] = None
    run: Annotated[Place | None, RUN] = None
    top: Annotated[
        _Number, option("Number of capabilities to show, or of runs of one capability; 0 shows all.")
    ] = DEFAULT_TOP


@verb(History, settings=())
def history(call: "Call", request: History) -> Answer:
    """Show how ranks and mentions changed over time."""
    from vocabgap.listing.finding import named
    from vocabgap.model.tables import EVENTS
    from vocabgap.reporting.history import RunKey, comparable, followed, history_of, points_of
    from vocabgap.reporting.published_run import read_optional, read_published, resolve_target

    folder = request.run or call.settings.report.out
    published = read_published(folder, option="--run")
    manifest, ranked = published.manifest, published.capabilities
    rows = history_of(folder, manifest, ranked)
    runs = comparable(rows, RunKey.of(manifest))
    parts, present = followed(rows, runs), dict(ranked.select("capability_id", "label").iter_rows())
    if request.capability is None:
        chosen = ranked.head(min(request.top, ranked.height) or ranked.height)
    else:
        try:
            chosen = ranked.filter(capability_id=named(published, request.capability))
        except NotFoundError:
            is_named = (parts["capability_id"] == request.capability) | (parts["label"] == request.capability)
            if (chosen := parts.filter(is_named).tail(1)).is_empty():
                raise
    labels = dict(chosen.select("capability_id", "label").iter_rows())
    events = read_optional(resolve_target(folder, option="--run"), EVENTS)
    wholes = parts.filter(parts["capability_id"].is_in([*labels]))["part_of"].unique()
    parts = parts.filter(parts["part_of"].is_in([*labels])).sort("moment", "rank")
    shown: dict[str, object] = {"narrowed_to": manifest.narrowed_to, "unit": manifest.unit}
    if request.capability is None:
        moments = runs["moment"].to_list()
        last, points = moments[-40:], points_of(rows, runs.tail(40), 40)  # more than fit in a terminal
        shown |= {"moments": moments, "runs": last, "rows": [*_ranks(chosen, points, last)]}
    else:
        moments = parts["moment"].unique().sort().to_list()
        newest = parts.filter(parts["moment"].is_in(moments[-request.top :]))
        newest = newest.sort("moment", "rank", descending=[True, False])
        ((name, label),) = labels.items()
        shown |= {"name": name, "label": label, "moments": moments, "rows": newest.to_dicts()}
        shown |= {"gone": name not in present, "wholes": [*filter(None, map(present.get, wholes))]}
    return Answer(
        events=(Event("history", row) for row in parts.iter_rows(named=True)),
        result={
            "runs": runs.height,
            "other_runs": rows["run"].n_unique() - runs.height,
            "happened": events.filter(events["capability_id"].is_in([*labels])).to_dicts(),
        },
        view="history.txt.j2",
        shown=shown,
    )


def _ranks(
    chosen: "DataFrame", points: "Mapping[str, tuple[Past, ...]]", moments: Sequence[datetime]
) -> Iterator[tuple[object, ...]]:
    """Yield label, mentions, status, its date, and the rank in each run, of capabilities in the last run."""
    facts = chosen.select("capability_id", "label", "status", "status_since")
    for name, label, status, since in facts.iter_rows():
        ranks = {past.moment: f"{past.rank}{'*' * past.pinned}" for past in points.get(name, ())}
        if moments[-1] in ranks:
            mentions = points[name][-1].mentions
            yield label, mentions, status, since and since.date(), *map(ranks.get, moments)
