"""The workspace of a server: one root and what belongs to it, fixed when the server starts."""

import difflib
import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, system_error
from vocabgap.ingest import resolve_roots
from vocabgap.mcp_server.rankings import Rankings
from vocabgap.records.record import LOG_NAME
from vocabgap.reporting.publishing import resolve_target
from vocabgap.settings.model import Settings
from vocabgap.text import escape_unseen, shortened, visible

_LONGEST_NAME: Final = 255  # bytes of the name of a file
_SEPARATORS: Final = frozenset("/\\\0")
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_ALIKE: Final = 3
_NAME_HINT: Final = "expected the name of a folder in the root of the server, not a path"


@dataclass(frozen=True)
class Workspace:
    """What the tools of a server read, and where they write.

    Attributes:
        root: The folder of the image repositories, resolved.
        settings: The settings in force.
        out: The folder of the published report, resolved.
        is_read_only: Whether nothing is written.
    """

    root: Path
    settings: Settings
    out: Path
    is_read_only: bool = False

    @classmethod
    def at(cls, root: str | Path, settings: Settings, *, is_read_only: bool = False) -> "Workspace":
        """The workspace at a folder.

        Args:
            root: The folder of the image repositories.
            settings: The settings in force; `settings.report.out` is the folder of the published report.
            is_read_only: Whether nothing is to be written.

        Raises:
            VocabgapError: It does not exist, is no folder, or may not be read.
        """
        (folder,) = resolve_roots(root)
        if not folder.is_dir():
            raise InvalidInputError(
                f"root '{root}' is a file", hint="name the folder of the image repositories"
            )
        return cls(folder, settings, resolve_target(settings.report.out), is_read_only)

    @cached_property
    def rankings(self) -> Rankings:
        """The rankings of what is logged below the root."""
        return Rankings(self.root, self.settings, self.out)

    def image(self, image_id: str) -> Path:
        """The folder of an image repository.

        Args:
            image_id: Its name.

        Raises:
            InvalidInputError: It is no name, or what is called so lies elsewhere.
            NotFoundError: There is no such folder.
            AccessDeniedError: It may not be looked at.
            StateError: The disk does not tell.
        """
        shown = shortened(visible(image_id))
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
        near = difflib.get_close_matches(image_id, names, _ALIKE)
        return f"did you mean {' or '.join(map(repr, near))}?" if near else _NAME_HINT


def _is_name(text: str) -> bool:
    """Whether a text can be the name of an image's folder, and of nothing else."""
    return (
        text == text.strip() != ""
        and not text.startswith(".")
        and _SEPARATORS.isdisjoint(text)
        and escape_unseen(text) == text
        and len(text.encode()) <= _LONGEST_NAME
    )
