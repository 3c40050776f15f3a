"""Roots in object stores: an engine lists and reads them with the cluster's own configuration.

A folder on this machine mirrors the names of the files, so that logs are found as in any other folder. Only
files whose content decides how they are read come here.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from vocabgap.engines.parts import fetched, opened, portions
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.extensions import reader_of
from vocabgap.files.parts import MOST_BYTES
from vocabgap.files.refusals import refusing
from vocabgap.ingest.discovery import undecided
from vocabgap.ingest.reading import MIB
from vocabgap.model.settings import ScanSettings
from vocabgap.text import count, visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_HERE: Final = 1 << 30  # bytes of the files that come here
_SIGNS: Final = re.compile(r"[][{}*?\\%#]")  # with a meaning in the patterns of an engine
_REFUSED: Final = re.compile(r"/\.\.(/|\Z)|://[^/]*:[^/]*@")  # ways out of the folder, and passwords
_HINT: Final = "check the address, and the file system and the credentials in the cluster's configuration"


class StoredFile(NamedTuple):
    """A file in an object store: its path as the engine lists it, its address, and its size."""

    listed: str
    address: str
    size: int


def contents(session: "SparkSession", addresses: Iterable[str]) -> "DataFrame":
    """Return the files at or below some addresses, with columns `path`, `length` and `content`."""
    reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    return reader.load(sorted({_SIGNS.sub("?", address) for address in addresses}))


def mirror(
    session: "SparkSession", root: str, folder: Path, settings: ScanSettings
) -> dict[Path, StoredFile]:
    """Mirror the names at or below an address in a folder; return the files by their local paths."""
    shown = visible(root.rpartition("@")[2])
    if _REFUSED.search(root):
        raise InvalidInputError(
            f"root '{shown}': expected an address without `..` and without a password", hint=_HINT
        )
    files: dict[Path, StoredFile] = {}
    with _reading(shown), refusing(f"the names in '{shown}' cannot be mirrored"):
        rows = fetched(contents(session, [root]).select("path", "length"))
        for listed, size in zip(rows["path"].to_pylist(), rows["length"].to_pylist(), strict=True):
            below = f"/{_key(listed)}".removeprefix(f"/{_key(root)}".rstrip("/"))
            if below and (not below.startswith("/") or _REFUSED.search(below)):
                continue  # it fits the pattern of the root only
            path = Path(f"{folder}{below}")
            files[path] = StoredFile(listed, root + below, size)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        if not files:
            raise NotFoundError(f"root '{shown}' does not exist, or has no files", hint=_HINT)
        here = {files[path].listed: path for path in undecided(folder, files, settings)}
        if (size := sum(files[path].size for path in here.values())) > _MOST_HERE:
            few = f"{count(len(here), 'file')} of {size // MIB:,} MiB; the limit is {_MOST_HERE // MIB:,} MiB"
            hint = "only their content shows how to read them; name them in `[source.NAME]` of vocabgap.toml"
            raise InvalidInputError(f"root '{shown}' needs copies here of {few}", hint=hint)
        brought = [files[path] for path in here.values()]
        for some in portions([file.size for file in brought], MOST_BYTES):
            rows = contents(session, [file.address for file in brought[some]])
            for row in fetched(rows.select("path", "content")).to_pylist():
                if local := here.get(row["path"]):
                    local.write_bytes(row["content"])
    if reader_of(folder) is not None:
        raise InvalidInputError(f"root '{shown}' is a shared corpus", hint="name a local copy")
    return files


def problem_at(address: str) -> str:
    """Return the reason why no report can be written to an address; nothing if it can."""
    from pyarrow.fs import FileSelector  # noqa: PLC0415 - part of the extra

    if _REFUSED.search(address):
        return "has `..` or a password"
    try:
        store, path = opened(address)
        entries = store.get_file_info(FileSelector(path, allow_not_found=True))
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    return "has files already" if entries else ""


def _key(path: str) -> str:
    """Return the part of an address, or of a path that an engine lists, behind scheme and host."""
    return re.sub(r"\A[A-Za-z][\w+.-]*:(//[^/]*)?", "", path).strip("/")


@contextmanager
def _reading(shown: str) -> Iterator[None]:
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra

    try:
        yield
    except PySparkException as error:
        line = visible(str(error).strip().partition("\n")[0])
        raise StateError(f"root '{shown}' cannot be read: {line}", hint=_HINT) from error
