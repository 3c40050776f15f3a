"""The folder of the user that keeps files which can be made again."""

import os
from pathlib import Path
from typing import Final

EMBEDDINGS_FOLDER: Final = "embeddings"
"""The folder of embeddings in a cache."""


def user_cache() -> Path | None:
    """Return vocabgap's folder in the user's cache, by the XDG base directories; None without a home."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "vocabgap"
    except RuntimeError:
        return None
