"""Seed files, written so that what people put into them stays: comments, order and quotes."""

import os
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

import msgspec

from vocabgap.errors import AccessDeniedError, InvalidInputError, StateError, VocabgapError
from vocabgap.files.atomic import write_whole
from vocabgap.glossary.seed_terms import TERMS, SeedTerm
from vocabgap.glossary.seeds import parse_seed, read_content

_WIDTH: Final = 10_000  # characters of a line: definitions are not broken
_FILE_MODE: Final = 0o666


def save_terms(path: Path, terms: Iterable[SeedTerm]) -> None:
    """Have a seed file list some terms.

    A term that is there stays in its place, with its comments, and says what is new of it; the others are
    added at the end, in order. None is taken out: what does not count any more is deprecated.

    Args:
        path: The file; it is made, with its folder, where it does not exist. A link to one stays a link.
        terms: The terms, each surface with a definition once.

    Raises:
        SeedFileValidationError: The file that is there has errors: it would lose what is wrong in it.
        VocabgapError: It cannot be read or written.
    """
    content = read_content(path)
    there: tuple[SeedTerm, ...] = ()
    if content is not None:
        seed = parse_seed(path, content)
        seed.require_valid()
        there = seed.terms
    wanted = {(term.surface, term.definition): term for term in terms}
    written = _rewritten((content or b"").decode("utf-8-sig"), list(wanted.values()))
    together = {**{(term.surface, term.definition): term for term in there}, **wanted}
    found = parse_seed(path, written.encode())
    if {(term.surface, term.definition): term for term in found.terms} != together:
        raise InvalidInputError(
            f"the terms cannot be written to '{path}' as YAML",
            hint="leave out characters that cannot be seen, such as control characters",
        )
    _replace(path, written)


def _rewritten(text: str, terms: Iterable[SeedTerm]) -> str:
    """A seed file's content with some terms in it."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - loads what only writing needs
    from ruamel.yaml.comments import CommentedMap, CommentedSeq  # noqa: PLC0415
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString  # noqa: PLC0415

    editor = YAML(typ="rt", pure=True)
    editor.width = _WIDTH
    editor.preserve_quotes = True
    editor.indent(mapping=2, sequence=4, offset=2)
    document = editor.load(text) if text.strip() else None
    if document is None:
        document = CommentedMap()
    listed = document.get(TERMS)
    if not listed:
        listed = document[TERMS] = CommentedSeq()
    entries = {(entry["surface"], entry["definition"]): entry for entry in listed}
    for term in sorted(terms, key=lambda term: (term.surface, term.definition)):
        fields = _plain(term)
        entry = entries.get((term.surface, term.definition))
        if entry is not None:
            _edit(entry, fields)
            continue
        if ": " in term.definition or "'" in term.definition:
            fields["definition"] = DoubleQuotedScalarString(term.definition)
        listed.append(CommentedMap(fields))
    result = StringIO()
    editor.dump(document, result)
    return result.getvalue()


def _edit(entry: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Have an entry say what a term is, as far as it says something else."""
    unsaid = _plain(SeedTerm(fields["surface"], fields["definition"]))
    for name in set(entry) - set(fields):
        del entry[name]
    for name, value in fields.items():
        if entry.get(name, unsaid.get(name)) != value:
            entry[name] = value


def _plain(term: SeedTerm) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(term)
    found["confidence"] = float(term.confidence)
    return {name: value for name, value in found.items() if value is not None}


def _replace(path: Path, text: str) -> None:
    """Have a file, or the one that a link leads to, hold a text, all of it or what it held before."""
    try:
        file = path.resolve()
        mode = file.stat().st_mode if file.exists() else _FILE_MODE & ~_umask()
        write_whole(file, text.encode(), mode & 0o777)
    except OSError as error:
        kind: type[VocabgapError] = AccessDeniedError if isinstance(error, PermissionError) else StateError
        raise kind(
            f"seed file '{path}' cannot be written: {error.strerror or error}",
            hint="see to its folder; nothing was changed",
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
