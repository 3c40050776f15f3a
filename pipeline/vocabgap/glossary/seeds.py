"""Seed files, in which people write the senses of a scope, and packs, which many teams share."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from vocabgap.errors import Hint, InvalidInputError, nearest
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.files.yaml import Place, parsed_with_lines
from vocabgap.glossary.normal_form import term_key
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
MOST_PROBLEMS: Final = 20  # of a file that are listed
_OF_PACK: Final = {"id": None, "provenance": None, "description": ""}  # texts, with the defaults
_REQUIRED: Final = ("surface", "definition", "confidence", "status")  # the last two in packs only


class SeedTerm(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A term of a seed file or pack."""

    surface: str
    definition: str
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    # The published implementation has `draft` here. But in its data model, drafts come from doubtful finds.
    # So a term that people write is active.
    status: SenseStatus = SenseStatus.ACTIVE
    see_also: tuple[str | dict[str, str], ...] | None = None
    synonyms_to_avoid: tuple[str, ...] | None = None
    introduced_in_mission: str | None = None
    banned_synonyms: tuple[str, ...] | None = None
    aliases: tuple[str, ...] | None = None

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


def validated(data: object, *, is_pack: bool = False) -> tuple[list[SeedTerm], list[SeedProblem]]:
    """Return the valid terms of the content of a seed file or pack, and the problems of the others."""
    if not isinstance(data, Mapping):
        content = "nothing" if data is None else short_repr(data)
        problem = f"expected an object with 'terms', found {content}"
        return [], [SeedProblem(TERMS, problem)]
    what, texts = ("pack", _OF_PACK) if is_pack else ("seed file", {})
    unknown = [str(key) for key in data if key != TERMS and key not in texts]
    problems = [
        SeedProblem(key, _unknown(key, what, (TERMS, *texts), place)) for place, key in enumerate(unknown)
    ] + [
        SeedProblem(key, f"expected a text, found {short_repr(data.get(key))}")
        for key, default in texts.items()
        if not isinstance(data.get(key, default), str)
    ]
    if TERMS not in data:
        return [], [SeedProblem(TERMS, "must have 'terms' key"), *problems]
    entries = [] if data[TERMS] is None and not is_pack else data[TERMS]
    if not isinstance(entries, list) or (is_pack and not entries):
        problem = f"expected a list of terms, found {short_repr(entries)}"
        return [], [*problems, SeedProblem(TERMS, problem)]
    terms: dict[object, SeedTerm] = {}
    for number, fields in enumerate(entries):
        wrong = list(_problems(number, fields, _REQUIRED if is_pack else _REQUIRED[:2]))
        if not wrong:
            term = msgspec.convert(fields, SeedTerm)
            if is_pack and term.surface in terms:
                wrong = [SeedProblem("surface", "is in this pack already", number, term.surface)]
            terms.setdefault(term.surface if is_pack else number, term)
        problems += wrong
    return list(terms.values()), problems


def _unknown(field: str, what: str, known: Sequence[str], place: int) -> str:
    near = f"; {nearest(field, known)}" if place < MOST_PROBLEMS else ""  # further ones are only counted
    return f"is not a field of a {what}{near}"


def _problems(number: int, fields: Any, required: Sequence[str]) -> Iterator[SeedProblem]:  # noqa: ANN401
    if not isinstance(fields, Mapping):
        yield SeedProblem("term", f"expected an object, found {short_repr(fields)}", number)
        return
    problems = {name: f"must have '{name}' key" for name in required if name not in fields}
    for field, value in fields.items():
        try:
            if field in (names := SeedTerm.__struct_fields__):
                msgspec.convert({"surface": "a", "definition": "a", field: value}, SeedTerm)
            else:
                problems[str(field)] = _unknown(str(field), "term", names, len(problems))
        except msgspec.ValidationError as error:
            problems[field] = str(error).partition(" - at `")[0]
    surface = fields.get("surface")
    for name, message in problems.items():
        yield SeedProblem(name, message, number, surface if isinstance(surface, str) else "")


SEED_ENDING: Final = ".yaml"
OTHER_ENDING: Final = ".yml"  # the same format, often used by mistake
PACK_ENDING: Final = ".glossary-pack.yaml"
FROM_SEED: Final = Provenance("system:seed_file", None, SEEDED)


