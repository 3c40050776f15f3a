"""Options that several commands share."""

import inspect
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypedDict

import typer

from vocabgap.doors.cli.output import Output, output_of
from vocabgap.doors.verbs import Panel
from vocabgap.errors import Hint, NotFoundError, VocabgapError, expanded
from vocabgap.extensions import TakenUp, extensions
from vocabgap.model.settings import BY_WORDING, DEFAULT_DECISIONS, DEFAULT_OUT, known_flags
from vocabgap.text import count, escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.clustering.embedding import EmbeddingUse
    from vocabgap.ingest.baseline import KnownLine
    from vocabgap.ingest.scanning import Scan
    from vocabgap.model.loading import Loaded
    from vocabgap.model.selection import Selection
    from vocabgap.model.settings import Settings

_MOST_UNREAD: Final = 10  # logs, folders and links that are named
_TOLD: Final = f"{__name__}.outside"  # that it was said where the settings lead out of their folder

RootsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[ROOTS]...",
        help="Folders to search for gap logs, single log files, or shared corpora; by default those that"
        " [ingest] roots names in the settings.",
        readable=False,
    ),
]
ConfigOption = Annotated[
    Path | None,
    Panel.READ.option("--config", help="Settings file; vocabgap.toml in the current folder by default."),
]
TrustOption = Annotated[
    bool,
    Panel.READ.option(
        "--trust", help="Let vocabgap.toml of the current folder name places outside of it to write to."
    ),
]
ThresholdOption = Annotated[
    str | None,
    Panel.GROUP.option(help=f"Cosine distance at which two needs differ, 0 to 1.  [default: {BY_WORDING}]"),
]
EmbedderOption = Annotated[
    str | None,
    Panel.GROUP.option(
        help="Compare wordings by meaning, too: a model's folder, minilm, auto (minilm if it is installed)"
        " or none.  [default: auto]"
    ),
]
VocabularyOption = Annotated[
    list[str] | None,
    Panel.READ.option(help="File or folder that lists what agents can ask for already; may be repeated."),
]
HiddenOption = Annotated[
    bool | None, Panel.READ.option("--hidden", help="Search names that start with a dot, too.")
]
TenantsOption = Annotated[
    list[str] | None, Panel.SELECT.option("--tenant", help="Of a corpus only this tenant; may be repeated.")
]
RepositoriesOption = Annotated[
    list[str] | None, Panel.SELECT.option("--repo", help="Of a corpus only this repository; may be repeated.")
]
SinceOption = Annotated[
    str | None,
    Panel.SELECT.option(
        help="Earliest moment: 2026-05-01, 2026-05-01T09:30:00Z, 2026-05, 7d, 2w, 24h or 30m (minutes)."
    ),
]
UntilOption = Annotated[str | None, Panel.SELECT.option(help="Moment to stop before, written the same way.")]
ImagesOption = Annotated[list[str] | None, Panel.SELECT.option(help="Only this image; may be repeated.")]
CategoriesOption = Annotated[
    list[str] | None, Panel.SELECT.option(help="Only this category; may be repeated.")
]
NowOption = Annotated[
    str | None, typer.Option("--now", help="The moment to count as the present; the clock's by default.")
]
PresentOption = Annotated[
    str | None,
    Panel.SELECT.option(
        "--now",
        help="The moment to count as the present, or last for that of the newest record; the clock's by"
        " default.",
    ),
]
OperationsOption = Annotated[
    list[str] | None,
    Panel.SELECT.option("--operation", help="Only this operation, matched whole; may be repeated."),
]
SessionsOption = Annotated[
    list[str] | None,
    Panel.SELECT.option("--session", help="Only this session, or last for the newest; may be repeated."),
]
MatchOption = Annotated[
    str | None, Panel.SELECT.option(help="Only with this text somewhere in it, in whatever case.")
]
SatisfactionOption = Annotated[
    list[str] | None,
    Panel.SELECT.option(
        "--satisfaction", help="Only rated so: -1, 0, 1, none, or a word such as bad; may be repeated."
    ),
]
FormerOperationsOption = Annotated[list[str] | None, typer.Option("--module", hidden=True)]
ActorOption = Annotated[
    str | None, typer.Option(help="Who decides or answers; by default VOCABGAP_ACTOR, else who is logged in.")
]
ShareOption = Annotated[
    bool,
    Panel.WRITE.option(
        "--share",
        help="Write share.html, too, which may leave the machine: only what is on several images, no names,"
        " and only words that as many have in common. --min-images says how many; 3 where it does not.",
    ),
]
RunOption = Annotated[
    str | None, Panel.READ.option("--run", help=f"Folder of the published run.  [default: {DEFAULT_OUT}]")
]
DecisionsOption = Annotated[
    str | None,
    Panel.READ.option(
        "--decisions", help=f"File that keeps what was decided.  [default: {DEFAULT_DECISIONS}]"
    ),
]
# What the flags of a table of the settings are for.
_PANELS: Final = {"ingest": Panel.READ, "cluster": Panel.GROUP, "rank": Panel.RANK, "report": Panel.WRITE}

