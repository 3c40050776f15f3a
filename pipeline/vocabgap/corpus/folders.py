"""Folders that are to be a corpus: nothing else may be in them."""

import re
from pathlib import Path

from vocabgap.errors import StateError
from vocabgap.text import printable_name


def require_own(folder: Path, mark: str, but: re.Pattern[str]) -> None:
    """Refuse a folder that is no corpus and holds something else: it is not to be strewn among other files.

    Args:
        folder: The folder.
        mark: The name in it that every corpus of the kind has.
        but: Names of files that may be there, left by a first change that was killed.

    Raises:
        StateError: It does.
        OSError: The system refused.
    """
    if (folder / mark).exists():
        return
    strange = sorted(path.name for path in folder.iterdir() if not but.fullmatch(path.name))
    # What is strange may be the corpus that another writer has begun since.
    if strange and not (folder / mark).exists():
        raise StateError(
            f"'{folder}' is no corpus, and holds other files, such as '{printable_name(strange[0])}'",
            hint="name an empty folder, or one that does not exist yet",
        )
