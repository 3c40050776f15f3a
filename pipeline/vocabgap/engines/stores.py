"""Files in object stores, reached with pyarrow and the credentials in the environment of each machine.

A folder on this machine mirrors the names of the files, so that logs are found as in any other folder. Only
files whose content decides how they are read come here.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem, copy_files

from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.extensions import reader_of
from vocabgap.files.refusals import refusing
from vocabgap.ingest.discovery import undecided
from vocabgap.model.settings import ScanSettings
from vocabgap.text import visible

_REFUSED = re.compile(r"/\.\.(/|\Z)|://[^/]*:[^/]*@")  # ways out of the folder, and passwords
_HINT = "check the address, and the credentials in the environment of this machine and of the workers"


def opened(address: str) -> tuple[Any, str]:
    """Return the object store of an address, and the path there."""
    store, path = FileSystem.from_uri(quote(address.replace("s3a:", "s3:", 1), safe=":/@"))
    return store, path


def download(address: str, path: Path) -> None:
    """Copy a file, or the files of a folder, to this machine."""
    store, there = opened(address)
    copy_files(there, str(path), source_filesystem=store, destination_filesystem=LocalFileSystem())


def upload(path: Path, address: str) -> None:
    """Copy a file, or the files of a folder, from this machine."""
    store, there = opened(address)
    if path.is_file() and store.type_name == "local":
        store.create_dir(there.rpartition("/")[0])
    copy_files(str(path), there, source_filesystem=LocalFileSystem(), destination_filesystem=store)


def mirror(root: str, folder: Path, settings: ScanSettings) -> dict[str, str]:
    """Mirror the names at or below an address in a folder; return the addresses by their local paths."""
    shown = visible(root.rpartition("@")[2])
    if _REFUSED.search(root):
        raise InvalidInputError(
            f"root '{shown}': expected an address without `..` and without a password", hint=_HINT
        )
    with reaching(f"root '{shown}'"), refusing(f"the names in '{shown}' cannot be mirrored"):
        store, base = opened(root)
        selector = FileSelector(base, allow_not_found=True, recursive=True)
        is_file = store.get_file_info(base).type == FileType.File
        entries = [store.get_file_info(base)] if is_file else store.get_file_info(selector)
        names = [entry.path.removeprefix(base) for entry in entries if entry.type == FileType.File]
        addresses = {Path(f"{folder}{name}"): root + name for name in names if not _REFUSED.search(name)}
        if not addresses:
            raise NotFoundError(f"root '{shown}' does not exist, or has no files", hint=_HINT)
        for path in addresses:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for path in undecided(folder, addresses, settings):
            download(addresses[path], path)
    if reader_of(folder) is not None:
        raise InvalidInputError(f"root '{shown}' is a shared corpus", hint="name a local copy")
    return {str(path): address for path, address in addresses.items()}


def require_new(address: str) -> None:
    """Raise StateError if no report can be written to an address."""
    shown = f"--out: '{visible(address.rpartition('@')[2])}'"
    hint = "name a new address"
    if _REFUSED.search(address):
        raise StateError(f"{shown} has `..` or a password", hint=hint)
    with reaching(shown):
        store, path = opened(address)
        if store.get_file_info(FileSelector(path, allow_not_found=True)):
            raise StateError(f"{shown} has files already", hint=hint)


@contextmanager
def reaching(shown: str) -> Iterator[None]:
    """Raise StateError if an object store refuses, or cannot be reached."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        line = visible(str(error).strip().partition("\n")[0])
        raise StateError(f"{shown} cannot be read: {line}", hint=_HINT) from error
