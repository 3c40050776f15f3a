"""Rankings of what is logged, kept as long as nothing changes: agents ask for one, then for its details."""

import os
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

import polars as pl

from vocabgap.corpus.places import is_corpus
from vocabgap.errors import NotFoundError, expanded
from vocabgap.gaplog.nearest import SimilarIndex
from vocabgap.ingest import Selection
from vocabgap.ingest.discovery import discover
from vocabgap.pipeline import Analysis, analyse
from vocabgap.ranking.vocabulary import Vocabulary, load_vocabulary, vocabulary_files
from vocabgap.reporting import read_run
from vocabgap.reporting.manifest import MANIFEST_NAME
from vocabgap.settings.model import Settings

KEPT_SECONDS: Final = 60.0  # then it is made again, as of a later moment
_MOST_KEPT: Final = 4
_EVERYTHING: Final = Selection()
_State = tuple[tuple[str, int, int], ...]


class _Kept(NamedTuple):
    """A ranking, with the state of the files that it was made of, and when that was."""

    state: _State
    made: float
    analysis: Analysis


class Known(NamedTuple):
    """What a need can be compared with.

    Attributes:
        capabilities: Table `capabilities`; null where nothing was ranked or published yet.
        vocabulary: The vocabulary, empty where there is none.
    """

    capabilities: pl.DataFrame | None
    vocabulary: Vocabulary


class Rankings:
    """The rankings of one root. Only one thread at a time may ask for one; any may ask what is known.

    Args:
        root: What is ranked.
        settings: The settings in force.
        out: The folder of the published run, whose identifiers are carried on.
    """

    def __init__(self, root: Path, settings: Settings, out: Path) -> None:
        self._root, self._settings, self._out = root, settings, out
        self._kept: dict[Hashable, _Kept] = {}
        self._published: tuple[_State, pl.DataFrame | None] | None = None
        self._vocabulary: tuple[_State, Vocabulary] | None = None
        self._indexed: tuple[Known, SimilarIndex] | None = None
        self._indexing = Lock()

    def of(
        self, selection: Selection, checkpoint: Callable[[], None] = lambda: None, *, asked: Hashable = None
    ) -> Analysis:
        """The ranking of what is selected, as the logs are now.

        Args:
            selection: What it is narrowed to.
            checkpoint: Called when a stage begins; what it raises ends the work there.
            asked: What the selection was made of, if that says when a ranking may be given again: a span
                before now is another selection at every moment. By default the selection says it.

        Raises:
            VocabgapError: As the stages raise them.
        """
        entries = self._entries_state()
        state = (*entries, *self._state())
        name = selection if asked is None or selection == _EVERYTHING else asked
        kept = self._kept.get(name)
        if kept is None or kept.state != state or time.monotonic() - kept.made > KEPT_SECONDS:
            found = analyse(
                self._root,
                settings=self._settings,
                selection=selection,
                out=self._out,
                on_stage=lambda _: checkpoint(),
            )
            kept = _Kept(state, time.monotonic(), found)
            self._vocabulary = (entries, found.vocabulary)
        self._keep(name, kept)
        return kept.analysis

    def _keep(self, name: Hashable, kept: _Kept) -> None:
        """Keep a ranking as the newest, at once: other threads look up what is known meanwhile.

        The ranking of all that is logged makes room for no other: most tools use it, and `known` does.
        """
        others = {each: ranking for each, ranking in self._kept.items() if each != name}
        narrowed = [each for each in others if each != _EVERYTHING]
        for oldest in narrowed[: max(0, len(others) + 1 - _MOST_KEPT)]:
            del others[oldest]
        self._kept = {**others, name: kept}

    def known(self) -> Known:
        """What is known without ranking anew: the newest ranking that was made, else the published.

        Raises:
            VocabgapError: The published run, or the vocabulary, cannot be read.
        """
        kept = self._kept.get(_EVERYTHING)
        return Known(self._last_published() if kept is None else kept.analysis.ranked, self._entries())

    def index(self) -> SimilarIndex:
        """What is known, made ready to be compared with; made ready again only where it is not the same.

        Raises:
            VocabgapError: The published run, or the vocabulary, cannot be read.
        """
        with self._indexing:
            known = self.known()
            if self._indexed is None or any(
                now is not then for now, then in zip(known, self._indexed[0], strict=True)
            ):
                self._indexed = (known, SimilarIndex(*known, self._settings))
            return self._indexed[1]

    def _last_published(self) -> pl.DataFrame | None:
        state = _state_of([str(self._out / MANIFEST_NAME)])
        if self._published is None or self._published[0] != state:
            ranked = None
            with suppress(NotFoundError):
                _, ranked = read_run(self._out, option="--out")
            self._published = (state, ranked)
        return self._published[1]

    def _entries(self) -> Vocabulary:
        state = self._entries_state()
        if self._vocabulary is None or self._vocabulary[0] != state:
            listed = self._settings.vocabulary
            read = load_vocabulary(listed.paths, fields=listed.fields, entries=listed.entries)
            self._vocabulary = (state, read)
        return self._vocabulary[1]

    def _entries_state(self) -> _State:
        return _state_of([str(path) for path in vocabulary_files(self._settings.vocabulary.paths)])

    def _state(self) -> _State:
        """What tells whether a file has changed that a ranking depends on, those of the vocabulary aside."""
        settings = self._settings
        if is_corpus(self._root):
            logs = [entry.path for entry in os.scandir(self._root)]
        else:
            found = discover(self._root, sources=settings.sources, hidden=settings.ingest.hidden)
            logs = [log.path for log in found]
        decisions = str(expanded(settings.decisions.file))
        return _state_of([str(self._out / MANIFEST_NAME), decisions, *logs])


def _state_of(paths: list[str]) -> _State:
    return tuple(_states(paths))


def _states(paths: list[str]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        try:
            found = os.stat(path)  # noqa: PTH116 - paths are text here
        except OSError:
            yield path, -1, -1
        else:
            yield path, found.st_size, found.st_mtime_ns
