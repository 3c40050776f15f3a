"""What a report was narrowed to: whoever asks such a run for a capability may miss it for that."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vocabgap.errors import NotFoundError
from vocabgap.reporting.manifest import Manifest, read_manifest
from vocabgap.reporting.narrowing import narrowed
from vocabgap.reporting.target import resolve_target
from vocabgap.text import visible


def narrowed_to(manifest: Manifest) -> str:
    """What a published run was narrowed to, in words; empty for everything."""
    parts = () if manifest.parameters is None else narrowed(manifest.parameters.selection)
    return visible(", ".join(parts))


@contextmanager
def telling(folder: str | Path) -> Iterator[None]:
    """Have what is not found in a published run say that the run was narrowed, where it was.

    Args:
        folder: Where it was published.

    Raises:
        NotFoundError: As within, with a hint that says so.
    """
    try:
        yield
    except NotFoundError as error:
        manifest = read_manifest(resolve_target(folder))
        words = "" if manifest is None else narrowed_to(manifest)
        if not words:
            raise
        why = f"this run was narrowed to {words}; --run names another one"
        raise NotFoundError(error.message, hint=f"{error.hint}; {why}" if error.hint else why) from error
