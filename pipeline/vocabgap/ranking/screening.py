"""Mark the records that are no gap of the vocabulary; never drop them."""

import re
from collections.abc import Collection, Sequence
from functools import cache, partial
from itertools import chain
from typing import Final

import polars as pl

from vocabgap.files.parts import ROW, Parts
from vocabgap.model.record import NOT_GRANTED_NOTES
from vocabgap.model.sources import NOT_GRANTED, Phrase, Rule, is_whole, rules_in_force
from vocabgap.model.tables import GAPS, phrase, stripped
from vocabgap.text import words

_READ: Final = ("description", "missing_capability", "workaround", "notes")

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
    "prevent", "simulate", "option", "pause", "pauses", "waits", "alert", "notify", "warn",
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

_TOOL_NAMES: Final = (  # in a message
    r"[`'\"“‘]([^`'\"“”‘’\s]{2,128})[`'\"”’]",
    r"\b(\w+_\w+)\b",
    r"(?:[Tt]o use|[Tt]ool:?|[Cc]ommand:?|available:) ([A-Z]\w+|\w+[-./]\w+)",
    r"\b([A-Z]\w+) (?:tool|exists)\b",
)


def screen(gaps: pl.DataFrame, rules: Sequence[Rule] | None = None) -> pl.DataFrame:
    """Mark the records that are no gap of the vocabulary, each with the first rule that fits.

    A phrase is searched in the description and in `missing_capability`. Phrases of what is not granted are
    searched in `missing_capability` only if there is no description. A phrase in a wish ("no way to handle
    permission denied", "rate limit exceeded handling") does not count. A phrase that may be in a photograph
    ("broken pipe") counts only if something failed and nothing is named as missing. Workaround and notes are
    read if the description tells of a failure. They are also read if the record neither names what is missing
    nor expresses a wish. Regular expressions search description, workaround and notes. Before all rules, the
    notes may say that a called tool is not granted. A phrase after `only:` must be the whole need.

    Args:
        gaps: Table `gaps`.
        rules: The rules in their order; the built-in ones by default.

    Returns:
        The same rows in the same order; counted rows that fit a rule now have `why_not` and `rule`.
    """
    GAPS.require(gaps, (*_READ, "counted", "why_not", "rule"))
    lines = gaps.lazy().with_row_index(ROW).cast({ROW: pl.Int64})
    marks = _marks(lines, rules_in_force() if rules is None else rules)
    marked = lines.join(marks, on=ROW, how="left", suffix="_found", maintain_order="left").with_columns(
        pl.col("counted") & pl.col("rule_found").is_null(),
        why_not=pl.coalesce("why_not_found", "why_not"),
        rule=pl.coalesce("rule_found", "rule"),
    )
    return marked.select(gaps.columns).collect()


def screened(lines: Parts, rules: Sequence[Rule]) -> Parts:
    """Mark the lines of a scan as `screen` does."""
    return lines.marked(lines.each(partial(_marks, rules=rules)))


def _marks(lines: pl.LazyFrame, rules: Sequence[Rule]) -> pl.LazyFrame:
    """Return the rows that count but fit a rule: columns `ROW`, `why_not` and `rule`."""
    texts = [stripped(pl.col(name).fill_null("")).alias(name) for name in _READ]
    is_noted = pl.col("notes").str.contains(NOT_GRANTED_NOTES)
    reason = pl.col("notes").str.extract(NOT_GRANTED_NOTES).fill_null("not_enabled")
    named = (pl.when(_fits(rule)).then(pl.lit(rule.name)) for rule in rules if rule.patterns or rule.whole)
    fitting = pl.concat_list(pl.lit(None, pl.String), *named).list.drop_nulls()
    suspects = (
        lines.filter("counted")
        .select(ROW, *texts, noted=pl.when(is_noted).then(reason))
        .with_columns(fitting=fitting)
        .filter(_may_fit(rules) | (pl.col("fitting").list.len() > 0) | pl.col("noted").is_not_null())
        .collect()
    )
    judged = cache(partial(rule_of, rules=rules))
    why_not_of = {rule.name: rule.why_not for rule in rules}
    marks = []
    for row, *read, noted, fitted in suspects.iter_rows():
        if rule := noted or judged(*read, fitting=tuple(fitted)):
            marks.append((row, NOT_GRANTED if noted else why_not_of[rule], rule))
    columns = {ROW: pl.Int64(), **{name: GAPS.schema[name] for name in ("why_not", "rule")}}
    return pl.LazyFrame(marks, columns, orient="row")


