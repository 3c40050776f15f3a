"""Folders that are to be a corpus: nothing else may be in them."""

import re
from pathlib import Path

from vocabgap.errors import StateError
from vocabgap.text import printable_name


def require_empty(folder: Path, but: re.Pattern[str]) -> None:
    """Refuse a folder that holds something else: a corpus is not to be strewn among other files.

    Args:
        folder: The folder.
        but: Names of files that may be there, left by a first change that was killed.

    Raises:
        StateError: It does.
        OSError: The system refused.
    """
    strange = sorted(path.name for path in folder.iterdir() if not but.fullmatch(path.name))
    if strange:
        raise StateError(
            f"'{folder}' is no corpus, and holds other files, such as '{printable_name(strange[0])}'",
            hint="name an empty folder, or one that does not exist yet",
        )
