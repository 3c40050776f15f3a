"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.cli.output import Output
from vocabgap.settings.model import BY_WORDING, DEFAULT_DECISIONS, DEFAULT_OUT
from vocabgap.text import count, escape_unseen

if TYPE_CHECKING:
    from vocabgap.clustering.embedding import EmbeddingUse
    from vocabgap.ingest.caching import CacheUse
    from vocabgap.ingest.scanning import Scan

RootsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Folders to search for gap logs, single log files, or shared corpora.", readable=False
    ),
]
GlossaryOption = Annotated[
    str | None,
    typer.Option("--glossary", help="Folder of the glossary that it becomes a term of.", show_default=False),
]
OptionalRootsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="ROOTS...",
        help="Folders to search for gap logs, or single log files.",
        readable=False,
        show_default=False,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file; vocabgap.toml in the current folder by default."),
]
ThresholdOption = Annotated[
    str | None,
    typer.Option(help=f"Cosine distance at which two needs differ, 0 to 1.  [default: {BY_WORDING}]"),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        help="Compare wordings by sentence embeddings, too: a model's folder, or minilm.",
        show_default=False,
    ),
]
VocabularyOption = Annotated[
    list[str] | None,
    typer.Option(help="File or folder that lists what agents can ask for already; may be repeated."),
]
HiddenOption = Annotated[
    bool | None,
    typer.Option("--hidden", help="Search names that start with a dot, too.", show_default=False),
]
TenantsOption = Annotated[
    list[str] | None, typer.Option("--tenant", help="Of a corpus only this tenant; may be repeated.")
]
RepositoriesOption = Annotated[
    list[str] | None, typer.Option("--repo", help="Of a corpus only this repository; may be repeated.")
]
CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder that keeps what was read, so that the next run reads what is new."),
]
VerifyHashOption = Annotated[
    bool, typer.Option("--verify-hash", help="Compare logs with the cache by digest, not by size and times.")
]
ShareOption = Annotated[
    bool,
    typer.Option(
        "--share",
        help="Write share.html, too, which may leave the machine: only what is on several images, no names,"
        " and only words that as many have in common. --min-images says how many; 3 where it does not.",
    ),
]
RunOption = Annotated[
    str | None, typer.Option("--run", help=f"Folder of the published run.  [default: {DEFAULT_OUT}]")
]
DecisionsOption = Annotated[
    str | None,
    typer.Option("--decisions", help=f"File that keeps what was decided.  [default: {DEFAULT_DECISIONS}]"),
]


def note_embeddings(output: Output, use: "EmbeddingUse | None") -> None:
    """Tell a person what the kept embeddings were good for."""
    if use is None:
        return
    if use.note:
        output.note(f"cache: {use.note}")
    if use.found:
        output.note(f"cache: {count(use.found, 'embedding')} kept, {use.computed:,} computed")


def note_cache(output: Output, use: "CacheUse | None") -> None:
    """Tell a person what the cache was good for."""
    if use is None:
        return
    if use.note:
        output.note(f"cache: {use.note}")
    else:
        resumed, read = f"{use.resumed:,} compared and read on", f"{use.read:,} read whole"
        output.note(f"cache: {count(use.unchanged, 'log')} unchanged, {resumed}, {read}")


def note_unread(output: Output, scanned: "Scan") -> None:
    """Tell a person which logs, folders and links were not read, or not to their end."""
    for row in scanned.rejects.iter_rows(named=True):
        if row["line"] is None:
            output.note(escape_unseen(f"not read: {row['source_path']}: {row['detail']}"))
