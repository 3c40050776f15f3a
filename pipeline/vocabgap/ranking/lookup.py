"""Which one a person means, of things that have identifiers, labels and wordings."""

import difflib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.schema import CAPABILITIES, CAPABILITY_PREFIX
from vocabgap.text import shortened, surface, visible

FEWEST_DIGITS: Final = 4  # of an identifier: fewer may be meant as a rank, or be mistyped
_ALIKE: Final = 3  # labels to propose where none fits
_SHOWN: Final = 5  # of those that fit where only one should
_NEAR: Final = 0.5  # ratio of matching characters (difflib) from which on a label is proposed


class Named(NamedTuple):
    """Something that may be meant.

    Attributes:
        identifier: Its identifier; empty where it has none.
        label: What it is called.
        wordings: What else it is called.
    """

    identifier: str
    label: str
    wordings: Collection[str]


def find_capability(ranked: pl.DataFrame, asked: str) -> pl.DataFrame:
    """The capability that a person means.

    Args:
        ranked: Table `capabilities`.
        asked: Its name, as `find_named` takes it.

    Returns:
        One row of the table.

    Raises:
        NotFoundError: There is none.
        InvalidInputError: It may be one of several.
    """
    CAPABILITIES.require(ranked, ("capability_id", "label", "variants"))
    known = [
        Named(identifier, label, [variant["wording"] for variant in variants])
        for identifier, label, variants in ranked.select("capability_id", "label", "variants").iter_rows()
    ]
    hint = "expected an identifier, a label or a wording; capabilities.parquet of the run has all of them"
    return ranked[find_named(known, asked, hint=hint)]


def find_named(
    known: Sequence[Named],
    asked: str,
    *,
    singular: str = "capability",
    plural: str = "capabilities",
    hint: str,
) -> int:
    """The place of what a person means.

    Args:
        known: What there is.
        asked: An identifier, or the beginning of one, four of its digits at least, with or without what it
            starts with; a label; or any wording; as it was written, as it is shown, or in another spelling.
            The more exact of these wins.
        singular: What one of them is, for the error.
        plural: What several are.
        hint: What to do where none is meant and none is like it.

    Raises:
        NotFoundError: None is meant.
        InvalidInputError: Several may be.
    """
    wanted = asked.strip()
    for fits in _ways(wanted):
        found = [place for place, each in enumerate(known) if fits(each)]
        if len(found) == 1:
            return found[0]
        if found:
            told = ", ".join(_told(known[place]) for place in found[:_SHOWN])
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            by = "by its identifier" if known[found[0]].identifier else "in full"
            raise InvalidInputError(
                f"'{_shown(wanted)}' means several {plural}: {told}{more}", hint=f"name one of them {by}"
            )
    near = _near([each.label for each in known], wanted)
    proposed = " or ".join(f"'{_shown(label)}'" for label in near)
    raise NotFoundError(
        f"no {singular} is called '{_shown(wanted)}'",
        hint=f"did you mean {proposed}?" if near else hint,
    )


def find_wording(row: dict[str, Any], asked: str) -> str:
    """The wording of a capability that a person means.

    Args:
        row: The capability, a row of table `capabilities`.
        asked: As it was written, as it is shown, or in another spelling; the more exact of these wins.

    Raises:
        NotFoundError: It has no such wording.
    """
    own = [str(variant["wording"]) for variant in row["variants"]]
    spoken = surface(asked) if asked.strip() else asked
    for found in (asked, *own):
        if found in own and (found == asked or visible(found) == asked or surface(found) == spoken):
            return found
    near = difflib.get_close_matches(asked, own, _ALIKE, _NEAR)
    proposed = " or ".join(f"'{_shown(each)}'" for each in near)
    raise NotFoundError(
        f"'{_shown(row['label'])}' has no wording '{_shown(asked)}'",
        hint=f"did you mean {proposed}?" if near else "its column `variants` has all of them",
    )


def _ways(name: str) -> Iterator[Callable[[Named], bool]]:
    """Whether something is meant, one way after the other, the most exact first."""
    spoken = surface(name) if name else name
    yield lambda each: each.identifier == name != ""
    yield lambda each: each.label == name
    yield lambda each: name in each.wordings
    yield lambda each: name in map(visible, (each.label, *each.wordings))
    yield lambda each: spoken == surface(each.label)
    yield lambda each: spoken in map(surface, each.wordings)
    digits = name.removeprefix(CAPABILITY_PREFIX)
    if len(digits) >= FEWEST_DIGITS:
        yield lambda each: each.identifier.startswith(CAPABILITY_PREFIX + digits)


def _near(labels: Sequence[str], wanted: str) -> list[str]:
    """The labels that hold a name, else those that are spelt like it."""
    folded = wanted.casefold()
    by_folded = {label.casefold(): label for label in reversed(labels)}
    holding = [label for label in labels if folded and folded in label.casefold()]
    alike = difflib.get_close_matches(folded, by_folded, _ALIKE, _NEAR)
    return holding[:_ALIKE] or [by_folded[each] for each in alike]


def _told(each: Named) -> str:
    label = _shown(each.label)
    return f"{each.identifier} ({label})" if each.identifier else f"'{label}'"


def _shown(text: str) -> str:
    return shortened(visible(text))
