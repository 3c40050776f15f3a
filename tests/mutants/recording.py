"""Records the tests that run each line: `python -m mutants.recording RECORD.json PYTEST_ARGUMENT …`.

It measures what lies in `pipeline`. A line that runs at import has an empty name among its tests.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import coverage
import pytest


class Recorder:
    """A plugin of pytest that names the current test to coverage, and measures its seconds.

    A fixture that several tests share is named itself: its lines are those of each of these tests.
    """

    def __init__(self, measured: coverage.Coverage) -> None:
        self.seconds: dict[str, float] = {}
        self.users: defaultdict[str, list[str]] = defaultdict(list)  # of each fixture
        self._measured = measured
        self._contexts = [""]

    @contextmanager
    def _within(self, context: str) -> Iterator[None]:
        self._contexts.append(context)
        self._measured.switch_context(context)
        try:
            yield
        finally:
            self._contexts.pop()
            self._measured.switch_context(self._contexts[-1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run one test."""
        started = time.monotonic()
        for name in getattr(item, "fixturenames", ()):
            self.users[f"fixture {name}"].append(item.nodeid)
        with self._within(item.nodeid):
            result = yield
        self.seconds[item.nodeid] = time.monotonic() - started
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """Prepare a fixture."""
        if fixturedef.scope == "function":
            return (yield)
        with self._within(f"fixture {fixturedef.argname}"):
            return (yield)


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
            line: sorted(
                {numbers[test] for each in contexts for test in recorder.users.get(each, [each])}
            )
            for line, contexts in data.contexts_by_lineno(file).items()
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
