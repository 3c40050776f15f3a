"""The workspace of a server: its root and settings, fixed when the server starts, and its rankings."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.ingest.roots import resolve_roots
from vocabgap.model.lookup import did_you_mean, some_of
from vocabgap.model.record import LOG_NAME
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.model.tables import EFFECTS, GROUPS, PRESENT
from vocabgap.ranking.coverage import EntryIndex, covering_options
from vocabgap.ranking.vocabulary import load_vocabulary
from vocabgap.reporting.published_run import read_optional, read_table, resolve_target
from vocabgap.text import escape_unseen, excerpt, surface

if TYPE_CHECKING:
    from vocabgap.pipeline import Analysis

KEPT_SECONDS: Final = 30.0  # of a ranking
_LONGEST_NAME: Final = 255  # bytes of a file name
_LINK_HINT: Final = "remove the link"
_NAME_HINT: Final = "expected the name of a folder in the server's root, not a path"


class Workspace:
    """The folder of the logs, the settings and the rankings that the tools of a server use.

    A ranking calls the `checkpoint` between its stages; it may stop the work.
    """

    def __init__(
        self, root: str | Path, settings: Settings, checkpoint: Callable[[], None] = lambda: None
    ) -> None:
        (self.root,) = resolve_roots(root)
        if not self.root.is_dir():
            raise InvalidInputError(f"root '{root}' is not a folder", hint="name the folder of the logs")
        self.settings, self.checkpoint = settings, checkpoint
        self.out = resolve_target(settings.report.out)  # of the published report
        self.logged = 0  # gaps, by this server
        self._rankings: dict[Selection, tuple[Analysis, int, float]] = {}

    def image(self, image_id: str | None) -> Path:
        """Return the folder of an image below the root; without an image, the root."""
        if image_id is None:
            if not self._is_below((self.root / LOG_NAME).resolve()):
                raise InvalidInputError(
                    "the log of the root is a link to a file outside the root", hint=_LINK_HINT
                )
            return self.root
        name = excerpt(image_id)
        if not _is_name(image_id):
            raise InvalidInputError(f"image_id: '{name}' is not the name of an image", hint=_NAME_HINT)
        try:
            folder = (self.root / image_id).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError, RuntimeError) as error:  # or a circle of links
            problem = f"image_id: there is no folder '{name}'"
            raise NotFoundError(problem, hint=self._hint(image_id)) from error
        if not all(map(self._is_below, (folder, (folder / LOG_NAME).resolve()))):
            raise InvalidInputError(f"image_id: '{name}' is outside the root", hint=_LINK_HINT)
        return folder

    def entries(self) -> EntryIndex:
        """Return the entries of the vocabulary as an index."""
        vocabulary = load_vocabulary(self.settings.vocabulary.paths)
        return EntryIndex(vocabulary.entries, **covering_options(self.settings))

    def authored(self, wording: str) -> list[dict[str, object]]:
        """Return the effects of a need that was authored, if the published report has its wording."""
        groups = read_table(self.out, GROUPS).filter(run=PRESENT, surface=surface(wording))
        effects = read_optional(self.out, EFFECTS).join(groups, on="capability_id", how="semi")
        return effects.select("entries", "since", "verdict").to_dicts()

    def ranking(self, selection: Selection) -> "Analysis":
        """Return the ranking of a selection, with the identifiers of the published run.

        The server keeps a ranking until it logs a gap, for at most `KEPT_SECONDS`. Only one thread at a time
        may ask for a ranking.
        """
        from vocabgap.pipeline import analyse  # loads SciPy, which the first answer can do without

        analysis, logged, moment = self._rankings.get(selection, (None, -1, 0.0))
        if analysis is None or logged != self.logged or time.monotonic() - moment > KEPT_SECONDS:
            logged = self.logged
            analysis = analyse(
                self.root,
                settings=self.settings,
                selection=selection,
                out=self.out,
                on_stage=lambda _: self.checkpoint(),
            )
            moment = time.monotonic()
        # Keep this ranking, and that of everything.
        everything = {name: kept for name, kept in self._rankings.items() if name == Selection()}
        self._rankings = {**everything, selection: (analysis, logged, moment)}
        return analysis

    def _is_below(self, place: Path) -> bool:
        return place != self.root and place.is_relative_to(self.root)

    def _hint(self, image_id: str) -> str:
        folders = (path.name for path in self.root.iterdir() if path.is_dir() and not path.is_symlink())
        names = sorted(filter(_is_name, folders))
        return did_you_mean(image_id, names) or (some_of(names) if names else _NAME_HINT)


def _is_name(text: str) -> bool:
    """Tell whether a text can be the folder name of an image."""
    return (
        text == text.strip() != ""
        and not text.startswith(".")
        and not {*text} & {*"/\\\0"}
        and escape_unseen(text) == text
        and len(text.encode()) <= _LONGEST_NAME
    )
