"""The order of the stages, from gap logs to the published report."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
from msgspec import structs

from vocabgap.clustering.embedder import Embedder, EmbeddingUse, load_embedder
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.decisions.record import read_decisions
from vocabgap.decisions.replay import EffectiveDecisions, followed
from vocabgap.errors import expanded, full_address, require_kind, unusable, whole_number
from vocabgap.extensions import extensions
from vocabgap.ingest.roots import resolve_roots
from vocabgap.ingest.scanning import Scan, newest_moment, scan, with_newest_session
from vocabgap.model.moments import LAST, Present, known_present
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings, settings_of, shared_from
from vocabgap.model.tables import CAPABILITIES, EVENTS, REJECTS, counted
from vocabgap.ranking.capabilities import rank_parts
from vocabgap.ranking.classifying import reclassify, with_assigned_categories
from vocabgap.ranking.coverage import covered, covering_options
from vocabgap.ranking.drafting import drafts_of
from vocabgap.ranking.identity import Lineage, identify, trace
from vocabgap.ranking.screening import screened
from vocabgap.ranking.statuses import authored_effects, events_of, news, ranked_effects, with_returns
from vocabgap.ranking.vocabulary import Vocabulary, load_vocabulary
from vocabgap.reporting.conditions import require_no_loss, require_something
from vocabgap.reporting.history import earlier_rows
from vocabgap.reporting.listed import choices_of, numbers_of
from vocabgap.reporting.manifest import Decided, Model, Timing, new_manifest
from vocabgap.reporting.map import places_of
from vocabgap.reporting.published_run import (
    Baseline,
    check_target,
    earlier_table,
    previous_run,
    resolve_target,
    settle_target,
)
from vocabgap.reporting.repeating import Reproduction
from vocabgap.reporting.writing import Published, report
from vocabgap.text import count

if TYPE_CHECKING:
    from vocabgap.engines.spark import SparkEngine

STAGES: Final = ("ingest", "cluster", "rank", "report")
Selecting = Selection | Callable[[datetime], Selection]
"""A selection, or a function that returns one for the present moment."""


@dataclass(frozen=True, repr=False)
class Analysis:
    """The result of the stages, before it is published.

    Attributes:
        now: The moment that counts as the present.
        selection: The selected records.
        scan: All records; the ones that do not count are marked.
        clusters: The groups of wordings, after people's decisions.
        ranked: Table `capabilities`.
        lineage: The relation of the capabilities to those of the previous run.
        events: Table `events`: how the statuses of the capabilities came about.
        effects: Table `effects`: what became of the authored capabilities.
        news: The events that the previous run does not have.
        earlier: Tables `events`, `rejects` and `capabilities` of the previous run, by name.
        decisions: The active decisions.
        outgrown: The identifiers of decisions that ended, because their groups have outgrown them.
        vocabulary: The entries that needs were compared with.
        model: The model that embedded the wordings, if any.
        embeddings: The numbers of cached and computed embeddings, if there was a model.
        baseline: The run that capabilities take their identifiers from.
        timings: The duration of each stage.
        ahead: The number of records with a future date, if the present is `last`.
    """

    now: datetime
    selection: Selection
    scan: Scan
    clusters: Clusters
    ranked: pl.DataFrame
    lineage: Lineage
    events: pl.DataFrame
    effects: pl.DataFrame
    news: pl.DataFrame
    earlier: dict[str, pl.DataFrame]
    decisions: EffectiveDecisions
    outgrown: tuple[str, ...]
    vocabulary: Vocabulary
    model: Model | None
    embeddings: EmbeddingUse | None
    baseline: Baseline
    timings: tuple[Timing, ...]
    ahead: int

    def __repr__(self) -> str:
        """Return the number of capabilities in one line."""
        return f"Analysis({count(self.ranked.height, 'capability', 'capabilities')} of {self.scan})"


@dataclass(frozen=True, repr=False)
class Run(Analysis):
    """An analysis with its published files.

    Attributes:
        published: The folder with the files.
    """

    published: Published

    def __repr__(self) -> str:
        """Return the headline."""
        return f"Run({self.published.headline})"


def analyse(
    roots: str | Path | Iterable[str | Path],
    *,
    settings: Settings | None = None,
    selection: Selecting | None = None,
    now: Present | None = None,
    out: str | Path | None = None,
    previous: str | Path | None = None,
    engine: "SparkEngine | None" = None,
    on_stage: Callable[[str], None] | None = None,
    on_scan: Callable[[Scan, Selection], None] | None = None,
) -> Analysis:
    """Scan, cluster and rank like `run`, without publishing.

    The arguments are those of `run`. Capabilities keep the identifiers of the run in `out`. An exception of
    `on_stage` or `on_scan` ends the work.

    Raises:
        VocabgapError: A stage refused its input.
    """
    settings = settings_of(settings)
    aliases = settings.aliases_by_argument
    moment, ahead = known_present(now), 0
    chosen = _chosen(selection, moment)
    timings: list[Timing] = []

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        if on_stage is not None:
            on_stage(name)
        start = time.perf_counter()
        yield
        timings.append(Timing(name, round(time.perf_counter() - start, 6)))

    # Bad arguments are refused before the work.
    target = resolve_target(settings.report.out if out is None else out)
    baseline_as_of = previous_run(target, previous)
    earlier = {each.name: earlier_table(each, target, previous) for each in (EVENTS, REJECTS, CAPABILITIES)}
    roots = located(roots, settings, engine)
    recorded = read_decisions(expanded(settings.decisions.file))
    embedder = load_embedder(settings.cluster.embedder)
    vocabulary = load_vocabulary(settings.vocabulary.paths)
    with stage("ingest"):
        scanned = scan(
            roots,
            settings=structs.replace(settings.scan, entries=tuple(one.entry or "" for one in recorded)),
            **chosen.owners,
            read_logs=None if engine is None else partial(engine.read_logs, near=target),
        )
        lines = screened(scanned.lines, settings.rules)
        lines = lines.then(lambda part: part.with_columns(recorded="counted"))  # before a selection
        whole = replace(scanned, lines=lines)
        if now == LAST:
            moment, ahead = newest_moment(whole.lines, moment)
            chosen = _chosen(selection, moment)
        chosen, _ = with_newest_session(whole.lines, chosen)
        baseline = baseline_as_of(moment)
        selected = whole.select(chosen, **aliases)
        records = lines.then(counted)
        if on_scan is not None:
            on_scan(selected, chosen)
    with stage("cluster"):
        # All records are clustered, so that a need is the same in every selection.
        proposed = cluster(records, settings.cluster, embedder=embedder)
        decisions, clusters = followed(proposed, recorded)
    with stage("rank"):
        before, verdicts, window = baseline.groups, decisions.verdicts, settings.rank.window_weeks
        effects = authored_effects(clusters.wordings, verdicts, records, moment, window)
        effects = with_returns(effects, earlier[EVENTS.name])
        identified = identify(proposed, clusters, baseline=before, verdicts=verdicts, effects=effects)
        if settings.categories.reclassify:
            # The classifier learns from all records.
            categorised = reclassify(
                selected.lines, corpus=records, operations=settings.operation_categories, **aliases
            )
            selected = replace(selected, lines=categorised)
        ranked = rank_parts(
            selected.lines.then(with_assigned_categories),
            clusters,
            settings.rank,
            now=moment,
            identities=identified.identities,
            **aliases,
        )
        ranked = covered(ranked, vocabulary, **covering_options(settings))
        lineage = trace(identified.groups, ranked, before)
        events = events_of(identified.events, identified.identities, ranked, earlier[EVENTS.name])
        effects = ranked_effects(effects, identified.identities, ranked, whole.files, moment)
    of_ranked = identified.identities.join(ranked, on="capability_id", how="semi")
    return Analysis(
        now=moment,
        selection=chosen,
        scan=selected,
        clusters=clusters,
        ranked=ranked,
        lineage=lineage,
        events=events,
        effects=effects,
        news=news(events, earlier[EVENTS.name]),
        earlier=earlier,
        decisions=decisions,
        outgrown=tuple(of_ranked["outgrown"].explode().drop_nulls().unique(maintain_order=True)),
        vocabulary=vocabulary,
        model=_model_of(embedder, clusters),
        embeddings=None if embedder is None else embedder.use,
        baseline=baseline,
        timings=tuple(timings),
        ahead=ahead,
    )


def located(
    roots: str | Path | Iterable[str | Path], settings: Settings, engine: "SparkEngine | None"
) -> list[Path]:
    """Return the roots as local paths; an engine mirrors addresses."""
    if engine is None:
        return resolve_roots(roots)
    if not hasattr(engine, "read_logs"):
        raise unusable("engine", "an engine from `with vocabgap.spark_engine()`", engine)
    return resolve_roots(roots, lambda address: engine.mirror(address, settings.scan))


def run(
    roots: str | Path | Iterable[str | Path],
    out: str | Path | None = None,
    *,
    settings: Settings | None = None,
    selection: Selecting | None = None,
    now: Present | None = None,
    config: Path | None = None,
    previous: str | Path | None = None,
    share: int | None = None,
    evidence: bool = False,
    engine: "SparkEngine | None" = None,
    allow_empty: bool = False,
    allow_shrink: bool = False,
    on_stage: Callable[[str], None] | None = None,
) -> Run:
    """Scan, cluster, rank and publish.

    A run without records is an error. So is a run with less than half of the logs or lines of the run that it
    replaces. The old run then stays. This function reads no settings file and no environment variable:
    `vocabgap.load_settings` does. An extension, such as the glossary, may refuse the report.

    Args:
        roots: Folders to search for gap logs, single log files, or shared corpora; with an engine, also
            addresses such as `s3a://bucket/photos`.
        out: The folder to publish; by default that of the settings. With an engine, also a new address.
        settings: The settings; the defaults by default.
        selection: The records that count, or a function that returns the selection for the present moment.
        now: The moment that counts as the present; by default the current time. `last` is the moment of the
            newest record that counts and is not in the future.
        config: The settings file, for the commands of the report.
        previous: The folder of the run to compare with, or `none`; by default the replaced run.
        share: Also write a shareable page with the needs on at least this number of images, 2 or more.
        evidence: Also write `evidence.md`: the evidence of each listed capability, and all overviews.
        engine: An engine, such as `vocabgap.spark_engine` returns; by default this process.
        allow_empty: Publish a report even without records.
        allow_shrink: Publish a report even if it lost most of its logs or lines.
        on_stage: Called with each of `STAGES` when it begins.

    Raises:
        VocabgapError: A stage refused its input, or the report cannot be published.
    """
    settings = settings_of(settings)
    if allow_empty:
        settings = structs.replace(settings, report=structs.replace(settings.report, allow_empty=True))
    roots = located(roots, settings, engine)
    out = settings.report.out if out is None else out
    address = "" if engine is None else full_address(out)
    target = resolve_target(engine.reserve(address) if engine is not None and address else out)
    check_target(target, roots)
    settle_target(target)
    if share is not None:
        shared_from(whole_number("share", share))
    earlier_rows(target, previous)  # refuse an unreadable history before the work

    def refuse(scanned: Scan, chosen: Selection) -> None:
        if not settings.report.allow_empty:
            require_something(scanned, roots, target, settings, chosen)
        if not allow_shrink:
            require_no_loss(scanned, target, chosen)

    analysis = analyse(
        roots,
        settings=settings,
        selection=selection,
        now=now,
        out=target,
        previous=previous,
        engine=engine,
        on_stage=on_stage,
        on_scan=refuse,
    )
    for slice_ in extensions():
        if slice_.gate is not None:
            slice_.gate.load()(analysis.ranked, settings)
    if on_stage is not None:
        on_stage("report")
    baseline, first = analysis.baseline, numbers_of(analysis.clusters, analysis.ranked.head(200))
    manifest = structs.replace(
        new_manifest(analysis.now, analysis.ranked.height),
        timings=analysis.timings,
        model=analysis.model,
        vocabulary=analysis.vocabulary.files,
        decisions=Decided.of(analysis.decisions, analysis.outgrown) if analysis.decisions.active else None,
        compared=baseline.compared,
        engine=None if engine is None else engine.name,
        places=places_of(analysis.clusters, analysis.ranked),
        shortlist=drafts_of(analysis.ranked, analysis.vocabulary, settings),
        choices=choices_of(analysis.clusters.screens(about=first), analysis.ranked),
    )
    request = Reproduction(tuple(roots), settings, analysis.selection, config, baseline.folder)
    published = report(
        analysis.ranked,
        target,
        scan=analysis.scan,
        lineage=analysis.lineage,
        events=analysis.events,
        effects=analysis.effects,
        share=share,
        evidence=evidence,
        manifest=request.described_in(manifest, target),
        earlier=(target, previous),
    )
    if engine is not None and address:
        engine.publish(target, published.files)
    return Run(**vars(analysis), published=published)


def _model_of(embedder: "Embedder | None", clusters: Clusters) -> Model | None:
    if embedder is None:
        return None
    about = (embedder.name, embedder.digest, embedder.runtime, embedder.processor, embedder.vectors)
    return Model(*about, clusters.embedded)


def _chosen(selection: Selecting | None, now: datetime) -> Selection:
    """Return the selection for a present moment; by default all records."""
    chosen = selection(now) if callable(selection) else selection
    chosen = Selection() if chosen is None else chosen
    require_kind("selection", chosen, Selection, "a Selection")
    return chosen
