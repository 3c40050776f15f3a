"""Load settings: defaults, then `vocabgap.toml`, then the environment, then flags."""

import getpass
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, converted, expanded
from vocabgap.files.refusals import existing_content
from vocabgap.model.gap_rules import rules_in_force
from vocabgap.model.settings import Settings, known_flags, known_settings
from vocabgap.model.sources import sources_in_force
from vocabgap.text import ignored_stems, printable_name, synonym_table

CONFIG_NAME: Final = "vocabgap.toml"
CONFIG_VARIABLE: Final = "VOCABGAP_CONFIG"
ACTOR_VARIABLE: Final = "VOCABGAP_ACTOR"  # the name of who decides
VARIABLES: Final = {each.variable: (each.table, each.key) for each in known_settings() if each.variable}
"""The settings that the environment may set: variable to table and key."""
_WRITTEN: Final = tuple((each.table, each.key) for each in known_settings() if each.written)
_SETTINGS_HINT: Final = "`vocabgap manual reference-settings` has every key with its default"
_Layer = dict[str, dict[str, Any]]


class Loaded(msgspec.Struct, frozen=True):
    """The settings of a run, their file, and the places that lead out of its folder."""

    settings: Settings
    path: Path | None = None
    outside: tuple[str, ...] = ()  # a sentence for each place outside of its folder


def load_settings(path: str | Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a command line without flags.

    Args:
        path: A settings file; by default the one that the environment names, else `vocabgap.toml` in the
            current folder, if there is one.
        environment: Environment variables; those of this process by default.

    Raises:
        NotFoundError: The named file does not exist.
        AccessDeniedError: It may not be read.
        StateError: The disk cannot read it.
        InvalidInputError: A value does not fit, or a file that was not named leads out of its folder.
    """
    return resolve_settings(path, os.environ if environment is None else environment).settings


def resolve_settings(
    path: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    trust: bool = False,
) -> Loaded:
    """Put the layers together; the later one wins, key by key.

    A flag with the value None was not given. A file that nobody named or trusts must not name a
    place outside of its folder to write to.
    """
    environment = environment or {}
    file = _find(path, environment)
    merged: _Layer = {}
    written: dict[tuple[str, str], str] = {}
    if file is not None:
        _merge_file(merged, read_settings(file), f"{file}")
        written = {
            place: merged[place[0]][place[1]] for place in _WRITTEN if place[1] in merged.get(place[0], {})
        }
        ingest = merged.get("ingest", {})
        if "roots" in ingest:
            ingest["roots"] = [str(file.parent / expanded(root)) for root in ingest["roots"]]
    for variable, place in VARIABLES.items():
        if environment.get(variable):
            _merge_value(merged, place, environment[variable], f"environment variable {variable}")
            written.pop(place, None)
    for name, value in (flags or {}).items():
        if value is not None:
            flag = known_flags()[name]
            _merge_value(merged, (flag.table, flag.key), value, name)
            written.pop((flag.table, flag.key), None)
    outside = () if file is None else _leading_out(written, file.parent)
    if outside and not (trust or path or environment.get(CONFIG_VARIABLE)):
        raise InvalidInputError(
            f"{file}: {outside[0]}, and nobody named this settings file",
            hint=f"if you trust who wrote it, add --trust, or name it with --config {file}",
        )
    return Loaded(msgspec.convert(merged, Settings, strict=False), file, outside)


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
    """Return a sentence for each place that is neither below a folder nor below the current one."""
    homes = (folder.resolve(), Path.cwd())
    places = {place: Path(os.path.realpath(expanded(value))) for place, value in written.items()}
    return tuple(
        f"[{table}] {key} leads out of its folder, to '{printable_name(str(place))}'"
        for (table, key), place in places.items()
        if not any(place.is_relative_to(home) for home in homes)
    )


def _merge_file(merged: _Layer, layer: _Layer, origin: str) -> None:
    """Check a settings file, so that an error names it, and lay it on top."""
    try:
        _check_whole(converted(layer, Settings, hint=_SETTINGS_HINT))
    except InvalidInputError as error:
        raise InvalidInputError(f"{origin}: {error.message}", hint=error.hint) from error
    for table, values in layer.items():
        merged.setdefault(table, {}).update(values)


def _merge_value(merged: _Layer, place: tuple[str, str], value: object, origin: str) -> None:
    """Check the value of a variable or a flag, where text may stand for a number, and lay it on top."""
    table, key = place
    (section,) = (field.type for field in structs.fields(Settings) if field.name == table)
    (kind,) = (field.type for field in structs.fields(section) if field.name == key)
    merged.setdefault(table, {})[key] = converted(value, kind, origin, hint=_SETTINGS_HINT, strict=False)


def _check_whole(settings: Settings) -> None:
    """Raise an error if values do not fit together."""
    sources_in_force(settings.source)
    rules_in_force(settings.not_a_gap)
    ignored = ignored_stems(settings.cluster.stop_words)
    synonym_table(settings.cluster.synonyms, ignored, name="[cluster.synonyms]")


def read_settings(path: Path) -> dict[str, Any]:
    """Read the tables of a settings file."""
    content = existing_content(path, "settings file", "check --config or VOCABGAP_CONFIG")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path}: byte {error.start}: expected UTF-8 text", hint="save the file in the encoding UTF-8"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: {error}", hint="expected a TOML file") from error
