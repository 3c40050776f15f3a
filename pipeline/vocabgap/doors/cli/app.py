"""The commands and their help. Commands are loaded on demand; errors become exit codes here."""

import gc
import inspect
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, Self, get_args

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command, get_group

from vocabgap import __version__
from vocabgap.doors.cli.calls import command_of
from vocabgap.doors.cli.output import PIPE_WIDTH, PROGRAM, Output, print_out
from vocabgap.doors.recording import TEXT_HINT
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
from vocabgap.files import STANDARD_INPUT
from vocabgap.files.signals import StoppedError, end_within, ignore, raise_stops, release

_MORE: Final = "More"
_STOPS: Final[list[BaseException]] = []  # the last one, kept: half a connection in it may never close
# The verbs and groups of verbs in the order of the help, which only names those under "More".
PURPOSES: Final[Mapping[str, Mapping[str, Reference]]] = {
    "Report": {
        "report": Reference("doors.report:report"),
        "list": Reference("doors.listing:list_records"),
        "show": Reference("doors.listing:show"),
        "history": Reference("doors.published:history"),
        "diff": Reference("doors.published:diff"),
        "check": Reference("doors.listing:check"),
    },
    "Decide": {
        "review": Reference("doors.reviewing:review"),
        "decide": Reference("doors.deciding:DECIDE"),
        "decisions": Reference("doors.deciding:DECISIONS"),
    },
    "Write": {"draft": Reference("doors.published:draft"), "log": Reference("doors.recording:log")},
    **{extension.purpose: extension.commands for extension in extensions() if extension.commands},
    _MORE: {
        "demo": Reference("doors.report:demo"),
        "init": Reference("doors.agents:init"),
        "manual": Reference("doors.about:manual"),
        "mcp": Reference("doors.agents:mcp"),
        "render": Reference("doors.published:render"),
        "status": Reference("doors.about:status"),
    },
}
# Programs call these; the help does not list them.
HIDDEN: Final[Mapping[str, Reference]] = {
    "hook": Reference("doors.agents:hook"),
    "issues": Reference("doors.published:issues"),
    "schema": Reference("doors.about:schema"),
}
VERBS: Final = {verb: place for verbs in (*PURPOSES.values(), HIDDEN) for verb, place in verbs.items()}


class Parsers(Mapping[str, Any]):
    """The parsers of the verbs. A verb is loaded at its first look-up, so `log` is quick."""

    def __getitem__(self, verb: str) -> Any:  # noqa: ANN401 - here and below: Typer's types are private
        return _parser(verb)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class _Checked:
    """The check of an option's value. That of Typer loads pydantic, which takes as long as logging a gap."""

    def __init__(self, option: Any) -> None:  # noqa: ANN401 - here and below
        self._by_typer = option.get_runtime_param

    def __call__(self) -> Self:
        return self

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:  # noqa: ANN401
        """Return a value of the option's type; texts need no check, and no path is empty."""
        kind = param.type_descriptor.annotation
        if value in (None, ()):
            return () if param.multiple or param.nargs == -1 else None
        if Path in (kind, *get_args(kind)) and "" in (value if isinstance(value, tuple | list) else [value]):
            raise InvalidInputError(f"{param.opts[-1]}: expected a path, found ''; is a variable unset?")
        if kind in (str, Path, list[str]):
            return [*value] if kind == list[str] else kind(value)
        return self._by_typer().coerce(value, param=param, ctx=ctx)


class _Listed:
    """A parser whose help lists the options as plain text, by panel."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401
        """Return the options and arguments, with quick checks."""
        options: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for option in options:
            vars(option).setdefault("get_runtime_param", _Checked(option))
        return options

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the arguments, then the options of each panel."""
        for heading, options in options_by_panel(self, ctx).items():
            with formatter.section(heading):
                formatter.write_dl(options)


class Command(_Listed, TyperCommand):
    """A command."""


