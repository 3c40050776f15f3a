"""The stages from gap logs to the ranking. The only place that knows their order."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import polars as pl

from vocabgap.clustering import Clusters, cluster
from vocabgap.clustering.embedding import Embedder, load_embedder
from vocabgap.corpus.scanning import scan
from vocabgap.decisions import Ruling, read_decisions, replay
from vocabgap.errors import expanded, require_kind
from vocabgap.ingest import Scan, Selection, resolve_roots
from vocabgap.ranking import (
    Lineage,
    covered,
    identify,
    rank,
    reclassify,
    screen,
    trace,
    with_categories,
    with_given_categories,
)
from vocabgap.ranking.vocabulary import Vocabulary, load_vocabulary
from vocabgap.records.moments import require_offset
from vocabgap.reporting import Timing, read_basis, resolve_target
from vocabgap.reporting.published_run import Basis
from vocabgap.schema import RECORDS
from vocabgap.settings.model import Settings
from vocabgap.text import count


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
            **settings.scan_options,
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
