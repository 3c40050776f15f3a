"""Seed files: the senses of a scope, as people write them down."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from vocabgap.errors import InvalidInputError
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.glossary.errors import SeedFileValidationError, SeedProblem
from vocabgap.glossary.scopes import ScopeStack
from vocabgap.glossary.seed_lines import plain_terms
from vocabgap.glossary.seed_terms import TERMS, SeedTerm, validated
from vocabgap.glossary.senses import Provenance, TermSense

ENDING: Final = ".yaml"
# A seed says who wrote it only through its history; what it holds has no date of its own.
FROM_SEED: Final = Provenance("system:seed_file", datetime.fromtimestamp(0, UTC), "seed_file")


class Seed(NamedTuple):
    """What a seed file holds.

    Attributes:
        path: The file.
        terms: The terms that are in order.
        problems: What is wrong with the others, or with the file.
    """

    path: Path
    terms: tuple[SeedTerm, ...] = ()
    problems: tuple[SeedProblem, ...] = ()

    def senses(self, scope: str) -> list[TermSense]:
        """The senses that its terms have in a scope."""
        return [term.in_scope(scope, FROM_SEED) for term in self.terms]

    def require_valid(self) -> None:
        """Refuse a file with errors.

        Raises:
            SeedFileValidationError: It has some; the error lists them all.
        """
        if self.problems:
            raise SeedFileValidationError(self.path, self.problems)


def scope_of(path: Path, scopes: ScopeStack) -> str | None:
    """The scope that a file is the seed of; none where its name is no scope's."""
    return path.stem if path.suffix == ENDING and path.stem in scopes.names else None


def seed_path(folder: Path, scope: str) -> Path:
    """Where the seed file of a scope lies."""
    return folder / f"{scope}{ENDING}"


def read_seed(path: Path) -> Seed:
    """Read a seed file: what is in order in it, and all that is not.

    Raises:
        VocabgapError: As `read_content`.
    """
    return parse_seed(path, read_content(path) or b"")


def read_content(path: Path) -> bytes | None:
    """What a seed file holds; none where there is no such file.

    Raises:
        InvalidInputError: It is no regular file.
        AccessDeniedError: It may not be read.
        StateError: The disk does not give it.
    """
    found = content_of(path, "seed file")
    if isinstance(found, bytes):
        return found
    if found is FileKind.NOTHING:
        return None
    raise InvalidInputError(f"seed file '{path}' is {found}, expected a file", hint="put a file in its place")


def parse_seed(path: Path, content: bytes) -> Seed:
    """The terms in the content of a seed file, and all that is wrong with it.

    Args:
        path: The file, to be named.
        content: YAML 1.2, in which bare `off` and `no` are texts.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Seed(path, (), (SeedProblem(None, "", "file", f"byte {error.start}: expected UTF-8 text"),))
    plain = plain_terms(text)
    if plain is not None:
        terms, problems = validated({TERMS: plain})
        if not problems:
            return Seed(path, tuple(terms))
    from vocabgap.files.yaml import plain_yaml, yaml_lines  # noqa: PLC0415 - loads what few files need

    try:
        terms, problems = validated(plain_yaml(text))
    except InvalidInputError as error:
        return Seed(path, (), (SeedProblem(None, "", "file", str(error)),))
    except RecursionError:
        return Seed(path, (), (SeedProblem(None, "", "file", "is nested too deeply"),))
    lines = yaml_lines(text) if problems else {}
    return Seed(path, tuple(terms), tuple(each._replace(line=_line(each, lines)) for each in problems))


def _line(problem: SeedProblem, lines: Mapping[tuple[str | int, ...], int]) -> int | None:
    """The line of a problem: that of its field where it is there, else that of its term."""
    if problem.term is None:
        return lines.get((problem.field,))
    place = (TERMS, problem.term)
    return lines.get((*place, problem.field), lines.get(place))
