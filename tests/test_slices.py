"""The core works without its slices and imports none of them, and no imports go round in a circle."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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
assert not [name for name in sys.modules if name.startswith("vocabgap.SLICE")]
"""


@pytest.mark.parametrize("name", SLICES)
def test_the_program_works_without_a_slice(name: str, demo: Path, tmp_path: Path) -> None:
    copy = tmp_path / "lib" / "vocabgap"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "demo"))
    shutil.rmtree(copy / name)
    code, environment = COMMANDS.replace("SLICE", name), {**os.environ, "PYTHONPATH": str(copy.parent)}

    told = subprocess.run(
        [sys.executable, "-c", code, demo, tmp_path],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (told.returncode, told.stderr) == (0, "")
    assert (tmp_path / "out" / "report.html").is_file()
    assert f"\n  {name} " not in told.stdout


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("vocabgap", cache_dir=None)


def test_no_core_module_imports_a_slice(graph: grimp.ImportGraph) -> None:
    found = {
        (module, imported)
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        for slice_ in SLICES
        if f"{imported}.".startswith(f"vocabgap.{slice_}.")
        and not f"{module}.".startswith(f"vocabgap.{slice_}.")
    }
    assert found == set()


def test_there_is_no_import_cycle(graph: grimp.ImportGraph) -> None:
    left = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    while done := [module for module, imported in left.items() if not imported & left.keys()]:
        for module in done:
            del left[module]
    while done := [module for module in left if not any(module in imported for imported in left.values())]:
        for module in done:
            del left[module]
    assert sorted(left) == []
