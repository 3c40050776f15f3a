"""The workspace of a server: one root with its settings and rankings, fixed when the server starts."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from vocabgap.errors import InvalidInputError, NotFoundError, expanded, system_error
from vocabgap.extensions import reader_of
from vocabgap.ingest.discovery import discover, resolve_roots
from vocabgap.listing.similar import SimilarIndex
from vocabgap.model.lookup import did_you_mean
from vocabgap.model.record import LOG_NAME
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.pipeline import Analysis, analyse
from vocabgap.ranking.vocabulary import load_vocabulary, vocabulary_files
from vocabgap.reporting.manifest import MANIFEST_NAME
from vocabgap.reporting.published_run import read_run, resolve_target
from vocabgap.text import escape_unseen, excerpt

KEPT_SECONDS: Final = 60.0  # of a ranking
_EVERYTHING: Final = Selection()
_LONGEST_NAME: Final = 255  # bytes of the name of a file
_SEPARATORS: Final = frozenset("/\\\0")
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_NAME_HINT: Final = "expected the name of a folder in the root of the server, not a path"
_State = tuple[tuple[str, int, int], ...]  # path, size and time of each file


@dataclass(frozen=True)
class Workspace:
    """The root, the settings and the rankings that the tools of a server use."""

    root: Path  # of the image repositories, resolved
    settings: Settings
    out: Path  # of the published report, resolved
    rankings: "Rankings"
    is_read_only: bool = False

    @classmethod
    def at(cls, root: str | Path, settings: Settings, *, is_read_only: bool = False) -> "Workspace":
        """Return the workspace at a folder."""
        (folder,) = resolve_roots(root)
        if not folder.is_dir():
            raise InvalidInputError(
                f"root '{root}' is a file", hint="name the folder of the image repositories"
            )
        out = resolve_target(settings.report.out)
        return cls(folder, settings, out, Rankings(folder, settings, out), is_read_only)

    def image(self, image_id: str) -> Path:
        """Return the folder of an image below the root."""
        shown = excerpt(image_id)
        if not _is_name(image_id):
            raise InvalidInputError(f"image_id: '{shown}' is not the name of an image", hint=_NAME_HINT)
        try:
            folder = (self.root / image_id).resolve(strict=True)
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
    """A ranking, the state of the files behind it, and its time."""

    state: _State
    time: float
    analysis: Analysis


class Rankings:
    """The rankings of one root, which carry on the identifiers of the published run.

    One thread at a time may ask for a ranking; any thread may ask for the index.
    """

    def __init__(self, root: Path, settings: Settings, out: Path) -> None:
        self._root, self._settings, self._out = root, settings, out
        self._kept: dict[Selection, _Kept] = {}
        self._indexed: tuple[_State, SimilarIndex] | None = None
        self._indexing = Lock()

    def of(self, selection: Selection, checkpoint: Callable[[], None] = lambda: None) -> Analysis:
        """Return the ranking of a selection, as the logs are now.

        The checkpoint is called between two stages; it may end the work.
        """
        state, kept = self._state(), self._kept.get(selection)
        if kept is None or kept.state != state or time.monotonic() - kept.time > KEPT_SECONDS:
            analysis = analyse(
                self._root,
                settings=self._settings,
                selection=selection,
                out=self._out,
                on_stage=lambda _: checkpoint(),
            )
            kept = _Kept(state, time.monotonic(), analysis)
        # That of everything makes room for no other. It is replaced at once: other threads read it.
        everything = {each: it for each, it in self._kept.items() if each == _EVERYTHING}
        self._kept = {**everything, selection: kept}
        return kept.analysis

    def index(self) -> SimilarIndex:
        """Return the vocabulary, and the newest ranking or else the published one, as an index."""
        with self._indexing:
            kept = self._kept.get(_EVERYTHING)
            published = [str(self._out / MANIFEST_NAME)]
            entries = self._entries()
            state = (*_state_of(published + entries), *(kept.state if kept else ()))
            if self._indexed is None or self._indexed[0] != state:
                ranked = None if kept is None else kept.analysis.ranked
                if kept is None:
                    with suppress(NotFoundError):
                        _, ranked = read_run(self._out, option="--out")
                vocabulary = load_vocabulary(self._settings.vocabulary.paths)
                self._indexed = (state, SimilarIndex(ranked, vocabulary, self._settings))
            return self._indexed[1]

    def _entries(self) -> list[str]:
        return [str(path) for path in vocabulary_files(self._settings.vocabulary.paths)]

    def _state(self) -> _State:
        """Return the state of the decisions, the published run, the logs and the vocabulary."""
        settings = self._settings
        if reader_of(self._root) is not None:
            logs = [entry.path for entry in os.scandir(self._root)]
        else:
            logs = [log.path for log in discover(self._root, settings.scan)]
        decisions = str(expanded(settings.decisions.file))
        return _state_of([decisions, str(self._out / MANIFEST_NAME), *logs, *self._entries()])


def _is_name(text: str) -> bool:
    """Say whether a text can be the name of the folder of an image."""
    return (
        text == text.strip() != ""
        and not text.startswith(".")
        and _SEPARATORS.isdisjoint(text)
        and escape_unseen(text) == text
        and len(text.encode()) <= _LONGEST_NAME
    )


def _state_of(paths: list[str]) -> _State:
    """Return the size and time of each file."""
    return tuple(map(_file_state, paths))


def _file_state(path: str) -> tuple[str, int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 - paths are text here
    except OSError:
        return path, -1, -1
    return path, status.st_size, status.st_mtime_ns
