"""The names of the published implementation over ours, so that its own tests can run against us.

This is a plugin of pytest. Its tests import `glossary`, as do ours, so they run in a process of their own.
What has no counterpart here raises NotImplementedError when it is called.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.files.yaml import parse_yaml
from vocabgap.glossary import conflicts, extracting, normal_form, senses
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.seeds import read_seed, validated

TermSense = senses.TermSense
SemanticConflict = senses.SemanticConflict


@dataclass(frozen=True)
class ExtractedTerm:
    """A find with its term as text."""

    surface: str
    source: str
    confidence: float
    original: str = ""


def found(text: str, signs: Iterable[str], metadata: Mapping[str, Any]) -> list[ExtractedTerm]:
    wanted = {**metadata, "glossary_signs": [*signs]}
    terms = extracting.extract([extracting.Field("text", text)], wanted).terms
    return [
        ExtractedTerm(each.surface.surface_text, each.source, each.confidence, each.original)
        for each in terms
    ]


def extract_all_terms(
    text: str, metadata: Mapping[str, Any] | None = None, limit_words: int = 1000
) -> list[ExtractedTerm]:
    """All finds of the first words, which is how many the other implementation reads."""
    words = text.split()
    text = " ".join(words[:limit_words]) if len(words) > limit_words else text
    return found(text, senses.TermSource, metadata or {})


def resolve_strictness(
    global_default: senses.Strictness = senses.Strictness.MEDIUM,
    mission_override: senses.Strictness | None = None,
    step_override: senses.Strictness | None = None,
    runtime_override: senses.Strictness | None = None,
) -> senses.Strictness:
    return conflicts.effective_strictness(
        runtime_override, step_override, mission_override, global_default
    )


def load_global_strictness(root: Path) -> senses.Strictness:
    try:
        config = parse_yaml((root / ".kittify/config.yaml").read_text(encoding="utf-8"))
    except (OSError, InvalidInputError):
        config = None
    section = config.get("glossary") if isinstance(config, Mapping) else None
    word = section.get("strictness") if isinstance(section, Mapping) else None
    # A step refuses unknown words, which are ignored here.
    return conflicts.effective_strictness(*(each for each in senses.Strictness if each == word))


def should_block(strictness: senses.Strictness, found: Iterable[SemanticConflict]) -> bool:
    return conflicts.should_block(strictness, (each.severity for each in found))


def classify_conflict(
    term: ExtractedTerm,
    resolution_results: Sequence[TermSense],
    is_critical_step: bool = False,
    llm_output_text: str | None = None,
) -> senses.ConflictType | None:
    find = senses.ExtractedTerm(
        senses.TermSurface(term.surface), term.source, term.confidence, term.original
    )
    kinds = conflicts.check(
        [find],
        Glossary(resolution_results),
        critical=is_critical_step,
        output=llm_output_text or "",
    )
    return kinds[0].conflict_type if kinds else None


def score_severity(
    conflict_type: senses.ConflictType,
    confidence: float,
    is_critical_step: bool = False,
) -> senses.Severity:
    return conflicts.score_severity(conflict_type, confidence=confidence, critical=is_critical_step)


def create_conflict(
    term: ExtractedTerm,
    conflict_type: senses.ConflictType,
    severity: senses.Severity,
    candidate_senses: Iterable[TermSense],
    context: str = "",
) -> SemanticConflict:
    refs = tuple(sense.ref for sense in candidate_senses)
    surface = senses.TermSurface(term.surface)
    return SemanticConflict(surface, conflict_type, severity, term.confidence, refs, context)


class GlossaryStore:
    """The senses that their tests add one by one."""

    def __init__(self, _: Path) -> None:
        self.senses: list[TermSense] = []

    def add_sense(self, sense: TermSense) -> None:
        self.senses.append(sense)


def resolve_term(surface: str, scopes: Iterable[Any], store: GlossaryStore) -> list[TermSense]:
    stack = senses.ScopeStack(tuple(scope.value for scope in scopes))
    return list(Glossary(store.senses, stack).resolve(surface))


def validate_seed_file(data: object, _: Path | None = None) -> None:
    problems = validated(data)[1]
    if problems:
        raise ValueError("; ".join(problem.message for problem in problems))


def load_seed_file(scope: "Scope", root: Path) -> list[TermSense]:
    return read_seed(root / ".kittify/glossaries" / f"{scope}.yaml").senses(scope)


def one_sign(sign: senses.TermSource) -> Any:  # noqa: ANN401 - a function of a text
    return lambda text, **_: found(text, [sign], {})


class Scope(str):
    """A name of a scope with a value, as of their enumeration."""

    __slots__ = ()

    @property
    def value(self) -> str:
        return str(self)


class GlossaryScope:
    """Their scopes, which are names here."""

    MISSION_LOCAL, TEAM_DOMAIN, AUDIENCE_DOMAIN, SPEC_KITTY_CORE = map(Scope, senses.DEFAULT_SCOPES)


SHARED: Final = ("TermSurface", "TermSense", "Provenance", "SenseStatus", "ConflictType")
MODULES: Final[Mapping[str, Mapping[str, object]]] = {
    "kernel": {},
    "kernel.clock": {
        "datetime": datetime,
        "now_utc": lambda: datetime.now(UTC),
        "now_utc_iso": lambda: datetime.now(UTC).isoformat(),
    },
    "glossary": {},
    "glossary.models": {
        **{
            name: getattr(senses, name)
            for name in (*SHARED, "Severity", "SenseRef", "SemanticConflict")
        },
        "term_surface_to_dict": msgspec.to_builtins,
        "term_sense_to_dict": msgspec.to_builtins,
        "semantic_conflict_to_dict": msgspec.to_builtins,
    },
    "glossary.extraction": {
        "ExtractedTerm": ExtractedTerm,
        "extract_all_terms": extract_all_terms,
        "extract_metadata_hints": lambda metadata: found("", [], metadata),
        "extract_quoted_phrases": one_sign(senses.TermSource.QUOTED_PHRASE),
        "extract_acronyms": one_sign(senses.TermSource.ACRONYM),
        "extract_casing_patterns": one_sign(senses.TermSource.CASING_PATTERN),
        "extract_repeated_nouns": one_sign(senses.TermSource.REPEATED_NOUN),
        "normalize_term": normal_form.normal_form,
        "score_confidence": lambda _, source: senses.SIGNS.get(source, senses.WEAK),
    },
    "glossary.conflict": {
        "classify_conflict": classify_conflict,
        "score_severity": score_severity,
        "create_conflict": create_conflict,
        "make_sense_ref": lambda sense: sense.ref,
    },
    "glossary.strictness": {
        "Strictness": senses.Strictness,
        "resolve_strictness": resolve_strictness,
        "load_global_strictness": load_global_strictness,
        "should_block": should_block,
    },
    "glossary.scope": {
        "GlossaryScope": GlossaryScope,
        "SCOPE_RESOLUTION_ORDER": [*map(Scope, senses.DEFAULT_SCOPES)],
        "get_scope_precedence": senses.ScopeStack().precedence,
        "should_use_scope": lambda scope, scopes: scope in senses.ScopeStack(tuple(scopes)).names,
        "validate_seed_file": validate_seed_file,
        "load_seed_file": load_seed_file,
    },
    "glossary.store": {"GlossaryStore": GlossaryStore},
    "glossary.resolution": {"resolve_term": resolve_term},
}


def without_counterpart(name: str) -> Any:  # noqa: ANN401 - stands for anything
    if name.startswith("__"):
        raise AttributeError(name)

    def call(*_: object, **__: object) -> None:
        raise NotImplementedError(f"{name} has no counterpart here")

    return call


for module_name, names in MODULES.items():
    module = ModuleType(module_name)
    module.__dict__.update(names, __getattr__=without_counterpart, __path__=[])
    sys.modules[module_name] = module
