"""Files and folders: atomic writing, locking, journals, YAML, and errors of the system."""

import os
from pathlib import Path


def user_cache() -> Path | None:
    """Return vocabgap's folder in the user's cache (XDG); None without a home folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "vocabgap"
    except RuntimeError:
        return None
