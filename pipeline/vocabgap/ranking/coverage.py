"""Which capabilities a vocabulary may have already: an agent that missed an entry is a finding, too."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from vocabgap.errors import require_kind, require_names
from vocabgap.ranking.entry_index import EntryIndex, Match
from vocabgap.records.record import OPERATION_ALIASES, fold_operation
from vocabgap.schema import CAPABILITIES
from vocabgap.settings.model import DEFAULT_COVERED
from vocabgap.vocabulary import Entry, Vocabulary

_DIGITS = 6  # so that the last bit of a logarithm is the same on every machine


def covered(
    ranked: pl.DataFrame,
    vocabulary: Vocabulary,
    *,
    stop_words: Iterable[str] = (),
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> pl.DataFrame:
    """Say of each capability which entries of a vocabulary come nearest to it.

    The need is the label; the operations of the records, each by the share of them that names it,
    order the entries, but do not decide whether one covers it: that which explains most is always among them.

    Args:
        ranked: Table `capabilities`.
        vocabulary: What agents can already ask for.
        stop_words: Words to ignore beside the function words: those that the clustering ignored.
        operation_aliases: Lower-case name to operation, as `rank` had them.

    Returns:
        The same with the column `covered_by` filled: three entries, or fewer, the nearest one first.

    Raises:
        InvalidInputError: An argument cannot be used.
    """
    CAPABILITIES.require(ranked, ("label", "operations", "mentions"))
    require_kind("vocabulary", vocabulary, Vocabulary, "what vocabgap.load_vocabulary returned")
    require_names("operation_aliases", operation_aliases)
    index = entry_index(vocabulary, stop_words=stop_words, operation_aliases=operation_aliases)
    found = [
        [
            _row(match)
            for match in index.covering(
                label, {each["name"]: each["mentions"] / mentions for each in operations}
            )
        ]
        for label, operations, mentions in ranked.select("label", "operations", "mentions").iter_rows()
    ]
    column = pl.Series("covered_by", found, dtype=CAPABILITIES.schema["covered_by"])
    return ranked.with_columns(column)


def probably_covered(threshold: float = DEFAULT_COVERED) -> pl.Expr:
    """Whether one of the entries in `covered_by` explains so much of the need that it probably covers it.

    Args:
        threshold: The share of the need, 0 to 1, that an entry explains at least: `[vocabulary] threshold`.

    Returns:
        True or false, never null: false where no vocabulary was given.
    """
    shares = pl.col("covered_by").list.eval(pl.element().struct.field("explained"))
    return shares.list.max().ge(threshold).fill_null(value=False).alias("probably_covered")


def entry_index(
    vocabulary: Vocabulary,
    *,
    stop_words: Iterable[str] = (),
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> EntryIndex:
    """The index of a vocabulary whose operations are called as in table `capabilities`."""
    return EntryIndex(with_folded_operations(vocabulary.entries, operation_aliases), stop_words)


def with_folded_operations(entries: Iterable[Entry], aliases: Mapping[str, str]) -> list[Entry]:
    """The entries with their operations called as in table `capabilities`."""
    fold = partial(fold_operation, aliases=aliases)
    return [replace(entry, operations=tuple(dict.fromkeys(map(fold, entry.operations)))) for entry in entries]


def _row(match: Match) -> dict[str, Any]:
    return {
        "entry": match.entry.name,
        "pack": match.entry.pack,
        "score": round(match.score, _DIGITS),
        "explained": round(match.explained, _DIGITS),
        "terms": [term for term, _ in match.terms],
    }
