"""What the tables of the settings file have in common."""

from typing import Annotated, Any

import msgspec

from vocabgap.errors import ADDRESS


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings file. An unknown key is an error."""


PathText = Annotated[str, msgspec.Meta(min_length=1, pattern=rf"\A(?!{ADDRESS})")]
"""A path as text. It cannot be the address of another machine."""


def meaning(sentence: str, **bounds: Any) -> msgspec.Meta:  # noqa: ANN401 - as msgspec has them
    """Return the metadata of a setting: its meaning, and the bounds of its value."""
    return msgspec.Meta(description=sentence, **bounds)


def flag(name: str, sentence: str, **bounds: Any) -> msgspec.Meta:  # noqa: ANN401 - as above
    """Return the metadata of a setting that an option of the command line sets; its meaning is the help."""
    return msgspec.Meta(description=sentence, extra={"flag": name}, **bounds)
