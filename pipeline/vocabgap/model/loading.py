"""Load settings: defaults, then `vocabgap.toml`, then the environment, then flags."""

import getpass
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, converted, expanded, unusable
from vocabgap.files.budget import DEEPEST, MIB
from vocabgap.files.refusals import current_folder, existing_content
from vocabgap.model.settings import Settings, UsualIngestSettings, known_flags, known_settings
from vocabgap.model.sources import require_fields, rules_in_force, sources_in_force
from vocabgap.text import ignored_stems, printable_name, synonym_table

CONFIG_NAME: Final = "vocabgap.toml"
CONFIG_VARIABLE: Final = "VOCABGAP_CONFIG"
ACTOR_VARIABLE: Final = "VOCABGAP_ACTOR"  # the name of the person who decides
VARIABLES: Final = {item.variable: (item.table, item.key) for item in known_settings() if item.variable}
"""The settings that the environment may set: variable to table and key."""
_WRITTEN: Final = tuple((item.table, item.key) for item in known_settings() if item.written)
_SETTINGS_HINT: Final = "`vocabgap manual reference-settings` has every key with its default"
_Layer = dict[str, dict[str, Any]]


class Loaded(msgspec.Struct, frozen=True):
    """The settings of a run, their file, and its paths outside of its folder."""

    settings: Settings
    path: Path | None = None
    outside: tuple[str, ...] = ()  # a sentence for each such path


def load_settings(path: str | Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a command line without flags.

    Args:
        path: A settings file; by default the one that the environment names, else `vocabgap.toml` in the
            current folder, if it exists.
        environment: Environment variables; those of this process by default.

    Raises:
        VocabgapError: The file cannot be read, a value does not fit, or a file that nobody named would write
            outside of its folder.
    """
    return resolve_settings(path, os.environ if environment is None else environment).settings


def resolve_settings(
    path: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    trust: bool = False,
    layer: _Layer | None = None,
) -> Loaded:
    """Merge the layers key by key; a later layer wins. `layer` is the lowest one if there is no file.

    A flag with the value None was not given. A file that nobody named or trusted must not write outside of
    its folder.
    """
    environment = environment or {}
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    file = _find(path, environment)
    merged = (layer or {}) if file is None else _checked(file)
    usual = msgspec.convert(merged, Settings, strict=False).ingest
    written = {(table, key): merged[table][key] for table, key in _WRITTEN if key in merged.get(table, {})}
    given: list[tuple[str, tuple[str, str], Any]] = [
        (f"environment variable {variable}", place, environment[variable])
        for variable, place in VARIABLES.items()
        if environment.get(variable)
    ]
    known = known_flags()
    given += [(name, (known[name].table, known[name].key), value) for name, value in flags.items()]
    for origin, (table, key), value in given:
        kind = get_type_hints(get_type_hints(Settings)[table], include_extras=True)[key]
        is_table = get_origin(get_args(kind)[0]) is dict
        # Text may stand for a number.
        fitting = converted(
            table_of(origin, value) if is_table else value, kind, origin, hint=_SETTINGS_HINT, strict=False
        )
        merged.setdefault(table, {})[key] = fitting
        written.pop((table, key), None)
    if "--source" in flags and "--map" not in flags:
        merged["ingest"].pop("map", None)
    outside = () if file is None else _leading_out(written, file.parent)
    if outside and not (trust or path or environment.get(CONFIG_VARIABLE)):
        raise InvalidInputError(
            f"{file}: {outside[0]}, and nobody named this settings file",
            hint=f"if you trust its author, add --trust, or name it with --config {file}",
        )
    settings = msgspec.convert(merged, Settings, strict=False)
    ingest = settings.ingest
    if (ingest.source, ingest.map) == (usual.source, usual.map) != (None, {}):
        settings = structs.replace(settings, ingest=UsualIngestSettings(**structs.asdict(ingest)))
    return Loaded(settings, file, outside)


def table_of(origin: str, pairs: Iterable[str]) -> dict[str, str | tuple[str, ...]]:
    """Return pairs KEY=VALUE of a command line as a table; several values of a key stay together."""
    table: dict[str, list[str]] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not (key.strip() and value.strip()):
            raise unusable(origin, "FIELD=PATH, such as description=reason", pair)
        table.setdefault(key.strip(), []).append(value.lstrip())  # a key may end with a space
    return {key: tuple(values) if len(values) > 1 else values[0] for key, values in table.items()}


def login() -> str:
    """Return the name of the user from the environment or the system, or an empty text."""
    try:
        return os.environ.get(ACTOR_VARIABLE) or getpass.getuser()
    except (KeyError, OSError):
        return ""


def _find(path: str | Path | None, environment: Mapping[str, str]) -> Path | None:
    name = path or environment.get(CONFIG_VARIABLE)
    if not name:
        return Path(CONFIG_NAME) if os.path.lexists(CONFIG_NAME) else None
    place = expanded(name)
    return None if place == Path(os.devnull) else place  # which means no file


def _leading_out(written: Mapping[tuple[str, str], str], folder: Path) -> tuple[str, ...]:
    """Return a sentence for each path that is neither below a folder nor below the current one."""
    homes = (folder.resolve(), current_folder())
    places = {place: Path(os.path.realpath(expanded(value))) for place, value in written.items()}
    return tuple(
        f"[{table}] {key} leads out of its folder, to '{printable_name(str(place))}'"
        for (table, key), place in places.items()
        if not any(place.is_relative_to(home) for home in homes)
    )


def _checked(file: Path) -> _Layer:
    """Return the tables of a settings file, with roots relative to its folder; an error names the file."""
    content = existing_content(file, "settings file", "check --config or VOCABGAP_CONFIG", MIB)
    if any(part.count(b".") > DEEPEST for part in re.split(rb"[=\n]", content)):
        raise InvalidInputError(f"{file}: a key has more than {DEEPEST} parts", hint="expected a shorter key")
    try:
        layer = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{file}: {error}", hint="expected a TOML file in UTF-8") from error
    try:
        settings = converted(layer, Settings, hint=_SETTINGS_HINT)
        sources_in_force(settings.source)
        require_fields("[ingest.map]", settings.ingest.map)
        rules_in_force(settings.not_a_gap)
        ignored = ignored_stems(settings.cluster.stop_words)
        synonym_table(settings.cluster.synonyms, ignored, name="[cluster.synonyms]")
    except InvalidInputError as error:
        raise InvalidInputError(f"{file}: {error.message}", hint=error.hint) from error
    if "roots" in layer.get("ingest", {}):
        layer["ingest"]["roots"] = [str(file.parent / expanded(root)) for root in layer["ingest"]["roots"]]
    return layer
