"""The output of the command line: data on stdout, messages on stderr, as text or as NDJSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, TextIO

import msgspec

from vocabgap import SCHEMA_VERSION
from vocabgap.errors import ExitCode, VocabgapError
from vocabgap.progress import heard_by
from vocabgap.text import (
    escape_unseen,
    escape_unseen_in_json,
    visible,
    without_commands,
    without_commands_in_json,
)

PROGRAM: Final = "vocabgap"
PIPE_WIDTH: Final = 110


@dataclass(slots=True)
class Output:
    """The output of a command.

    Attributes:
        as_json: Print NDJSON on stdout: one event per line, the last is `result` or `error`.
        quiet: Print only errors and the data of `as_json`.
    """

    as_json: bool = False
    quiet: bool = False

    def event(self, name: str, /, **fields: object) -> None:
        """Print one event if `as_json` is set."""
        if self.as_json:
            print_out(_encode({"schema_version": SCHEMA_VERSION, "event": name, **fields}))

    def text(self, text: str, *, is_exact: bool = False) -> None:
        """Print data for a person on stdout; if it may hold text of others, without commands for CI."""
        if not self.as_json and not self.quiet:
            print_out(text if is_exact else without_commands(text))

    def note(self, message: str) -> None:
        """Print a message for a person on stderr."""
        if not self.as_json and not self.quiet:
            _tell(message)

    def telling_of_wait(self, place: str) -> Callable[[], None]:
        """Return a function that prints that another program is writing the file."""

        def tell() -> None:
            self.event("waiting", file=place)
            self.note(f"waiting: another program is writing {escape_unseen(place)}")

        return tell

    def error(self, error: VocabgapError) -> ExitCode:
        """Print the message and the hint of an error, and return its exit code."""
        if self.as_json:
            with suppress(OSError):  # stdout itself may have failed
                self.event("error", code=int(error.exit_code), message=error.message, hint=error.hint)
            return error.exit_code
        _tell(f"{PROGRAM}: {visible(error.message)}")
        if error.hint:
            for line in error.hint.split("\n") if error.commands else [error.hint]:
                _tell(f"  {visible(line)}")
        return error.exit_code

    @contextmanager
    def progress(self, stages: tuple[str, ...]) -> Iterator[Callable[[str], None]]:
        """Yield a listener that shows the current stage and its progress, if stderr is a terminal.

        An empty stage ends the display.
        """
        if self.as_json:
            yield lambda stage: self.event("stage", stage=stage)
            return
        if self.quiet or not sys.stderr.isatty():
            yield lambda _: None
            return
        from rich.console import Console

        status = Console(stderr=True, highlight=False).status("")
        at_work, shown = "", 0.0

        def show(stage: str) -> None:
            nonlocal at_work
            at_work = f"{stages.index(stage) + 1}/{len(stages)} {stage}" if stage else ""
            with suppress(OSError):  # the terminal is closed; the work goes on
                if not stage:
                    status.stop()
                    return
                status.update(at_work)
                status.start()

        def hear(what: str, done: int, total: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if at_work and now - shown >= 0.2:  # noqa: PLR2004 - seconds
                shown = now
                with suppress(OSError):
                    status.update(f"{at_work}: {done:,} of {total:,} {what}")

        try:
            with heard_by(hear):
                yield show
        finally:
            with suppress(OSError):
                status.stop()


def _tell(message: str) -> None:
    """Print on stderr; if that fails, the exit code still reports the error."""
    try:
        print(without_commands(message), file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Redirect a failed stream to the null device; else Python would write its buffer again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _encode(event: dict[str, object]) -> str:
    """Return an event as JSON."""
    try:
        line = msgspec.json.encode(event).decode("utf-8")
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        # The path is not UTF-8, or the terminal lacks a character: write escapes.
        line = json.dumps(msgspec.to_builtins(event))
    return without_commands_in_json(escape_unseen_in_json(line))


def print_out(text: str, end: str = "\n") -> None:
    """Print to stdout; a reader that stops early (`| head`) does not stop the work."""
    try:
        print(text, end=end, flush=True)
    except OSError as error:
        _give_up(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise
