# The public names and their modules, for type checkers and for `__init__.py`.
from vocabgap.clustering.embedder import Embedder as Embedder
from vocabgap.clustering.grouping import Clusters as Clusters
from vocabgap.clustering.grouping import cluster as cluster
from vocabgap.clustering.screens import Answer as Answer
from vocabgap.clustering.screens import Neighbour as Neighbour
from vocabgap.clustering.screens import Part as Part
from vocabgap.clustering.screens import Screen as Screen
from vocabgap.corpus.corpus import Corpus as Corpus
from vocabgap.corpus.corpus import open_corpus as open_corpus
from vocabgap.decisions.record import Decision as Decision
from vocabgap.decisions.reviewing import Reviewed as Reviewed
from vocabgap.decisions.reviewing import review as review
from vocabgap.engines.spark import SparkEngine as SparkEngine
from vocabgap.engines.spark import spark_engine as spark_engine
from vocabgap.errors import VocabgapError as VocabgapError
from vocabgap.glossary.conflicts import BlockedByConflictError as BlockedByConflictError
from vocabgap.glossary.questions import Defer as Defer
from vocabgap.glossary.questions import Define as Define
from vocabgap.glossary.questions import NoTerm as NoTerm
from vocabgap.glossary.questions import Select as Select
from vocabgap.glossary.runtime import GlossaryRuntime as GlossaryRuntime
from vocabgap.glossary.senses import ScopeStack as ScopeStack
from vocabgap.glossary.senses import Strictness as Strictness
from vocabgap.glossary.session import ExecutionContext as ExecutionContext
from vocabgap.ingest.accounting import ScanSummary as ScanSummary
from vocabgap.ingest.scanning import Scan as Scan
from vocabgap.ingest.scanning import scan as scan
from vocabgap.listing.deciding import Decisions as Decisions
from vocabgap.listing.records import list_gaps as list_gaps
from vocabgap.listing.showing import show as show
from vocabgap.logbook.log import LoggedGap as LoggedGap
from vocabgap.logbook.log import log_gap as log_gap
from vocabgap.model.loading import load_settings as load_settings
from vocabgap.model.record import fold_category as fold_category
from vocabgap.model.record import fold_operation as fold_operation
from vocabgap.model.selection import Selection as Selection
from vocabgap.model.settings import RankBy as RankBy
from vocabgap.model.settings import Settings as Settings
from vocabgap.pipeline import Run as Run
from vocabgap.pipeline import run as run
from vocabgap.ranking.capabilities import rank as rank
from vocabgap.ranking.coverage import covered as covered
from vocabgap.ranking.coverage import probably_covered as probably_covered
from vocabgap.ranking.drafting import Draft as Draft
from vocabgap.ranking.drafting import draft as draft
from vocabgap.ranking.screening import screen as screen
from vocabgap.ranking.vocabulary import Vocabulary as Vocabulary
from vocabgap.ranking.vocabulary import load_vocabulary as load_vocabulary
from vocabgap.reporting.history import history as history
from vocabgap.reporting.published_run import effects as effects
from vocabgap.reporting.summary import Summary as Summary
from vocabgap.reporting.writing import Published as Published
from vocabgap.reporting.writing import report as report

__version__: str
SCHEMA_VERSION: int
__all__: list[str]  # noqa: PYI035 - made of the names above
