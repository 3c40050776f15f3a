"""How far the work is, from the loops that do it to the terminal."""

import sys
from pathlib import Path
from typing import Self

import pytest
from rich.console import Console

from builders import gap, write_corpus
from vocabgap import scan
from vocabgap.doors.cli import output
from vocabgap.progress import heard_by, tell


class Shown:
    """Stands for the line of a terminal, and keeps what it showed."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, *_: object, **__: object) -> Self:
        return self

    def update(self, line: str) -> None:
        self.lines.append(line)

    def start(self) -> None:
        self.lines.append("started")

    def stop(self) -> None:
        self.lines.append("stopped")


def test_a_scan_tells_how_many_logs_it_has_read(tmp_path: Path) -> None:
    write_corpus(tmp_path, {"one": [gap("sky mask")], "two": [gap("sky mask")]})
    heard: list[tuple[str, int, int]] = []

    with heard_by(lambda *message: heard.append(message)):
        scan(tmp_path)
    scan(tmp_path)

    assert heard == [("logs", 0, 2), ("logs", 1, 2)]


def test_a_terminal_shows_the_stage_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = Shown(), iter([10.0, 12.0, 12.1, 14.0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(Console, "status", shown)
    monkeypatch.setattr("vocabgap.doors.cli.output.time.monotonic", lambda: next(clock))

    with output.Output().progress(("ingest", "rank")) as listener:
        listener("ingest")
        tell("logs", 0, 4_000)
        tell("logs", 1_000, 4_000)
        tell("logs", 1_001, 4_000)  # too soon after the one before
        tell("records", 5, 10)
        listener("")
    tell("logs", 1, 2)

    assert shown.lines == [
        *("1/2 ingest", "started"),
        *("1/2 ingest: 0 of 4,000 logs", "1/2 ingest: 1,000 of 4,000 logs"),
        *("1/2 ingest: 5 of 10 records", "stopped", "stopped"),
    ]


@pytest.mark.parametrize("message", [output.Output(quiet=True), output.Output()])
def test_without_a_terminal_nothing_is_shown(
    message: output.Output, capsys: pytest.CaptureFixture[str]
) -> None:
    with message.progress(("ingest",)) as listener:
        listener("ingest")
        tell("logs", 1, 2)

    assert capsys.readouterr() == ("", "")
