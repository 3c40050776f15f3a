"""Choose how a file is read by its content: the source that fits its objects, and where the objects are.

A source is known by values that some object has, or by its gaps. If nothing fits, the error lists the keys of
the objects, and proposes a `--map` if one is sure.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, Final

from vocabgap.errors import Hint, InvalidInputError, nearest
from vocabgap.files.budget import MIB, MOST_WHOLE, REJECT, Budget, weight_of
from vocabgap.ingest.decoding import FieldMap, has_key, matches
from vocabgap.ingest.formats import (
    ROWS,
    Content,
    Form,
    FormError,
    LogKind,
    recognised,
    require_columns,
    rows_of,
)
from vocabgap.ingest.proposing import Keys, path_of
from vocabgap.ingest.reading import Block, OpenLog, blocks, encoded, judged, values_in, values_of
from vocabgap.ingest.roots import quoted, shown_root
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Pointer, json_pointer, parsed, pointer_of, reading_of, several
from vocabgap.text import count, excerpt

_DEPTH: Final = 5  # of the objects that are searched for lists
_FIRST: Final = 50  # objects that tell the source of a file
_SURVEYED: Final = 10_000  # objects in which the paths of `--map` must occur
_SHOWN: Final = 15  # lists in a message
_NEED: Final = "missing_capability"  # the key that only records have
_SURE: Final = ("workaround", "intent_category", "operations_involved", "vocabulary_used", "satisfaction")
_Places = dict[Pointer, list[dict[str, Any]]]  # objects by their place in the values of a file


class NothingFitsError(InvalidInputError):
    """No known field in a file says what was missing."""


@dataclass(frozen=True, slots=True)
class Chooser:
    """The settings that decide which source reads a file."""

    kinds: Mapping[str, LogKind]  # by source
    settings: ScanSettings
    roots: Sequence[str]  # for the command of an error
    wanted: LogKind | None  # the source or the fields of the settings
    required: tuple[Pointer, ...]  # paths that some object must have if a file is read as `wanted`

    @classmethod
    def of(cls, kinds: Mapping[str, LogKind], settings: ScanSettings, roots: Sequence[str]) -> "Chooser":
        """Return the choice by some settings; raise InvalidInputError for an unknown source or field.

        If there is one root, its file must have each path. Several roots may have different keys.
        """
        source = reading_of(settings.source, settings.map, settings.sources)
        base = kinds.get(settings.source or "", LogKind())
        wanted = None if source is None else replace(base, fields=FieldMap.of(source))
        paths = (path for paths in settings.map.values() for path in several(paths) if path)
        required = tuple(map(pointer_of, paths)) if len(roots) == 1 and not settings.is_usual else ()
        return cls(kinds, settings, roots, wanted, required)

    def kind_of(self, path: str, named: LogKind | None = None, *, is_root: bool = True) -> LogKind | None:
        """Return the kind of a file by its content; None if it cannot be read, or nothing fits.

        `named` is the kind that the file name tells. In a root, one field of a need makes an object a
        record. In a folder, it takes `_SURE` fields.

        Raises:
            NothingFitsError: The file is a root and has objects, but nothing fits, or a named path is absent.
            InvalidInputError: Several lists of the file fit, or it cannot be read in any form.
        """
        most = self.settings.max_expanded_mib * MIB
        try:
            content = recognised(path, most, is_known=named is not None)
            explicit = None if self.settings.is_usual else self.wanted
            by_place = named is not None and not named.fields.each and content.form is Form.DOCUMENT
            if named is not None and explicit is None and not by_place:
                return replace(named, content=content)  # its name is enough
            is_asked = is_root or self.wanted is not None
            if content.form is Form.PARQUET and not is_asked and Path(path).stat().st_size > MOST_WHOLE:
                return None  # it would be read whole
            objects = _SURVEYED if is_asked else _FIRST
            survey = _Survey.of(path, content, most, objects, is_root=is_root)
            kind = self._chosen(survey, explicit, named)
            if kind and content.form is Form.TABLE:
                require_columns(path, content, kind.fields)
            return kind and replace(kind, content=content)
        except FormError as error:
            message = f"{quoted(shown_root(Path(path)))}: {error.message}"
            raise InvalidInputError(message, hint=error.hint) from error
        except OSError:
            return None

    def _chosen(self, survey: "_Survey", explicit: LogKind | None, named: LogKind | None) -> LogKind | None:
        is_root, usual = survey.is_root, self.wanted if self.settings.is_usual else None
        asked = explicit if is_root and explicit else named
        kinds = [asked] if asked else [*filter(None, [explicit]), *self.kinds.values()]
        absent = [path for path in self.required if not survey.has(path)] if is_root else []
        fitting = (survey.placed(kind, is_asked=kind in (asked, explicit)) for kind in kinds)
        native = survey.native()
        if not absent and (kind := next(filter(None, fitting), None)):
            return kind
        if native is not None and not self.required:
            return native
        if usual is not None and (kind := survey.placed(usual, is_asked=True)):
            return kind
        plain = named or (usual if is_root and usual and usual.source else None)
        if not survey.objects:
            is_document = survey.content.form is Form.DOCUMENT
            return plain or (survey.at(LogKind(), ("*",) * is_document) if is_root else None)
        if plain is not None:  # such a file may have no gap
            return survey.at(plain, next(iter(survey.places)))
        if not is_root:
            return None
        raise _misfit(explicit, survey, absent) if explicit else _nothing_fits(survey, self.roots)


@dataclass(frozen=True, slots=True)
class _Survey:
    """The first values of a file that can be read, and the objects in them."""

    shown: str
    content: Content
    values: list[Any]
    places: _Places
    is_whole: bool  # the file has no more objects
    is_root: bool  # a person named the file

    @classmethod
    def of(cls, path: str, content: Content, max_expanded: int, most: int, *, is_root: bool) -> "_Survey":
        """Read values until there are enough objects, or they take enough memory."""
        values, places, objects, size = list[Any](), _Places(), 0, 0
        with OpenLog.open(path, content.compression, max_expanded) as log:
            rest = _decoded(content, content.in_utf8(log.chunks()), log.budget)
            first = [*islice(rest, 2)]
            is_document = len(first) == 1 and content.form not in ROWS
            for weight, value in chain(first, rest):
                size += weight
                values.append(value)
                for place, found in _places(value, is_document=is_document):
                    places.setdefault(place, []).extend(found[:_SURVEYED])
                    objects += len(found)
                if objects >= most or size > MOST_WHOLE:
                    break
        is_whole = objects < most and size <= MOST_WHOLE
        return cls(shown_root(Path(path)), content, values, places, is_whole, is_root)

    @property
    def objects(self) -> int:
        """The number of objects."""
        return sum(map(len, self.places.values()))

    def has(self, path: Pointer) -> bool:
        """Tell whether some object has a key, even without a value."""
        return any(has_key(one, path) for objects in self.places.values() for one in objects)

    def placed(self, kind: LogKind, *, is_asked: bool) -> LogKind | None:
        """Return a kind at the place of its objects; None if it does not fit.

        Only a kind that a person asked for may be recognised by its fields alone.
        """
        for place, objects in self.places.items():
            matching = [any(matches(one, known) for known in kind.fields.known) for one in objects[:_FIRST]]
            pairs = zip(objects, matching, strict=False)
            others = sum(self._is_record(one) and not fits for one, fits in pairs)
            if any(matching) and (is_asked or others <= sum(matching)):
                return self.at(kind, place)
        fields, most = kind.fields, len(self.values) if is_asked else _FIRST
        if kind.adapter or not (is_asked or (_identifies(fields) and not fields.known)):
            return None
        if not _is_of_objects(fields):
            found = (element for value in self.values[:most] for element in judged(value, fields))
            return kind if any(one.is_gap and isinstance(one.value, dict) for one in found) else None
        gaps, records = Counter[Pointer](), 0
        for place, objects in self.places.items():
            for one in objects:
                is_gap = fields.may_be_gap(one)
                gaps[place] += is_gap
                records += self._is_record(one) and not is_gap
        fitting = [place for place, times in gaps.items() if times]
        is_rare = not is_asked and records > gaps.total()
        return self.at(kind, self._only(fitting)) if fitting and not is_rare else None

    def native(self) -> LogKind | None:
        """Return the kind of records at their place; None if there are none."""
        natives = [place for place, objects in self.places.items() if any(map(self._is_record, objects))]
        return self.at(LogKind(), self._only(natives)) if natives else None

    def _is_record(self, value: dict[str, Any]) -> bool:
        """Tell whether an object is a record. In a folder, `description` is not enough: packages have one."""
        if self.is_root:
            return not value.keys().isdisjoint(PHRASE_FIELDS)
        return _NEED in value or ("description" in value and not value.keys().isdisjoint(_SURE))

    def at(self, kind: LogKind, place: Pointer) -> LogKind:
        """Return a kind that reads the objects at a place."""
        is_line = not place and self.content.form is Form.LINES
        if is_line or kind.adapter or self.content.form in ROWS or not _is_of_objects(kind.fields):
            return kind
        return replace(kind, fields=replace(kind.fields, each=(place,)))

    def keys(self) -> Keys:
        """Return the keys of the objects at the only place that has some."""
        place = self._only([place for place in self.places if place] or [()])
        return Keys.of(self.places[place])

    def _only(self, pointers: list[Pointer]) -> Pointer:
        """Return the place of the objects: the value itself, or the only list."""
        if () in pointers or len(pointers) == 1:
            return () if () in pointers else pointers[0]
        places = ", ".join(excerpt(json_pointer(pointer)) for pointer in pointers[:_SHOWN])
        raise InvalidInputError(
            f"{quoted(self.shown)} has {len(pointers)} lists of objects: {places}",
            hint="choose one in vocabgap.toml: source.mine ="
            f" {{glob = {json.dumps(PurePath(self.shown).name)},"
            f' each = {json.dumps(json_pointer(pointers[0]))}, fields = {{description = "KEY"}}}}',
        )


def _identifies(fields: FieldMap) -> bool:
    """Tell whether the source may be recognised by its gaps, without `known`."""
    is_pointed = bool(fields.each) and all(pointer and pointer[0] != "*" for pointer in fields.each)
    return is_pointed or all(shape.is_judged for shape in fields.shapes)


def _is_of_objects(fields: FieldMap) -> bool:
    """Tell whether the gaps of a source are the objects themselves, not a part of them."""
    return all(pointer == () for pointer in fields.each)


def _decoded(content: Content, chunks: Iterable[bytes], budget: Budget) -> Iterator[tuple[int, Any]]:
    """Yield the lines, rows or documents of a file that can be read, each with the memory that it takes."""
    if content.form in ROWS:
        for row in rows_of(content, chunks, budget):
            if row.rejected:
                yield REJECT, None
            elif row.value:
                weight = weight_of(repr(row.value).encode(errors="replace"))
                yield weight, {name: parsed(cell) for name, cell in row.value.items()}
    elif content.form is Form.LINES:
        for block in blocks(chunks):
            for line in block.lines:
                with suppress(ValueError, RecursionError):
                    yield from ((weight_of(line), value) for value in values_of(line))
    else:
        values = (each[1] for each in values_in(chunks) if not isinstance(each, Block))
        yield from ((weight_of(encoded(value)), value) for value in values)


def _places(value: Any, *, is_document: bool) -> Iterator[tuple[Pointer, list[dict[str, Any]]]]:  # noqa: ANN401 - any JSON
    """Yield the objects of a value by their place: itself, its members, or the lists inside a document."""
    if isinstance(value, list):
        inner = [each for member in value if isinstance(member, list) for each in member]
        yield ("*", "*") if inner else ("*",), [each for each in inner or value if isinstance(each, dict)]
    elif isinstance(value, dict):
        yield (), [value]
        yield from _lists(value) if is_document else ()


def _lists(value: dict[str, Any], above: Pointer = ()) -> Iterator[tuple[Pointer, list[dict[str, Any]]]]:
    """Yield the lists of objects inside an object."""
    for key, member in value.items():
        if isinstance(member, dict) and len(above) + 1 < _DEPTH:
            yield from _lists(member, (*above, key))
        elif isinstance(member, list) and (objects := [each for each in member if isinstance(each, dict)]):
            yield (*above, key, "*"), objects


def _misfit(wanted: LogKind, survey: _Survey, absent: list[Pointer]) -> NothingFitsError:
    """Return the error for a `--source` or a `--map` that fits no object."""
    some = "" if survey.is_whole else f" among the first {survey.objects:,}"
    if wanted.source and not absent:
        message = f"no object of {quoted(survey.shown)}{some} is a gap of source '{wanted.source}'"
        return NothingFitsError(message)
    of_needs = {path for name, paths in wanted.fields.paths if name in PHRASE_FIELDS for path in paths}
    named = sorted(map(path_of, absent or of_needs))
    known = {path for objects in survey.places.values() for path in Keys.of(objects).times}
    message = f"no object of {quoted(survey.shown)}{some} has '{excerpt(named[0])}', which `map` names"
    return NothingFitsError(message, hint=nearest(named[0], [excerpt(path) for path in sorted(known)]))


def _nothing_fits(survey: _Survey, roots: Iterable[str]) -> NothingFitsError:
    """Return the error for objects that no source fits, with a `--map` that may be right."""
    keys = survey.keys()
    its = "its" if survey.is_whole else "its first"
    message = f"no known field in {quoted(survey.shown)} says what was missing"
    listed = f"the keys of {its} {count(len(keys.objects), 'object')} are {keys.in_words}"
    proposal = keys.proposal()
    words = [word for field, path in proposal.items() for word in ("--map", f"{field}={path}")]
    fields = [f"{field} = {json.dumps(path, ensure_ascii=False)}" for field, path in proposal.items()]
    setting = ", ".join(fields) or 'description = "KEY"'
    lines = [
        listed,
        "try {}" if words else "--map description=KEY names the key of the need",
        *([keys.leading(proposal)] if words else []),
        *keys.unclear_dates(),
        f"to make it permanent, write under [ingest] in vocabgap.toml: map = {{{setting}}}",
    ]
    escaped = [line if line == "try {}" else line.replace("{", "{{").replace("}", "}}") for line in lines]
    hint = Hint(
        "\n".join(escaped),
        (("report", *(roots or [survey.shown]), *words),),
        for_tools="the server needs [ingest] map in vocabgap.toml",
    )
    return NothingFitsError(message, hint=hint)
