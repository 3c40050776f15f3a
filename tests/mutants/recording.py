"""Records the tests that run each line: `python -m mutants.recording RECORD.json PYTEST_ARGUMENT …`.

It measures what lies in `pipeline`. A line that runs at import has an empty name among its tests.
"""

import json
import sys
import time
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest


class Recorder:
    """A plugin of pytest that names the current test to coverage, and measures its seconds."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run one test."""
        started = time.monotonic()
        self.measured.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.measured.switch_context("")
            self.seconds[item.nodeid] = time.monotonic() - started


def main(record: str, *arguments: str) -> int:
    """Run the tests; write the record if they pass."""
    measured = coverage.Coverage(data_file=None, config_file=False, include=["pipeline/*"])
    recorder = Recorder(measured)
    measured.start()
    code = pytest.main([*arguments], plugins=[recorder])
    measured.stop()
    data = measured.get_data()
    numbers = {"": -1} | {test: number for number, test in enumerate(recorder.seconds)}
    lines = {
        Path(file).relative_to(Path.cwd()).as_posix(): {
            line: [numbers[test] for test in tests]
            for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    if not code:
        Path(record).write_text(
            json.dumps({"seconds": recorder.seconds, "lines": lines}), encoding="utf-8"
        )
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
