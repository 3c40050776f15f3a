"""Strictness: what the gate lets pass, who says so, and whether a step is checked at all."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.conflicts import Severity

_SWITCHED_OFF: Final = frozenset({"disabled", "false"})
_PASSING: Final = frozenset({Severity.LOW.value, Severity.MEDIUM.value})


class Strictness(StrEnum):
    """What the gate lets pass.

    With `off` nothing is checked, `medium` stops what has a conflict of high severity, `max` what has any.
    """

    OFF = "off"
    MEDIUM = "medium"
    MAX = "max"


def strictness_of(value: object) -> Strictness | None:
    """The strictness that a value names, in lower case; none where it names none."""
    return next((each for each in Strictness if each.value == value), None)


def effective_strictness(
    runtime: Strictness | None = None,
    step: Strictness | None = None,
    mission: Strictness | None = None,
    configured: Strictness | None = None,
) -> Strictness:
    """The strictness in force: of those that were given the nearest one, else `medium`.

    Args:
        runtime: What this run was called with.
        step: What the step says.
        mission: What the mission says.
        configured: What the settings say.
    """
    given = (runtime, step, mission, configured)
    return next((each for each in given if each is not None), Strictness.MEDIUM)


def read_strictness(path: Path) -> Strictness:
    """The strictness in section `glossary` of a YAML file, as other tools keep one.

    Args:
        path: The file.

    Returns:
        The strictness; `medium` where there is no such file, or it says nothing that is one.
    """
    from vocabgap.files.yaml import parse_yaml  # noqa: PLC0415 - loads what only this needs

    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, InvalidInputError):
        return Strictness.MEDIUM
    return strictness_of(_glossary_section(content).get("strictness")) or Strictness.MEDIUM


def should_block(strictness: Strictness, severities: Iterable[Severity | str]) -> bool:
    """Whether the gate stops what has conflicts of some severities; one that is not known counts as high."""
    found = list(severities)
    if strictness is Strictness.OFF:
        return False
    if strictness is Strictness.MAX:
        return bool(found)
    return any(severity not in _PASSING for severity in found)


def is_enabled(metadata: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether a step is checked.

    Args:
        metadata: Of the step: `glossary_check` switches it off (false, `disabled`, `false`) or on.
        config: Of the mission: `glossary.enabled`, where the step says nothing.
    """
    asked = metadata.get("glossary_check")
    if asked is None:
        return _glossary_section(config).get("enabled") is not False
    if isinstance(asked, str):
        return asked.strip().casefold() not in _SWITCHED_OFF
    return asked is not False


def mission_strictness(config: Mapping[str, Any]) -> Strictness | None:
    """What a mission's configuration says: `glossary.strictness`; none where that names no strictness."""
    return strictness_of(_glossary_section(config).get("strictness"))


def step_strictness(metadata: Mapping[str, Any]) -> Strictness | None:
    """What a step says: `glossary_check_strictness`; none where that names no strictness."""
    return strictness_of(metadata.get("glossary_check_strictness"))


def _glossary_section(config: object) -> Mapping[str, Any]:
    section = config.get("glossary") if isinstance(config, Mapping) else None
    return section if isinstance(section, Mapping) else {}
