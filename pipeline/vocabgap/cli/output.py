"""What the command line prints: data on stdout, messages on stderr, as text or as NDJSON."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, TextIO

import msgspec
import typer

from vocabgap.errors import VocabgapError
from vocabgap.text import escape_unseen_in_json, visible
from vocabgap.version import SCHEMA_VERSION

PROGRAM: Final = "vocabgap"


@dataclass(slots=True)
class Output:
    """Where a command's words go.

    Attributes:
        as_json: NDJSON on stdout, one event a line, the last one `result` or `error`.
        quiet: Nothing but errors, and the data of `as_json`.
    """

    as_json: bool = False
    quiet: bool = False

    def event(self, name: str, /, **fields: object) -> None:
        """Print one event, if events are wanted."""
        if self.as_json:
            _print(_encode({"schema_version": SCHEMA_VERSION, "event": name, **fields}))

    def text(self, text: str) -> None:
        """Print data for a person, if text is wanted."""
        if not self.as_json and not self.quiet:
            _print(text)

    def note(self, message: str) -> None:
        """Tell a person something beside the data."""
        if not self.as_json and not self.quiet:
            _tell(message)

    def error(self, error: VocabgapError) -> None:
        """Say what went wrong and what to do."""
        if self.as_json:
            with suppress(OSError):  # stdout itself may be what failed
                self.event("error", code=int(error.exit_code), message=error.message, hint=error.hint)
            return
        _tell(f"{PROGRAM}: {visible(error.message)}")
        if error.hint:
            _tell(f"  {visible(error.hint)}")

    @contextmanager
    def progress(self, stages: tuple[str, ...]) -> Iterator[Callable[[str], None]]:
        """A listener that shows the stage at work, where stderr is a terminal."""
        if self.as_json:
            yield lambda stage: self.event("stage", stage=stage)
            return
        if self.quiet or not sys.stderr.isatty():
            yield lambda _: None
            return
        from rich.console import Console  # noqa: PLC0415 - only a terminal needs it

        status = Console(stderr=True, highlight=False).status("")

        def show(stage: str) -> None:
            with suppress(OSError):  # the terminal has gone; the work has not
                status.update(f"{stages.index(stage) + 1}/{len(stages)} {stage}")
                status.start()

        try:
            yield show
        finally:
            with suppress(OSError):
                status.stop()


def _tell(message: str) -> None:
    """Print on stderr. Where that fails nobody can be told, but the exit code still says what happened."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """Let a stream that has failed go nowhere: what is buffered would be tried again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def output_of(context: typer.Context) -> Output:
    """The output that the root command prepared."""
    found = context.find_object(Output)
    return Output() if found is None else found


def _encode(event: dict[str, object]) -> str:
    try:
        line = msgspec.json.encode(event).decode("utf-8")
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        # An argument or a path that is not UTF-8, or a terminal of few characters; only escapes carry it.
        return json.dumps(msgspec.to_builtins(event))
    return escape_unseen_in_json(line)


def _print(text: str) -> None:
    """Print to stdout; a reader who has heard enough (`| head`) does not stop the work."""
    try:
        print(text, flush=True)
    except OSError as error:
        _give_up(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise
