"""A run of the conformance runner in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import main

Run = Callable[[Path], tuple[int, list[str]]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the cases of a file in this process; gives the exit code and the lines."""

    def make(path: Path) -> tuple[int, list[str]]:
        code = main([str(path)])
        result = capsys.readouterr()
        assert "Traceback" not in result.err
        return code, result.out.splitlines()

    return make
