"""The whole way from gap logs to the published report: the ranking, the check of its words, the files."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, Self

import polars as pl

from vocabgap.clustering.embedding import Embedder, EmbeddingUse, load_embedder
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.decisions.log import read_decisions
from vocabgap.decisions.replay import Ruling, replay
from vocabgap.errors import InvalidInputError, expanded, require_kind, whole_number
from vocabgap.glossary.report_check import check_words, kept_run, kept_whole
from vocabgap.ingest.discovery import resolve_roots
from vocabgap.ingest.scanning import Scan, scan
from vocabgap.ingest.selection import Selection
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.classifying import reclassify, with_categories, with_given_categories
from vocabgap.ranking.coverage import covered
from vocabgap.ranking.identity import identify
from vocabgap.ranking.lineage import Lineage, trace
from vocabgap.ranking.screening import screen
from vocabgap.ranking.vocabulary import Vocabulary, load_vocabulary
from vocabgap.records.moments import require_offset
from vocabgap.reporting.command import Reproduction
from vocabgap.reporting.manifest import Decided, Model, Timing
from vocabgap.reporting.published_run import Basis, read_basis
from vocabgap.reporting.publishing import check_target, resolve_target
from vocabgap.reporting.writing import Published, report
from vocabgap.schema import RECORDS
from vocabgap.settings.model import Settings, shared_from
from vocabgap.text import count

# The stages from gap logs to the ranking. The only place that knows their order.


@dataclass(frozen=True, repr=False)
class Analysis:
    """What the stages found, before anything is published.

    Attributes:
        scan: What was read, with what the selection left out and what is no gap marked.
        clusters: The groups of wordings, as people's decisions have them.
        ranked: Table `capabilities`.
        lineage: Where the capabilities come from.
        ruling: The decisions in force.
        vocabulary: What the needs were compared with.
        embedder: What embedded the wordings, if anything.
    """

    scan: Scan
    clusters: Clusters
    ranked: pl.DataFrame
    lineage: Lineage
    ruling: Ruling
    vocabulary: Vocabulary
    embedder: Embedder | None = None

    def __repr__(self) -> str:
        """What came of it, in one line."""
        return f"Analysis({count(self.ranked.height, 'capability', 'capabilities')} of {self.scan})"


class Asked(NamedTuple):
    """What is asked for.

    Attributes:
        settings: The settings in force.
        selection: What the ranking is narrowed to.
        now: The moment that counts as its present.
    """

    settings: Settings
    selection: Selection
    now: datetime

    @classmethod
    def of(cls, settings: Settings | None, selection: Selection | None, now: datetime | None) -> Self:
        """The same with the defaults of what is not said: default settings, everything, the clock.

        Raises:
            InvalidInputError: One of them is of another kind, or the moment has no offset.
        """
        settings = Settings() if settings is None else settings
        selection = Selection() if selection is None else selection
        require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
        require_kind("selection", selection, Selection, "a Selection")
        return cls(settings, selection, require_offset(datetime.now(UTC) if now is None else now, name="now"))


@dataclass
class Stopwatch:
    """Times the stages and tells a listener when one begins.

    Attributes:
        listener: Called with the name of each stage.
        timings: How long the stages took so far.
    """

    listener: Callable[[str], None]
    timings: list[Timing] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done within, as a stage."""
        self.listener(name)
        start = time.perf_counter()
        yield
        self.timings.append(Timing(name, round(time.perf_counter() - start, 6)))


