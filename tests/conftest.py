"""Builders of gap logs on disk, shared by every test."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from builders import OUTSIDE

# As many tests as there are cores run at once; threads of their own would only wait for each other.
for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

# As the command line has it.
gc.set_threshold(50_000)

# A busy machine takes its time; what is slow is for benchmarks to say.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Says where data lie that are no part of the project; `-o outside_data=FOLDER` names another place."""
    default = Path(__file__).parents[2] / "shared" / "data"
    parser.addini(OUTSIDE, "folder of published data for the tests that need them", default=str(default))


@pytest.fixture(scope="session")
def demo() -> Path:
    """The committed demo workspace."""
    return Path(__file__).parents[1] / "data" / "demo"


@pytest.fixture(scope="session")
def chromium() -> Callable[[], AbstractContextManager[Browser]]:
    """Starts a Chromium and ends it; none is ever downloaded."""

    @contextmanager
    def start() -> Iterator[Browser]:
        program = next((found for found in map(shutil.which, BROWSERS) if found), None)
        if program is None:
            pytest.skip(
                "no Chromium on PATH: install Debian's package 'chromium' to test the page in a browser"
            )
        with sync_playwright() as playwright:
            started = playwright.chromium.launch(executable_path=program, args=QUIET)
            yield started
            started.close()

    return start


@pytest.fixture(scope="module")
def browser(chromium: Callable[[], AbstractContextManager[Browser]]) -> Iterator[Browser]:
    """One Chromium for all tests of a file.

    It has an event loop, and as long as that runs no test can have one of its own.
    """
    with chromium() as started:
        yield started
