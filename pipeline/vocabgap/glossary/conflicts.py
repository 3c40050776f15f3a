"""Checks of the terms of a step: their conflicts, the severities, and the decision of the gate."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, Final

import msgspec

from vocabgap.errors import Hint, StateError, unusable
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.linting import sentences
from vocabgap.glossary.normal_form import KnownTerms, definition_key, keys_of, lower
from vocabgap.glossary.senses import (
    Action,
    ConflictType,
    ExtractedTerm,
    SemanticConflict,
    Severity,
    Strictness,
    TermSense,
)
from vocabgap.text import FUNCTION_WORDS, stem

SURE: Final = 0.8  # a find of this confidence or more is very likely a term
UNSURE: Final = 0.5  # a find of less confidence may not be a term
WINDOW: Final = 50  # characters on either side of a use of the term
_LEAST_SHARED: Final = 0.3  # share of a definition's words that a similar definition repeats
_TELLING: Final = 4  # letters of a word whose denial denies the definition
_WORD: Final = re.compile(r"[^\W_]+")
_NOT: Final = r"(?:is not|isn't|not an?)"
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'"})


def score_severity(conflict_type: ConflictType, *, confidence: float, critical: bool) -> Severity:
    """Return the severity of a conflict."""
    match conflict_type:
        case ConflictType.AMBIGUOUS:
            return Severity.HIGH if critical else Severity.MEDIUM
        case ConflictType.INCONSISTENT:
            return Severity.LOW
        case ConflictType.UNRESOLVED_CRITICAL:
            return Severity.HIGH
    if confidence >= SURE:
        return Severity.LOW
    return Severity.HIGH if critical and confidence < UNSURE else Severity.MEDIUM


def strictness_of(value: object, name: str = "strictness") -> Strictness | None:
    """Return the strictness that a value names in any case; None without a value."""
    try:
        return None if value is None else Strictness(str(value).strip().casefold())
    except ValueError as error:
        raise unusable(name, f"one of {', '.join(Strictness)}", value) from error


def effective_strictness(*given: Strictness | None) -> Strictness:
    """Return the first strictness that is given (of the run, step, mission and settings), else `medium`."""
    return next((strictness for strictness in given if strictness is not None), Strictness.MEDIUM)


def should_block(strictness: Strictness, severities: Iterable[Severity | str]) -> bool:
    """Tell whether the gate stops conflicts of some severities; an unknown severity counts as high."""
    if strictness is Strictness.OFF:
        return False
    passing = set() if strictness is Strictness.MAX else {Severity.LOW.value, Severity.MEDIUM.value}
    return any(severity not in passing for severity in severities)


def verdict(conflicts: Sequence[SemanticConflict], strictness: Strictness) -> dict[str, Any]:
    """Return the fields of SemanticCheckEvaluated that sum up the conflicts of a step."""
    severities = [Severity(conflict.severity) for conflict in conflicts]
    worst = max(severities, key=lambda severity: severity.rank, default=Severity.LOW)
    action = Action.BLOCK if worst is Severity.HIGH else Action.WARN
    return {
        "overall_severity": worst,
        "confidence": max((conflict.confidence for conflict in conflicts), default=1.0),
        "recommended_action": action if conflicts else Action.PROCEED,
        "blocked": should_block(strictness, severities),
    }


class BlockedByConflictError(StateError):
    """The gate stops a step.

    Args:
        strictness: The active strictness.
        retry_token: The token that resumes the step; empty if there is no checkpoint.
    """

    def __init__(
        self,
        conflicts: Sequence[SemanticConflict],
        strictness: Strictness | None = None,
        message: str = "",
        *,
        retry_token: str = "",
        hint: str | Hint = "",
    ) -> None:
        remedy = "Resolve conflicts or use --strictness off to bypass."
        summary = f"Generation blocked by {len(conflicts)} semantic conflict(s). {remedy}"
        super().__init__(message or summary, hint=hint)
        self.conflicts = tuple(conflicts)
        self.strictness = strictness
        self.retry_token = retry_token


def check(
    terms: Sequence[ExtractedTerm],
    glossary: Glossary,
    *,
    critical: bool = False,
    output: str = "",
    texts: Iterable[str] = (),
) -> list[SemanticConflict]:
    """Return the conflicts among the terms of a step, in the order of the terms.

    It searches `output` for contradictions, and `texts` for the sentences that contain the terms.
    """
    conflicts = []
    for term in terms:
        name, confidence, context = term.surface.surface_text, term.confidence, term.context
        senses = glossary.resolve(name)
        kind = classify(senses, confidence, critical=critical)
        if kind is None:  # it has one meaning: only a use against it that nobody accepted is a conflict
            uses = contradictions(output, name, senses[0].definition)
            context = next((use for use in uses if not glossary.accepts(senses[0], use)), "")
            if not context:
                continue
            kind = ConflictType.INCONSISTENT
        severity = score_severity(kind, confidence=confidence, critical=critical)
        candidates = tuple(sense.ref for sense in senses)
        conflicts.append(SemanticConflict(term.surface, kind, severity, confidence, candidates, context))
    contexts: dict[str, str] = {}
    known = KnownTerms(term.surface.surface_text for term in terms if conflicts)
    for sentence in chain.from_iterable(map(sentences, texts)) if conflicts else ():
        for occurrence in known.occurrences(map(keys_of, sentence.split())):
            contexts.setdefault(occurrence.term, sentence)
    return [
        conflict
        if conflict.usage or conflict.term.surface_text not in contexts
        else msgspec.structs.replace(conflict, context=contexts[conflict.term.surface_text])
        for conflict in conflicts
    ]


def classify(
    senses: Sequence[TermSense], confidence: float, *, critical: bool = False
) -> ConflictType | None:
    """Return the kind of conflict of a term with these senses; None if there is none."""
    active = [sense for sense in senses if sense.is_active]
    if not active:
        is_weak = critical and confidence < UNSURE
        return ConflictType.UNRESOLVED_CRITICAL if is_weak else ConflictType.UNKNOWN
    is_ambiguous = len({definition_key(sense.definition) for sense in active}) > 1
    return ConflictType.AMBIGUOUS if is_ambiguous else None


def contradictions(text: str, term: str, definition: str) -> Iterator[str]:
    """Yield the sentences of a text that use a term against its definition.

    Such a use denies a word of the definition near the term (`is not a unit`). Or it denies the term itself
    (`a feature is not`, `unlike a feature`), or gives it another meaning (`refers to a plugin`).
    """
    pairs = _sentences_folded(text)
    searched, name = " ".join(folded for _, folded in pairs), _folded(term)
    if name not in searched:
        return
    ends = list(accumulate(len(folded) + 1 for _, folded in pairs))
    use, denied, defined = _patterns(name)
    every = list(dict.fromkeys(_WORD.findall(lower(definition))))
    defining = [word for word in every if word not in FUNCTION_WORDS] or every
    denial = _denial(frozenset(defining))
    for match in use.finditer(searched):
        window = searched[max(0, match.start() - WINDOW) : match.end() + WINDOW]
        is_against = bool(denied.search(window) or (denial and denial.search(window)))
        if not is_against and defining and defined.search(window):
            stems = set(map(stem, _WORD.findall(window)))
            is_against = sum(stem(word) in stems for word in defining) < _LEAST_SHARED * len(defining)
        if is_against:
            yield pairs[bisect(ends, match.start())][0]


@lru_cache(maxsize=100)
def _sentences_folded(text: str) -> list[tuple[str, str]]:
    return [(sentence, _folded(sentence)) for sentence in sentences(text)]


def _folded(text: str) -> str:
    return " ".join(lower(text).translate(_APOSTROPHES).split())


@lru_cache(maxsize=10_000)
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    whole = rf"(?<!\w){re.escape(name)}(?!\w)"
    before = r"(?<!\w)(?:not an?|(?:unlike|contrary to)(?: an?| the)?)"
    return (
        re.compile(whole),
        re.compile(rf"{whole} (?:is not|isn't)(?!\w)|{before} {whole}"),
        re.compile(rf"{whole} (?:refers to|means|is an?)(?!\w)"),
    )


@lru_cache(maxsize=10_000)
def _denial(words: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern that denies a word of a definition, directly or with one word between."""
    telling = sorted(map(re.escape, (word for word in words if len(word) >= _TELLING)))
    if not telling:
        return None
    return re.compile(rf"(?<!\w){_NOT} (?:\w+ )?(?:{'|'.join(telling)})(?!\w)")
