"""What a vocabulary is made of."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from vocabgap.text import count


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a vocabulary, or a tool that agents can call.

    Attributes:
        name: Unique in the vocabulary.
        description: What it does; may be empty.
        tags: Key words.
        operations: The operations it touches.
        pack: The pack that it comes from.
    """

    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    pack: str = ""


class VocabularyFile(msgspec.Struct, frozen=True):
    """One file that entries were read from."""

    pack: Annotated[str, msgspec.Meta(description="its folder's name for a manifest, else its own")]
    name: str
    entries: int
    sha256: str


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """The entries of some packs.

    Attributes:
        entries: Entries of different names, in the order of these.
        files: The files that they were read from, in order of pack and name.
    """

    entries: tuple[Entry, ...] = ()
    files: tuple[VocabularyFile, ...] = ()

    def __repr__(self) -> str:
        """How many entries there are, in one line."""
        entries, files = count(len(self.entries), "entry", "entries"), count(len(self.files), "file")
        return f"Vocabulary({entries} of {files})"
