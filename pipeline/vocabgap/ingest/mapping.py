"""From the object of somebody else's log to the fields of a record."""

from dataclasses import dataclass
from typing import Any, Final

from vocabgap.schema import PHRASE_FIELDS
from vocabgap.settings.sources import NATIVE, Pointer, Source, pointer_of, value_at

_NEEDS: Final = "field 'description': expected text, or missing_capability or intent in its place, found none"


@dataclass(frozen=True, slots=True)
class FieldMap:
    """A source made ready: paths are taken apart once, not for every line.

    Attributes:
        native: Whether the objects are records as they are.
        paths: Field of the record to where its value may lie.
        constants: Field of the record to the value it takes where the object has none.
        where: Path to the values that make an object a gap.
        origins: Field of the record to its paths, as the settings write them.
    """

    native: bool
    paths: tuple[tuple[str, tuple[Pointer, ...]], ...]
    constants: dict[str, Any]
    where: tuple[tuple[Pointer, tuple[Any, ...]], ...]
    origins: dict[str, str]

    @classmethod
    def of(cls, source: Source) -> "FieldMap":
        """The map of a source."""
        return cls(
            native=source.native,
            paths=tuple(
                (field, tuple(map(pointer_of, _several(path)))) for field, path in source.fields.items()
            ),
            constants=source.constants,
            where=tuple((pointer_of(path), _several(value)) for path, value in source.where.items()),
            origins={field: " or ".join(_several(path)) for field, path in source.fields.items()},
        )

    @property
    def needs(self) -> str:
        """What an object lacks that says nothing of a need."""
        if not self.origins:
            return (
                "field 'description': expected text, or missing_capability or intent in its place, found none"
            )
        found = " or ".join(self.origins[field] for field in PHRASE_FIELDS if field in self.origins)
        return f"expected text in {found or 'a field of a need, none of which is mapped'}, found none"

    @property
    def own_folders(self) -> bool:
        """Whether a folder is an image, so that a record's image is compared with it."""
        return not self.paths

    def wants(self, value: dict[str, Any]) -> bool:
        """Whether an object is a gap at all."""
        return all(
            any(_same(value_at(value, path), allowed) for allowed in values) for path, values in self.where
        )

    def applied(self, value: dict[str, Any]) -> dict[str, Any]:
        """The fields that an object gives; those it says nothing about are left out."""
        if self.paths:
            mapped = {}
            for field, paths in self.paths:
                found = next((found for path in paths if (found := value_at(value, path)) is not None), None)
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


def _same(found: object, allowed: object) -> bool:
    """Equal as JSON has it: true is not 1."""
    return found == allowed and isinstance(found, bool) == isinstance(allowed, bool)


NATIVE_FIELDS: Final = FieldMap.of(NATIVE)
