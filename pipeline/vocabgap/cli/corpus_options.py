"""What the commands on a shared corpus have in common."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.cli.output import Output
from vocabgap.settings.loading import resolve_settings
from vocabgap.settings.model import DEFAULT_CORPUS
from vocabgap.text import escape_unseen

if TYPE_CHECKING:
    from vocabgap.corpus.corpus import Corpus

CorpusOption = Annotated[
    str | None, typer.Option("--corpus", help=f"Folder of the shared corpus.  [default: {DEFAULT_CORPUS}]")
]
TenantOption = Annotated[str, typer.Option("--tenant", help="Whose records they are.", show_default=False)]
RepoOption = Annotated[
    str, typer.Option("--repo", help="The repository that they are of.", show_default=False)
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="The file to write.", show_default=False)]


def opened(output: Output, folder: str | None, config: Path | None, *, create: bool = False) -> "Corpus":
    """The corpus that an option, the environment or the settings name.

    Args:
        output: Where a person is told who has to be waited for.
        folder: What the option says.
        config: The settings file.
        create: Whether one may be made there.
    """
    settings = resolve_settings(config, os.environ, {"--corpus": (("corpus", "folder"), folder)}).settings
    from vocabgap.corpus.corpus import open_corpus  # noqa: PLC0415 - loads Polars

    return open_corpus(
        settings.corpus.folder,
        create=create,
        settings=settings,
        on_wait=lambda holder: output.note(escape_unseen(f"waiting for {holder}")),
    )
