"""What the tables of the settings file have in common."""

from typing import Annotated

import msgspec

from vocabgap.errors import ADDRESS


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings file. An unknown key is an error."""


PathText = Annotated[str, msgspec.Meta(min_length=1, pattern=rf"\A(?!{ADDRESS})")]
"""A path as text. It cannot be the address of another machine."""


def flag(name: str, meaning: str = "") -> msgspec.Meta:
    """Return the metadata of a setting that an option of the command line sets, and its help."""
    return msgspec.Meta(description=meaning or None, extra={"flag": name})
