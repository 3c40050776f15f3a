"""The root command, and the one place where errors become exit codes."""

import gc
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from vocabgap import __version__
from vocabgap.doors.cli.groups import LoadedOnDemand, usage_error
from vocabgap.doors.cli.output import PIPE_WIDTH, PROGRAM, Output
from vocabgap.errors import (
    DEBUG_VARIABLE,
    STOPPED,
    ExitCode,
    InvalidInputError,
    StateError,
    VocabgapError,
    system_error,
)
from vocabgap.files.signals import StoppedError, ignore, raise_stops, release

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
_parser: Final = cache(get_command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    output = Output(as_json="--json" in arguments)
    try:
        release()
        code = _parser(app).main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except VocabgapError as error:
        output.error(error)
        return error.exit_code
    except TyperException as error:
        output.error(usage_error(error))
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