class Group(_Listed, TyperGroup):
    """A group of commands; the help shows the whole first paragraph of each command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the words; without a command, a group with one command chooses that one."""
        is_named = bool(args) and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        only = [] if is_named or ctx.resilient_parsing or len(self.commands) > 1 else [*self.commands]
        words: list[str] = super().parse_args(ctx, [*only, *args])
        return words

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, _first_paragraph(command.help))
                    for name, command in self.commands.items()
                    if not command.hidden
                ]
            )


def options_by_panel(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:  # noqa: ANN401
    """Return the names and meanings of arguments and options, by heading. Few options need no heading."""
    shown = [
        (option, record) for option in command.get_params(ctx) if (record := option.get_help_record(ctx))
    ]
    has_panels = len(shown) > 10 and len({option.rich_help_panel for option, _ in shown} - {None}) > 1  # noqa: PLR2004
    panels: dict[str, list[tuple[str, str]]] = {}
    for option, record in shown:
        kind = "Arguments" if option.param_type_name == "argument" else "Options"
        panels.setdefault((has_panels and option.rich_help_panel) or kind, []).append(record)
    return {heading: panels[heading] for heading in ("Arguments", *Panel, "Options") if heading in panels}


def _first_paragraph(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].split())


class LoadedOnDemand(Group):
    """The root of the command line: its commands are `Parsers`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - handed on as they are
        super().__init__(**attributes | {"commands": Parsers()})

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write a screen: the commands by purpose, then the options."""
        width = max(map(len, PURPOSES)) + 1
        rows = [
            (f"{'' if number else f'{purpose}:':{width}} {verb}", _first_paragraph(place.load().help))
            for purpose, verbs in PURPOSES.items()
            for number, (verb, place) in enumerate(verbs.items())
            if purpose != _MORE
        ]
        options = {each.opts[-1]: each.get_help_record(ctx) for each in self.get_params(ctx)}
        rare = [name for name in options if name.endswith("-completion")]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_dl(rows)
            formatter.write_dl([(f"{f'{_MORE}:':{width - 1}}", ", ".join((*PURPOSES[_MORE], *rare)))])
        with formatter.section("Options"):
            formatter.write_dl([options[name] for name in options if name not in rare])


@cache
def _parser(verb: str) -> Any:  # noqa: ANN401
    if verb in {"list", "show", "manual", "schema", "status"}:
        # They read little. Their libraries would start threads that nothing uses.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # jemalloc, the allocator of Polars, reads this when Polars is loaded. By default, more arenas keep freed
    # memory for longer, and the peak of a report is a seventh higher.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:2,dirty_decay_ms:200,muzzy_decay_ms:0")
    # A single command would get its own completion options.
    only = typer.Typer(cls=Group, rich_markup_mode=None)
    _add(only, VERBS[verb].load(), verb)
    only.callback()(lambda: None)
    return get_group(only).commands[verb]


def _add(parent: typer.Typer, command: Any, name: str) -> None:  # noqa: ANN401 - a verb or a group of verbs
    if not isinstance(command, Verbs):
        parent.command(name, cls=Command)(command_of(command))
        return
    group = typer.Typer(name=command.name, help=command.help, cls=Group, rich_markup_mode=None)
    group.callback()(lambda: None)
    for verb in command.verbs:
        _add(group, verb, verb.name.split()[-1])
    parent.add_typer(group)


app = typer.Typer(
    cls=LoadedOnDemand,
    name=PROGRAM,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": PIPE_WIDTH},
)

