"""What the operations of the glossary's contract do: each gives what was observed, under the cases' names."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from conforming.cases import AnyOf, Case, Operation
from vocabgap.errors import InvalidInputError
from vocabgap.files.yaml import parse_yaml
from vocabgap.glossary.conflicts import (
    classify,
    contradictions,
    effective_strictness,
    score_severity,
    should_block,
    strictness_of,
    verdict,
)
from vocabgap.glossary.events import event_of
from vocabgap.glossary.extracting import Field, extract, scanned_fields
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.loading import load_checkpoint, log_name
from vocabgap.glossary.normal_form import KnownTerms, normal_form
from vocabgap.glossary.seeds import seed_scope, validated
from vocabgap.glossary.senses import (
    SIGNS,
    WEAK,
    ConflictType,
    ExtractedTerm,
    Provenance,
    ScopeStack,
    SemanticConflict,
    SenseRef,
    SenseStatus,
    Severity,
    Strictness,
    TermSense,
    TermSurface,
)
from vocabgap.glossary.session import ExecutionContext, hash_inputs, input_diff, verify_inputs

Input = Mapping[str, Any]
Cases = Mapping[str, Case]
SCOPES: Final = ScopeStack(("mission_local", "team_domain", "audience_domain", "spec_kitty_core"))
NOW: Final = datetime(2026, 4, 1, 10, tzinfo=UTC)
CHECKPOINT: Final = {
    "event_type": "StepCheckpointed",
    "mission_id": "mission",
    "run_id": "run",
    "step_id": "step",
    "strictness": "medium",
    "scope_refs": [{"scope": "team_domain", "version_id": "v1"}],
    "input_hash": "a" * 64,
    "cursor": "pre_generation_gate",
    "retry_token": "00000000-0000-4000-8000-000000000000",
    "timestamp": "2026-04-01T10:00:00+00:00",
}


class Containing(str):
    """A text that equals each of its parts."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other in str(self)

    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        return not self == other


def refusing(operation: Callable[[Input], Any]) -> Operation:
    """The operation, with an error as something that was observed."""

    def run(given: Input, _: Cases) -> object:
        try:
            return operation(given)
        except ValueError as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            return {"error": AnyOf(*kinds), "message_contains": Containing(str(error))}

    return run


def as_json(value: object) -> Any:  # noqa: ANN401 - whatever JSON may hold
    return msgspec.json.decode(msgspec.json.encode(value))


def sense_of(given: Input) -> TermSense:
    return TermSense(
        TermSurface(given["surface"]),
        given.get("scope", "team_domain"),
        given["definition"],
        Provenance("user:somebody", NOW, "seed_file"),
        given.get("confidence", 1.0),
        SenseStatus(given.get("status", "active")),
    )


def glossary_of(given: Input) -> Glossary:
    return Glossary(map(sense_of, given.get("glossary") or ()), SCOPES)


def known_of(given: Input) -> KnownTerms:
    return glossary_of(given).known


def told(terms: list[ExtractedTerm]) -> AnyOf:
    """All terms as a case may list them, or their surfaces, of which it names one."""
    rows = [[each.surface.surface_text, each.source, each.confidence] for each in terms]
    return AnyOf(rows, {"contains_surface": AnyOf(*(row[0] for row in rows))})


def extract_text(given: Input) -> object:
    return told(
        extract([Field("", given["text"])], given.get("metadata") or {}, known_of(given)).terms
    )


def extract_fields(given: Input) -> object:
    metadata = given.get("metadata") or {}
    fields = scanned_fields(given.get("inputs") or {}, given.get("outputs") or {}, metadata)
    return told(extract(fields, metadata, known_of(given)).terms)


def hints(given: Input) -> object:
    return told(extract([], given.get("metadata") or {}).terms)


def classified(given: Input) -> str | None:
    senses = [sense_of({"surface": given["surface"], **each}) for each in given.get("senses") or ()]
    kind = classify(senses, given.get("confidence", 0.8), critical=bool(given.get("critical")))
    if kind is None:  # it has one meaning
        active = next(each for each in senses if each.is_active)
        uses = contradictions(given.get("output") or "", given["surface"], active.definition)
        return ConflictType.INCONSISTENT.value if any(uses) else None
    return kind.value


def surface(given: Input) -> str:
    TermSurface(given["text"])
    return "ok"


def sense(given: Input) -> object:
    return as_json(sense_of(given["sense"]))


def conflict(given: Input) -> object:
    fields = given["conflict"]
    result = SemanticConflict(
        TermSurface(fields["term"]),
        ConflictType(fields["type"]),
        Severity(fields["severity"]),
        fields.get("confidence", 0.9),
        tuple(SenseRef(**each) for each in fields.get("candidates") or ()),
        fields.get("context", ""),
    )
    return as_json(result)


