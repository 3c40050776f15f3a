"""One capability among many, as a person names it."""

import difflib
from typing import Final

import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.ranking.identity import ID_PREFIX
from vocabgap.schema import CAPABILITIES
from vocabgap.text import shortened, surface, visible

_ALIKE: Final = 3  # labels to propose where none fits
_SHOWN: Final = 5  # capabilities to tell where several fit


def find_capability(ranked: pl.DataFrame, asked: str) -> pl.DataFrame:
    """The capability that a person means.

    Args:
        ranked: Table `capabilities`.
        asked: Its identifier, or the beginning of that if there is only one such; its label; or one of its
            wordings. Case, hyphens and word endings do not matter in the last two.

    Returns:
        One row of the table.

    Raises:
        NotFoundError: There is none.
        InvalidInputError: It may be one of several.
    """
    CAPABILITIES.require(ranked, ("capability_id", "label", "variants"))
    wanted = asked.strip()
    found = ranked.clear()
    if wanted.startswith(ID_PREFIX):
        exact = ranked.filter(capability_id=wanted)
        found = exact if exact.height else ranked.filter(pl.col("capability_id").str.starts_with(wanted))
    if found.is_empty():
        found = ranked.filter(label=wanted)
    if found.is_empty():
        found = ranked[_worded(ranked, surface(wanted) if wanted else "")]
    if found.is_empty():
        raise NotFoundError(f"there is no capability '{visible(wanted)}'", hint=_proposal(ranked, wanted))
    if found.height > 1:
        several = found.head(_SHOWN).select("capability_id", "label").rows()
        named = ", ".join(f"{name} ({shortened(visible(label))})" for name, label in several)
        raise InvalidInputError(
            f"'{visible(wanted)}' may be any of {found.height} capabilities",
            hint=f"name one in full: {named}",
        )
    return found


def _worded(ranked: pl.DataFrame, wanted: str) -> list[int]:
    """The rows whose label has a surface; where there is none, those of which any wording has it."""
    labels = [surface(label) for label in ranked["label"]]
    if wanted in labels:
        return [row for row, label in enumerate(labels) if label == wanted]
    return [
        row
        for row, variants in enumerate(ranked["variants"])
        if any(surface(variant["wording"]) == wanted for variant in variants)
    ]


def _proposal(ranked: pl.DataFrame, wanted: str) -> str:
    by_folded = {label.casefold(): label for label in reversed(ranked["label"].to_list())}
    near = difflib.get_close_matches(wanted.casefold(), by_folded, n=_ALIKE, cutoff=0.4)
    if not near:
        return "expected an identifier, a label or a wording of the report"
    return f"the nearest labels: {', '.join(shortened(visible(by_folded[each])) for each in near)}"
