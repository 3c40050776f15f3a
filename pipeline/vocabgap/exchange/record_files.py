"""Files of backup records: one JSON object a line, plain or as `.zst`, written whole or not at all."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, cast

import msgspec

from vocabgap.corpus.restoring import record_faults
from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError, VocabgapError
from vocabgap.files.atomic import put_in_place

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LONGEST_LINE: Final = 256 << 20  # bytes; no record is that long, and a damaged file shall not fill the memory
_PACKED: Final = ".zst"
_PLAIN_HINT: Final = "expected one backup-record-v1 object a line, as `vocabgap corpus export` writes them"
_SURROGATE: Final = "half of a surrogate pair, or an escape that was cut off"


class BackupRecord(msgspec.Struct, forbid_unknown_fields=True):
    """One line of a backup.

    Attributes:
        id: The chunk's id.
        embedding: Its vector.
        metadata: What is told of it: JSON text of an object, kept as it is.
        document: Its text, or null where none was kept.
    """

    id: Annotated[str, msgspec.Meta(min_length=1)]
    embedding: Annotated[list[float], msgspec.Meta(min_length=1)]
    metadata: msgspec.Raw
    document: str | None

    @property
    def told(self) -> dict[str, Any]:
        """What the metadata say."""
        return _OBJECT.decode(self.metadata)


_RECORD: Final = msgspec.json.Decoder(BackupRecord)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_ENCODER: Final = msgspec.json.Encoder()


def encoded(record: BackupRecord) -> bytes:
    """A record as its line, with the newline."""
    return _ENCODER.encode(record) + b"\n"


def decoded(line: bytes, place: str) -> BackupRecord:
    """The record of a line.

    Args:
        line: The line, with its newline or without.
        place: The file and the number of the line, for an error.

    Raises:
        InvalidInputError: It is none; the error says where and what was expected.
    """
    try:
        record = _RECORD.decode(line)
        told = bytes(record.metadata).decode()
        _OBJECT.decode(told)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{place}: expected UTF-8, {error.reason}", hint=_PLAIN_HINT) from error
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"{place}: {_faults(line) or str(error)}", hint=_PLAIN_HINT) from error
    except msgspec.DecodeError as error:
        why = _SURROGATE if "hex escape" in str(error) or "truncated" in str(error) else str(error)
        raise InvalidInputError(f"{place}: expected JSON: {why}", hint=_PLAIN_HINT) from error
    except RecursionError as error:
        raise InvalidInputError(f"{place}: nested too deeply", hint=_PLAIN_HINT) from error
    return record


def _faults(line: bytes) -> str:
    """Where JSON is no backup record, by pointer; empty where only the size of a number is wrong."""
    return "; ".join(fault.message for fault in record_faults(json.loads(line)))


def read_records(path: Path) -> Iterator[tuple[int, BackupRecord]]:
    """The records of a file, each with the number of its line, counted from 1. Blank lines are passed over.

    Raises:
        NotFoundError: There is no such file.
        AccessDeniedError: It may not be read.
        InvalidInputError: It is damaged, or a line is no backup record.
    """
    try:
        with path.open("rb") as file:
            content = cast("BinaryIO", zstd.ZstdFile(file)) if path.suffix == _PACKED else file
            number = 0
            while line := content.readline(LONGEST_LINE + 1):
                number += 1
                place = f"{path}:{number}"
                if len(line) > LONGEST_LINE:
                    raise InvalidInputError(f"{place}: the line is longer than {LONGEST_LINE:,} bytes")
                if not line.isspace():
                    yield number, decoded(line, place)
    except FileNotFoundError as error:
        raise NotFoundError(f"backup '{path}' does not exist", hint="check the path") from error
    except PermissionError as error:
        raise AccessDeniedError(f"backup '{path}' may not be read") from error
    except (EOFError, zstd.ZstdError) as error:
        raise InvalidInputError(
            f"backup '{path}' is damaged: {error}", hint="use another copy of it"
        ) from error
    except OSError as error:
        raise StateError(f"backup '{path}' cannot be read: {error.strerror or error}") from error


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of another one when the block ends without an error.

    It is compressed if it is called `.zst`. Nobody else may read it: gap text is private.

    Raises:
        AccessDeniedError: The system refused.
        StateError: The disk did not take it, or a folder is in its place.
    """
    staged: Path | None = None
    try:
        if path.is_dir():
            raise StateError(f"'{path}' is a folder", hint="name a file")
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        staged = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            if path.suffix == _PACKED:
                with zstd.ZstdFile(file, "w") as packed:
                    yield cast("BinaryIO", packed)
            else:
                yield file
        put_in_place(staged, path)
        staged = None
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        if staged is not None:
            staged.unlink(missing_ok=True)


def _refused(path: Path, error: OSError) -> VocabgapError:
    problem = f"'{path}' cannot be written: {error.strerror or error}"
    hint = "what was there before is still there; name a file elsewhere"
    return (AccessDeniedError if isinstance(error, PermissionError) else StateError)(problem, hint=hint)