def checkpoint(given: Input) -> str:
    payload = {**CHECKPOINT, **(given.get("fields") or {})}
    event_of({key: value for key, value in payload.items() if key not in (given.get("drop") or ())})
    return "ok"


def verify_hash(given: Input) -> dict[str, Any]:
    matches, old, new = verify_inputs(hash_inputs(given["at_checkpoint"]), given["now"])
    return {"matches": matches, "shown_len": [len(old), len(new)]}


def diff(given: Input) -> dict[str, list[Any]]:
    return {key: list(change) for key, change in input_diff(given["old"], given["new"]).items()}


def loaded_checkpoint(given: Input) -> object:
    with TemporaryDirectory() as folder:
        for name, lines in given["log"].items():
            text = "".join(
                (line if isinstance(line, str) else msgspec.json.encode(line).decode()) + "\n"
                for line in lines
            )
            Path(folder, name).write_text(text, encoding="utf-8")
        newest = load_checkpoint(
            Path(folder),
            given.get("step_id"),
            mission_id=given.get("mission_id"),
            retry_token=given.get("retry_token"),
        )
    return None if newest is None else as_json(newest)


def resolved(given: Input) -> list[list[str]]:
    found = Glossary(glossary_of(given), ScopeStack(given.get("scopes", SCOPES.names))).resolve(
        given["surface"]
    )
    return [[each.scope, each.definition] for each in found]


def severity(given: Input) -> str:
    kind = ConflictType(given["type"])
    return score_severity(
        kind, confidence=given["confidence"], critical=bool(given.get("critical"))
    ).value


def strictness(given: Input) -> str:
    places = ("runtime", "step", "mission", "global")
    return effective_strictness(*(named(given.get(place)) for place in places)).value


def loaded_strictness(given: Input) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder, "config.yaml")
        if given.get("config") is not None:
            path.write_text(given["config"], encoding="utf-8")
        return read_strictness(path).value


def read_strictness(path: Path) -> Strictness:
    """What a file of the other implementation's settings says, whose section is that of a mission here."""
    try:
        said = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, InvalidInputError):
        said = None
    section = said.get("glossary") if isinstance(said, Mapping) else None
    word = section.get("strictness") if isinstance(section, Mapping) else None
    return effective_strictness(named(word))


def named(word: object) -> Strictness | None:
    """The strictness of a word; the other implementation ignores an unknown one, and a step refuses it."""
    return strictness_of(word) if word in tuple(Strictness) else None


def step_of(**fields: Any) -> ExecutionContext:  # noqa: ANN401
    """A step with some metadata and configuration."""
    return ExecutionContext("step", "mission", "run", **fields)


def blocks(given: Input) -> bool:
    asked = strictness_of(given["strictness"])
    return should_block(effective_strictness(asked), given["severities"])


def check_event(given: Input) -> dict[str, Any]:
    conflicts = [
        SemanticConflict(
            TermSurface(f"term {number}"),
            ConflictType(each.get("type", "unknown")),
            Severity(each["severity"]),
            each["confidence"],
        )
        for number, each in enumerate(given["conflicts"])
    ]
    asked = effective_strictness(strictness_of(given["strictness"]))
    found = verdict(conflicts, asked)
    return {**msgspec.to_builtins(found), "effective_strictness": asked.value}


def seed(given: Input) -> dict[str, Any]:
    terms, problems = validated(given["data"])
    return {
        "valid": not problems,
        "terms": [as_json(term) for term in terms],
        "errors": [[each.term, each.field, Containing(each.message)] for each in problems],
        "error_at": AnyOf(*([each.term, each.field] for each in problems)),
        "error_count_min": AnyOf(*range(len(problems) + 1)),
    }


OPERATIONS: Final[Mapping[str, Operation]] = {
    name: refusing(operation)
    for name, operation in {
        "extract": extract_text,
        "extract_fields": extract_fields,
        "hints": hints,
        "normalize": lambda given: normal_form(given["text"]),
        "source_confidence": lambda given: SIGNS.get(given["source"], WEAK),
        "classify": classified,
        "resolve": resolved,
        "severity": severity,
        "surface": surface,
        "sense": sense,
        "conflict": conflict,
        "strictness": strictness,
        "load_strictness": loaded_strictness,
        "should_block": blocks,
        "glossary_check": lambda given: (
            step_of(
                metadata=given.get("metadata") or {}, config=given.get("config") or {}
            ).is_checked
        ),
        "check_event": check_event,
        "checkpoint": checkpoint,
        "input_hash": lambda given: hash_inputs(given["inputs"]),
        "verify_hash": verify_hash,
        "input_diff": diff,
        "load_checkpoint": loaded_checkpoint,
        "seed": seed,
        "seed_scope": lambda given: seed_scope(Path(given["filename"]), SCOPES),
        "log_name": lambda given: log_name(given["mission_id"]),
    }.items()
}
