"""What becomes of compiled loops that an earlier run has kept."""

import errno
import gc
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

from vocabgap.clustering.kernels import compiled

Loop = Callable[[], Any]
DISK_FULL = OSError(errno.ENOSPC, "No space left on device")


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


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04damaged", b"0" * 5_000])
def test_what_is_damaged_is_compiled_again_and_kept(loop: Loop, kind: str, content: bytes) -> None:
    first = loop()
    first(3)
    for kept in Path(first._cache.cache_path).glob(f"loops.doubled*.{kind}"):
        kept.write_bytes(content)

    with pytest.warns(RuntimeWarning, match="cannot be read; they are compiled again"):
        assert loop()(4) == 8
    repaired = loop()
    assert repaired(5) == 10
    assert sum(repaired.stats.cache_hits.values()) == 1


def test_a_full_disk_costs_time_alone(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DISK_FULL

    monkeypatch.setattr(IndexDataCacheFile, "save", full)

    with pytest.warns(RuntimeWarning, match="cannot be kept.*No space left"):
        assert loop()(4) == 8


def test_what_was_compiled_from_other_sources_is_not_taken(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop()(3)
    monkeypatch.setattr("vocabgap.clustering.kernels._sources", lambda: "of another version")
    other = loop()

    assert other(4) == 8
    assert not other.stats.cache_hits
