"""The whole way from gap logs to the published report: the ranking, the check of its words, the files."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import polars as pl

from vocabgap.analysing import Asked, Stopwatch, analyse_asked
from vocabgap.clustering import Clusters
from vocabgap.clustering.embedding import EmbeddingUse
from vocabgap.decisions import Ruling
from vocabgap.errors import InvalidInputError, expanded, whole_number
from vocabgap.glossary.report_check import check_words, kept_run, kept_whole
from vocabgap.ingest import Scan, Selection, resolve_roots
from vocabgap.ranking import Lineage
from vocabgap.reporting import (
    Decided,
    Model,
    Published,
    Reproduction,
    check_target,
    read_basis,
    report,
    resolve_target,
)
from vocabgap.settings.model import Settings, shared_from

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
