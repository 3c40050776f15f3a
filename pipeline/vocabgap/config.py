"""Settings: frozen, from defaults, then `vocabgap.toml`, then the environment, then flags."""

import os
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, TypedDict

import msgspec

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError
from vocabgap.record import CATEGORY_ALIASES, OPERATION_ALIASES, category_key, operation_key
from vocabgap.sources import Source, parse_source, sources_in_force

CONFIG_NAME: Final = "vocabgap.toml"
CONFIG_VARIABLE: Final = "VOCABGAP_CONFIG"
DEFAULT_THRESHOLD: Final = 0.70
DEFAULT_TOP: Final = 10
DEFAULT_OUT: Final = "out"
DEFAULT_TENANT: Final = "local"
DEFAULT_MAX_EXPANDED_MIB: Final = 1024


class RankBy(StrEnum):
    """What the ranking counts first."""

    MENTIONS = "mentions"
    IMAGES = "images"
    SESSIONS = "sessions"
    UNSATISFIED = "unsatisfied"


def ranking(by: RankBy | str) -> RankBy:
    """The ranking of a name.

    Raises:
        InvalidInputError: There is no such ranking.
    """
    try:
        return RankBy(by)
    except ValueError:
        raise InvalidInputError(
            f"'{by}' is not a ranking", hint=f"expected one of {', '.join(RankBy)}"
        ) from None


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the settings file; an unknown key is an error, not a wish granted silently."""


class IngestSettings(_Section, frozen=True):
    """Whose records are read, and how far the search for them goes."""

    tenant: Annotated[str, msgspec.Meta(min_length=1)] = DEFAULT_TENANT
    hidden: bool = False
    max_expanded_mib: Annotated[int, msgspec.Meta(ge=1, le=1_048_576)] = DEFAULT_MAX_EXPANDED_MIB


class ClusterSettings(_Section, frozen=True):
    """How far apart two wordings of the same need may be."""

    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = DEFAULT_THRESHOLD
    stop_words: tuple[str, ...] = ()


class RankSettings(_Section, frozen=True):
    """What the ranking counts first."""

    by: RankBy = RankBy.MENTIONS


class ReportSettings(_Section, frozen=True):
    """Where the files go, and how many capabilities the Markdown and the terminal show (0: all)."""

    out: Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]+\Z")] = DEFAULT_OUT
    top: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = DEFAULT_TOP


class AliasSettings(_Section, frozen=True):
    """Further spellings of categories and operations, beside the built-in ones."""

    categories: dict[str, str] = {}
    operations: dict[str, str] = {}


class ScanOptions(TypedDict):
    """The settings that a scan depends on, by the names of its arguments."""

    tenant_id: str
    sources: dict[str, Source]
    hidden: bool
    max_expanded_mib: int


class Settings(_Section, frozen=True):
    """Everything that can be set for a run."""

    ingest: IngestSettings = IngestSettings()
    cluster: ClusterSettings = ClusterSettings()
    rank: RankSettings = RankSettings()
    report: ReportSettings = ReportSettings()
    aliases: AliasSettings = AliasSettings()
    source: dict[str, Source] = {}

    @property
    def sources(self) -> dict[str, Source]:
        """What gap logs are called and how they are read, the shipped sources included."""
        return sources_in_force(self.source)

    @property
    def scan_options(self) -> ScanOptions:
        """What `scan` is to be called with."""
        return {
            "tenant_id": self.ingest.tenant,
            "sources": self.sources,
            "hidden": self.ingest.hidden,
            "max_expanded_mib": self.ingest.max_expanded_mib,
        }

    @property
    def category_aliases(self) -> dict[str, str]:
        """Spelling to category as `fold_category` wants it, the built-in ones included."""
        own = self.aliases.categories.items()
        return {**CATEGORY_ALIASES, **{category_key(spelling): category for spelling, category in own}}

    @property
    def operation_aliases(self) -> dict[str, str]:
        """Name to operation as `fold_operation` wants it, the built-in ones included."""
        own = self.aliases.operations.items()
        return {**OPERATION_ALIASES, **{operation_key(name): operation for name, operation in own}}


# What the environment may set: variable to table and key.
VARIABLES: Final[Mapping[str, tuple[str, str]]] = {
    "VOCABGAP_THRESHOLD": ("cluster", "threshold"),
    "VOCABGAP_RANK_BY": ("rank", "by"),
    "VOCABGAP_OUT": ("report", "out"),
    "VOCABGAP_TOP": ("report", "top"),
}

_SETTINGS_HINT: Final = "see Settings in the README for every key"
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
        _merge(merged, _read(found), f"{found}")
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
            _merge(merged, {table: {key: value}}, flag)
    return Loaded(msgspec.convert(merged, Settings, strict=False), found)


def expanded(path: str | Path) -> Path:
    """A path with its leading `~` as the home folder.

    Raises:
        InvalidInputError: There is no such person.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidInputError(f"'{path}' names a home folder that does not exist") from error


def _find(path: str | Path | None, environment: Mapping[str, str]) -> Path | None:
    named = path or environment.get(CONFIG_VARIABLE)
    if not named:
        default = Path(CONFIG_NAME)
        return default if default.exists() else None
    asked = expanded(named)
    if asked == Path(os.devnull):
        return None  # the usual way to ask for no file at all
    if not asked.is_file():
        raise NotFoundError(
            f"settings file '{asked}' does not exist", hint="check --config or VOCABGAP_CONFIG"
        )
    return asked


def _read(path: Path) -> _Layer:
    try:
        layer: _Layer = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except PermissionError as error:
        raise AccessDeniedError(f"settings file '{path}' may not be read") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: byte {error.start}: expected UTF-8 text") from error
    except OSError as error:
        raise InvalidInputError(f"settings file '{path}' cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: {error}", hint="expected a TOML file") from error
    return layer


def _in_words(error: msgspec.ValidationError) -> str:
    """What msgspec says of a value, with the table and the key as they are written."""
    problem, _, place = str(error).partition(" - at `$.")
    where = place.rstrip("`").rpartition(".")
    told = problem.replace("Object contains unknown field", "there is no setting").replace("`", "'")
    if "enum value" in told:
        told += f", expected one of {', '.join(RankBy)}"
    return f"[{where[0]}] {where[2]}: {told}" if where[0] else f"[{where[2]}] {told}" if place else told


def _merge(merged: _Layer, layer: _Layer, origin: str, *, strict: bool = True) -> None:
    """Check one layer by itself, so that an error names where the value came from, and lay it on top."""
    layer = dict(layer)
    try:
        if isinstance(layer.get("source"), dict):
            layer["source"] = {name: parse_source(name, table) for name, table in layer["source"].items()}
        sources_in_force(msgspec.convert(layer, Settings, strict=strict).source)
    except InvalidInputError as error:
        raise InvalidInputError(f"{origin}: {error.message}", hint=error.hint) from error
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"{origin}: {_in_words(error)}", hint=_SETTINGS_HINT) from error
    for table, values in layer.items():
        merged.setdefault(table, {}).update(values)
