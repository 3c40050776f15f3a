"""From the object of somebody else's log to the fields of a record."""

from dataclasses import dataclass
from typing import Any

from vocabgap.sources import Source

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FieldMap:
    """A source made ready: paths are taken apart once, not for every line.

    Attributes:
        native: Whether the objects are records as they are.
        own_folders: Whether a folder is an image there, so that the two are compared.
    """

    native: bool
    paths: tuple[tuple[str, tuple[_Path, ...]], ...]
    constants: dict[str, Any]
    where: tuple[tuple[_Path, tuple[Any, ...]], ...]

    @classmethod
    def of(cls, source: Source) -> "FieldMap":
        """The map of a source."""
        return cls(
            native=source.native,
            paths=tuple((field, tuple(map(_path, _several(path)))) for field, path in source.fields.items()),
            constants=source.constants,
            where=tuple((_path(path), _several(value)) for path, value in source.where.items()),
        )

    @property
    def own_folders(self) -> bool:
        """Whether a folder is an image, as it is where objects are read as they are."""
        return not self.paths

    def wants(self, value: dict[str, Any]) -> bool:
        """Whether an object is a gap at all."""
        return all(any(_same(_at(value, path), allowed) for allowed in values) for path, values in self.where)

    def applied(self, value: dict[str, Any]) -> dict[str, Any]:
        """The fields that an object gives; those it says nothing about are left out."""
        if self.paths:
            mapped = {}
            for field, paths in self.paths:
                found = next((found for path in paths if (found := _at(value, path)) is not None), None)
                if found is not None:
                    mapped[field] = found
        else:
            mapped = dict(value)
        for field, constant in self.constants.items():
            if mapped.get(field) is None:
                mapped[field] = constant
        return mapped


def _several(value: Any) -> tuple[Any, ...]:  # noqa: ANN401 - whatever TOML may hold
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _path(text: str) -> _Path:
    """A JSON pointer (RFC 6901), or keys joined by dots."""
    if text.startswith("/"):
        return tuple(key.replace("~1", "/").replace("~0", "~") for key in text[1:].split("/"))
    return tuple(text.split("."))


def _at(value: Any, path: _Path) -> Any:  # noqa: ANN401 - whatever JSON may hold
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key[:9]) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _same(found: object, allowed: object) -> bool:
    """Equal as JSON has it: true is not 1."""
    return found == allowed and isinstance(found, bool) == isinstance(allowed, bool)