class Seed(NamedTuple):
    """The valid terms and the problems of a seed file or pack."""

    path: Path
    terms: tuple[SeedTerm, ...] = ()
    problems: tuple[SeedProblem, ...] = ()
    origin: Provenance = FROM_SEED
    lines: Mapping[Place, int] = {}
    invalid: frozenset[int | None] = frozenset()  # the numbers of the terms with a problem

    def senses(self, scope: str) -> list[TermSense]:
        """Return the senses of its terms in a scope."""
        return [
            TermSense(surface, scope, term.definition, self.origin, term.confidence, term.status)
            for term in self.terms
            if (surface := stored_surface(term.surface)) is not None
        ]

    def aliases(self) -> dict[str, str]:
        """Return the other spellings of its terms, each with the term."""
        return {
            alias: str(stored_surface(term.surface)) for term in self.terms for alias in term.aliases or ()
        }

    def with_problems(self, problems: Sequence[SeedProblem]) -> "Seed":
        """Return the seed file with more problems, each with its line; the last one counts those left out."""
        placed = [*self.problems]
        for problem in problems[: MOST_PROBLEMS - len(self.problems)]:
            places = (problem.field,) if problem.term is None else (TERMS, problem.term, problem.field)
            line = self.lines.get(places, self.lines.get(places[:-1]))  # the line of the term, if no other
            placed.append(problem._replace(line=line))
        if more := len(self.problems) + len(problems) - len(placed):
            placed[-1] = placed[-1]._replace(message=f"{placed[-1].message}; and {more:,} more problems")
        return self._replace(problems=tuple(placed))


def with_clashes(seeds: Sequence[Seed]) -> tuple[Seed, ...]:
    """Return seed files with a problem for each other word of a term that belongs to another term already."""
    surfaces = {term_key(term.surface): term.surface for seed in seeds for term in seed.terms}
    owners: dict[str, str] = {}
    checked = []
    for seed in seeds:
        problems = []
        numbers = (number for number in count() if number not in seed.invalid)
        for number, term in zip(numbers, seed.terms, strict=False):
            for field, others in (("aliases", surfaces), ("banned_synonyms", {})):
                for word in getattr(term, field) or ():
                    key = term_key(word)
                    owner = others.get(key) or owners.setdefault(key, term.surface)
                    if term_key(owner) != term_key(term.surface):
                        message = f"'{word}' belongs to '{owner}'; remove it from one of them"
                        problems.append(SeedProblem(field, message, number, term.surface))
        checked.append(seed.with_problems(problems))
    return tuple(checked)


def seed_scope(path: Path, scopes: ScopeStack) -> str | None:
    """Return the scope of a seed file, and the last scope for a pack; None if the file is not read."""
    if path.name.endswith(PACK_ENDING) and scopes.names:
        return scopes.names[-1]  # what is shared comes after what a team wrote
    return path.stem if path.suffix == SEED_ENDING and path.stem in scopes.names else None


def why_unread(path: Path, scopes: ScopeStack) -> str:
    """Return why a file is not the seed file of a scope."""
    name = f"{path.stem}{SEED_ENDING}"
    if path.stem in scopes.names or (scopes.names and name.endswith(PACK_ENDING)):
        return f"rename it to {name}"
    return f"'{path.stem}' is not a scope; the scopes are {', '.join(scopes.names) or 'none'}"


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
    """Parse the content of a seed file or pack."""
    is_pack = path.name.endswith(PACK_ENDING)
    try:
        text = content.decode("utf-8-sig")
        data, lines = parsed_with_lines(text)
        terms, problems = validated(data, is_pack=is_pack)
    except (UnicodeDecodeError, InvalidInputError) as error:
        return Seed(path, (), (SeedProblem("file", str(error)),))
    name = data.get("id") if is_pack and isinstance(data, Mapping) else None
    origin = Provenance(f"pack:{name}", None, SEEDED) if name else FROM_SEED
    invalid = frozenset(problem.term for problem in problems)
    return Seed(path, tuple(terms), origin=origin, lines=lines, invalid=invalid).with_problems(problems)
