"""The text of a record that is grouped."""

from typing import Final

import polars as pl

from vocabgap.needs import PHRASE_FIELDS

# What Python counts as white space: Rust, which Polars asks, leaves out the four separators from U+001C on.
_BLANKS: Final = "".join(filter(str.isspace, map(chr, range(0x3001))))


def stripped(text: pl.Expr) -> pl.Expr:
    """Text without its outer white space, as Python sees it."""
    return text.str.strip_chars(_BLANKS)


def phrase() -> pl.Expr:
    """The text that stands for a record's need, as `vocabgap.needs.need_of` has it; null for none."""
    trimmed = [stripped(pl.col(name)) for name in PHRASE_FIELDS]
    return pl.coalesce(pl.when(text != "").then(text) for text in trimmed)
