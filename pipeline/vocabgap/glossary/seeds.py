"""Seed files, in which people write the senses of a scope."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from vocabgap.errors import Hint, InvalidInputError, nearest
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.files.yaml import parse_yaml, yaml_lines
from vocabgap.glossary.senses import (
    SEEDED,
    Provenance,
    ScopeStack,
    SenseStatus,
    TermSense,
    require_definition,
    require_surface,
    stored_surface,
)

TERMS: Final = "terms"


class SeedTerm(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A term of a seed file."""

    surface: str
    definition: str
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    # The published implementation has `draft` here. But in its data model, drafts come from doubtful finds.
    # So a term that people write is active.
    status: SenseStatus = SenseStatus.ACTIVE
    see_also: tuple[dict[str, str], ...] | None = None
    synonyms_to_avoid: tuple[str, ...] | None = None
    introduced_in_mission: str | None = None

    def __post_init__(self) -> None:
        require_surface(self.surface)
        require_definition(self.definition)


class SeedProblem(NamedTuple):
    """A problem in a seed file; the term counts from 0, the line from 1."""

    field: str
    message: str
    term: int | None = None
    surface: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = self.field
        if self.term is not None:
            place = f"term[{self.term}]{f' {self.surface!r}' if self.surface else ''} -> {self.field}"
        return f"{'' if self.line is None else f'line {self.line}: '}{place}: {self.message}"


class SeedFileValidationError(InvalidInputError, ValueError):
    """All errors of a seed file."""

    def __init__(self, path: Path | str, errors: Sequence[SeedProblem], *, hint: str | Hint = "") -> None:
        listed = "\n".join(f"  {error}" for error in errors)
        super().__init__(f"{len(errors)} validation error(s) in {path}:\n{listed}", hint=hint)
        self.file_path = Path(path)
        self.errors = tuple(errors)


def validated(data: object) -> tuple[list[SeedTerm], list[SeedProblem]]:
    """Return the valid terms of a seed file's content, and the problems of the others."""
    if not isinstance(data, Mapping):
        content = "nothing" if data is None else short_repr(data)
        problem = f"expected an object with 'terms', found {content}"
        return [], [SeedProblem(TERMS, problem)]
    problems = [
        SeedProblem(str(key), f"is not a field of a seed file; {nearest(str(key), (TERMS,))}")
        for key in data
        if key != TERMS
    ]
    if TERMS not in data:
        return [], [SeedProblem(TERMS, "must have 'terms' key"), *problems]
    entries = data[TERMS]
    if entries is None:
        return [], problems
    if not isinstance(entries, list):
        problem = f"expected a list of terms, found {short_repr(entries)}"
        return [], [*problems, SeedProblem(TERMS, problem)]
    try:
        return msgspec.convert(entries, list[SeedTerm]), problems
    except msgspec.ValidationError:  # check each term, to list all problems and keep the valid terms
        terms = []
        for number, fields in enumerate(entries):
            wrong = list(_problems(number, fields))
            problems += wrong
            if not wrong:
                terms.append(msgspec.convert(fields, SeedTerm))
        return terms, problems


def _problems(number: int, fields: Any) -> Iterator[SeedProblem]:  # noqa: ANN401 - any YAML value
    if not isinstance(fields, Mapping):
        yield SeedProblem("term", f"expected an object, found {short_repr(fields)}", number)
        return
    surface = fields.get("surface")
    for field in (*(name for name in ("surface", "definition") if name not in fields), *fields):
        message = _problem(field, fields)
        if message:
            yield SeedProblem(str(field), message, number, surface if isinstance(surface, str) else "")


def _problem(field: object, fields: Mapping[object, object]) -> str:
    if field not in SeedTerm.__struct_fields__:
        return f"is not a field of a term; {nearest(str(field), SeedTerm.__struct_fields__)}"
    if field not in fields:
        return f"must have '{field}' key"
    try:
        msgspec.convert({"surface": "a", "definition": "a", field: fields[field]}, SeedTerm)
    except msgspec.ValidationError as error:
        return str(error).partition(" - at `")[0]
    return ""


SEED_ENDING: Final = ".yaml"
OTHER_ENDING: Final = ".yml"  # the same format, often used by mistake
FROM_SEED: Final = Provenance("system:seed_file", None, SEEDED)


class Seed(NamedTuple):
    """The valid terms and the problems of a seed file."""

    path: Path
    terms: tuple[SeedTerm, ...] = ()
    problems: tuple[SeedProblem, ...] = ()

    def senses(self, scope: str) -> list[TermSense]:
        """Return the senses of its terms in a scope."""
        return [
            TermSense(surface, scope, term.definition, FROM_SEED, term.confidence, term.status)
            for term in self.terms
            if (surface := stored_surface(term.surface)) is not None
        ]


def seed_scope(path: Path, scopes: ScopeStack) -> str | None:
    """Return the scope of a seed file; None if no scope has its name."""
    return path.stem if path.suffix == SEED_ENDING and path.stem in scopes.names else None


def why_unread(path: Path, scopes: ScopeStack) -> str:
    """Return why a file is not the seed file of a scope."""
    if path.stem in scopes.names:
        return f"rename it to {path.stem}{SEED_ENDING}"
    return f"'{path.stem}' is not a scope; the scopes are {', '.join(scopes.names)}"


def read_seed(path: Path) -> Seed:
    """Read a seed file."""
    return parse_seed(path, read_content(path) or b"")


def read_content(path: Path) -> bytes | None:
    """Read the content of a seed file; None if there is no such file."""
    content = content_of(path, "seed file")
    if isinstance(content, bytes):
        return content
    if content is FileKind.NOTHING:
        return None
    raise InvalidInputError(
        f"seed file '{path}' is {content}, expected a file", hint="replace it with a file"
    )


def parse_seed(path: Path, content: bytes) -> Seed:
    """Parse the content of a seed file."""
    try:
        text = content.decode("utf-8-sig")
        terms, problems = validated(parse_yaml(text))
    except (UnicodeDecodeError, InvalidInputError) as error:
        return Seed(path, (), (SeedProblem("file", str(error)),))
    lines = yaml_lines(text) if problems else {}
    placed = (problem._replace(line=_line(problem, lines)) for problem in problems)
    return Seed(path, tuple(terms), tuple(placed))


def _line(problem: SeedProblem, lines: Mapping[tuple[str | int, ...], int]) -> int | None:
    if problem.term is None:
        return lines.get((problem.field,))
    place = (TERMS, problem.term)
    return lines.get((*place, problem.field), lines.get(place))