def analyse(
    roots: str | Path | Iterable[str | Path],
    *,
    settings: Settings | None = None,
    selection: Selection | None = None,
    now: datetime | None = None,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Analysis:
    """Scan, cluster and rank as `vocabgap.run` does, and publish nothing.

    Args:
        roots: Folders to search for gap logs, single log files, or shared corpora.
        settings: The settings in force; the defaults by default.
        selection: What the ranking is narrowed to.
        now: The moment that counts as its present; the clock's by default.
        out: The folder of the run that capabilities keep their identifiers from, if there is one; that of the
            settings by default. Nothing is written there.
        cache: A folder that keeps what was decoded for the next time.
        on_stage: Called with the name of each stage when it begins; what it raises ends the work there.

    Raises:
        VocabgapError: One of its kinds, as the stages raise them.
    """
    asked = Asked.of(settings, selection, now)
    basis = read_basis(resolve_target(asked.settings.report.out if out is None else out), asked.now)
    watch = Stopwatch(on_stage or (lambda _: None))
    return analyse_asked(resolve_roots(roots), asked, basis, watch, cache=cache)


def analyse_asked(
    roots: list[Path],
    asked: Asked,
    basis: Basis,
    watch: Stopwatch,
    *,
    cache: str | Path | None = None,
    verify_hash: bool = False,
) -> Analysis:
    """The same for what is known to be asked for.

    Args:
        roots: Absolute paths, as `resolve_roots` gives them.
        asked: What is asked for.
        basis: What capabilities keep their identifiers from.
        watch: Times the stages.
        cache: As `analyse`.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.

    Raises:
        VocabgapError: One of its kinds, as the stages raise them.
    """
    settings, selection, moment = asked
    decisions = read_decisions(expanded(settings.decisions.file))
    # Loaded before anything is read, for a model or a vocabulary that cannot be used is best told at once.
    embedder = load_embedder(settings.cluster.embedder, cache)
    listed = settings.vocabulary
    vocabulary = load_vocabulary(listed.paths, fields=listed.fields, entries=listed.entries)
    with watch.stage("ingest"):
        scanned = scan(
            roots,
            settings=settings.scan,
            cache=cache,
            verify_hash=verify_hash,
            tenants=selection.tenants,
            repositories=selection.repositories,
        )
        selected = scanned.select(
            selection,
            category_aliases=settings.category_aliases,
            operation_aliases=settings.operation_aliases,
        )
        corpus = replace(scanned, gaps=screen(scanned.gaps, settings.rules))
        # What is outside the selection is told as filtered, whatever the rules say of it.
        selected = replace(selected, gaps=screen(selected.gaps, settings.rules)) if selection else corpus
    with watch.stage("cluster"):
        # The whole corpus is grouped whatever is selected, so that a need is the same need in every view.
        found = cluster(corpus.records, **settings.cluster_options, embedder=embedder)
        ruling = replay(decisions, found.wordings["surface"].unique())
        decided = found.constrained(ruling.constraints)
    with watch.stage("rank"):
        identified = identify(found, decided, corpus.records, basis=basis.groups, verdicts=ruling.verdicts)
        if settings.categories.reclassify:
            # What is learned is learned from the whole corpus, whatever is selected.
            judged = reclassify(selected.gaps, corpus=corpus.gaps, **settings.category_options)
            selected = replace(selected, gaps=judged.gaps)
        else:
            agents = with_categories(selected.gaps, category_aliases=settings.category_aliases)
            selected = replace(selected, gaps=agents)
        ranked = rank(
            with_given_categories(selected.gaps.filter("counted")).select(RECORDS.names),
            decided,
            now=moment,
            identities=identified.identities,
            corpus=corpus.records if selection else None,
            **settings.rank_options,
        )
        ranked = covered(
            ranked,
            vocabulary,
            stop_words=settings.cluster.stop_words,
            operation_aliases=settings.operation_aliases,
        )
        lineage = trace(identified, ranked, basis.groups)
    return Analysis(selected, decided, ranked, lineage, ruling, vocabulary, embedder)


STAGES: Final = ("ingest", "cluster", "rank", "report")


@dataclass(frozen=True, repr=False)
class Run:
    """A run of the whole pipeline.

    Attributes:
        scan: What was read, with what the selection left out and what is no gap marked.
        clusters: The groups of wordings, as people's decisions have them.
        ranked: Table `capabilities`.
        lineage: Where the capabilities come from.
        ruling: The decisions in force.
        published: The folder with the files.
        embeddings: What was kept of embeddings and what computed, if there was an embedder.
    """

    scan: Scan
    clusters: Clusters
    ranked: pl.DataFrame
    lineage: Lineage
    ruling: Ruling
    published: Published
    embeddings: EmbeddingUse | None = None

    def __repr__(self) -> str:
        """What came of it, in one line."""
        return f"Run({self.published.told})"


def _check_apart(cache: Path, target: Path) -> None:
    """Publishing replaces its folder whole, and would take a cache in it along."""
    if cache == target or cache.is_relative_to(target) or target.is_relative_to(cache):
        raise InvalidInputError(
            f"the cache '{cache}' and the folder of the report, '{target}', lie in each other",
            hint="name a folder elsewhere for one of them",
        )


def run(
    roots: str | Path | Iterable[str | Path],
    out: str | Path | None = None,
    *,
    settings: Settings | None = None,
    selection: Selection | None = None,
    now: datetime | None = None,
    config: Path | None = None,
    cache: str | Path | None = None,
    verify_hash: bool = False,
    previous: str | Path | None = None,
    share: int | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Run:
    """Scan, cluster, rank and publish.

    No settings file and no environment variable is read: what is not handed in has its default, and
    `vocabgap.load_settings` reads what the command line would. Decisions are followed that lie in the file
    that the settings name, by default `decisions.jsonl` in the current folder.

    Args:
        roots: Folders to search for gap logs, single log files, or shared corpora. Of a corpus only the
            tenants and repositories of the selection are read.
        out: The folder to publish; that of the settings by default.
        settings: The settings in force; the defaults by default. `settings.decisions.file` names the file of
            decisions.
        selection: What the report is narrowed to.
        now: The moment the run counts as its present; the clock's by default.
        config: The settings file, to be named in the command that makes the report again.
        cache: A folder that keeps what was decoded for the next run.
        verify_hash: Compare every log with the cache by its digest, not by its size and times.
        previous: The folder of the run that this one is compared with; by default the one that it replaces;
            `none` for none.
        share: Write a page that may leave the machine, too, of what is on so many images, two at least.
        on_stage: Called with each of `STAGES` when it begins.

    Raises:
        BlockedByConflictError: The glossary that the settings name does not settle what the words of the
            report mean. Nothing is published; the run waits beside the glossary's log.
        VocabgapError: One of its kinds, as the stages raise them.
    """
    asked = Asked.of(settings, selection, now)
    settings, selection, moment = asked
    target = resolve_target(settings.report.out if out is None else out)
    named = resolve_roots(roots)
    check_target(target, named)
    if cache is not None:
        _check_apart(expanded(cache).resolve(), target)
    if share is not None:
        shared_from(whole_number("share", share))
    watch = Stopwatch(on_stage or (lambda _: None))
    # What was decided, and the run before, are told about before the work is done.
    basis = read_basis(target, moment, previous)
    found = analyse_asked(named, asked, basis, watch, cache=cache, verify_hash=verify_hash)
    ranked = found.ranked
    checked = check_words(
        ranked, settings.glossary, top=settings.report.top, out=target, share=share is not None
    )
    stopped = None if checked is None else checked.blocked
    if stopped is not None and not stopped.retry_token:
        raise stopped
    with kept_whole(settings.glossary, stopped), watch.stage("report"):
        made = report(
            ranked,
            target if stopped is None else kept_run(settings.glossary, stopped.retry_token),
            scan=found.scan,
            lineage=found.lineage,
            now=moment,
            top=settings.report.top,
            ranked_by=settings.rank.by,
            reproduction=Reproduction(
                tuple(named),
                settings,
                selection,
                moment,
                config,
                None if found.embedder is None else Model.of(found.embedder),
                found.vocabulary.files,
                Decided.of(found.ruling) if found.ruling.active else None,
                basis.named,
                basis.compared,
            ),
            timings=watch.timings,
            share=share,
            terms=None if checked is None else checked.terms,
        )
    if stopped is not None:
        raise stopped
    use = None if found.embedder is None else found.embedder.use
    return Run(found.scan, found.clusters, ranked, found.lineage, found.ruling, made, use)
