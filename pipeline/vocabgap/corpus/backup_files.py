"""Files of backup records: one JSON object a line, plain or as `.zst`, written whole or not at all."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, cast

import msgspec

from vocabgap.corpus.contracts import BACKUP_RECORD, faults
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.files.atomic import replacing
from vocabgap.files.lines import read_lines
from vocabgap.files.refusals import refusal, refusing

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LONGEST_LINE: Final = 256 << 20  # bytes; no record is that long, and a damaged file shall not fill the memory
_COMPRESSED: Final = ".zst"
_PLAIN_HINT: Final = "expected one backup-record-v1 object a line, as `vocabgap corpus export` writes them"
_SURROGATE: Final = "half of a surrogate pair, or an escape that was cut off"


class BackupRecord(msgspec.Struct, forbid_unknown_fields=True):
    """One line of a backup.

    Attributes:
        id: The chunk's id.
        embedding: Its vector.
        metadata: What is said of it: JSON text of an object, kept as it is.
        document: Its text, or null where it has none.
    """

    id: Annotated[str, msgspec.Meta(min_length=1)]
    embedding: Annotated[list[float], msgspec.Meta(min_length=1)]
    metadata: msgspec.Raw
    document: str | None


_RECORD: Final = msgspec.json.Decoder(BackupRecord)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])
_ENCODER: Final = msgspec.json.Encoder()


def metadata_in(record: BackupRecord) -> dict[str, Any]:
    """What a record says of its chunk."""
    return _OBJECT.decode(record.metadata)


def read_records(path: Path) -> Iterator[tuple[int, BackupRecord]]:
    """The records of a file, each with the number of its line. Blank lines are passed over."""
    try:
        with path.open("rb") as file:
            content = cast("BinaryIO", zstd.ZstdFile(file)) if path.suffix == _COMPRESSED else file
            lines = iter(partial(content.readline, LONGEST_LINE + 1), b"")
            yield from read_lines(lines, lambda number, line: _decoded(line, f"{path}:{number}"))
    except FileNotFoundError as error:
        raise NotFoundError(f"backup '{path}' does not exist", hint="check the path") from error
    except (EOFError, zstd.ZstdError) as error:
        raise InvalidInputError(
            f"backup '{path}' is damaged: {error}", hint="use another copy of it"
        ) from error
    except OSError as error:
        raise refusal(f"backup '{path}' cannot be read", error) from error


def _decoded(line: bytes, place: str) -> BackupRecord:
    if len(line) > LONGEST_LINE:
        raise InvalidInputError(f"{place}: the line is longer than {LONGEST_LINE:,} bytes")
    try:
        record = _RECORD.decode(line)
        _OBJECT.decode(bytes(record.metadata).decode())
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
    record = json.loads(line)
    if isinstance(record, dict) and record.get("document", "") is None:  # the schema knows no null
        record["document"] = ""
    return "; ".join(fault.message for fault in faults(BACKUP_RECORD, record))


def encoded(record: BackupRecord) -> bytes:
    """A record as its line, with the newline."""
    return _ENCODER.encode(record) + b"\n"


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of another one when the block ends without an error.

    It is compressed if it is called `.zst`. Nobody else may read it: gap text is private.
    """
    if path.is_dir():
        raise StateError(f"'{path}' is a folder", hint="name a file")
    hint = "what was there before is still there; name a file elsewhere"
    with refusing(f"'{path}' cannot be written", hint=hint), replacing(path) as file:
        if path.suffix == _COMPRESSED:
            with zstd.ZstdFile(file, "w") as compressed:
                yield cast("BinaryIO", compressed)
        else:
            yield cast("BinaryIO", file)
