"""Options that several commands share."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vocabgap.cli.output import Output
from vocabgap.settings.model import BY_WORDING, DEFAULT_DECISIONS, DEFAULT_OUT, Flag, known_flags
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


def with_flags(table: str, *, after: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each setting of a table that has one, as the settings declare it.

    Args:
        table: The table of the settings.
        after: The parameter that they follow in the help.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters = []
        for parameter in inspect.signature(command).parameters.values():
            parameters.append(parameter)
            if parameter.name == after:
                parameters += [_parameter(*each) for each in _flags_of(table).items()]

        @wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401 - whatever Typer has read
            command(**{name: value for name, value in given.items() if name in own})

        own = inspect.signature(command).parameters
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def said_flags(context: typer.Context, table: str) -> dict[str, Any]:
    """The options that `with_flags` gave a command, with what was said; None where nothing was."""
    return {name: context.params[_name_of(name)] for name in _flags_of(table)}


def _flags_of(table: str) -> dict[str, Flag]:
    return {name: flag for name, flag in known_flags().items() if flag.table == table}


def _name_of(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _parameter(name: str, flag: Flag) -> inspect.Parameter:
    option = typer.Option(name, help=f"{flag.meaning}  [default: {flag.default}]")
    kind = Annotated[flag.kind | None, option]  # type: ignore[name-defined]
    return inspect.Parameter(
        _name_of(name), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=kind
    )


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
