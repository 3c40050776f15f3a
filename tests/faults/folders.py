"""What a folder holds, as it was at some moment, and how it is put back."""

import re
import shutil
import stat
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A file, with its content, or a folder."""

    mode: int
    content: bytes | None  # null for a folder


Tree = dict[str, Entry]


def taken() -> Tree:
    """All that lies below the current folder, by its path."""
    return {str(path): _entry(path) for path in sorted(Path.cwd().rglob("*"))}


def _entry(path: Path) -> Entry:
    return Entry(stat.S_IMODE(path.lstat().st_mode), None if path.is_dir() else path.read_bytes())


def put_back(tree: Tree) -> None:
    """Has the current folder hold what it held then; what has not changed since is not touched."""
    for path in sorted(Path.cwd().rglob("*"), reverse=True):
        kept = tree.get(str(path))
        if kept is None or (kept.content is None) != path.is_dir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, (mode, content) in tree.items():
        path = Path(name)
        if content is None:
            path.mkdir(exist_ok=True)
        elif not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
        if stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)


def names() -> set[str]:
    """Return the paths below the folder; paths that differ only in numbers are one."""
    return {
        re.sub(r"\d+", "#", str(path.relative_to(Path.cwd()))) for path in Path.cwd().rglob("*")
    }