_HOOK: Final = "hook"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print NDJSON: one event per line; the last is result or error.")
    ] = False,
    version: Annotated[  # noqa: ARG001 - an option that exits
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find out what your agents miss most: read gap logs, and rank the needs."""
    context.obj = Output(as_json=as_json)
    if context.invoked_subcommand is None:
        if as_json:
            raise InvalidInputError("no command given", hint=f"see `{PROGRAM} --help`")
        print(context.get_help())


# A process may run several command lines.
_root: Final = cache(get_command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    output = Output(as_json="--json" in arguments)
    try:
        release()
        # The parser shortens ./- to -, which means standard input.
        named_dash = f"./{STANDARD_INPUT}"
        words = [str(Path(word).absolute()) if word == named_dash else word for word in arguments]
        code = _root(app).main(words, prog_name=PROGRAM, standalone_mode=False)
        print_out("", end="")  # the parser does not flush its own answers
    except VocabgapError as error:
        return output.error(error)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        code = output.error(_usage_error(error, context))
        # An agent's program may read exit code 2 of a hook as a veto.
        return ExitCode.DONE if context is not None and context.info_name == _HOOK else code
    except OSError as error:
        return output.error(system_error(error))
    except MemoryError:
        return output.error(
            StateError("not enough memory", hint="read fewer logs, or raise the memory limit")
        )
    except (StoppedError, KeyboardInterrupt, typer.Abort) as stop:
        _STOPS[:] = [stop]
        code = stop.code if isinstance(stop, StoppedError) else ExitCode.INTERRUPTED
    except SystemExit:  # the parser met a reader that stopped early
        code = ExitCode.DONE
    except BaseException as error:
        code = _unforeseen(output, error)
    if code in STOPPED:
        verb = next((word for word in arguments if not word.startswith("-")), "")
        publishes = verb in {"report", "render"}
        message = VocabgapError("interrupted", hint="a report is never published in part" * publishes)
        message.exit_code = ExitCode(code)
        output.error(message)
    return int(code or ExitCode.DONE)


def _usage_error(error: TyperException, context: Any) -> InvalidInputError:  # noqa: ANN401
    """Turn an error of the parser into one with a hint."""
    message = error.format_message().replace(": Value error, ", ": ", 1)  # the library adds these words
    command = context.command_path if context else PROGRAM
    hint = f"see `{command} --help`"
    if context and context.info_name == "log" and "unexpected extra argument" in message:
        return InvalidInputError("the text of a gap needs an option", hint=TEXT_HINT)
    if "--json" in message:
        hint = f"write --json before the command: `{PROGRAM} --json report …`"
    elif not getattr(error, "option_name", "--").startswith("--"):
        hint += f"; write arguments that begin with a dash after `--`: `{command} -- …`"
    return InvalidInputError(message, hint=hint)


def _unforeseen(output: Output, error: BaseException) -> ExitCode:
    """Print an error that is a bug, or find the signal in it. Raise it if VOCABGAP_DEBUG is set."""
    # Compiled libraries raise a panic; it is not an `Exception`. Its text shows if a signal caused it.
    is_panic = type(error).__name__ == "PanicException"
    stop = re.search(r"StoppedError\((\d+)\)|KeyboardInterrupt", str(error)) if is_panic else None
    if stop is not None:
        return ExitCode(int(stop[1] or ExitCode.INTERRUPTED))
    if os.environ.get(DEBUG_VARIABLE) or not (is_panic or isinstance(error, Exception)):
        raise error
    bug = VocabgapError(
        f"this is a bug: {type(error).__name__}: {error}",
        hint=f"please report it; {DEBUG_VARIABLE}=1 shows the traceback",
    )
    return output.error(bug)


def main() -> NoReturn:
    """Run the console script."""
    # A job may run without standard output and standard error.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # If a terminal cannot show a character, print an escape instead of an error.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if not os.environ.get(DEBUG_VARIABLE):  # what waits for a thread reports its error
        threading.excepthook = lambda _: None
    # Objects live until the run ends; frequent garbage collection would cost a sixth of the time.
    gc.set_threshold(50_000)
    if _HOOK in sys.argv[1:2]:
        end_within(1.5)  # seconds: the agent waits, and Python has already needed some tenths
    else:
        raise_stops()
    code = run(sys.argv[1:])
    ignore()
    if "vocabgap.engines.spark" in sys.modules and code in STOPPED:
        # Threads of an interrupted engine may call Python while it shuts down.
        from vocabgap.files.parts import remove_kept

        remove_kept()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
