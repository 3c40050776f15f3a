"""The commands, which are loaded on demand, their help, and the one place where errors become exit codes."""

import gc
import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command, get_group

from vocabgap import __version__
from vocabgap.doors.cli.calls import command_of
from vocabgap.doors.cli.output import PIPE_WIDTH, PROGRAM, Output
from vocabgap.doors.verbs import Panel, Verbs
from vocabgap.errors import (
    DEBUG_VARIABLE,
    STOPPED,
    ExitCode,
    InvalidInputError,
    StateError,
    VocabgapError,
    system_error,
)
from vocabgap.extensions import Reference, extensions
from vocabgap.files.signals import StoppedError, ignore, raise_stops, release

_OF_THE_PARSER: Final = ": Value error, "  # what the library puts before a message of its own
# The verbs, and groups of verbs, in the order of the help.
VERBS: Final[Mapping[str, Reference]] = {
    "report": Reference("doors.report:report"),
    "render": Reference("doors.published:render"),
    "check": Reference("doors.listing:check"),
    "list": Reference("doors.listing:list_records"),
    "show": Reference("doors.listing:show"),
    "review": Reference("doors.deciding:review"),
    "clusters": Reference("doors.clusters:CLUSTERS"),
    "draft": Reference("doors.published:draft"),
    "log": Reference("doors.recording:log"),
    "decide": Reference("doors.deciding:DECIDE"),
    "decisions": Reference("doors.deciding:DECISIONS"),
    "diff": Reference("doors.published:diff"),
    "history": Reference("doors.published:history"),
    **{verb: each for extension in extensions() for verb, each in extension.commands.items()},
    "mcp": Reference("doors.recording:mcp"),
    "hook": Reference("doors.recording:hook"),
    "init": Reference("doors.recording:init"),
    "demo": Reference("doors.report:demo"),
    "manual": Reference("doors.about:manual"),
    "schema": Reference("doors.about:schema"),
    "status": Reference("doors.about:status"),
}


# Commands that read a little: the libraries that they load would start threads that nothing uses.
_LOOKING: Final = frozenset(("list", "show", "manual", "schema", "status"))
_THREADS: Final = "OPENBLAS_NUM_THREADS"


class Parsers(Mapping[str, Any]):
    """The parsers of the verbs. A verb is loaded when it is first looked up, so that `log` is quick."""

    def __getitem__(self, verb: str) -> Any:  # noqa: ANN401 - here and below: Typer's own types are private
        return _parser(verb)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class Command(TyperCommand):
    """A command that lists its options in plain text, under the headings of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the arguments, then the options by panel."""
        _write_options(self, ctx, formatter)


class Group(TyperGroup):
    """Commands that need a name; the help shows the whole first paragraph of each."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the options, then the commands."""
        _write_options(self, ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _first_paragraph(each)) for name, each in self.commands.items() if not each.hidden]
            )


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
    records = [
        (option, record) for option in command.get_params(ctx) if (record := option.get_help_record(ctx))
    ]
    several = len({option.rich_help_panel for option, _ in records} - {None}) > 1  # one alone sorts nothing
    panels: dict[str, list[tuple[str, str]]] = {}
    for option, record in records:
        kind = "Arguments" if option.param_type_name == "argument" else "Options"
        panels.setdefault((several and option.rich_help_panel) or kind, []).append(record)
    for panel in sorted(panels, key=("Arguments", *Panel, "Options").index):
        with formatter.section(panel):
            formatter.write_dl(panels[panel])


def _first_paragraph(command: Any) -> str:  # noqa: ANN401
    return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())


