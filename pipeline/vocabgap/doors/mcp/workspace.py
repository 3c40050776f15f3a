"""The workspace of a server: one root and what belongs to it, fixed when the server starts."""

import errno
import os
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

import polars as pl

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, expanded, system_error
from vocabgap.extensions import reader_of
from vocabgap.ingest.discovery import discover, resolve_roots
from vocabgap.listing.similar import SimilarIndex
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.record import LOG_NAME
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.pipeline import Analysis, analyse
from vocabgap.ranking.vocabulary import Vocabulary, configured_vocabulary, vocabulary_files
from vocabgap.reporting.manifest import MANIFEST_NAME
from vocabgap.reporting.published_run import read_run, resolve_target
from vocabgap.text import escape_unseen, excerpt

KEPT_SECONDS: Final = 60.0  # for which a ranking is given again; then it is made as of a later moment
_MOST_KEPT: Final = 4
_EVERYTHING: Final = Selection()
_LONGEST_NAME: Final = 255  # bytes of the name of a file
_SEPARATORS: Final = frozenset("/\\\0")
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_NAME_HINT: Final = "expected the name of a folder in the root of the server, not a path"
_State = tuple[tuple[str, int, int], ...]  # path, size and time of each file that something was made of


@dataclass(frozen=True)
class Workspace:
    """What the tools of a server read, and where they write."""

    root: Path  # of the image repositories, resolved
    settings: Settings
    out: Path  # of the published report, resolved
    rankings: "Rankings"
    is_read_only: bool = False

    @classmethod
    def at(cls, root: str | Path, settings: Settings, *, is_read_only: bool = False) -> "Workspace":
        """The workspace at a folder; `settings.report.out` is the folder of the published report."""
        (folder,) = resolve_roots(root)
        if not folder.is_dir():
            raise InvalidInputError(
                f"root '{root}' is a file", hint="name the folder of the image repositories"
            )
        out = resolve_target(settings.report.out)
        return cls(folder, settings, out, Rankings(folder, settings, out), is_read_only)

    def image(self, image_id: str) -> Path:
        """The folder of the image repository of this name, which lies below the root."""
        shown = excerpt(image_id)
        if not _is_name(image_id):
            raise InvalidInputError(f"image_id: '{shown}' is not the name of an image", hint=_NAME_HINT)
        try:
            folder = (self.root / image_id).resolve(strict=True)
        except PermissionError as error:
            raise AccessDeniedError(
                f"image_id: '{shown}' may not be looked at", hint="check the permissions on the way"
            ) from error
        except (OSError, RuntimeError) as error:
            if isinstance(error, OSError) and error.errno not in _ABSENT:
                raise system_error(error) from error
            raise NotFoundError(
                f"image_id: there is no image '{shown}'", hint=self._hint(image_id)
            ) from error
        log = folder / LOG_NAME
        if not all(self._is_below(place) for place in (folder, log.resolve())):
            raise InvalidInputError(f"image_id: '{shown}' leads out of the root", hint=_NAME_HINT)
        if not folder.is_dir():
            raise InvalidInputError(f"image_id: '{shown}' is not a folder", hint=_NAME_HINT)
        return folder

    def _is_below(self, place: Path) -> bool:
        return place != self.root and place.is_relative_to(self.root)

    def _hint(self, image_id: str) -> str:
        names: list[str] = []
        with suppress(OSError), os.scandir(self.root) as entries:
            names += [
                each.name for each in entries if each.is_dir(follow_symlinks=False) and _is_name(each.name)
            ]
        return did_you_mean(image_id, names) or _NAME_HINT


class _Kept(NamedTuple):
    """A ranking, with the state of the files that it was made of, and when that was."""

    state: _State
    time: float
    analysis: Analysis


class Known(NamedTuple):
    """What a need can be compared with."""

    capabilities: pl.DataFrame | None  # null where nothing was ranked or published yet
    vocabulary: Vocabulary


class Rankings:
    """The rankings of one root, which carry on the identifiers of the published run.

    Only one thread at a time may ask for one; any may ask what is known.
    """

    def __init__(self, root: Path, settings: Settings, out: Path) -> None:
        self._root, self._settings, self._out = root, settings, out
        self._kept: dict[Hashable, _Kept] = {}
        self._published: tuple[_State, pl.DataFrame | None] | None = None
        self._vocabulary: tuple[_State, Vocabulary] | None = None
        self._indexed: tuple[Known, SimilarIndex] | None = None
        self._indexing = Lock()

    def of(
        self, selection: Selection, checkpoint: Callable[[], None] = lambda: None, *, request: Hashable = None
    ) -> Analysis:
        """The ranking of what is selected, as the logs are now; the checkpoint may end it between two stages.

        By the request that a selection was made of a ranking is found again: a span before now is another
        selection at every moment.
        """
        return self._of(selection, checkpoint, request)

    def whatever_was_decided(self, checkpoint: Callable[[], None] = lambda: None) -> Analysis:
        """The ranking of all that is logged now; it may follow fewer decisions than there are."""
        return self._of(_EVERYTHING, checkpoint, None, told_by=slice(1, None))

    def _of(
        self,
        selection: Selection,
        checkpoint: Callable[[], None],
        request: Hashable,
        told_by: slice = slice(None),
    ) -> Analysis:
        entries = self._entries_state()
        state = (*self._state(), *entries)
        name = selection if request is None or selection == _EVERYTHING else request
        kept = self._kept.get(name)
        if (
            kept is None
            or kept.state[told_by] != state[told_by]
            or time.monotonic() - kept.time > KEPT_SECONDS
        ):
            analysis = analyse(
                self._root,
                settings=self._settings,
                selection=selection,
                out=self._out,
                on_stage=lambda _: checkpoint(),
            )
            kept = _Kept(state, time.monotonic(), analysis)
            self._vocabulary = (entries, analysis.vocabulary)
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
        """What is known without ranking anew: the newest ranking that was made, else the published one."""
        kept = self._kept.get(_EVERYTHING)
        return Known(self._last_published() if kept is None else kept.analysis.ranked, self._entries())

    def index(self) -> SimilarIndex:
        """What is known, made ready to be compared with; made ready again only where it is not the same."""
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
            vocabulary = configured_vocabulary(self._settings.vocabulary)
            self._vocabulary = (state, vocabulary)
        return self._vocabulary[1]

    def _entries_state(self) -> _State:
        return _state_of([str(path) for path in vocabulary_files(self._settings.vocabulary.paths)])

    def _state(self) -> _State:
        """What tells whether a file has changed that a ranking depends on: that of the decisions first.

        Those of the vocabulary are not among them.
        """
        settings = self._settings
        if reader_of(self._root) is not None:
            logs = [entry.path for entry in os.scandir(self._root)]
        else:
            logs = [log.path for log in discover(self._root, settings.scan)]
        decisions = str(expanded(settings.decisions.file))
        return _state_of([decisions, str(self._out / MANIFEST_NAME), *logs])


def _is_name(text: str) -> bool:
    """Whether a text can be the name of an image's folder, and of nothing else."""
    return (
        text == text.strip() != ""
        and not text.startswith(".")
        and _SEPARATORS.isdisjoint(text)
        and escape_unseen(text) == text
        and len(text.encode()) <= _LONGEST_NAME
    )


def _state_of(paths: list[str]) -> _State:
    """What tells whether any of some files has changed."""
    return tuple(map(_file_state, paths))


def _file_state(path: str) -> tuple[str, int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - paths are text here
    except OSError:
        return path, -1, -1
    return path, status.st_size, status.st_mtime_ns