BaselineOption = Annotated[
    str | None,
    Panel.READ.option("--baseline", help="File of bad lines that are known, and count no more."),
]


class Reading(NamedTuple):
    """What is read of logs and corpora, and how."""

    tenant: TenantsOption = None
    repo: RepositoriesOption = None
    hidden: HiddenOption = None
    config: ConfigOption = None
    trust: TrustOption = False


class ReadingArguments(TypedDict):
    """What `Reading` gives `scan` and what reads as it does."""

    tenants: list[str]
    repositories: list[str]


def reading_arguments(context: typer.Context) -> ReadingArguments:
    """What the options of `Reading` say, names as they were typed."""
    options = context.params
    return {
        "tenants": [*map(printable_name, options["tenant"] or ())],
        "repositories": [*map(printable_name, options["repo"] or ())],
    }


def with_options(
    *groups: type[NamedTuple], flags_of: str | None = None, verb: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of named tuples, after its own; the context has their values.

    Args:
        groups: Each field is an option.
        flags_of: A table of the settings: there is an option for each of its flags, too, after `top`.
        verb: What slices know the command as, to add options of their own.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        parameters = dict(own)
        for group in groups:
            for name, default in group._field_defaults.items():
                parameters[name] = _parameter(name, group.__annotations__[name], default)
        ordered = []
        for parameter in parameters.values():
            ordered.append(parameter)
            if flags_of is not None and parameter.name == "top":
                ordered += _flags(flags_of)
        ordered += _options_of_slices(verb)

        @wraps(command)
        def run(**given: Any) -> None:  # noqa: ANN401 - whatever Typer has read
            try:
                command(**{name: given[name] for name in own})
            except VocabgapError as error:
                if error.commands is not None:
                    error.hint = error.commands.rendered(given_words(error.commands, given))
                raise

        run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        return run

    return decorate


def given_words(hint: Hint, given: Mapping[str, Any]) -> list[str]:
    """Return the options that were given and that the commands of a hint take, as they were typed."""
    words = []
    for name in (*hint.options, "--config"):
        value = given.get(name.removeprefix("--").replace("-", "_"))
        words += [] if value is None else [name, printable_name(str(value))]
    return [*words, "--trust"] if given.get("trust") else words


def _flags(table: str) -> list[inspect.Parameter]:
    """An option for each setting of a table that has one, as the settings declare it."""
    return [
        _parameter(
            name.removeprefix("--").replace("-", "_"),
            Annotated[
                flag.kind | None,
                _PANELS[table].option(name, help=f"{flag.meaning}  [default: {flag.default}]"),
            ],
        )
        for name, flag in known_flags().items()
        if flag.table == table
    ]


def _options_of_slices(verb: str) -> list[inspect.Parameter]:
    return [
        _parameter(
            name.removeprefix("--").replace("-", "_"),
            Annotated[str | None, Panel.READ.option(name, help=meaning)],
        )
        for extension in extensions()
        for name, meaning in extension.options.get(verb, {}).items()
    ]


def taken_up(
    settings: "Settings", entry: str, meaning: str, actor: str, *, is_draft: bool = False
) -> list[TakenUp]:
    """Offer an entry to the slices; return what they have made of it."""
    takers = [each.take_up.load() for each in extensions() if each.take_up is not None]
    made = [take_up(settings, entry, meaning, actor, is_draft) for take_up in takers]
    return [each for each in made if each is not None]


def settings_of(context: typer.Context) -> "Loaded":
    """The settings in force: the flags of a command go before the environment, the file and the defaults.

    Where a settings file leads out of its folder, that is told once.
    """
    from vocabgap.model.loading import resolve_settings

    flags = {
        name: None if value in ((), []) else value
        for parameter in context.command.params
        for name in parameter.opts
        if name in known_flags()
        for value in [context.params[str(parameter.name)]]
    }
    options = context.params
    loaded = resolve_settings(options.get("config"), os.environ, flags, trust=options.get("trust", False))
    if not context.meta.get(_TOLD):
        context.meta[_TOLD] = True
        for each in loaded.outside:
            output_of(context).note(escape_unseen(f"{loaded.path}: {each}"))
    return loaded


def known_lines(settings: "Settings") -> "tuple[KnownLine, ...]":
    """The bad lines that do not count, where a file of them is named."""
    if settings.check.baseline is None:
        return ()
    from vocabgap.ingest.baseline import read_baseline

    return read_baseline(settings.check.baseline)


def _parameter(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:  # noqa: ANN401 - any type
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation
    )


def missing_decisions(named: str | None) -> str:
    """That the decisions file which was named does not exist; nothing where it does, or none was named."""
    is_there = named is None or os.path.lexists(expanded(named))
    return "" if is_there else f"decisions file '{named}' does not exist"


def require_decisions(named: str | None) -> None:
    """Refuse a decisions file that was named and does not exist, by a command that only reads it."""
    if problem := missing_decisions(named):
        raise NotFoundError(problem, hint="check --decisions")


def selection_of(context: typer.Context, present: datetime) -> "Selection":
    """Return the selection that the options of a command ask for, with names as they were typed."""
    from vocabgap.model.selection import Selection

    given = context.params
    typed = given | {"operation": [*(given.get("operation") or ()), *(given.get("module") or ())]}
    return Selection.asked({name: _printable(value) for name, value in typed.items()}, present, prefix="--")


def _printable(value: object) -> object:
    if isinstance(value, str):
        return printable_name(value)
    return [_printable(one) for one in value] if isinstance(value, list) else value


def roots_of(context: typer.Context, settings: "Settings") -> list[Path]:
    """The roots that a command was given, else those that the settings name."""
    roots = context.params["roots"] or [*map(Path, settings.ingest.roots)]
    if not roots:
        context.fail(
            "no folder of gap logs was named, and the settings name none: name one, or write"
            ' roots = ["photos"] under [ingest] in vocabgap.toml'
        )
    return roots


def require_whose(context: typer.Context, scanned: "Scan") -> None:
    """Refuse a tenant or a repository that no record has."""
    from vocabgap.ingest.selection import require_known
    from vocabgap.model.selection import Selection

    asked = reading_arguments(context)
    whose = Selection(tenants=tuple(asked["tenants"]), repositories=tuple(asked["repositories"]))
    require_known(scanned.gaps, whose)


def note_embeddings(output: Output, use: "EmbeddingUse | None") -> None:
    """Tell a person what the kept embeddings were good for."""
    if use is None:
        return
    if use.note:
        output.note(f"cache: {use.note}")
    if use.found:
        output.note(f"cache: {count(use.found, 'embedding')} reused, {use.computed:,} computed")


def note_scan(output: Output, scanned: "Scan | None") -> None:
    """Tell a person what was not read, or not to its end."""
    if scanned is None:
        return
    unread = scanned.rejects.filter(scanned.rejects["line"].is_null())
    for row in unread.head(_MOST_UNREAD).iter_rows(named=True):
        output.note(escape_unseen(f"not read: {row['source_path']}: {row['detail']}"))
    if unread.height > _MOST_UNREAD:
        output.note(f"not read: {unread.height - _MOST_UNREAD:,} more; `vocabgap check` lists them")
