"""What the command line says of the files of a run."""

from vocabgap.reporting import Published
from vocabgap.reporting.target import current_folder
from vocabgap.text import escape_unseen


def published_line(published: Published) -> str:
    """The folder, as seen from the current one, and the names of the files in it."""
    here = current_folder()
    folder = published.folder
    if here is not None and folder.is_relative_to(here):
        folder = folder.relative_to(here)
    return f"{escape_unseen(str(folder))}: {', '.join(published.files)}"
