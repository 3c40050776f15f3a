"""The texts of a step as the command line is given them: as they are, in a file, or on stdin."""

import re
import sys
from pathlib import Path
from typing import Final

from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.text import escape_unseen

_STDIN: Final = "-"
# One word with a separator of folders or the ending of a file; a sentence may end in a full stop.
_FILE_NAME: Final = re.compile(r"\S*[/\\]\S*|\S*\w\.[A-Za-z]\w{0,5}")


def read(text: str) -> tuple[str, str]:
    """A text that was given as it is or as a file, and the file.

    Raises:
        NotFoundError: It can only be meant as the name of a file, and there is none.
        VocabgapError: The file cannot be read.
    """
    if text == _STDIN:
        return sys.stdin.read(), ""
    path = Path(text)
    try:
        if path.is_file():
            return _content(path), str(path.resolve())
    except (OSError, ValueError) as error:
        if len(text.split()) > 1 or "\0" in text:
            return text, ""  # no path, but a text that is too long for one
        raise StateError(f"'{escape_unseen(text)}' cannot be read: {error}") from error
    # A text in place of a file that is not there would let pass what the file would not.
    if _FILE_NAME.fullmatch(text):
        raise NotFoundError(
            f"there is no file '{escape_unseen(text)}'",
            hint="check the name; a text that looks like one is given on stdin, with -",
        )
    return text, ""


def read_again(path: Path) -> str:
    """The text of a file that was read when the step was stopped.

    Raises:
        NotFoundError: It is gone.
        VocabgapError: It cannot be read.
    """
    if not path.is_file():
        raise NotFoundError(
            f"the text of the step, '{escape_unseen(str(path))}', is gone",
            hint="put the file back, or name the text or its file behind the token",
        )
    return _content(path)


def _content(path: Path) -> str:
    name = escape_unseen(str(path))
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{name}: byte {error.start}: expected UTF-8 text", hint="save it in UTF-8"
        ) from error
    except OSError as error:
        raise StateError(f"'{name}' cannot be read: {error}") from error
