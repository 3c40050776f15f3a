"""Conformance cases as they stand in a file, and how what they expect is compared with what was observed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `unreadable` says why its line is none."""

    id: str
    input: dict[str, Any] = field(default_factory=dict)
    expected: Any = None
    unreadable: str = ""

    @property
    def operation(self) -> str:
        return str(self.input.get("op"))


Operation = Callable[[Mapping[str, Any], Mapping[str, Case]], Any]
"""Does what the input of a case says, with all cases by their id at hand; gives what was observed."""


class AnyOf:
    """Several things of which a case may expect any one, each being true of what was observed."""

    def __init__(self, *values: object) -> None:
        self.values = list(values)


class Noted(NamedTuple):
    """What was observed, with something that whoever reads the outcome should know."""

    observed: object
    note: str


class Each:
    """Several observed objects: a case expects one of them, or all of them in order."""

    def __init__(self, values: Iterable[Mapping[str, Any]]) -> None:
        self.values = list(values)


def read_cases(path: Path) -> list[Case]:
    """Read the cases of a file, in order; a line that is none becomes a case that says so."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [_case(line, number) for number, line in enumerate(lines, start=1) if line.strip()]


def _case(line: str, number: int) -> Case:
    name = f"line {number}"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Case(name, unreadable=f"expected one JSON object: {error}")
    if not isinstance(found, dict):
        return Case(name, unreadable="expected one JSON object")
    name = ascii(found["id"])[1:-1] if isinstance(found.get("id"), str) else name
    if not isinstance(found.get("input"), dict) or "expected" not in found:
        return Case(
            name, unreadable="expected an `input`, an object with an `op`, and something `expected`"
        )
    return Case(name, found["input"], found["expected"])


def mismatches(expected: object, observed: object, place: str = "") -> list[str]:
    """List how an observation differs from a case; an object may have more keys than expected."""
    return list(_mismatches(expected, observed, place))


def _mismatches(expected: object, observed: object, place: str) -> Iterator[str]:
    if isinstance(observed, AnyOf) or (
        isinstance(observed, Each) and not isinstance(expected, list)
    ):
        if all(mismatches(expected, value) for value in observed.values):
            yield _told(place, expected, observed.values)
    elif isinstance(observed, Each):
        yield from _mismatches(expected, observed.values, place)
    elif isinstance(expected, dict) and isinstance(observed, Mapping):
        yield from _in_object(expected, observed, place)
    elif (
        isinstance(expected, list) and isinstance(observed, list) and len(expected) == len(observed)
    ):
        for number, (wanted, found) in enumerate(zip(expected, observed, strict=True)):
            yield from _mismatches(wanted, found, f"{place}[{number}]")
    elif isinstance(expected, str) and isinstance(observed, Mapping) and "code" in observed:
        yield from _mismatches(
            expected, observed["code"], place
        )  # an error, of which the code is enough
    elif isinstance(expected, bool) is not isinstance(observed, bool) or expected != observed:
        yield _told(place, expected, observed)


def _in_object(
    expected: Mapping[str, object], observed: Mapping[str, object], place: str
) -> Iterator[str]:
    for key, value in expected.items():
        within = f"{place}.{key}" if place else key
        if key in observed:
            yield from _mismatches(value, observed[key], within)
        else:
            yield f"{within}: {_json(value)} is expected, but nothing is known of it"


def _told(place: str, expected: object, observed: object) -> str:
    return f"{place}: {_json(expected)} is expected, {_json(observed)} observed".removeprefix(": ")


def _json(value: object) -> str:
    return json.dumps(value, default=lambda other: getattr(other, "values", str(other)))