def not_granted(gaps: Parts) -> pl.DataFrame:
    """Count the records of each tool that is not granted: `tool`, `records` and `rules`, most records first.

    The tool is what the record names as missing, else its first operation, else a name in its message. It is
    null if the record names none.
    """
    by_tool = (
        gaps.each(_tools)
        .group_by("tool")
        .agg(pl.col("records").sum(), pl.col("rule").unique().sort().alias("rules"))
    )
    return by_tool.sort("records", "tool", descending=[True, False], nulls_last=True)


def _tools(part: pl.LazyFrame) -> pl.LazyFrame:
    missing = stripped(pl.col("missing_capability").fill_null(""))
    description = stripped(pl.col("description").fill_null(""))
    is_apart = (description != "") & (description != missing)  # else the only text is a message
    is_name = (missing != "") & (is_apart | pl.col("notes").str.contains(NOT_GRANTED_NOTES))
    message = pl.concat_str(description, missing, separator="\n")
    operation = stripped(pl.col("operations_involved").list.first())
    candidates = (
        pl.when(is_name).then(missing),
        pl.when(operation != "").then(operation),
        *(message.str.extract(expression) for expression in _TOOL_NAMES),
    )
    marked = part.filter(why_not=NOT_GRANTED)
    by_tool = marked.select(pl.coalesce(candidates).str.head(120).alias("tool"), "rule")
    return by_tool.group_by("tool", "rule").agg(pl.len().alias("records"))


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
    own, name = _clauses(description), _clauses(missing_capability)
    own_words = _words_of(own or name)
    asides = []
    if own_words & _FAILURES or not (missing_capability or own_words & _WISHES):
        asides = [_clauses(workaround), _clauses(notes)]
    for rule in rules:
        # The name of a need often has the words of a refusal: "handling of denied permissions".
        parts = [own or name] if rule.why_not == NOT_GRANTED else [own, name]
        if rule.name in fitting or any(
            _tells(rule, clauses, is_named=bool(missing_capability)) for clauses in (*parts, *asides)
        ):
            return rule.name
    return None


def _fits(rule: Rule) -> pl.Expr:
    searched = pl.col("description", "workaround", "notes")
    fits = [searched.str.contains(f"(?i:{pattern})") for pattern in rule.patterns]
    return pl.any_horizontal(*fits, is_whole(phrase(), rule))


def _tells(rule: Rule, clauses: Sequence[str], *, is_named: bool) -> bool:
    present = _words_of(clauses)
    failures = present & _FAILURES
    phrases = {phrase for word in present & rule.phrases.keys() for phrase in rule.phrases[word]}
    return any(
        _happened(phrase, clause, failures)
        for phrase in phrases
        if not (phrase.if_failed and (is_named or not failures))
        for clause in clauses
    )


def _words_of(clauses: Sequence[str]) -> set[str]:
    return set("".join(clauses).split())


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text in normal form, with a space at either end."""
    clauses = (words(clause) for clause in _CLAUSE_END.split(text))
    return [f" {' '.join(clause)} " for clause in clauses if clause]


def _happened(phrase: Phrase, clause: str, failures: Collection[str]) -> bool:
    for match in phrase.pattern.finditer(clause):
        before, following = clause[: match.start()].split(), clause[match.end() :].split(maxsplit=1)[:1]
        is_failure = not phrase.if_failed or not set(failures) <= set(match[0].split())
        if is_failure and _WISHES.isdisjoint(before) and _THINGS.isdisjoint(following):
            return True
    return False


def _may_fit(rules: Sequence[Rule]) -> pl.Expr:
    """Select the records that a phrase may fit: they contain its beginning, whatever is between its words.

    Apostrophes do not count. Text beyond ASCII has another normal form, so it is always selected.
    """
    begins = sorted({phrase.begins for rule in rules for phrase in chain(*rule.phrases.values())})
    whole = pl.concat_str(_READ, separator="\n")
    beyond = whole.str.len_bytes() != whole.str.len_chars()
    letters = whole.str.replace_all("'", "", literal=True).str.to_lowercase()
    between = r"[\x00-/:-@\[-`{-\x7f]*"  # words of ASCII text; nothing is between those of `brokenPipe`
    return beyond | letters.str.contains("|".join(begins).replace(" ", between))
