"""The order of the stages, from gap logs to the published report. Nothing else knows it.

`analyse` scans, clusters and ranks. `run` publishes the result, if no gate of a slice stops it.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

import polars as pl
from msgspec import structs

from vocabgap.clustering.embedding import EmbeddingUse, load_embedder
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.clustering.linkage import Neighbours
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
from vocabgap.decisions.log import read_decisions
from vocabgap.decisions.replay import EffectiveDecisions, replay
from vocabgap.displays import html_table
from vocabgap.errors import expanded, require_kind, unusable, whole_number
from vocabgap.extensions import extensions
from vocabgap.ingest.discovery import LogFile, resolve_roots
from vocabgap.ingest.lines import LogsRead
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.ingest.selection import newest_moment, with_newest_session
from vocabgap.model.moments import LAST, Present, known_present
from vocabgap.model.selection import Selection
from vocabgap.model.settings import DEFAULT_TOP, ScanSettings, Settings, shared_from
from vocabgap.model.tables import RECORDS
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import reclassify, with_categories, with_given_categories
from vocabgap.ranking.coverage import covered
from vocabgap.ranking.identity import Lineage, identify, trace
from vocabgap.ranking.screening import screen
from vocabgap.ranking.vocabulary import Vocabulary, configured_vocabulary
from vocabgap.reporting.conditions import require_no_loss, require_something
from vocabgap.reporting.history import earlier_rows
from vocabgap.reporting.listed import doubts_of
from vocabgap.reporting.manifest import Decided, Model, Timing
from vocabgap.reporting.map import places_of
from vocabgap.reporting.published_run import (
    Baseline,
    check_target,
    read_baseline,
    resolve_target,
    settle_target,
)
from vocabgap.reporting.reproduction import Reproduction
from vocabgap.reporting.writing import Published, report
from vocabgap.text import count


class Engine(Protocol):
    """Where the heavy steps run. What comes of them is the same everywhere."""

    name: str  # with its version

    def read_logs(self, logs: list[LogFile], settings: ScanSettings) -> LogsRead:
        """Read logs that were found."""

    def space(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> Neighbours:
        """Search for neighbours among clusters, as `average_linkage` asks for it."""


STAGES: Final = ("ingest", "cluster", "rank", "report")
Selecting = Selection | Callable[[datetime], Selection]
"""What a report is narrowed to; with spans before the present, a function of that moment."""


@dataclass(frozen=True, repr=False)
class Analysis:
    """What the stages give, before anything is published.

    Attributes:
        now: The moment that counts as its present.
        selection: What the ranking is narrowed to.
        scan: What was read, with what the selection left out and what is no gap marked.
        clusters: The groups of wordings, as people's decisions have them.
        ranked: Table `capabilities`.
        lineage: Where the capabilities come from.
        decisions: The decisions in force.
        vocabulary: What the needs were compared with.
        model: What embedded the wordings, if anything.
        embeddings: How many embeddings were read from the cache and how many computed, if there was a model.
        baseline: What capabilities keep their identifiers from.
        timings: How long each stage took.
        ahead: How many records are dated after the clock, where the newest record was to be the present:
            these do not count for that.
    """

    now: datetime
    selection: Selection
    scan: Scan
    clusters: Clusters
    ranked: pl.DataFrame
    lineage: Lineage
    decisions: EffectiveDecisions
    vocabulary: Vocabulary
    model: Model | None
    embeddings: EmbeddingUse | None
    baseline: Baseline
    timings: tuple[Timing, ...]
    ahead: int

    def __repr__(self) -> str:
        """What came of it, in one line."""
        return f"Analysis({count(self.ranked.height, 'capability', 'capabilities')} of {self.scan})"


@dataclass(frozen=True, repr=False)
class Run(Analysis):
    """A run of the whole pipeline: an analysis, and the files that were made of it.

    Attributes:
        published: The folder with the files.
    """

    published: Published

    def __repr__(self) -> str:
        """What came of it, in one line."""
        return f"Run({self.published.headline})"

    def _repr_html_(self) -> str:
        """The same, and the first of the ranking as a table."""
        columns = ("rank", "label", "mentions", "images", "sessions", "unsatisfied", "status")
        return html_table(repr(self), columns, self.ranked.select(columns).head(DEFAULT_TOP).iter_rows())


def analyse(
    roots: str | Path | Iterable[str | Path],
    *,
    settings: Settings | None = None,
    selection: Selecting | None = None,
    now: Present | None = None,
    out: str | Path | None = None,
    previous: str | Path | None = None,
    engine: Engine | None = None,
    on_stage: Callable[[str], None] | None = None,
    on_scan: Callable[[Scan, Selection], None] | None = None,
) -> Analysis:
    """Scan, cluster and rank as `run` does, and publish nothing.

    The arguments are those of `run`. In `out` nothing is written: capabilities keep the identifiers of the
    run that stands there. What `on_stage` raises ends the work there; so does what `on_scan` raises, which
    is called with what was read and selected, and the selection.

    Raises:
        VocabgapError: One of its kinds, as the stages raise them.
    """
    settings = _in_force(settings)
    if engine is not None and not (hasattr(engine, "read_logs") and hasattr(engine, "space")):
        raise unusable("engine", "what `with vocabgap.spark_engine() as engine` gives", engine)
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

    # What cannot be used is refused before the work is done.
    target = resolve_target(settings.report.out if out is None else out)
    baseline_as_of = read_baseline(target, previous)
    roots = resolve_roots(roots)
    recorded = read_decisions(expanded(settings.decisions.file))
    embedder = load_embedder(settings.cluster.embedder)
    vocabulary = configured_vocabulary(settings.vocabulary)
    with stage("ingest"):
        scanned = scan(
            roots,
            settings=settings.scan,
            tenants=chosen.tenants,
            repositories=chosen.repositories,
            read_logs=None if engine is None else engine.read_logs,
        )
        whole = replace(scanned, gaps=screen(scanned.gaps, settings.rules))
        if now == LAST:
            moment, ahead = newest_moment(whole.gaps, moment)
            chosen = _chosen(selection, moment)
        chosen, _ = with_newest_session(whole.gaps, chosen)
        baseline = baseline_as_of(moment)
        selected = scanned.select(chosen, **settings.folding)
        # What is outside the selection is marked as filtered, whatever the rules say of it.
        selected = replace(selected, gaps=screen(selected.gaps, settings.rules)) if chosen else whole
        if on_scan is not None:
            on_scan(selected, chosen)
    with stage("cluster"):
        # All records are clustered, whatever is selected, so that a need is the same need in every view.
        space = None if engine is None else engine.space
        proposed = cluster(whole.records, settings.cluster, embedder=embedder, space=space)
        decisions = replay(recorded, proposed.wordings["surface"].unique())
        if decisions.constraints:
            proposed = proposed.taught(decisions.constraints)
        clusters = proposed.constrained(decisions.constraints)
    with stage("rank"):
        identified = identify(
            proposed, clusters, whole.records, baseline=baseline.groups, verdicts=decisions.verdicts
        )
        if settings.categories.reclassify:
            # What is learned is learned from all records, whatever is selected.
            categorised = reclassify(
                selected.gaps,
                corpus=whole.gaps,
                operations=settings.operation_categories,
                **settings.folding,
            ).gaps
        else:
            categorised = with_categories(selected.gaps, category_aliases=settings.category_aliases)
        selected = replace(selected, gaps=categorised)
        # Ranked by the category that a record was given; the gaps keep the one that its agent wrote, too.
        ranked = rank(
            with_given_categories(selected.gaps.filter("counted")).select(RECORDS.names),
            clusters,
            settings.rank,
            now=moment,
            identities=identified.identities,
            corpus=whole.records if chosen else None,
            **settings.folding,
        )
        ranked = covered(
            ranked,
            vocabulary,
            stop_words=settings.cluster.stop_words,
            operation_aliases=settings.operation_aliases,
        )
        lineage = trace(identified.groups, ranked, baseline.groups)
    return Analysis(
        now=moment,
        selection=chosen,
        scan=selected,
        clusters=clusters,
        ranked=ranked,
        lineage=lineage,
        decisions=decisions,
        vocabulary=vocabulary,
        model=None
        if embedder is None
        else Model(
            embedder.name,
            embedder.digest,
            embedder.runtime,
            embedder.processor,
            embedder.vectors,
            clusters.embedded,
        ),
        embeddings=None if embedder is None else embedder.use,
        baseline=baseline,
        timings=tuple(timings),
        ahead=ahead,
    )


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
    engine: Engine | None = None,
    allow_empty: bool = False,
    allow_shrink: bool = False,
    on_stage: Callable[[str], None] | None = None,
    ask: Callable[[Any], Any] | None = None,
) -> Run:
    """Scan, cluster, rank and publish.

    What would publish nothing, or has lost more than half of the logs or lines of the run that it replaces,
    is an error, and what is there stays as it is.

    No settings file and no environment variable is read: what is not handed in has its default, and
    `vocabgap.load_settings` reads what the command line would. Decisions are followed that lie in the file
    that the settings name, by default `decisions.jsonl` in the current folder.

    If the settings name a glossary that does not settle the words of the report, nothing is published.

    Args:
        roots: Folders to search for gap logs, single log files, or shared corpora. Of a corpus only the
            tenants and repositories of the selection are read.
        out: The folder to publish; that of the settings by default.
        settings: The settings in force; the defaults by default. `settings.decisions.file` names the file of
            decisions.
        selection: What the report is narrowed to, or a function that says so of the present.
        now: The moment the run counts as its present; the clock's by default. `last` is that of the newest
            record that counts, whatever is selected, and is not later than the clock; the clock's where
            there is none.
        config: The settings file, to be named in the command that makes the report again.
        previous: The folder of the run that this one is compared with; by default the one that it replaces;
            `none` for none.
        share: Write a page that may leave the machine, too, of what is on so many images, two at least.
        engine: What reads the logs and searches for neighbours, such as `vocabgap.spark_engine` gives; by
            default all is done here.
        allow_empty: Publish though there is no log, no record fits, or none has a name that was asked for.
        allow_shrink: Publish though more than half of the logs are gone since the run that is replaced.
        on_stage: Called with each of `STAGES` when it begins.
        ask: Answers the questions of a gate, such as what a word means; without it they stay open.

    Raises:
        VocabgapError: One of its kinds, as the stages raise them.
    """
    settings = _in_force(settings)
    if allow_empty:
        settings = structs.replace(settings, report=structs.replace(settings.report, allow_empty=True))
    target = resolve_target(settings.report.out if out is None else out)
    roots = resolve_roots(roots)
    check_target(target, roots)
    settle_target(target)
    if share is not None:
        shared_from(whole_number("share", share))
    earlier_rows(target, previous)  # a history that cannot be read is refused before the work, too

    def refuse(scanned: Scan, chosen: Selection) -> None:
        if not settings.report.allow_empty:
            require_something(scanned, roots, target, settings, chosen)
        if not allow_shrink:
            require_no_loss(scanned, roots, target, chosen)

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
    terms = _checked(analysis.ranked, settings, ask)
    if on_stage is not None:
        on_stage("report")
    published = report(
        analysis.ranked,
        target,
        scan=analysis.scan,
        lineage=analysis.lineage,
        now=analysis.now,
        top=settings.report.top,
        ranked_by=settings.rank.by,
        reproduction=Reproduction(
            roots=tuple(roots),
            settings=settings,
            selection=analysis.selection,
            now=analysis.now,
            config=config,
            model=analysis.model,
            vocabulary=analysis.vocabulary.files,
            decided=Decided.of(analysis.decisions) if analysis.decisions.active else None,
            previous=analysis.baseline.folder,
            compared=analysis.baseline.compared,
            engine=None if engine is None else engine.name,
        ),
        timings=analysis.timings,
        share=share,
        terms=terms,
        doubts=doubts_of(
            analysis.clusters.questions(about_cut=False), analysis.lineage.groups, analysis.ranked
        ),
        places=places_of(analysis.clusters, analysis.ranked),
        earlier=(target, previous),
    )
    return Run(**vars(analysis), published=published)


def _checked(
    ranked: pl.DataFrame, settings: Settings, ask: Callable[[Any], Any] | None
) -> dict[str, Any] | None:
    """Let the gates of slices check a report; return what the first one says about its words."""
    gates = (each.gate.load() for each in extensions() if each.gate is not None)
    return next(filter(None, [gate(ranked, settings, ask) for gate in gates]), None)


def _in_force(settings: Settings | None) -> Settings:
    """What is not said is the default settings."""
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    return settings


def _chosen(selection: Selecting | None, now: datetime) -> Selection:
    """What is selected at a moment that counts as the present; everything, where nothing is said."""
    chosen = selection(now) if callable(selection) else selection
    chosen = Selection() if chosen is None else chosen
    require_kind("selection", chosen, Selection, "a Selection")
    return chosen
