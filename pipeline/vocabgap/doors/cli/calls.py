"""A call of a verb: from the command line to the printed answer."""

import inspect
import os
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

import msgspec
import typer

from vocabgap.doors.cli.output import Output
from vocabgap.doors.verbs import Answer, Panel, Parameter, Verb, parameters
from vocabgap.errors import (
    Hint,
    InvalidInputError,
    NotFoundError,
    StateError,
    VocabgapError,
    expanded,
    full_address,
    require_local,
)
from vocabgap.extensions import extensions
from vocabgap.files import STANDARD_INPUT
from vocabgap.model.record import LOG_NAME
from vocabgap.model.settings import Setting, known_flags
from vocabgap.text import escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.clustering.embedder import EmbeddingUse
    from vocabgap.ingest.checking import KnownLine
    from vocabgap.ingest.scanning import Scan
    from vocabgap.model.loading import Loaded
    from vocabgap.model.selection import Selection
    from vocabgap.model.settings import Settings

_PANELS: Final = {
    "cluster": Panel.GROUP,
    "categories": Panel.GROUP,
    "rank": Panel.RANK,
    "report": Panel.WRITE,
}


class Call:
    """One call of a verb: its settings, its output, and the options that change settings (`flags`)."""

    def __init__(self, verb: Verb[Any], context: typer.Context, values: Mapping[str, Any]) -> None:
        self._context = context
        self.output = context.find_object(Output) or Output()  # the root command has prepared it
        self.stack = ExitStack()  # closed at the end of the call
        self.config: Path | None = values.get("config")
        self.trust: bool = values.get("trust", False)
        given = ((name, values[_name_of(name)]) for name, _ in _flags(verb))
        self.flags = {name: value for name, value in given if value not in (None, [], ())}
        # Only an engine takes an address, and it is no setting.
        is_stored = "engine" in values and full_address(str(self.flags.get("--out")))
        self.address: str | None = self.flags.pop("--out") if is_stored else None
        for name, value in [*self.flags.items(), ("--config", self.config or "")]:
            for text in value if isinstance(value, list) else [value]:
                require_local(name, str(text))

    @cached_property
    def loaded(self) -> "Loaded":
        """The active settings and their file."""
        from vocabgap.model.loading import resolve_settings

        loaded = resolve_settings(self.config, os.environ, self.flags, trust=self.trust)
        for place in loaded.outside:
            self.note(f"{loaded.path}: {place}")
        return loaded

    @property
    def settings(self) -> "Settings":
        """The active settings."""
        return self.loaded.settings

    def completed(self, hint: Hint) -> str:
        """Return a hint whose commands repeat the options of this call."""
        return hint.rendered(self.repeated(hint.options))

    def repeated(self, options: Iterable[str]) -> list[str]:
        """Return the words of those options that this call has, and its settings file."""
        given = [(name, self.flags[name]) for name in options if name in self.flags]
        pairs = ([name] if value is True else [name, printable_name(str(value))] for name, value in given)
        words = [word for pair in pairs for word in pair]
        if self.config is not None:
            words += ["--config", printable_name(str(self.config))]
        return [*words, *["--trust"] * self.trust]

    def roots(self, named: tuple[Path, ...], *, with_engine: bool = False) -> list[Path]:
        """Return the named roots, else the roots of the settings; only an engine reads addresses."""
        for root in () if with_engine else named:
            require_local("ROOTS", root)
        if STANDARD_INPUT in map(str, named):
            copy = self._copied_input()
            named = tuple(copy if str(each) == STANDARD_INPUT else each for each in named)
        roots = [*(named or map(Path, self.settings.ingest.roots))]
        if not roots:
            here = "add ., as in `vocabgap report .`" if Path(LOG_NAME).is_file() else "add one to the call"
            self._context.fail(
                f"no folder of gap logs is named: {here}, or write"
                ' roots = ["photos"] under [ingest] in vocabgap.toml'
            )
        return roots

    def _copied_input(self) -> Path:
        from vocabgap.ingest.roots import copied_input

        if sys.stdin is None or sys.stdin.isatty():
            raise InvalidInputError(
                "- means standard input, which is a terminal or closed",
                hint="pipe a log: `… | vocabgap report -`",
            )
        return self.stack.enter_context(copied_input(sys.stdin.buffer))

    def note(self, message: str) -> None:
        """Print a message for a person on stderr."""
        self.output.note(escape_unseen(message))

    def note_unread(self, scanned: "Scan | None") -> None:
        """Print the logs, folders and links that could not be read completely."""
        if scanned is None:
            return
        unread = scanned.rejects.filter(scanned.rejects["line"].is_null())
        most = 10
        for row in unread.head(most).iter_rows(named=True):
            self.note(f"not read: {row['source_path']}: {row['detail']}")
        if unread.height > most:
            self.note(f"not read: {unread.height - most:,} more; `vocabgap check` lists them")

    def note_embeddings(self, use: "EmbeddingUse | None") -> None:
        """Print the problem of the cache, if there was one."""
        if use is not None and use.note:
            self.note(f"cache: {use.note}")

    def require_decisions(self) -> None:
        """Raise NotFoundError if the named decisions file does not exist."""
        named = self.flags.get("--decisions")
        if named is not None and not os.path.lexists(expanded(named)):
            raise NotFoundError(f"decisions file '{named}' does not exist", hint="check --decisions")

    def require_owners(self, scanned: "Scan", selection: "Selection") -> None:
        """Raise InvalidInputError if no record has a selected tenant or repository."""
        from vocabgap.ingest.scanning import require_known
        from vocabgap.model.selection import Selection

        owners = Selection(tenants=selection.tenants, repositories=selection.repositories)
        require_known(scanned.lines, owners)

    def known_lines(self) -> "tuple[KnownLine, ...]":
        """Return the bad lines of the baseline; none if no baseline is named, or there is no file yet."""
        if (baseline := self.settings.check.baseline) is None:
            return ()
        from vocabgap.ingest.checking import read_baseline

        if not os.path.lexists(expanded(baseline)):
            self.note(f"there is no baseline '{baseline}' yet; `vocabgap check … --write-baseline` writes it")
        return read_baseline(baseline)


