"""Rules for records that are reported as gaps, but are none of the vocabulary."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

from vocabgap.errors import InvalidInputError, require_kind, texts
from vocabgap.text import words

REGEX_PREFIX: Final = "re:"
IF_FAILED_PREFIX: Final = "if failed:"
_TABLE: Final = "not_a_gap"
_EXAMPLE: Final = 'for example outage = ["the tile server is down", "re:error 5[0-9]{2}"]'


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason why a record is no gap of the vocabulary.

    Attributes:
        name: The name of the reason in the report.
        phrases: Phrases in normal form, words separated by single spaces.
        if_failed: Phrases that count only if something failed and nothing is named as missing.
        patterns: Regular expressions in the syntax of Polars, without case. It has no look-around and no
            back-references, so that the time grows with the text only.
    """

    name: str
    phrases: tuple[str, ...]
    if_failed: tuple[str, ...]
    patterns: tuple[str, ...]

    @property
    def expressions(self) -> tuple[str, ...]:
        """The phrases and patterns as in the settings."""
        return (
            *self.phrases,
            *(f"{IF_FAILED_PREFIX} {phrase}" for phrase in self.if_failed),
            *(f"{REGEX_PREFIX}{pattern}" for pattern in self.patterns),
        )


def rules_in_force(own: Mapping[str, Iterable[str]] | None = None) -> tuple[Rule, ...]:
    """Return the built-in rules and further ones, in the order in which they are applied.

    Args:
        own: Name of a rule to its phrases, in which case, hyphens and punctuation do not matter. `if failed:`
            begins a phrase that counts only if something failed and nothing is named as missing; `re:` begins
            a regular expression. They extend a built-in rule of this name; an empty list switches it off.
    """
    own = {} if own is None else own
    require_kind(_TABLE, own, Mapping, "a mapping of names to phrases", hint=_EXAMPLE)
    expressions_of = dict(_built_in())
    for name, expressions in own.items():
        require_kind(_TABLE, name, str, "names of rules")
        if not name.strip():
            raise InvalidInputError(f"[{_TABLE}]: a rule has no name", hint=_EXAMPLE)
        further = texts(f"[{_TABLE}] {name}", expressions)
        expressions_of[name] = (*expressions_of.get(name, ()), *further) if further else ()
    return tuple(_rule(name, expressions) for name, expressions in expressions_of.items() if expressions)


@lru_cache(maxsize=128)
def _rule(name: str, expressions: tuple[str, ...]) -> Rule:
    phrases: dict[str, list[str]] = {"": [], IF_FAILED_PREFIX: []}
    patterns = []
    for text in expressions:
        if text.startswith(REGEX_PREFIX):
            patterns.append(_pattern(name, text.removeprefix(REGEX_PREFIX)))
            continue
        prefix = IF_FAILED_PREFIX if text.startswith(IF_FAILED_PREFIX) else ""
        phrase = words(text.removeprefix(prefix))
        if not phrase:
            raise InvalidInputError(f"[{_TABLE}] {name}: '{text}' holds no word", hint=_EXAMPLE)
        phrases[prefix].append(" ".join(phrase))
    always, if_failed = (tuple(dict.fromkeys(each)) for each in phrases.values())
    return Rule(name, always, if_failed, tuple(patterns))


def _pattern(name: str, text: str) -> str:
    import polars as pl  # noqa: PLC0415 - loads what few settings need

    try:
        fits_nothing = pl.select(pl.lit("").str.contains(text)).item()
    except pl.exceptions.ComputeError as error:
        (*_, why) = re.findall(r"(?:error: |(?=Compiled regex ))(.+)", str(error)) or ["it cannot be read"]
        raise InvalidInputError(
            f"[{_TABLE}] {name}: '{REGEX_PREFIX}{text}' is not a regular expression: {why}",
            hint=_EXAMPLE,
        ) from error
    if fits_nothing:
        raise InvalidInputError(
            f"[{_TABLE}] {name}: '{REGEX_PREFIX}{text}' fits every record",
            hint="ask for at least one character",
        )
    return text


@lru_cache(maxsize=1)
def _built_in() -> dict[str, tuple[str, ...]]:
    text = resources.files("vocabgap.model").joinpath(f"{_TABLE}.toml").read_text(encoding="utf-8")
    return {name: tuple(expressions) for name, expressions in tomllib.loads(text).items()}