class LoadedOnDemand(Group):
    """The root of the command line: its commands are `Parsers`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - handed on as they are
        super().__init__(**attributes | {"commands": Parsers()})


@cache
def _parser(verb: str) -> Any:  # noqa: ANN401
    if verb in _LOOKING:
        os.environ.setdefault(_THREADS, "1")
    command = VERBS[verb].load()
    # Only a group makes a command without completion of its own.
    only = typer.Typer(cls=Group, rich_markup_mode=None)
    if isinstance(command, Verbs):
        only.add_typer(_group(command))
    else:
        only.command(verb, cls=Command)(command_of(command))
    only.callback()(lambda: None)
    return get_group(only).commands[verb]


def _group(verbs: Verbs) -> typer.Typer:
    group = typer.Typer(name=verbs.name, help=verbs.help, cls=Group, rich_markup_mode=None)
    group.callback()(lambda: None)
    for each in verbs.verbs:
        if isinstance(each, Verbs):
            group.add_typer(_group(each))
        else:
            group.command(each.name.split()[-1], cls=Command)(command_of(each))
    return group


app = typer.Typer(
    cls=LoadedOnDemand,
    name=PROGRAM,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": PIPE_WIDTH},
)

# Compiled libraries raise this outside `Exception`. It may stand for a signal, which only its text names.
_PANIC: Final = "PanicException"
_STOP_IN_PANIC: Final = re.compile(r"StoppedError\((\d+)\)|KeyboardInterrupt")
_TOO_LITTLE: Final = StateError("there is too little memory", hint="read less at once, or raise the limit")
_HOOK: Final = "hook"
_ENGINE: Final = "vocabgap.engines.spark"
_OBJECTS: Final = 50_000  # between two collections


def _version(wanted: bool) -> None:
    if wanted:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print NDJSON: one event a line, the last one result or error.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Read the gap logs of agents, group the same need however it was worded, rank what to author next."""
    context.obj = Output(as_json=as_json)
    if context.invoked_subcommand is None:
        if as_json:
            raise InvalidInputError("no command was given", hint=f"see `{PROGRAM} --help`")
        print(context.get_help())


# A process may run several command lines.
_root: Final = cache(get_command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    output = Output(as_json="--json" in arguments)
    try:
        release()
        code = _root(app).main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except VocabgapError as error:
        output.error(error)
        return error.exit_code
    except TyperException as error:
        output.error(_usage_error(error))
        return ExitCode.DONE if _is_of_a_hook(error) else ExitCode.INVALID_INPUT
    except OSError as error:
        refused = system_error(error)
        output.error(refused)
        return refused.exit_code
    except MemoryError:
        output.error(_TOO_LITTLE)
        return _TOO_LITTLE.exit_code
    except StoppedError as stopped:
        code = stopped.code
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except BaseException as error:
        code = _unforeseen(output, error)
    if code in STOPPED:
        output.error(_InterruptedError(ExitCode(code), arguments))
    return int(code or ExitCode.DONE)


def _usage_error(error: TyperException) -> InvalidInputError:
    """Return an error of the parser with a hint that fits it."""
    message = error.format_message().replace(_OF_THE_PARSER, ": ", 1)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROGRAM
    hint = f"see `{command} --help`"
    if "--json" in message:
        hint = f"--json goes before the verb: `{PROGRAM} --json report …`"
    elif hasattr(error, "option_name"):
        hint += f"; what begins with a dash and is no option goes after two: `{command} -- …`"
    return InvalidInputError(message, hint=hint)


def _is_of_a_hook(error: TyperException) -> bool:
    """Say whether a hook is set up wrongly; an agent's program may take its 2 for a veto."""
    context = getattr(error, "ctx", None)
    return context is not None and context.info_name == _HOOK


def _unforeseen(output: Output, error: BaseException) -> ExitCode:
    """Print an error that is a bug, or find the signal in it; with VOCABGAP_DEBUG the error is raised."""
    is_panic = type(error).__name__ == _PANIC
    stop = _STOP_IN_PANIC.search(str(error)) if is_panic else None
    if stop is not None:
        return ExitCode(int(stop[1] or ExitCode.INTERRUPTED))
    if os.environ.get(DEBUG_VARIABLE) or not (is_panic or isinstance(error, Exception)):
        raise error
    output.error(
        VocabgapError(
            f"this is a bug: {type(error).__name__}: {error}",
            hint=f"set {DEBUG_VARIABLE}=1 to see where, and please report it",
        )
    )
    return ExitCode.BUG


def main() -> NoReturn:
    """Run the console script."""
    # A job may run without them.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape instead of an error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # The objects of a run live until its end; collecting every 700 objects costs a sixth of its time.
    gc.set_threshold(_OBJECTS)
    raise_stops()
    code = run(sys.argv[1:])
    ignore()
    if _ENGINE in sys.modules and code in STOPPED:
        # Threads of an interrupted engine may call Python while it shuts down.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


class _InterruptedError(VocabgapError):
    """The person or the system stopped the run."""

    def __init__(self, code: ExitCode, arguments: Sequence[str]) -> None:
        verb = next((word for word in arguments if not word.startswith("-")), "")
        publishes = verb in {"report", "render"}
        super().__init__("interrupted", hint="a report is published whole or not at all" if publishes else "")
        self.exit_code = code
