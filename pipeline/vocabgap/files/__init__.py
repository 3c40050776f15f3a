"""Files and folders of the machine: writing whole, locking, journals, YAML, and errors of the system."""

import os
from pathlib import Path


def user_cache() -> Path | None:
    """Return vocabgap's folder in the user's cache, by the XDG base directories; None without a home."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (home if home.is_absolute() else Path("~/.cache").expanduser()) / "vocabgap"
    except RuntimeError:
        return None
