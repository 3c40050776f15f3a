"""What surrounds a record: the session that it is written in, and the snapshot that its image is at."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vocabgap.files.refusals import FileKind, file_kind

SESSION_VARIABLE: Final = "VOCABGAP_SESSION"
SNAPSHOT_VARIABLE: Final = "VOCABGAP_SNAPSHOT"

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_POINTS_ON: Final = re.compile(r"ref: *(refs/(?:(?!\.\.?/)[^/\0]+/)*(?!\.\.?\Z)[^/\0]+)")
_MOST_STEPS: Final = 8  # from HEAD through the names that it stands for
_MOST_BYTES: Final = 4096


def session(environment: Mapping[str, str] = os.environ) -> str | None:
    """The session that this process belongs to, where its environment says so."""
    return _said(environment.get(SESSION_VARIABLE))


def snapshot(image: Path, environment: Mapping[str, str] = os.environ) -> str | None:
    """The snapshot that an image is at: as the environment says, else the one that its `HEAD` leads to.

    `HEAD` is a file in the image's folder that holds 64 hexadecimal digits, or `ref: ` and the name of a
    file below `refs/` that does; no link is followed out of the folder. A record can do without: whatever
    stands in the way, there is none.

    Args:
        image: The image's folder.
        environment: The environment variables.
    """
    return _said(environment.get(SNAPSHOT_VARIABLE)) or _resolved(image, "HEAD")


def _resolved(image: Path, name: str) -> str | None:
    for _ in range(_MOST_STEPS):
        content = _content(image, name)
        if _HASH.fullmatch(content):
            return content
        further = _POINTS_ON.fullmatch(content)
        if further is None:
            return None
        name = further[1]
    return None


def _content(image: Path, name: str) -> str:
    path = image / name
    try:
        if file_kind(path) is not FileKind.FILE or not path.resolve().is_relative_to(image.resolve()):
            return ""
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _said(value: str | None) -> str | None:
    try:
        return value if value and value.encode() else None
    except UnicodeEncodeError:  # bytes of the environment that are no text
        return None
