"""Where settings come from: defaults, then `vocabgap.toml`, then the environment, then flags."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from vocabgap.arguments import require_kind
from vocabgap.errors import InvalidInputError
from vocabgap.screening_rules import rules_in_force
from vocabgap.settings import BY_WORDING, AliasSettings, RankBy, Settings
from vocabgap.settings_file import read_settings
from vocabgap.sources import parse_source, require_type, sources_in_force
from vocabgap.stopwords import ignored_stems
from vocabgap.synonyms import synonym_table

CONFIG_NAME: Final = "vocabgap.toml"
CONFIG_VARIABLE: Final = "VOCABGAP_CONFIG"
DEBUG_VARIABLE: Final = "VOCABGAP_DEBUG"
ACTOR_VARIABLE: Final = "VOCABGAP_ACTOR"  # who decides, beside the settings

# What the environment may set: variable to table and key.
VARIABLES: Final[Mapping[str, tuple[str, str]]] = {
    "VOCABGAP_THRESHOLD": ("cluster", "threshold"),
    "VOCABGAP_EMBEDDER": ("cluster", "embedder"),
    "VOCABGAP_RANK_BY": ("rank", "by"),
    "VOCABGAP_OUT": ("report", "out"),
    "VOCABGAP_DECISIONS": ("decisions", "file"),
    "VOCABGAP_TOP": ("report", "top"),
}

_SETTINGS_HINT: Final = "see Settings in the README for every key"
_SYNONYMS: Final = "[cluster.synonyms]"
_Layer = dict[str, dict[str, Any]]


class Loaded(msgspec.Struct, frozen=True):
    """The settings of a run, and the file that they came from, if there was one."""

    settings: Settings
    path: Path | None = None


def load_settings(
    path: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force: `resolve_settings` without flags, and without saying which file was read."""
    return resolve_settings(path, environment).settings


def resolve_settings(
    path: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, tuple[tuple[str, str], Any]] | None = None,
) -> Loaded:
    """Put the layers together; the later one wins, key by key.

    Args:
        path: A settings file; else the one that the environment names, else `vocabgap.toml` in the
            current folder, if there is one.
        environment: Environment variables, `VARIABLES` and `VOCABGAP_CONFIG` among them.
        flags: Flag to ((table, key), value); a value of None was not given.

    Raises:
        NotFoundError: A file that was asked for does not exist.
        AccessDeniedError: It may not be read.
        InvalidInputError: A value does not have the expected form.
    """
    environment = environment or {}
    found = _find(path, environment)
    merged: _Layer = {}
    if found is not None:
        _merge(merged, read_settings(found), f"{found}")
    for variable, (table, key) in VARIABLES.items():
        if environment.get(variable):
            _merge(
                merged,
                {table: {key: environment[variable]}},
                f"environment variable {variable}",
                strict=False,
            )
    for flag, ((table, key), value) in (flags or {}).items():
        if value is not None:
            _merge(merged, {table: {key: value}}, flag, strict=False)
    return Loaded(msgspec.convert(merged, Settings, strict=False), found)


def expanded(path: str | Path) -> Path:
    """A path with its leading `~` as the home folder.

    Raises:
        InvalidInputError: There is no such person, or no path can be written so.
    """
    require_kind("path", path, (str, os.PathLike), "a path")
    if "\0" in str(path):
        raise InvalidInputError(f"'{path}' is not a path: it holds a null byte", hint="name another one")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidInputError(f"'{path}' names a home folder that does not exist") from error


def _find(path: str | Path | None, environment: Mapping[str, str]) -> Path | None:
    named = path or environment.get(CONFIG_VARIABLE)
    if not named:
        return Path(CONFIG_NAME) if os.path.lexists(CONFIG_NAME) else None
    asked = expanded(named)
    return None if asked == Path(os.devnull) else asked  # the usual way to ask for no file at all


def _in_words(error: msgspec.ValidationError) -> str:
    """What msgspec says of a value, with the table and the key as they are written."""
    problem, _, place = str(error).partition(" - at `$.")
    where = place.rstrip("`").rpartition(".")
    told = problem.replace("Object contains unknown field", "there is no setting").replace("`", "'")
    if "enum value" in told:
        choices = (
            f"a distance from 0 to 1, or {BY_WORDING}"
            if where[2] == "threshold"
            else f"one of {', '.join(RankBy)}"
        )
        told += f", expected {choices}"
    return f"[{where[0]}] {where[2]}: {told}" if where[0] else f"[{where[2]}] {told}" if place else told


def _require_texts(not_a_gap: object, categories: object) -> None:
    """The same for what tells that something is no gap, and for the category of an operation."""
    for name, told in not_a_gap.items() if isinstance(not_a_gap, dict) else ():
        require_type(f"[not_a_gap] {name}", told, tuple[str, ...] | str, _SETTINGS_HINT)
    entries = categories.get("operations") if isinstance(categories, dict) else None
    for name, category in entries.items() if isinstance(entries, dict) else ():
        require_type(f"[categories.operations] {name}", category, str, _SETTINGS_HINT)


def _require_spellings(aliases: object) -> None:
    """Refuse an alias of something that is no name; of a table's entries msgspec would not say which."""
    for table in AliasSettings.__struct_fields__:
        entries = aliases.get(table) if isinstance(aliases, dict) else None
        for spelling, name in entries.items() if isinstance(entries, dict) else ():
            require_type(f"[aliases.{table}] {spelling}", name, str, _SETTINGS_HINT)


def _require_synonyms(cluster: object) -> None:
    """The same for a synonym of something that is neither a word nor a list of words."""
    entries = cluster.get("synonyms") if isinstance(cluster, dict) else None
    for canonical, others in entries.items() if isinstance(entries, dict) else ():
        require_type(f"{_SYNONYMS} {canonical}", others, tuple[str, ...] | str, _SETTINGS_HINT)


def _check_whole(settings: Settings) -> None:
    """Refuse what no single value shows."""
    sources_in_force(settings.source)
    rules_in_force(settings.not_a_gap)
    given = settings.cluster
    synonym_table(given.synonyms, ignored_stems(given.stop_words), name=_SYNONYMS)


def _merge(merged: _Layer, layer: _Layer, origin: str, *, strict: bool = True) -> None:
    """Check one layer by itself, so that an error names where the value came from, and lay it on top."""
    layer = dict(layer)
    try:
        _require_spellings(layer.get("aliases"))
        _require_synonyms(layer.get("cluster"))
        _require_texts(layer.get("not_a_gap"), layer.get("categories"))
        if isinstance(layer.get("source"), dict):
            layer["source"] = {name: parse_source(name, table) for name, table in layer["source"].items()}
        _check_whole(msgspec.convert(layer, Settings, strict=strict))
    except InvalidInputError as error:
        raise InvalidInputError(f"{origin}: {error.message}", hint=error.hint) from error
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"{origin}: {_in_words(error)}", hint=_SETTINGS_HINT) from error
    for table, values in layer.items():
        merged.setdefault(table, {}).update(values)
