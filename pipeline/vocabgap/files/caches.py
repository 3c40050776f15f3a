"""Folders that keep what can be made again: where that of the user lies, and what is said where one fails."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from vocabgap.errors import InvalidInputError
from vocabgap.files.refusals import refusal

EMBEDDINGS_FOLDER: Final = "embeddings"
"""The folder of embeddings in a cache; what earlier scans have read lies beside it."""


def user_cache() -> Path | None:
    """The folder of the user's cache that is vocabgap's, as the XDG base directories have it.

    None where the user has no home: what can be made again is not kept then.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "vocabgap"
    except RuntimeError:
        return None


@contextmanager
def using_cache(folder: Path) -> Iterator[None]:
    """Let what the system refuses of a cache within the block be an error with what to do instead."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise InvalidInputError(f"cache '{folder}' is no folder", hint="name another one") from error
    except OSError as error:
        hint = "name another folder, or work without a cache"
        raise refusal(f"cache '{folder}' cannot be used", error, hint=hint) from error
