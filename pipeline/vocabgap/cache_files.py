"""What every cache on disk does alike: how its files come to be, and what is said where they cannot."""

from pathlib import Path
from typing import Final

from vocabgap.errors import AccessDeniedError, StateError, VocabgapError

# The folder of embeddings in a cache; what earlier scans have read lies beside it.
EMBEDDINGS_FOLDER: Final = "embeddings"


def refused(folder: Path, error: OSError) -> VocabgapError:
    """What is said where the system, or the disk, does not let a cache be used."""
    message = f"cache '{folder}' cannot be used: {error.strerror or error}"
    kind = AccessDeniedError if isinstance(error, PermissionError) else StateError
    return kind(message, hint="name another folder, or work without a cache")
