"""What Numba keeps of compiled loops: taken by the next run, told in a line where it is damaged."""

import errno
import gc
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numba
import pytest
from numba.core.caching import CacheImpl

from builders.clustering import asking
from vocabgap.clustering.grouping import cluster
from vocabgap.errors import StateError
from vocabgap.linkage import agglomeration, kernels, neighbours, rows
from vocabgap.linkage.kernels import compiled

Loop = Callable[[], Any]


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loop:
    """A function to compile, in a folder of its own that what is compiled is kept in; each time as new."""
    path = tmp_path / "loops.py"
    path.write_text("def doubled(number):\n    return 2 * number\n", encoding="utf-8")

    def load() -> Any:  # noqa: ANN401 - a dispatcher
        spec = importlib.util.spec_from_file_location("loops", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # What was kept names its module, which is looked for when nothing that was compiled before is alive.
        monkeypatch.setitem(sys.modules, "loops", module)
        spec.loader.exec_module(module)
        return compiled(module.doubled)

    return load


def test_what_was_compiled_is_kept(loop: Loop) -> None:
    loop()(3)
    gc.collect()
    again = loop()

    assert again(4) == 8
    assert sum(again.stats.cache_hits.values()) == 1


def test_without_a_folder_to_keep_it_in_it_is_compiled_each_time(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    assert loop()(4) == 8


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"0" * 5_000])
def test_what_is_damaged_raises_what_the_stage_catches(
    loop: Loop, kind: str, content: bytes
) -> None:
    loop()(3)
    for kept in Path(sys.modules["loops"].__file__ or "").parent.rglob(f"loops.doubled*.{kind}"):
        kept.write_bytes(content)
    gc.collect()

    with pytest.raises((EOFError, UnpicklingError)):
        loop()(4)


@pytest.mark.parametrize(
    "error",
    [EOFError("Ran out of input"), OSError(errno.ENOSPC, "No space left on device")],
    ids=repr,
)
def test_what_cannot_be_read_or_kept_is_told(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(agglomeration, "DENSE_LIMIT", 1)
    monkeypatch.setattr("vocabgap.linkage.blocks.search", refuse)

    with pytest.raises(StateError, match="Numba cannot read or write its cache") as caught:
        cluster(asking("reed mask", "tilt shift", "reed masks"), threshold=0.9)
    assert str(error) in caught.value.message
    assert "NUMBA_CACHE_DIR" in caught.value.hint


def test_all_that_is_compiled_is_in_one_module() -> None:
    """Numba does not see a change in another one."""
    functions = [
        each
        for each in vars(kernels).values()
        if isinstance(each, numba.core.registry.CPUDispatcher)
    ]

    assert {each.py_func.__module__ for each in functions} == {kernels.__name__}
    # What it keeps of one is known by its name, whatever the options it was compiled with.
    assert len({each.py_func.__qualname__ for each in functions}) == len(functions)
    assert (kernels.GRID, kernels.DEPTH) == (rows.GRID, neighbours.DEPTH)
