"""Terms as a seed file lists them, and everything that may be wrong with them."""

from collections.abc import Iterator, Mapping
from reprlib import repr as short_repr
from typing import Annotated, Any, Final

import msgspec

from vocabgap.errors import nearest
from vocabgap.glossary.errors import InvalidTermError, SeedProblem
from vocabgap.glossary.senses import (
    Provenance,
    SenseStatus,
    TermSense,
    TermSurface,
    require_definition,
    require_surface,
)

TERMS: Final = "terms"
_REQUIRED: Final = ("surface", "definition")


class SeedTerm(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A term of a seed file.

    Attributes:
        surface: The term, in lower case.
        definition: What it means.
        confidence: How sure that is, 0 to 1.
        status: What the sense counts for.
        see_also: Where more is said, as objects of texts.
        synonyms_to_avoid: Other words for it that are not to be used.
        introduced_in_mission: The mission that it comes from.
    """

    surface: str
    definition: str
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    # The published implementation has `draft` here, so that two seeds without a status never conflict. Drafts
    # are, by its data model, what extraction makes of doubtful finds: what people write down counts at once.
    status: SenseStatus = SenseStatus.ACTIVE
    see_also: tuple[dict[str, str], ...] | None = None
    synonyms_to_avoid: tuple[str, ...] | None = None
    introduced_in_mission: str | None = None

    def __post_init__(self) -> None:
        require_surface(self.surface)
        require_definition(self.definition)

    def in_scope(self, scope: str, provenance: Provenance) -> TermSense:
        """The sense that the term has in a scope."""
        return TermSense(
            TermSurface(self.surface), scope, self.definition, provenance, self.confidence, self.status
        )


_FIELDS: Final = SeedTerm.__struct_fields__
_EXPECTED: Final = {
    "surface": "expected text",
    "definition": "expected text",
    "confidence": "expected a number from 0.0 to 1.0",
    "status": f"expected one of {', '.join(SenseStatus)}",
    "see_also": "expected a list of objects that hold nothing but texts",
    "synonyms_to_avoid": "expected a list of texts",
    "introduced_in_mission": "expected text",
}
_TYPES: Final = {field.name: field.type for field in msgspec.structs.fields(SeedTerm)}


def validated(data: object) -> tuple[list[SeedTerm], list[SeedProblem]]:
    """The terms of a seed file's content that are in order, and what is wrong with the others.

    Args:
        data: An object with nothing but a list of terms, which may be empty, under `terms`.
    """
    if not isinstance(data, Mapping):
        found = "nothing" if data is None else short_repr(data)
        told = f"expected an object with 'terms', found {found}"
        return [], [SeedProblem(None, "", TERMS, told)]
    problems = [
        SeedProblem(None, "", str(key), f"is no field of a seed file; {nearest(str(key), (TERMS,))}")
        for key in data
        if key != TERMS
    ]
    if TERMS not in data:
        return [], [SeedProblem(None, "", TERMS, "must have 'terms' key"), *problems]
    listed = data[TERMS]
    if listed is None:
        return [], problems
    if not isinstance(listed, list):
        told = f"expected a list of terms, found {short_repr(listed)}"
        return [], [*problems, SeedProblem(None, "", TERMS, told)]
    try:
        return msgspec.convert(listed, list[SeedTerm]), problems
    except msgspec.ValidationError:  # one by one, so that all is found that is wrong, and the rest kept
        terms = []
        for number, fields in enumerate(listed):
            wrong = list(_problems(number, fields))
            problems += wrong
            if not wrong:
                terms.append(msgspec.convert(fields, SeedTerm))
        return terms, problems


def _problems(number: int, fields: Any) -> Iterator[SeedProblem]:  # noqa: ANN401 - whatever a file may hold
    if not isinstance(fields, Mapping):
        yield SeedProblem(number, "", "term", f"expected an object, found {short_repr(fields)}")
        return
    surface = fields.get("surface")
    name = surface if isinstance(surface, str) else ""
    for field in _REQUIRED:
        if field not in fields:
            yield SeedProblem(number, name, field, f"must have '{field}' key")
    for field, value in fields.items():
        told = _problem(field, value)
        if told:
            yield SeedProblem(number, name, str(field), told)


def _problem(field: object, value: object) -> str:
    """What is wrong with the value of a field; empty where nothing is."""
    if not isinstance(field, str) or field not in _FIELDS:
        return f"is no field of a term; {nearest(str(field), _FIELDS)}"
    try:
        found = msgspec.convert(value, _TYPES[field])
        if field == "surface":
            require_surface(found)
        elif field == "definition":
            require_definition(found)
    except msgspec.ValidationError:
        return f"{_EXPECTED[field]}, found {short_repr(value)}"
    except InvalidTermError as error:
        return str(error)
    return ""
