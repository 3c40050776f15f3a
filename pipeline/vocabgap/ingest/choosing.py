"""Choose how a file is read by its content: the source that fits its objects, and where the objects are.

If nothing fits, the error lists the keys of the objects and proposes a `--map`.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

import msgspec

from vocabgap.errors import Hint, InvalidInputError, expanded, nearest
from vocabgap.files.refusals import current_folder
from vocabgap.ingest.decoding import FieldMap, json_type, moment_of, ungrouped
from vocabgap.ingest.formats import (
    ROWS,
    TEXT_SUFFIXES,
    Content,
    Form,
    FormError,
    LogKind,
    begins_with_object,
    content_of,
    is_data_file,
    rows_of,
)
from vocabgap.ingest.reading import MIB, OpenLog, blocks, documents, judged, values_of
from vocabgap.ingest.roots import quoted, shown_root
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.settings import ScanSettings
from vocabgap.model.sources import Pointer, json_pointer, parsed, pointer_of, reading_of, several, value_at
from vocabgap.text import count, excerpt

_DEPTH: Final = 3  # of the objects that are searched for lists and keys
_SURVEYED: Final = 10_000  # objects whose keys are counted
_MOST_KEYS: Final = 200  # that are counted
_SHOWN: Final = 15
_NATIVE: Final = 1_000  # records before no further source is tried
# The words of a key that say what it holds, the best first.
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "description": (
        "need", "request", "wish", "description", "feedback", "why", "reason", "message", "body", "details",
        "text", "question", "explanation", "content", "comment", "summary",
    ),
    "missing_capability": (
        "capability", "missing", "tool", "feature", "function", "query", "search", "term", "title", "subject",
        "topic", "q",
    ),
    "workaround": ("workaround", "alternative", "alternatives", "instead", "fallback"),
    "timestamp": ("timestamp", "time", "created", "when", "date", "datetime", "ts", "at"),
    "session_id": ("session", "conversation", "run", "trace", "thread"),
    "image_id": ("image", "project", "repository", "repo", "workflow", "agent"),
    "count": (
        "count", "votes", "upvotes", "hits", "searches", "times", "occurrences", "mentions", "requests",
        "total", "frequency", "volume", "impressions", "of", "n",
    ),
}  # fmt: skip
_NEEDS: Final = frozenset(_WORDS["description"][:3])  # also fit `missing_capability`
_NAMES: Final = frozenset(("session_id", "image_id"))
_TEXTS: Final = frozenset(("description", "missing_capability", "workaround"))
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


class NothingFitsError(InvalidInputError):
    """The objects of a file have no field of a need that is known."""


@dataclass(slots=True)
class _Keys:
    """The keys of the objects at one place of a file."""

    objects: int = 0
    natives: int = 0
    times: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, set[str]] = field(default_factory=dict)

    def add(self, value: dict[str, Any]) -> None:
        """Count the keys of an object."""
        most_texts = 1_000
        self.objects += 1
        self.natives += _is_native(value)
        if self.objects > _SURVEYED:
            return
        for pointer, member in _leaves(value):
            path = _path_of(pointer)
            if path not in self.times and len(self.times) >= _MOST_KEYS:
                continue
            self.times[path] += 1
            self.examples.setdefault(path, member)
            texts = self.texts.setdefault(path, set())
            if _is_plain(member) and len(texts) < most_texts:
                texts.add(str(member))

    @property
    def in_words(self) -> str:
        """The most frequent keys, each with its frequency and an example."""
        listed = sorted(self.times.items(), key=lambda item: -item[1])
        shown = [
            f"{excerpt(key)} ({times:,}, {_example(self.examples[key])})" for key, times in listed[:_SHOWN]
        ]
        more = len(listed) - _SHOWN
        return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown) or "no keys"

    def proposal(self) -> dict[str, str]:
        """Return the most plausible path of each field: by its name, its type, and its distinct texts."""
        free = [path for path in self.times if _is_plain(self.examples[path])]
        proposed: dict[str, str] = {}
        for name in _WORDS:
            if path := self._best(free, name):
                proposed[name] = path
                free.remove(path)
        need = proposed.get("description", "")
        is_need = need and not _NEEDS.isdisjoint(_words_of(need))
        if is_need and "missing_capability" not in proposed and (second := self._best(free, "description")):
            proposed |= {"description": second, "missing_capability": need}
            free.remove(second)
        days = [path for path in free if self._most(path, re.compile(r"\d{4}-\d\d-\d\d").match)]
        if days and "timestamp" not in proposed:
            proposed["timestamp"] = days[0]
        texts = [path for path in free if self._is_text(path)]
        if texts and {"description", "missing_capability"}.isdisjoint(proposed):
            best = max(texts, key=lambda path: (len(self.texts[path]), sum(map(len, self.texts[path]))))
            proposed = {"description": best, **proposed}
        return proposed

    def _best(self, paths: Iterable[str], name: str) -> str:
        """Return the path that suits a field best; empty if none does."""
        scored = [(score, path) for path in paths if (score := self._score(path, name)) is not None]
        return min(scored)[1] if scored else ""

    def _score(self, path: str, name: str) -> tuple[bool, int, int] | None:
        """Return how well a key suits a field, the lowest first; None if it does not."""
        last, words = _words_of(path), _WORDS[name]
        while name in _NAMES and len(last) > 1 and last[-1] in ("id", "name", "key", "slug"):
            last.pop()
        places = [words.index(word) for word in (last[-1:] if name in _NAMES else last) if word in words]
        fits = True
        if name == "timestamp":
            fits = self._most(path, moment_of)
        elif name == "count":
            fits = self._most(path, lambda value: ungrouped(value).isdecimal())
        elif name in _TEXTS:
            fits = self._is_text(path)
        return (len(last) > 1, min(places), -len(self.texts[path])) if places and fits else None

    def _is_text(self, path: str) -> bool:
        """Tell whether the values of a key may be the words of a person."""
        date = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}([./-])\d{1,2}\1\d{2,4}\b")
        codes = {"id", "uuid", "url", "hash", "version"}
        is_code = self._most(path, date.match) or not codes.isdisjoint(_words_of(path))
        return not is_code and self._most(path, re.compile(r"[^\W\d_]").search)

    def _most(self, path: str, test: Callable[[str], object]) -> bool:
        """Tell whether most of the distinct values of a key pass a test."""
        values = self.texts[path]
        return 2 * sum(bool(test(value)) for value in values) > len(values)


def own_files(settings: ScanSettings) -> frozenset[str]:
    """Return the real paths of the files that vocabgap writes by itself."""
    return frozenset(os.path.realpath(current_folder() / expanded(file)) for file in settings.own_files)


@dataclass(frozen=True, slots=True)
class Chooser:
    """The choice of a kind for files that a person named, or that no source knows by name."""

    kinds: Mapping[str, LogKind]  # by source
    settings: ScanSettings
    roots: Sequence[str]  # for the command of an error
    wanted: LogKind | None  # the source or the fields of the settings; they must fit
    required: tuple[Pointer, ...]  # paths that some object must have if a file is read as `wanted`
    own_files: frozenset[str]  # that vocabgap writes

    @classmethod
    def of(cls, kinds: Mapping[str, LogKind], settings: ScanSettings, roots: Sequence[str]) -> "Chooser":
        """Return the choice by some settings; raise InvalidInputError for an unknown source or field.

        A file that is the only root must have each path of the settings. Several may have different keys.
        """
        source = reading_of(settings.source, settings.map, settings.sources)
        base = kinds.get(settings.source or "", LogKind())
        wanted = None if source is None else replace(base, fields=FieldMap.of(source))
        paths = (path for paths in settings.map.values() for path in several(paths) if path)
        required = tuple(map(pointer_of, paths)) if len(roots) == 1 and not settings.is_usual else ()
        return cls(kinds, settings, roots, wanted, required, own_files(settings))

    def reads(self, path: str) -> bool:
        """Tell whether a file of a folder may be a log although no source knows its name."""
        if self.wanted is None or path in self.own_files:
            return False
        is_text = path.casefold().endswith(TEXT_SUFFIXES)
        return is_data_file(path.rpartition("/")[2]) or (is_text and begins_with_object(path))

    def kind_of(self, path: str, known: LogKind | None = None, *, is_root: bool = True) -> LogKind | None:
        """Return the kind of a file by its content; None if it cannot be read.

        `known` is the kind that the name of the file has. If no person named the file, it is no root: then
        nothing is `required`, and a source must fit.

        Raises:
            NothingFitsError: The file has objects, but nothing fits, or no object has a named path.
            InvalidInputError: Several lists of the file fit, or it cannot be read in any form.
        """
        try:
            content = content_of(path, self._max_expanded, is_known=known is not None)
            return replace(self._chosen(path, content, known, is_root=is_root), content=content)
        except FormError as error:
            message = f"{quoted(shown_root(Path(path)))}: {error.message}"
            raise InvalidInputError(message, hint=error.hint) from error
        except OSError:
            return None

    @property
    def _max_expanded(self) -> int:
        return self.settings.max_expanded_mib * MIB

    def _chosen(self, path: str, content: Content, known: LogKind | None, *, is_root: bool) -> LogKind:
        shown = shown_root(Path(path))
        wanted, usual = (None, self.wanted) if self.settings.is_usual and is_root else (self.wanted, None)
        if known is not None and wanted is None and (known.fields.each or content.form is not Form.DOCUMENT):
            return known  # its name is enough
        asked = wanted or known
        chosen = [asked] if asked else [kind for kind in self.kinds.values() if _identifies(kind.fields)]
        chosen = [usual, *chosen] if usual and usual.source else chosen
        tried = [(each, _first_keys(each.fields)) for each in chosen]
        fallback = [(usual, frozenset[str]())] if usual and not asked else []
        absent = {*self.required} if is_root else set()
        # Read until a source surely fits and no required path is absent, or until enough objects are records.
        survey, fitting, second, votes, more = dict[Pointer, _Keys](), None, None, 0, 0
        for value, places in _values(path, content, self._max_expanded):
            if found := _fitting(tried, value, places, shown, content):
                fitting, tried = fitting or found.placed, [found.tried]
                votes += sum(1 + _is_native(one) for one in found.objects)
            second = second or _fitting(fallback, value, places, shown, content)
            absent = _surveyed(places, survey, absent)
            objects = sum(keys.objects for keys in survey.values())
            more = sum(keys.natives for keys in survey.values()) - votes
            is_sure = asked is not None or (objects >= _NATIVE and more <= 0)
            if fitting is not None and not absent and (is_sure or _named_keys(fitting.fields.each)):
                return fitting
            if asked is None and (objects if second else more) >= _NATIVE:
                break
        if fitting is not None and not absent and more <= 0:
            return fitting
        if second is not None:
            return second.placed
        if not any(keys.objects for keys in survey.values()):
            return known or _placed(LogKind(), ("*",) if content.form is Form.DOCUMENT else (), content)
        plain = known or (wanted if is_root and wanted and wanted.source else None)
        among_others = is_root and not self.required and any(keys.natives for keys in survey.values())
        if wanted is not None and (fitting or not (plain or among_others)):
            raise _misfit(wanted, shown, survey, absent)
        return _placed(*_unfit(plain, usual, shown, survey, self.roots), content)


def _unfit(
    plain: LogKind | None,
    usual: LogKind | None,
    shown: str,
    survey: Mapping[Pointer, _Keys],
    roots: Iterable[str],
) -> tuple[LogKind, Pointer]:
    """Return the source and the place of objects that fit no source: they may be records."""
    natives = [pointer for pointer, keys in survey.items() if keys.natives and plain is None]
    if natives:
        return LogKind(), _only_place(natives, shown)
    if plain := plain or (usual if usual and usual.source else None):
        return plain, next(iter(survey))  # such a file may have no gap
    place = _only_place([each for each in survey if each] or [()], shown)
    raise _nothing_fits(shown, survey[place], roots)


def _surveyed(
    places: Mapping[Pointer, list[dict[str, Any]]], survey: dict[Pointer, _Keys], absent: set[Pointer]
) -> set[Pointer]:
    """Count the keys of objects, and return the paths that are still absent."""
    for pointer, objects in places.items():
        keys = survey.setdefault(pointer, _Keys())
        for each in objects:
            keys.add(each)
            absent = absent and {path for path in absent if not _has(each, path)}
    return absent


def _identifies(fields: FieldMap) -> bool:
    """Tell whether the shape of an object is enough to know the source."""
    return bool(_named_keys(fields.each)) or all(map(_is_judged, fields.shapes))


def _named_keys(pointers: Iterable[Pointer]) -> frozenset[str]:
    """Return the first keys of pointers; empty if one of them may begin with any key."""
    keys = frozenset(pointer[0] if pointer else "*" for pointer in pointers)
    return frozenset() if "*" in keys else keys


def _is_judged(shape: FieldMap) -> bool:
    """Tell whether an object must have some value to be a gap of a shape."""
    return bool(shape.refusals) or any(values != ("",) for _, values in shape.where)


class _Fitting(NamedTuple):
    """A source that fits, as it is tried and at its place, and the objects that it fits."""

    tried: tuple[LogKind, frozenset[str]]
    placed: LogKind
    objects: list[dict[str, Any]]


def _fitting(
    tried: Iterable[tuple[LogKind, frozenset[str]]],
    value: Any,  # noqa: ANN401 - any JSON
    places: Mapping[Pointer, list[dict[str, Any]]],
    shown: str,
    content: Content,
) -> _Fitting | None:
    """Return the first source that fits some object of a value."""
    for kind, keys in tried:
        fields = kind.fields
        if _is_of_objects(fields):
            fitting = {}
            for pointer, objects in places.items():
                near = [one for one in objects if not keys.isdisjoint(one)] if keys else objects
                if gaps := [one for one in near if _has_gap(fields, one)]:
                    fitting[pointer] = gaps
            if fitting:
                place = _only_place([*fitting], shown)
                return _Fitting((kind, keys), _placed(kind, place, content), fitting[place])
        elif content.form not in ROWS and (
            isinstance(value, dict) and not keys.isdisjoint(value) if keys else isinstance(value, list)
        ):
            found = (element.value for element in judged(value, fields) if element.is_gap)
            if gaps := [one for one in found if isinstance(one, dict)]:
                return _Fitting((kind, keys), kind, gaps)
    return None


def _first_keys(fields: FieldMap) -> frozenset[str]:
    """Return keys that an object must have one of, to be quick; empty if it may have any."""
    return _named_keys(fields.judged_by if _is_of_objects(fields) and _identifies(fields) else fields.each)


def _is_of_objects(fields: FieldMap) -> bool:
    """Tell whether the gaps of a source are the objects themselves, not a part of them."""
    return all(pointer == () for pointer in fields.each)


def _is_native(value: dict[str, Any]) -> bool:
    return not value.keys().isdisjoint(PHRASE_FIELDS)


def _has_gap(fields: FieldMap, value: dict[str, Any]) -> bool:
    """Tell whether an object is a gap of a source, or has one of its fields of a need."""
    shape = fields.of_shape(value)
    if shape is None or _is_judged(shape):
        return shape is not None
    paths = dict(shape.paths) or {name: ((name,),) for name in PHRASE_FIELDS}
    return any(_has(value, path) for name in PHRASE_FIELDS for path in paths.get(name, ()))


def _has(value: dict[str, Any], path: Pointer) -> bool:
    """Tell whether an object has a key, even without a value."""
    above = value_at(value, path[:-1])
    return path[-1] in above if isinstance(above, dict) else value_at(value, path) is not None


def _placed(chosen: LogKind, pointer: Pointer, content: Content) -> LogKind:
    """Return a source that reads the objects at a place of a document."""
    is_line = not pointer and content.form is Form.LINES
    if is_line or content.form in ROWS or not _is_of_objects(chosen.fields):
        return chosen
    return replace(chosen, fields=replace(chosen.fields, each=(pointer,)))


def _only_place(pointers: list[Pointer], shown: str) -> Pointer:
    """Return the place of the objects: the value itself, or the only list."""
    if () in pointers or len(pointers) == 1:
        return () if () in pointers else pointers[0]
    places = ", ".join(excerpt(json_pointer(pointer)) for pointer in pointers[:_SHOWN])
    raise InvalidInputError(
        f"{quoted(shown)} has {len(pointers)} lists of objects: {places}",
        hint=f"choose one in vocabgap.toml: source.mine = {{glob = {json.dumps(PurePath(shown).name)},"
        f' each = {json.dumps(json_pointer(pointers[0]))}, fields = {{description = "KEY"}}}}',
    )


def _values(
    path: str, content: Content, max_expanded: int
) -> Iterator[tuple[Any, dict[Pointer, list[dict[str, Any]]]]]:
    """Yield the lines, rows or documents of a file that can be read, with the objects of each by place."""
    with OpenLog.open(path, content.compression, max_expanded) as log:
        values = _decoded(content, content.in_utf8(log.chunks()))
        first = [*islice(values, 2)]
        is_document = len(first) == 1 and content.form not in ROWS
        yield from ((value, _places(value, is_document=is_document)) for value in chain(first, values))


def _decoded(content: Content, chunks: Iterable[bytes]) -> Iterator[Any]:
    if content.form in ROWS:
        for row in rows_of(content, chunks):
            if row.rejected is None:
                yield {name: parsed(cell) for name, cell in row.value.items()}
    elif content.form is Form.LINES:
        for block in blocks(chunks):
            for line in block.lines:
                with suppress(ValueError, RecursionError):
                    yield msgspec.json.decode(line)
    else:
        for _, document in documents(chunks):
            with suppress(ValueError, RecursionError):
                yield from (value for value, _ in values_of(document))


def _places(value: Any, *, is_document: bool) -> dict[Pointer, list[dict[str, Any]]]:  # noqa: ANN401 - any JSON
    """Return the objects of a value by their place: itself, its members, or the lists inside a document."""
    if isinstance(value, list):
        return {("*",): [member for member in value if isinstance(member, dict)]}
    if not isinstance(value, dict):
        return {}
    return {(): [value], **(dict(_lists(value)) if is_document else {})}


def _lists(value: dict[str, Any], above: Pointer = ()) -> Iterator[tuple[Pointer, list[dict[str, Any]]]]:
    """Yield the lists of objects inside an object."""
    for key, member in value.items():
        if isinstance(member, dict) and len(above) + 1 < _DEPTH:
            yield from _lists(member, (*above, key))
        elif isinstance(member, list) and (objects := [each for each in member if isinstance(each, dict)]):
            yield (*above, key, "*"), objects


def _leaves(value: dict[str, Any], above: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    for key, member in value.items():
        if isinstance(member, dict) and member and len(above) + 1 < _DEPTH:
            yield from _leaves(member, (*above, key))
        elif member not in (None, "", [], {}):
            yield (*above, key), member


def _path_of(pointer: Pointer) -> str:
    """Return the keys of a pointer as a path of the settings."""
    if any(not key or "." in key or "/" in key for key in pointer):
        return json_pointer(pointer)
    return ".".join(pointer)


def _example(value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return f'"{excerpt(value, 40)}"'
    return str(value) if _is_plain(value) else json_type(value)


def _words_of(path: str) -> list[str]:
    """Return the words of the last key of a path."""
    return [word.casefold() for word in _WORD.findall(path.rpartition("/" if path[0] == "/" else ".")[2])]


def _is_plain(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _misfit(
    wanted: LogKind, shown: str, survey: Mapping[Pointer, _Keys], absent: set[Pointer]
) -> NothingFitsError:
    """Return the error for a source or a path that a person named, but no object has."""
    if wanted.source and not absent:
        return NothingFitsError(f"no object of {quoted(shown)} is a gap of source '{wanted.source}'")
    of_needs = {path for name, paths in wanted.fields.paths if name in PHRASE_FIELDS for path in paths}
    named = sorted(map(_path_of, absent or of_needs))
    known = {path for keys in survey.values() for path in keys.times}
    message = f"no object of {quoted(shown)} has '{excerpt(named[0])}', which `map` names"
    return NothingFitsError(message, hint=nearest(named[0], [excerpt(path) for path in sorted(known)]))


def _nothing_fits(shown: str, keys: _Keys, roots: Iterable[str]) -> NothingFitsError:
    """Return the error for objects that no source fits, with a `--map` that may be right."""
    some = f"the first {_SURVEYED:,} of " if keys.objects > _SURVEYED else ""
    message = f"no known field in {quoted(shown)} says what was missing"
    listed = f"the keys of {some}its {count(keys.objects, 'object')} are {keys.in_words}"
    proposal = keys.proposal()
    words = [word for field, path in proposal.items() for word in ("--map", f"{field}={path}")]
    fields = [f"{field} = {json.dumps(path, ensure_ascii=False)}" for field, path in proposal.items()]
    setting = ", ".join(fields) or 'description = "KEY"'
    permanent = f"to make it permanent, write under [ingest] in vocabgap.toml: map = {{{setting}}}"
    listed, permanent = (text.replace("{", "{{").replace("}", "}}") for text in (listed, permanent))
    command = "try {}" if words else "--map description=KEY names the key of the need"
    hint = Hint(
        f"{listed}\n{command}\n{permanent}",
        (("report", *(roots or [shown]), *words),),
        for_tools="the server needs [ingest] map in vocabgap.toml",
    )
    return NothingFitsError(message, hint=hint)
