"""Mark the records that are no gap of the vocabulary; never drop them."""

import re
from collections.abc import Collection, Sequence
from functools import cache, partial
from typing import Final

import polars as pl

from vocabgap.model.sources import Rule, rules_in_force
from vocabgap.model.tables import GAPS, stripped
from vocabgap.text import words

NOT_A_GAP: Final = "not_a_gap"
_READ: Final = ("description", "missing_capability", "workaround", "notes")
_SEARCHED: Final = ("description", "workaround", "notes")  # by regular expressions

# The end of a clause.
_CLAUSE_END: Final = re.compile(
    r"[.!?;,]+(?=\s|$)|[()\[\]{}\n\r\u2014\u2013]|\s-+\s|\b(?:but|because|since|however|and|so|though)\b",
    re.IGNORECASE,
)
# Before a phrase in its clause, these words show a wish, not an event.
_WISHES: Final = frozenset([
    "no", "without", "need", "needs", "needed", "needing", "want", "wants", "wanted", "wanting", "wish",
    "wishes", "missing", "lack", "lacks", "lacking", "should", "way", "handle", "handles", "handling",
    "against", "support", "supports", "retry", "resume", "recover", "fallback", "detect", "avoid",
    "prevent", "simulate",
])  # fmt: skip
# The same after a phrase: "permission denied handling" is a wish.
_THINGS: Final = frozenset([
    "handling", "handler", "recovery", "detection", "detector", "setting", "settings", "option", "policy",
    "primitive", "entry", "entries",
])  # fmt: skip
_FAILURES: Final = frozenset([
    "fail", "fails", "failed", "failing", "failure", "error", "errors", "errored", "abort", "aborts",
    "aborted", "hang", "hangs", "hung", "stalled", "crashed",
])  # fmt: skip


def screen(gaps: pl.DataFrame, rules: Sequence[Rule] | None = None) -> pl.DataFrame:
    """Mark the records that are no gap of the vocabulary, each with the first rule that fits.

    A phrase is searched in the description, or in `missing_capability` without one. A phrase in a wish ("no
    way to handle permission denied", "rate limit exceeded handling") does not count. A phrase that may be in
    a photograph ("broken pipe") counts only if something failed and the record does not name what is missing.
    Workaround and notes are read only if the description tells of a failure, or if the record neither names
    what is missing nor expresses a wish. Regular expressions search description, workaround and notes.

    Args:
        gaps: Table `gaps`.
        rules: The rules in their order; the built-in ones by default.

    Returns:
        The same rows in the same order; counted rows that fit a rule now have `why_not` and `rule`.
    """
    GAPS.require(gaps, (*_READ, "counted", "why_not", "rule"))
    rules = rules_in_force() if rules is None else rules
    counted = gaps.lazy().with_row_index("row").filter("counted")
    texts = [stripped(pl.col(name).fill_null("")).alias(name) for name in _READ]
    named = (pl.when(_fits(rule)).then(pl.lit(rule.name)) for rule in rules if rule.patterns)
    fitting = pl.concat_list(pl.lit(None, pl.String), *named).list.drop_nulls()
    suspects = counted.select("row", *texts).with_columns(fitting=fitting)
    suspects = suspects.filter(_may_fit(rules) | (pl.col("fitting").list.len() > 0))
    judged = cache(partial(rule_of, rules=rules))
    rule_of_row = {
        row: judged(*own, fitting=tuple(fitting)) for row, *own, fitting in suspects.collect().iter_rows()
    }
    fits = pl.int_range(pl.len()).replace_strict(rule_of_row, default=None, return_dtype=pl.String)
    return gaps.with_columns(
        pl.col("counted") & fits.is_null(),
        why_not=pl.when(fits.is_not_null()).then(pl.lit(NOT_A_GAP)).otherwise("why_not"),
        rule=pl.coalesce(fits, "rule"),
    )


def rule_of(
    description: str,
    missing_capability: str = "",
    workaround: str = "",
    notes: str = "",
    *,
    rules: Sequence[Rule],
    fitting: Collection[str] = (),
) -> str | None:
    """Return the first rule that fits a record, as `screen` does; None if there is none.

    `fitting` are the names of the rules with a regular expression that fits.
    """
    parts = [_clauses(description or missing_capability)]
    own_words = _words_of(parts[0])
    if own_words & _FAILURES or not (missing_capability or own_words & _WISHES):
        parts += [_clauses(workaround), _clauses(notes)]
    for rule in rules:
        if rule.name in fitting or any(
            _tells(rule, clauses, is_named=bool(missing_capability)) for clauses in parts
        ):
            return rule.name
    return None


def _fits(rule: Rule) -> pl.Expr:
    return pl.any_horizontal(
        pl.col(name).str.contains(f"(?i:{pattern})") for pattern in rule.patterns for name in _SEARCHED
    )


def _tells(rule: Rule, clauses: Sequence[str], *, is_named: bool) -> bool:
    phrases = rule.phrases
    if not is_named:
        failures = _words_of(clauses) & _FAILURES
        phrases += tuple(phrase for phrase in rule.if_failed if failures.difference(phrase.split()))
    whole = "".join(clauses)  # two spaces separate them; no phrase has two
    matching = [phrase for phrase in phrases if f" {phrase} " in whole]
    return any(_happened(clause, phrase) for phrase in matching for clause in clauses)


def _words_of(clauses: Sequence[str]) -> set[str]:
    return {word for clause in clauses for word in clause.split()}


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text in normal form, with a space at either end."""
    clauses = (words(clause) for clause in _CLAUSE_END.split(text))
    return [f" {' '.join(clause)} " for clause in clauses if clause]


def _happened(clause: str, phrase: str) -> bool:
    before, match, after = clause.partition(f" {phrase} ")
    if not match:
        return False
    following = after.split(maxsplit=1)[:1]
    return _WISHES.isdisjoint(before.split()) and _THINGS.isdisjoint(following)


def _may_fit(rules: Sequence[Rule]) -> pl.Expr:
    """Select the records that a phrase may fit: they contain its longest word, in any case.

    Only text beyond ASCII may have further spellings, so it is always selected.
    """
    phrases = {phrase for rule in rules for phrase in (*rule.phrases, *rule.if_failed)}
    keys = sorted({max(phrase.split(), key=len) for phrase in phrases})
    if not keys:
        return pl.lit(value=False)
    whole = pl.concat_str(_READ, separator="\n").str.replace_all("'", "", literal=True)
    beyond = whole.str.len_bytes() != whole.str.len_chars()
    return beyond | whole.str.contains_any(keys, ascii_case_insensitive=True)
