"""What the command line says of the files of a run."""

from pathlib import Path

from vocabgap.reporting import Published
from vocabgap.reporting.publishing import current_folder
from vocabgap.text import escape_unseen


def published_line(published: Published) -> str:
    """The folder, as seen from the current one, and the names of the files in it."""
    return f"{folder_told(published.folder)}: {', '.join(published.files)}"


def folder_told(folder: Path) -> str:
    """A folder, as seen from the current one where it is within."""
    here = current_folder()
    if here is not None and folder.is_relative_to(here):
        folder = folder.relative_to(here)
    return escape_unseen(str(folder))
