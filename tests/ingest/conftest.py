"""Builders of single logs, byte by byte where a test asks for it, and of caches of them; what scans hold."""

from pathlib import Path

import pytest

from builders.ingest import NEED, append, let_it_settle, same_as_fresh, write_log
from vocabgap.ingest.caching import CacheUse
from vocabgap.ingest.scanning import scan


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty root, named `shoots`."""
    root = tmp_path / "shoots"
    root.mkdir()
    return root


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The folder that a cache is kept in, once there is one."""
    return tmp_path / "kept"


@pytest.fixture
def log(workspace: Path, cache: Path) -> Path:
    """One of two logs that the cache knows; of this one it holds two shards."""
    write_log(workspace, "fox-3", NEED, b"[1]\n")
    path = write_log(workspace, "heron-11", NEED, b"{\n")
    scan(workspace, cache=cache)
    append(path, b'{"description":"warm beak"}\n[]\n{"description":"to')
    let_it_settle()
    scan(workspace, cache=cache)
    return path


@pytest.fixture
def heron(workspace: Path, cache: Path) -> Path:
    """One of two logs that the cache knows; its last line is torn."""
    write_log(workspace, "fox-3", NEED, b"[1]\n")
    path = write_log(workspace, "heron-11", NEED, b"{\n", b'{"description":"warm be')
    let_it_settle()
    assert same_as_fresh(workspace, cache).cache == CacheUse(unchanged=0, resumed=0, read=2)
    return path
