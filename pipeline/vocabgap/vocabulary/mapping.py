"""From an object of a vocabulary's file to an entry."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from reprlib import repr as short_repr
from typing import Any, Final

from vocabgap.errors import InvalidInputError
from vocabgap.settings.model import VocabularyFields
from vocabgap.settings.sources import PATH_HINT, pointer_of, value_at
from vocabgap.text import shortened
from vocabgap.vocabulary.documents import Item
from vocabgap.vocabulary.entry import Entry

# Where manifests and MCP servers have the fields; tried where a mapping leads to nothing.
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("name",),
    "description": ("description",),
    "tags": ("tags",),
    "operations": ("touches", "operations"),
}
# What an MCP server calls a tool for people; it says what the tool is, like the first sentence about it.
_TITLES: Final = ("title", "annotations.title")
_SEPARATORS: Final = re.compile(r"[,;|]")
_NAME_HINT: Final = (
    "[vocabulary.fields] says where the name lies; the first line of a table names its columns"
)
_LIST_HINT: Final = "expected a list of texts, or one text that is split at commas, semicolons and bars"
_KEYS_TOLD: Final = 5
_END: Final = (".", "!", "?")


def entry_of(item: Item, fields: VocabularyFields, pack: str) -> Entry:
    """The entry that an object of a file stands for.

    Args:
        item: The object.
        fields: Where the fields lie in it.
        pack: The pack of the file.

    Raises:
        InvalidInputError: It has no name, or a field has another form; the error names the entry.
    """
    name = _text(item, "name", fields)
    if not name:
        tried = " or ".join(f"'{path}'" for path in _paths("name", fields))
        keys = ", ".join(short_repr(key) for key in islice(item.fields, _KEYS_TOLD)) or "none"
        raise InvalidInputError(
            f"{item.place}: there is no name at {tried}; its first keys are {keys}", hint=_NAME_HINT
        )
    short = shortened(name)
    named = Item(item.place if f"'{short}'" in item.place else f"{item.place} ('{short}')", item.fields)
    titles = (value_at(item.fields, pointer_of(path)) for path in _TITLES)
    title = next(filter(None, map(_optional_text, titles)), "")
    description = _text(named, "description", fields)
    if title and title.casefold() not in {name.casefold(), description.casefold()}:
        ended = title if title.endswith(_END) else f"{title}."
        description = f"{ended} {description}".strip()
    entry = Entry(
        name=name,
        description=description,
        tags=_texts(named, "tags", fields),
        operations=_texts(named, "operations", fields),
        pack=pack,
    )
    try:
        "".join((entry.name, entry.description, *entry.tags, *entry.operations)).encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"{item.place}: half a surrogate pair is no text",
            hint="write the character itself, or both escapes",
        ) from error
    return entry


def require_led(items: Sequence[Item], fields: VocabularyFields) -> None:
    """Refuse a mapping that leads nowhere: what it is meant to find would be missed without a word.

    Args:
        items: The objects of all files.
        fields: Where the fields lie in them.

    Raises:
        InvalidInputError: None of the paths of a field leads to a value in any of the objects.
    """
    for field in VocabularyFields.__struct_fields__:
        paths = _own_paths(field, fields)
        pointers = [pointer_of(path) for path in paths]
        led = any(value_at(item.fields, pointer) is not None for item in items for pointer in pointers)
        if items and paths and not led:
            told = " and ".join(f"'{path}'" for path in paths)
            raise InvalidInputError(
                f"[vocabulary.fields] {field}: {told} led to nothing in any entry", hint=PATH_HINT
            )


def _own_paths(field: str, fields: VocabularyFields) -> tuple[str, ...]:
    own: str | tuple[str, ...] = getattr(fields, field)
    return (own,) if isinstance(own, str) else own


def _paths(field: str, fields: VocabularyFields) -> tuple[str, ...]:
    return (*_own_paths(field, fields), *_USUAL[field])


def _values(item: Item, field: str, fields: VocabularyFields) -> Iterator[tuple[str, Any]]:
    for path in _paths(field, fields):
        value = value_at(item.fields, pointer_of(path))
        if value is not None and value != "":
            yield path, value


def _text(item: Item, field: str, fields: VocabularyFields) -> str:
    path, value = next(_values(item, field, fields), ("", ""))
    if not isinstance(value, str):
        raise InvalidInputError(
            f"{item.place}: {path}: expected text, found {short_repr(value)}", hint="put the value in quotes"
        )
    return value.strip()


def _optional_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(item: Item, field: str, fields: VocabularyFields) -> tuple[str, ...]:
    path, value = next(_values(item, field, fields), ("", ()))
    parts = _SEPARATORS.split(value) if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise InvalidInputError(
            f"{item.place}: {path}: expected texts, found {short_repr(value)}", hint=_LIST_HINT
        )
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
