"""Files in object stores, reached with pyarrow and the credentials in the environment of each machine."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from vocabgap.errors import InvalidInputError, NotFoundError, StateError, full_address
from vocabgap.extensions import reader_of
from vocabgap.files.refusals import refusing
from vocabgap.ingest.discovery import undecided
from vocabgap.model.settings import ScanSettings
from vocabgap.text import visible

_HINT: Final = "check the address, and the credentials in the environment of this machine and of the workers"


def opened(address: str | Path) -> tuple[Any, str]:
    """Return the file system of an address or a local path, and the path there."""
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - part of the extra

    uri = quote(str(address).replace("s3a:", "s3:", 1), safe=":/@") if full_address(address) else str(address)
    store, path = FileSystem.from_uri(uri)
    return store, path


def copy(source: str | Path, target: str | Path) -> None:
    """Copy a file, or the files of a folder, to an address or a local path."""
    from pyarrow.fs import copy_files  # noqa: PLC0415 - part of the extra

    (from_store, from_path), (to_store, to_path) = opened(source), opened(target)
    if to_store.type_name == "local":
        to_store.create_dir(to_path.rpartition("/")[0])
    copy_files(from_path, to_path, source_filesystem=from_store, destination_filesystem=to_store)


def files_at(address: str) -> list[str]:
    """Return the addresses of a file, or of all files below an address."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415 - part of the extra

    store, base = opened(address)
    only = store.get_file_info(base)
    below = FileSelector(base, allow_not_found=True, recursive=True)
    entries = [only] if only.type == FileType.File else store.get_file_info(below)
    return [address + entry.path.removeprefix(base) for entry in entries if entry.type == FileType.File]


def mirror(root: str, folder: Path, settings: ScanSettings) -> dict[str, str]:
    """Mirror the names at or below an address in a folder; return the addresses by their local paths.

    So logs are found as in any other folder. Only files whose content decides how they are read come here.
    """
    with reaching("root", root), refusing("the names in an object store cannot be mirrored"):
        inside = [address for address in files_at(root) if "/../" not in f"{address}/"]
        files = {Path(f"{folder}{address.removeprefix(root)}"): address for address in inside}
        if not files:
            raise NotFoundError(f"root '{root}' does not exist, or has no files", hint=_HINT)
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for path in undecided(folder, files, settings):
            copy(files[path], path)
    if reader_of(folder) is not None:
        raise InvalidInputError(f"root '{root}' is a shared corpus", hint="name a local copy")
    return {str(path): address for path, address in files.items()}


@contextmanager
def fetching(address: str, folder: str) -> Iterator[None]:
    """Create a temporary folder in an object store for a block; then copy its files here, and remove it."""
    with reaching("", address):
        store, path = opened(address)
        store.create_dir(path)
        try:
            yield
            copy(address, folder)
        finally:
            store.delete_dir(path)


@contextmanager
def reaching(name: str, address: str) -> Iterator[None]:
    """Raise an error if an address is unsafe, or its object store cannot be reached."""
    from pyarrow import ArrowException  # noqa: PLC0415 - part of the extra

    shown = f"{name} '{visible(address.rpartition('@')[2])}'".strip()
    if re.search(r"/\.\.(/|\Z)|://[^/]*:[^/]*@", address):  # ways out of the folder, and passwords
        raise InvalidInputError(f"{shown}: expected an address without `..` and a password", hint=_HINT)
    try:
        yield
    except (OSError, ArrowException) as error:
        line = visible(str(error).strip().partition("\n")[0])
        raise StateError(f"{shown} cannot be reached: {line}", hint=_HINT) from error
