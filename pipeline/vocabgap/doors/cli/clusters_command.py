"""`vocabgap clusters`: the groups that were found, what other cuts would give, and one from inside."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.doors.cli.groups import LIST, Commands, ListByDefault
from vocabgap.doors.cli.options import (
    EmbedderOption,
    Reading,
    RootsArgument,
    RunOption,
    ThresholdOption,
    note_embeddings,
    note_scan,
    reading_arguments,
    require_whose,
    roots_of,
    settings_of,
    with_options,
)
from vocabgap.doors.cli.output import Output, account_line, output_of, table
from vocabgap.doors.verbs import Panel
from vocabgap.errors import NotFoundError, VocabgapError, expanded
from vocabgap.model.settings import BY_WORDING, DEFAULT_TOP, Settings
from vocabgap.text import count, excerpt, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.clustering.grouping import Clusters
    from vocabgap.ingest.accounting import ScanSummary
    from vocabgap.ingest.scanning import Scan


_SHOWN: Final = 5  # groups to name
_AS_FOUND: Final = "these are the groups as found, before what was decided about them"
_GROUP_COLUMNS: Final = ("mentions", "surfaces", "how alike", "weakest link")
_SWEEP_COLUMNS: Final = ("cut", "groups", "singletons", "their mentions", "largest")
_SOUND_HINT: Final = "`vocabgap check` says what was looked for, and what could not be read"


clusters = Commands(
    "clusters",
    "Look at the groups: all of them, at other cuts, or one from inside.\n\n"
    "Without a command the groups are listed, with the options of list (--threshold-sweep among them). "
    "A folder that is called show is written ./show. "
    "These are the groups as found, at the cut that decisions teach; only a report follows them.",
    ListByDefault,
)


@clusters.command(LIST)
@with_options(Reading)
def list_clusters(
    context: typer.Context,
    roots: RootsArgument = None,
    threshold: ThresholdOption = None,
    embedder: EmbedderOption = None,
    threshold_sweep: Annotated[
        bool,
        Panel.GROUP.option("--threshold-sweep", help="Show what each of several cuts would give instead."),
    ] = False,
    top: Annotated[
        int | None, Panel.WRITE.option(help=f"Groups to show; 0 shows all.  [default: {DEFAULT_TOP}]")
    ] = None,
) -> None:
    """List the groups, the most mentioned first, with the long tail in a line of its own."""
    output = output_of(context)
    settings = settings_of(context).settings
    scanned, clustering = _clusters(context, roots_of(context, settings), settings, sweep=threshold_sweep)
    if not scanned.summary.records:
        _print_nothing(output, scanned.summary)
    if threshold_sweep:
        _print_sweep(output, clustering, scanned.summary)
        return
    ordered = clustering.clusters.sort("mentions", "label", descending=[True, False])
    listed = ordered.head(settings.report.top or ordered.height)
    for row in listed.iter_rows(named=True):
        output.event("cluster", **row)
    tail = ordered.filter(surfaces=1)
    output.event(
        "result",
        clusters=ordered.height,
        singletons=tail.height,
        threshold=clustering.threshold,
        account=scanned.summary,
    )
    if output.as_json or not scanned.summary.records:
        return
    several = ordered.filter(ordered["surfaces"] > 1)
    rows = listed.select("label", "mentions", "surfaces", "cohesion", "weakest_link").rows()
    cells = [[label, *numbers, f"{held:.2f}", f"{link:.2f}"] for label, *numbers, held, link in rows]
    output.text(table(("group", *_GROUP_COLUMNS), cells, numbers=_GROUP_COLUMNS) + "\n")
    several_mentions, tail_mentions = (
        count(int(part["mentions"].sum()), "mention") for part in (several, tail)
    )
    output.text(
        f"{count(several.height, 'group')} of several surfaces, {several_mentions}; "
        f"{count(tail.height, 'singleton')}, {tail_mentions}."
    )


@clusters.command()
@with_options(Reading)
def show(
    context: typer.Context,
    label: Annotated[str, typer.Argument(help="The group's label, or any wording in it.")],
    roots: RootsArgument = None,
    threshold: ThresholdOption = None,
    embedder: EmbedderOption = None,
    svg: Annotated[Path | None, Panel.WRITE.option(help="Write the dendrogram to this file, too.")] = None,
    run: RunOption = None,
) -> None:
    """Show every wording of one group, and how they came together.

    What only the published run calls so, since it was merged or renamed, is answered with its groups.
    """
    output = output_of(context)
    settings = settings_of(context).settings
    # What follows loads Polars.
    from vocabgap.reporting.dendrogram import (
        leaves_of,
        picture_place,
        svg_dendrogram,
        text_dendrogram,
        write_picture,
    )
    from vocabgap.reporting.overviews import nothing

    if svg is not None:
        picture_place(svg)  # told before the work is done
    scanned, clustering = _clusters(context, roots_of(context, settings), settings)
    if not scanned.summary.records:
        raise NotFoundError(nothing(scanned.summary), hint=_SOUND_HINT)
    number = _named(clustering, printable_name(label), run or settings.report.out)
    group = clustering.clusters.filter(cluster=number).row(0, named=True)
    wordings = clustering.wordings.filter(cluster=number).sort(
        "mentions", "wording", descending=[True, False]
    )
    leaves, linkage = clustering.dendrogram(number)
    if svg is not None:
        write_picture(svg, svg_dendrogram(leaves_of(leaves), linkage, title=group["label"]))
    for row in wordings.iter_rows(named=True):
        output.event("wording", **row)
    for row in linkage.iter_rows(named=True):
        output.event("merge", **row)
    output.event("result", cluster=group)
    if output.as_json:
        return
    output.text(
        f"{visible(group['label'])}: {count(group['mentions'], 'mention')}, "
        f"{count(wordings.height, 'wording')}, "
        f"how alike the wordings are: {group['cohesion']:.2f}; weakest link {group['weakest_link']:.2f}\n"
    )
    cells = [
        [row["wording"], row["mentions"], f"{row['similarity']:.2f}"]
        for row in wordings.iter_rows(named=True)
    ]
    output.text(table(("wording", "mentions", "similarity"), cells, numbers=("mentions", "similarity")))
    if linkage.height:
        encoding = sys.stdout.encoding or "utf-8"
        output.text("\n" + text_dendrogram(leaves_of(leaves), linkage, encoding=encoding))


def _clusters(
    context: typer.Context, roots: list[Path], settings: Settings, *, sweep: bool = False
) -> "tuple[Scan, Clusters]":
    """What was read, and its groups, with merges as far as a sweep looks if there is to be one."""
    from vocabgap.clustering.embedding import load_embedder
    from vocabgap.clustering.grouping import SWEEP_CUTS, cluster
    from vocabgap.decisions.log import read_decisions
    from vocabgap.decisions.replay import replay
    from vocabgap.ingest.scanning import scan
    from vocabgap.ranking.screening import screen

    output, reading = output_of(context), reading_arguments(context)
    decisions = read_decisions(expanded(settings.decisions.file))
    # That a model cannot be used is best told before anything is read.
    embedder = load_embedder(settings.cluster.embedder)
    scanned = scan(roots, settings=settings.scan, **reading)
    require_whose(context, scanned)
    scanned = replace(scanned, gaps=screen(scanned.gaps, settings.rules))  # the groups that a report ranks
    note_scan(output, scanned)
    max_distance = max(SWEEP_CUTS) if sweep else 0.0
    clustering = cluster(scanned.records, settings.cluster, embedder=embedder, max_distance=max_distance)
    note_embeddings(output, embedder.use if embedder else None)
    effective = replay(decisions, clustering.wordings["surface"].unique())
    return scanned, clustering.taught(effective.constraints)


def _print_nothing(output: Output, account: "ScanSummary") -> None:
    from vocabgap.reporting.overviews import nothing

    output.text(f"{nothing(account)}.\n{account_line(account)}")


def _print_sweep(output: Output, clustering: "Clusters", account: "ScanSummary") -> None:
    cuts = clustering.sweep()
    for row in cuts.iter_rows(named=True):
        output.event("cut", **row)
    output.event("result", cuts=cuts.height, threshold=clustering.threshold, account=account)
    if output.as_json or not account.records:
        return
    cells: list[list[object]] = []
    before = ""
    for row in cuts.iter_rows(named=True):
        top = "; ".join(f"{item['label']} ({item['mentions']:,})" for item in row["top"])
        shown, before = ("the same" if top == before else top), top
        mark = " *" if row["threshold"] == clustering.threshold else "  "
        numbers = (row["groups"], row["singletons"], row["singleton_mentions"], row["largest"])
        cells.append([f"{_cut_in_words(row['threshold'])}{mark}", *numbers, shown])
    output.text(table((*_SWEEP_COLUMNS, "most mentioned"), cells, numbers=_SWEEP_COLUMNS))
    output.text(f"\n* the cut in force: {_cut_in_words(clustering.threshold)}")


def _cut_in_words(threshold: float | None) -> str:
    return BY_WORDING if threshold is None else str(threshold)


def _named(clustering: "Clusters", name: str, run: str) -> int:
    """The number of the group that a label or a wording names.

    Where there is none, the error says which groups the published capability of that name is made of.
    """
    from vocabgap.model.lookup import Named, lookup

    wordings = clustering.wordings.group_by("cluster").agg("wording")
    groups = clustering.clusters.join(wordings, on="cluster", maintain_order="left")
    known = [Named("", *row) for row in groups.select("label", "wording").iter_rows()]
    try:
        place = lookup(known, name, singular="group", plural="groups", hint="see `vocabgap clusters`")
    except NotFoundError as error:
        labels = _groups_of(clustering, name, run)
        hint = f"{error.hint}; {_AS_FOUND}"
        if labels:
            more = f" and {len(labels) - _SHOWN:,} more" if len(labels) > _SHOWN else ""
            listed = ", ".join(f"'{excerpt(label)}'" for label in labels[:_SHOWN])
            capability = f"the capability of that name, in '{run}', is of {listed}{more}"
            hint = f"{_AS_FOUND}; {capability}: show one of these"
        raise NotFoundError(error.message, hint=hint) from error
    return int(groups["cluster"][place])


def _groups_of(clustering: "Clusters", name: str, run: str) -> list[str]:
    """The labels of the groups that a capability of a run is made of, the most mentioned first."""
    from vocabgap.model.lookup import find_capability
    from vocabgap.reporting.published_run import read_run

    try:
        (variants,) = find_capability(read_run(run, option="--run")[1], name)["variants"].to_list()
    except VocabgapError:
        return []
    members = clustering.wordings.filter(
        clustering.wordings["wording"].is_in([each["wording"] for each in variants])
    )
    groups = clustering.clusters.filter(
        clustering.clusters["cluster"].is_in(members["cluster"].unique().implode())
    )
    return groups.sort("mentions", "label", descending=[True, False])["label"].to_list()
