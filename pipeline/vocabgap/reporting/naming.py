"""Which capability of a run somebody means, by identifier, label or wording; and which of its wordings."""

import difflib
from collections.abc import Callable, Iterator
from typing import Any, Final

import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.text import shortened, surface, visible

_ALIKE: Final = 3  # labels or wordings to propose where none fits
_SHOWN: Final = 5  # of those that fit where only one should
_PREFIX: Final = "cap-"
FEWEST_DIGITS: Final = 4  # of an identifier: fewer may be meant as a rank, or be mistyped


def named(ranked: pl.DataFrame, name: str) -> dict[str, Any]:
    """The one capability that a name means.

    Args:
        ranked: Table `capabilities`.
        name: An identifier or the beginning of one, a label, or any wording; as it was written, as it is
            shown, or in another spelling. The more exact of these wins.

    Returns:
        Its row.

    Raises:
        NotFoundError: None has the name.
        InvalidInputError: Several have it.
    """
    for fits in _ways(name):
        found = [row for row in ranked.iter_rows(named=True) if fits(row)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(f"{row['capability_id']} ({_shown(row['label'])})" for row in found[:_SHOWN])
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise InvalidInputError(
                f"'{_shown(name)}' means several capabilities: {shown}{more}",
                hint="name one of them by its identifier",
            )
    labels = ranked["label"].to_list()
    holding = [label for label in labels if name.strip() and name.casefold() in label.casefold()]
    near = holding[:_ALIKE] or difflib.get_close_matches(name, labels, _ALIKE, 0.5)
    proposed = " or ".join(f"'{_shown(label)}'" for label in near)
    raise NotFoundError(
        f"no capability is called '{_shown(name)}'",
        hint=f"did you mean {proposed}?" if near else "capabilities.parquet of the run has all of them",
    )


def named_wording(row: dict[str, Any], wording: str) -> str:
    """The wording of a capability that somebody means.

    Args:
        row: The capability, a row of table `capabilities`.
        wording: As it was written, as it is shown, or in another spelling; the more exact of these wins.

    Raises:
        NotFoundError: It has no such wording.
    """
    own = [str(variant["wording"]) for variant in row["variants"]]
    spoken = surface(wording) if wording.strip() else wording
    for found in (wording, *own):
        if found in own and (found == wording or visible(found) == wording or surface(found) == spoken):
            return found
    near = difflib.get_close_matches(wording, own, _ALIKE, 0.5)
    proposed = " or ".join(f"'{_shown(each)}'" for each in near)
    raise NotFoundError(
        f"'{_shown(row['label'])}' has no wording '{_shown(wording)}'",
        hint=f"did you mean {proposed}?" if near else "its column `variants` has all of them",
    )


def _ways(name: str) -> Iterator[Callable[[dict[str, Any]], bool]]:
    spoken = surface(name) if name.strip() else name

    def wordings(row: dict[str, Any]) -> list[str]:
        return [variant["wording"] for variant in row["variants"]]

    yield lambda row: bool(row["capability_id"] == name)
    yield lambda row: bool(row["label"] == name)
    yield lambda row: name in wordings(row)
    yield lambda row: name in map(visible, (row["label"], *wordings(row)))
    yield lambda row: spoken in map(surface, (row["label"], *wordings(row)))
    digits = name.removeprefix(_PREFIX)
    if len(digits) >= FEWEST_DIGITS:
        yield lambda row: str(row["capability_id"]).startswith(_PREFIX + digits)


def _shown(text: str) -> str:
    return shortened(visible(text))