def _require_memory() -> None:
    """Raise StateError if the process may not have the address space that a report takes.

    Compiled libraries abort the process if they cannot have it.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    least = 3_840  # MiB, for a report on few logs, with two processors
    if most != resource.RLIM_INFINITY and most >> 20 < least:
        raise StateError(
            f"the memory limit (`ulimit -v`) is {most >> 20:,} MiB, expected {least:,} or more",
            hint="raise the limit; it counts reserved addresses, not only the memory in use",
        )


def command_of(verb: Verb[Any]) -> Callable[..., None]:
    """Return the function that Typer turns into a command."""
    fields = parameters(verb.request)

    def command(context: typer.Context, **values: Any) -> None:  # noqa: ANN401 - as Typer has read them
        # The others need no compiled library, or none that many processors make larger.
        if context.command_path.split()[1] not in {"glossary", "hook", "init", "log", "manual"}:
            _require_memory()
        call = Call(verb, context, values)
        call.output.quiet = values.get("quiet", False)
        request = verb.request(**{each.name: _value(each, values[each.name]) for each in fields})
        try:
            with call.stack:
                answer = verb.run(call, request)
                if answer is not None:
                    _print(call.output, answer)
        except VocabgapError as error:
            if error.commands is not None:
                error.hint = call.completed(error.commands)
            raise

    options = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    options += map(_option, fields)
    options += [_flag(name, flag) for name, flag in _flags(verb)]
    if verb.settings is not None:
        config = "Settings file; by default vocabgap.toml in the current folder."
        trust = "Allow vocabgap.toml of the current folder to write outside that folder."
        options += [
            _option(Parameter("config", Path, False, config, None, {"panel": Panel.MORE})),
            _option(Parameter("trust", bool, False, trust, False, {"panel": Panel.MORE})),
        ]
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__doc__ = verb.help
    return command


def _print(output: Output, answer: Answer) -> None:
    try:
        if output.as_json:
            for name, fields in answer.events:
                output.event(name, **fields)
            output.event("result", **answer.result)
        elif not output.quiet and (text := _text(answer)):
            output.text(text, is_exact=not answer.view)
        for note in answer.notes:
            output.note(escape_unseen(note))
    except OSError as error:
        raise StateError(
            f"{answer.done}, but the answer cannot be printed: {error.strerror}",
            hint="do not repeat a command that writes; check where the output goes",
        ) from error
    if answer.failure is not None:
        raise answer.failure
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)


def _text(answer: Answer) -> str:
    if not answer.view:
        return answer.text
    from vocabgap.doors.views import rendered

    shown = answer.shown() if callable(answer.shown) else answer.shown
    return rendered(answer.view, {**answer.result, **shown})


def _option(field: Parameter) -> inspect.Parameter:
    """Return a field of a request as a parameter for Typer."""
    facts = {name: field.extra[name] for name in ("min", "max") if name in field.extra}
    facts |= {"help": field.meaning, "callback": field.extra.get("callback")}
    if field.kind is Path:
        facts["readable"] = False  # reading the file checks this with a better error
    is_required = field.default is msgspec.NODEFAULT
    default = inspect.Parameter.empty if is_required else field.default
    kind: Any = str if get_origin(field.kind) is Literal else field.kind
    if field.is_list:
        kind = list[kind]
        default = default if is_required else None
    if default is None:
        kind |= None
    if field.extra.get("argument"):
        info = typer.Argument(metavar=field.extra["metavar"], **facts)
    else:
        if field.is_list:
            facts["help"] = f"{field.meaning.removesuffix('.')}; may be repeated."
        panel = Panel.MORE if field.extra.get("rare") else field.extra.get("panel")
        info = typer.Option(*field.names, rich_help_panel=panel, **facts)
    annotation = Annotated[kind, info]
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _value(field: Parameter, value: Any) -> Any:  # noqa: ANN401 - parsed by Typer
    """Return a value for the request; refuse a URL in place of a path."""
    if field.is_list:
        return tuple(_value(field._replace(is_list=False), each) for each in value or ())
    if field.extra.get("address"):
        return value  # `roots` checks it
    if isinstance(value, Path) or (field.extra.get("place") and value is not None):
        require_local(field.names[0], value)
        return value
    if get_origin(field.kind) is Literal:
        return next((each for each in get_args(field.kind) if str(each) == value), value)
    return printable_name(value) if isinstance(value, str) and not isinstance(value, Enum) else value


def _flags(verb: Verb[Any]) -> Iterator[tuple[str, Setting]]:
    """Yield the settings that are options of a verb, including options that slices add."""
    offered = {name for each in extensions() for name in each.options.get(verb.name, ())}
    offered.update(verb.settings or ())
    for name, flag in known_flags().items():
        if name in offered or flag.table in offered:
            yield name, flag


def _name_of(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _flag(name: str, flag: Setting) -> inspect.Parameter:
    """Return the option of a setting. Without a value the setting does not change."""
    several = get_origin(flag.kind) in (tuple, dict)
    default = flag.default.value if isinstance(flag.default, Enum) else flag.default
    kind = flag.kind if flag.kind in (bool, int) or _is_enum(flag.kind) else str
    shown = "" if default in (None, (), False, True, {}) else f"  [default: {default}]"
    panel = _PANELS.get(flag.table, Panel.READ)
    extra: dict[str, Any] = {"names": (name,), "panel": panel, "rare": flag.rare}
    if several and _is_enum(get_args(flag.kind)[0]):
        extra["callback"] = _separated
    return _option(Parameter(_name_of(name), kind, several, flag.meaning + shown, None, extra))


def _is_enum(kind: Any) -> bool:  # noqa: ANN401 - any type
    return isinstance(kind, type) and issubclass(kind, Enum)


def _separated(values: list[str] | None) -> list[str]:
    """Split names at commas; a blank text stays and is refused later."""
    given = values or []
    return [name.strip() for value in given for name in value.split(",") if name.strip()] or given
