"""Find the thing that a person names by its identifier (or the beginning of it), its label, or a wording."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from vocabgap.errors import Hint, InvalidInputError, NotFoundError, alike
from vocabgap.model.record import FEWEST_DIGITS
from vocabgap.model.tables import CAPABILITIES, CAPABILITY_PREFIX
from vocabgap.text import excerpt, surface, visible

_SHOWN: Final = 5  # things that an error names


class Named(NamedTuple):
    """A thing with names; the identifier or the label may be empty."""

    identifier: str
    label: str = ""
    wordings: Collection[str] = ()
    rank: int | None = None


def find_capability(ranked: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the row of table `capabilities` that a person names; see `lookup`."""
    columns = ("capability_id", "label", "variants", "rank")
    CAPABILITIES.require(ranked, columns)
    things = [
        Named(identifier, label, [variant["wording"] for variant in variants], rank)
        for identifier, label, variants, rank in ranked.select(columns).iter_rows()
    ]
    known = some_of([f"'{thing.label}'" for thing in things])
    hint = Hint(f"{known}; --run chooses another run", (), for_tools=known)
    place = lookup(
        things, name, singular="capability", plural="capabilities", hint=hint, prefix=CAPABILITY_PREFIX
    )
    return ranked[place]


def find_wording(capability: dict[str, Any], name: str) -> str:
    """Return the wording of a row of table `capabilities` that a person names; see `lookup`."""
    wordings = [str(variant["wording"]) for variant in capability["variants"]]
    singular = f"wording of '{excerpt(capability['label'])}'"
    hint = "its column `variants` lists all wordings"
    things = [Named("", wording) for wording in wordings]
    return wordings[lookup(things, name, singular=singular, plural="wordings", hint=hint)]


def lookup(
    things: Sequence[Named],
    name: str,
    *,
    singular: str,
    plural: str,
    hint: str | Hint,
    prefix: str = "",
    fewest: int = FEWEST_DIGITS,
) -> int:
    """Return the place of the thing that a person names.

    The name is a rank, a label, a wording, or an identifier or its beginning, with or without the prefix. An
    exact match comes first, then the text as it is shown, then another spelling. A number that is one thing's
    rank and exactly another's name is an error.

    Raises:
        NotFoundError: No thing has the name.
        InvalidInputError: Several things have the name.
    """
    wanted = str(name).strip()
    for fits in _ways(wanted, prefix, fewest):
        places = [place for place, thing in enumerate(things) if fits(thing)]
        if len(places) == 1:
            return places[0]
        if places:
            several = ", ".join(_in_words(things[place]) for place in places[:_SHOWN])
            more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
            by = "by its identifier" if things[places[0]].identifier else "in full"
            raise InvalidInputError(
                f"'{excerpt(wanted)}' means several {plural}: {several}{more}", hint=f"name one of them {by}"
            )
    near = did_you_mean(wanted, (thing.label for thing in things if thing.label))
    raise NotFoundError(f"no {singular} is called '{excerpt(wanted)}'", hint=near or hint)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint with the names most similar to an unknown one; empty if there are none."""
    shown = (excerpt(name) for name in alike(name, names))
    near = " or ".join(f'"{name}"' if "'" in name else f"'{name}'" for name in shown)
    return f"did you mean {near}?" if near else ""


def some_of(names: Sequence[str]) -> str:
    """Describe the names that exist: their number, and the first ones."""
    if len(names) > 1:
        return f"there are {len(names):,}, such as {', '.join(map(excerpt, names[:_SHOWN]))}"
    return f"there is only {excerpt(names[0])}" if names else "there are none"


def _ways(name: str, prefix: str, fewest: int) -> Iterator[Callable[[Named], bool]]:
    """Yield functions that test if a thing has the name, the strictest first."""
    digits = name.removeprefix(prefix)
    wanted = surface(name) if name else name
    if name.isdecimal():
        yield lambda thing: name in {str(thing.rank), thing.label, *thing.wordings}
    if name:
        yield lambda thing: thing.identifier == name
        yield lambda thing: thing.label == name
        yield lambda thing: name in thing.wordings
        yield lambda thing: name in map(visible, (thing.label, *thing.wordings))
        yield lambda thing: wanted == surface(thing.label)
        yield lambda thing: wanted in map(surface, thing.wordings)
    if name and len(digits) >= fewest:
        yield lambda thing: thing.identifier.startswith(prefix + digits)


def _in_words(thing: Named) -> str:
    if not thing.identifier:
        return f"'{excerpt(thing.label)}'"
    return f"{thing.identifier} ({excerpt(thing.label)})" if thing.label else thing.identifier
