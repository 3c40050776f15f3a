"""Builders of gap logs on disk, shared by every test."""

import gc
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

# As many tests as there are cores run at once; threads of their own would only wait for each other.
for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

# As the command line has it.
gc.set_threshold(50_000)

# A busy machine takes its time; what is slow is for benchmarks to say.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")

LOG = "vocabulary_gaps.jsonl"
OUTSIDE = "outside_data"
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
def outside(pytestconfig: pytest.Config) -> Callable[[str], Path]:
    """Gives a place among the data that are no part of the project; without it the test is skipped."""

    def find(name: str) -> Path:
        place = Path(pytestconfig.getini(OUTSIDE), name)
        if not place.exists():
            pytest.skip(f"needs '{place}', which lies beside the project; -o {OUTSIDE}=FOLDER names another")
        return place

    return find


@pytest.fixture
def gap() -> Callable[..., dict[str, object]]:
    """Makes one gap record: the need, and whatever other fields a test is about."""

    def make(need: str, **fields: object) -> dict[str, object]:
        return {"timestamp": "2026-04-01T10:00:00Z", "description": need, "workaround": "", **fields}

    return make


@pytest.fixture
def write_corpus(tmp_path: Path) -> Callable[..., Path]:
    """Writes a workspace: image to its lines, each a record or the text of a line as it is."""

    def write(
        images: Mapping[str, Iterable[Mapping[str, object] | str]],
        name: str = "photos",
        within: Path | None = None,
    ) -> Path:
        root = (within or tmp_path) / name
        root.mkdir(parents=True)
        for image, lines in images.items():
            log = root / image / LOG
            log.parent.mkdir(parents=True)
            written = [
                line if isinstance(line, str) else json.dumps({"image_id": image, **line}) for line in lines
            ]
            log.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
        return root

    return write


@pytest.fixture(scope="session")
def demo() -> Path:
    """The committed demo workspace."""
    return Path(__file__).parents[1] / "data" / "demo"


@pytest.fixture
def write_config(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a settings file of some other name than the one that is found by itself."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


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
