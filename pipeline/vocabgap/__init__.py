"""vocabgap: from gap logs to what should be authored next.

    import vocabgap as vg

    scan = vg.scan("data/demo")               # .records, .rejects, .summary
    found = vg.cluster(scan.records)          # .wordings, .clusters, .linkage
    ranked = vg.rank(scan.records, found)     # a Polars frame, one row a capability
    vg.report(ranked, out="out", scan=scan)   # the files of a run
    vg.run("data/demo", out="out")            # all of it

Names are imported when they are first used, so that `import vocabgap` costs next to nothing.
"""

from vocabgap.version import __version__

TYPE_CHECKING = False  # as type checkers know it, without loading `typing`

if TYPE_CHECKING:
    from vocabgap.clustering import Clusters as Clusters
    from vocabgap.clustering import cluster as cluster
    from vocabgap.clustering.embedding import Embedder as Embedder
    from vocabgap.corpus.corpus import Corpus as Corpus
    from vocabgap.corpus.corpus import open_corpus as open_corpus
    from vocabgap.corpus.payloads import export_chunks as export_chunks
    from vocabgap.corpus.scanning import scan as scan
    from vocabgap.corpus.scanning import scan_to_parquet as scan_to_parquet
    from vocabgap.decisions.deciding import Decisions as Decisions
    from vocabgap.errors import VocabgapError as VocabgapError
    from vocabgap.gaplog import LoggedGap as LoggedGap
    from vocabgap.gaplog import log_gap as log_gap
    from vocabgap.gaplog.listing import list_gaps as list_gaps
    from vocabgap.gaplog.nearest import SimilarGap as SimilarGap
    from vocabgap.gaplog.nearest import similar_gaps as similar_gaps
    from vocabgap.gaplog.showing import show as show
    from vocabgap.glossary.context import ExecutionContext as ExecutionContext
    from vocabgap.glossary.errors import BlockedByConflictError as BlockedByConflictError
    from vocabgap.glossary.runtime import GlossaryRuntime as GlossaryRuntime
    from vocabgap.ingest import Scan as Scan
    from vocabgap.ingest import ScanSummary as ScanSummary
    from vocabgap.ingest import Selection as Selection
    from vocabgap.pipeline import Run as Run
    from vocabgap.pipeline import run as run
    from vocabgap.ranking import Draft as Draft
    from vocabgap.ranking import covered as covered
    from vocabgap.ranking import draft as draft
    from vocabgap.ranking import probably_covered as probably_covered
    from vocabgap.ranking import rank as rank
    from vocabgap.ranking import screen as screen
    from vocabgap.ranking.vocabulary import Vocabulary as Vocabulary
    from vocabgap.ranking.vocabulary import load_vocabulary as load_vocabulary
    from vocabgap.records.record import fold_category as fold_category
    from vocabgap.records.record import fold_operation as fold_operation
    from vocabgap.reporting import Published as Published
    from vocabgap.reporting import Summary as Summary
    from vocabgap.reporting import report as report
    from vocabgap.settings.loading import load_settings as load_settings
    from vocabgap.settings.model import RankBy as RankBy
    from vocabgap.settings.model import Settings as Settings

_HOMES = {
    "BlockedByConflictError": "glossary.errors",
    "Clusters": "clustering",
    "Corpus": "exchange.opening",
    "Draft": "ranking",
    "Decisions": "deciding",
    "Embedder": "embedding",
    "ExecutionContext": "glossary.context",
    "GlossaryRuntime": "glossary.runtime",
    "LoggedGap": "gaplog",
    "Published": "reporting",
    "RankBy": "settings",
    "Run": "pipeline",
    "Scan": "ingest",
    "ScanSummary": "ingest",
    "Selection": "ingest",
    "Settings": "settings",
    "SimilarGap": "similar",
    "Summary": "reporting",
    "VocabgapError": "errors",
    "Vocabulary": "vocabulary",
    "cluster": "clustering",
    "covered": "ranking",
    "draft": "ranking",
    "export_chunks": "exchange.payloads",
    "fold_category": "record",
    "fold_operation": "record",
    "list_gaps": "reviewing",
    "load_settings": "config",
    "load_vocabulary": "vocabulary",
    "log_gap": "gaplog",
    "open_corpus": "exchange.opening",
    "probably_covered": "ranking",
    "rank": "ranking",
    "report": "reporting",
    "run": "pipeline",
    "scan": "exchange.scanning",
    "scan_to_parquet": "exchange.scanning",
    "screen": "ranking",
    "show": "reviewing",
    "similar_gaps": "similar",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names are literals one line up


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'vocabgap' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415 - not needed until here

    value: object = getattr(import_module(f"vocabgap.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
