"""The core works without its slices, and no imports go round in a circle."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import grimp
import pytest

import vocabgap
from vocabgap.extensions import extensions

PACKAGE = Path(vocabgap.__file__).parent
SLICES = [each.name for each in extensions()]
COMMANDS = """
import sys
import vocabgap
from vocabgap.doors.cli.app import run
assert vocabgap.__all__ and all(hasattr(vocabgap, name) for name in vocabgap.__all__)
demo, out = sys.argv[1:]
assert vocabgap.__file__.startswith(out)
for typed in (
    ["report", demo, "--out", f"{out}/out", "-q"], ["--help"], ["status"], ["schema", "records"], ["manual"]
):
    assert run(typed) == 0, typed
"""


ROOT = Path(__file__).parents[1]
# Tests that go over commands, settings, tables, pages or cases; all others are collected.
QUICK = "test_reference or test_schema_command or test_the_tools_are_listed"

# Other tests may compile modules meanwhile. What is compiled is copied, as compiling takes seconds.
HALF_COMPILED = shutil.ignore_patterns("*.pyc.*", "*tmp*")


class Checkout(NamedTuple):
    """A copy of this checkout without some slices and their tests."""

    root: Path

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run Python with the package of the copy, beside the copied files."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, *words],
            env={**kept, "PYTHONPATH": str(self.root / "pipeline")},
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A copy of this checkout without the slices and their tests."""
    root = tmp_path_factory.mktemp("without") / "checkout"
    root.mkdir()
    for name in ("pipeline", "tests"):
        shutil.copytree(ROOT / name, root / name, symlinks=True, ignore=HALF_COMPILED)
    for name in SLICES:
        shutil.rmtree(root / "pipeline/vocabgap" / name)
        shutil.rmtree(root / "tests" / name)
    for path in ROOT.glob("[!.]*"):
        if not (root / path.name).exists():
            (root / path.name).symlink_to(path)
    return Checkout(root)


def test_the_program_works_without_the_slices(without: Checkout, demo: Path) -> None:
    result = without.run("-c", COMMANDS, demo, without.root)

    assert (result.returncode, result.stderr) == (0, "")
    assert (without.root / "out" / "report.html").is_file()
    assert not [name for name in SLICES if f"\n  {name} " in result.stdout]


@pytest.mark.slow
def test_the_other_tests_are_collected_and_pass_without_the_slices(without: Checkout) -> None:
    result = without.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", QUICK)

    assert result.returncode == 0, result.stdout
    assert "deselected" in result.stdout


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("vocabgap", cache_dir=None)


def test_there_is_no_import_cycle(graph: grimp.ImportGraph) -> None:
    left = {
        module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules
    }
    while done := [module for module, imported in left.items() if not imported & left.keys()]:
        for module in done:
            del left[module]
    while done := [
        module for module in left if not any(module in imported for imported in left.values())
    ]:
        for module in done:
            del left[module]
    assert sorted(left) == []
