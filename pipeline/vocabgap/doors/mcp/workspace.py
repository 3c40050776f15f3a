"""The workspace of a server: its root, settings and rankings, fixed when the server starts."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from vocabgap.errors import InvalidInputError, NotFoundError, system_error
from vocabgap.ingest.roots import resolve_roots
from vocabgap.model.lookup import did_you_mean, some_of
from vocabgap.model.record import LOG_NAME
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.ranking.coverage import EntryIndex, with_folded_operations
from vocabgap.ranking.vocabulary import load_vocabulary
from vocabgap.reporting.published_run import resolve_target
from vocabgap.text import escape_unseen, excerpt

if TYPE_CHECKING:
    from vocabgap.pipeline import Analysis

KEPT_SECONDS: Final = 30.0  # of a ranking
_EVERYTHING: Final = Selection()
_LONGEST_NAME: Final = 255  # bytes of a file name
_SEPARATORS: Final = frozenset("/\\\0")
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_LINK_HINT: Final = "remove the link"
_NAME_HINT: Final = "expected the name of a folder in the server's root, not a path"


@dataclass(frozen=True)
class Workspace:
    """The root, the settings and the rankings that the tools of a server use."""

    root: Path  # of the logs, resolved
    settings: Settings
    out: Path  # of the published report, resolved
    rankings: "Rankings"
    is_read_only: bool = False

    @classmethod
    def at(cls, root: str | Path, settings: Settings, *, is_read_only: bool = False) -> "Workspace":
        """Return the workspace at a folder."""
        (folder,) = resolve_roots(root)
        if not folder.is_dir():
            raise InvalidInputError(f"root '{root}' is not a folder", hint="name the folder of the logs")
        out = resolve_target(settings.report.out)
        return cls(folder, settings, out, Rankings(folder, settings, out), is_read_only)

    def image(self, image_id: str | None) -> Path:
        """Return the folder of an image below the root; without an image, the root."""
        if image_id is None:
            if not self._is_below((self.root / LOG_NAME).resolve()):
                raise InvalidInputError("the log of the root is a link out of it", hint=_LINK_HINT)
            return self.root
        shown = excerpt(image_id)
        if not _is_name(image_id):
            raise InvalidInputError(f"image_id: '{shown}' is not the name of an image", hint=_NAME_HINT)
        try:
            folder = (self.root / image_id).resolve(strict=True)
        except (OSError, RuntimeError) as error:
            if isinstance(error, OSError) and error.errno not in _ABSENT:
                raise system_error(error) from error
            raise NotFoundError(
                f"image_id: there is no folder '{shown}'", hint=self._hint(image_id)
            ) from error
        log = folder / LOG_NAME
        if not all(self._is_below(place) for place in (folder, log.resolve())):
            raise InvalidInputError(f"image_id: '{shown}' is outside the root", hint=_LINK_HINT)
        if not folder.is_dir():
            raise InvalidInputError(f"image_id: '{shown}' is not a folder", hint=_NAME_HINT)
        return folder

    def entries(self) -> EntryIndex:
        """Return the entries of the vocabulary as an index."""
        settings = self.settings
        vocabulary = load_vocabulary(settings.vocabulary.paths)
        entries = with_folded_operations(vocabulary.entries, settings.operation_aliases)
        return EntryIndex(entries, settings.cluster.stop_words)

    def _is_below(self, place: Path) -> bool:
        return place != self.root and place.is_relative_to(self.root)

    def _hint(self, image_id: str) -> str:
        names: list[str] = []
        with suppress(OSError), os.scandir(self.root) as entries:
            names += [
                each.name for each in entries if each.is_dir(follow_symlinks=False) and _is_name(each.name)
            ]
        return did_you_mean(image_id, names) or (some_of(sorted(names)) if names else _NAME_HINT)


class _Kept(NamedTuple):
    """A ranking, its time, and the number of gaps that the server had logged before."""

    analysis: "Analysis"
    logged: int
    time: float


class Rankings:
    """The rankings of one root; they keep the identifiers of the published run.

    Only one thread at a time may ask for a ranking.
    """

    def __init__(self, root: Path, settings: Settings, out: Path) -> None:
        self._root, self._settings, self._out = root, settings, out
        self._logged = 0
        self._kept: dict[Selection, _Kept] = {}

    def note_logged(self) -> None:
        """Record that a gap was logged: the next ranking reads the logs again."""
        self._logged += 1

    def of(self, selection: Selection, checkpoint: Callable[[], None] = lambda: None) -> "Analysis":
        """Return the ranking of a selection; changes by other programs appear after `KEPT_SECONDS`.

        The checkpoint is called between stages; it may stop the work.
        """
        from vocabgap.pipeline import analyse  # loads SciPy, which the first answer can do without

        kept, logged = self._kept.get(selection), self._logged
        if kept is None or kept.logged != logged or time.monotonic() - kept.time > KEPT_SECONDS:
            analysis = analyse(
                self._root,
                settings=self._settings,
                selection=selection,
                out=self._out,
                on_stage=lambda _: checkpoint(),
            )
            kept = _Kept(analysis, logged, time.monotonic())
        # Keep the ranking of everything. Replace the whole dict in one step: other threads read it.
        everything = {each: it for each, it in self._kept.items() if each == _EVERYTHING}
        self._kept = {**everything, selection: kept}
        return kept.analysis


def _is_name(text: str) -> bool:
    """Tell whether a text can be the folder name of an image."""
    return (
        text == text.strip() != ""
        and not text.startswith(".")
        and _SEPARATORS.isdisjoint(text)
        and escape_unseen(text) == text
        and len(text.encode()) <= _LONGEST_NAME
    )
