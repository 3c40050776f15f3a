"""What every cache on disk does alike: how its files come to be, and what is said where they cannot."""

import os
from pathlib import Path
from typing import Final

from vocabgap.errors import AccessDeniedError, StateError, VocabgapError

# The folder of embeddings in a cache; what earlier scans have read lies beside it.
EMBEDDINGS_FOLDER: Final = "embeddings"


def commit(temporary: Path, path: Path) -> None:
    """Give a file its name once its content is on the disk, and the name too.

    Args:
        temporary: The file, in the folder where it stays.
        path: Its name from now on; what had it is replaced.

    Raises:
        OSError: The system refused.
    """
    with temporary.open("rb") as content:
        os.fsync(content.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def refused(folder: Path, error: OSError) -> VocabgapError:
    """What is said where the system, or the disk, does not let a cache be used."""
    message = f"cache '{folder}' cannot be used: {error.strerror or error}"
    kind = AccessDeniedError if isinstance(error, PermissionError) else StateError
    return kind(message, hint="name another folder, or work without a cache")
