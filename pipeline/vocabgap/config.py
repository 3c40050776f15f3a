"""Settings: frozen, from defaults, then `vocabgap.toml`, then the environment, then flags."""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypedDict

import msgspec

from vocabgap.arguments import require_kind
from vocabgap.categories import OPERATION_CATEGORIES
from vocabgap.errors import InvalidInputError
from vocabgap.record import (
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    category_key,
    fold_category,
    fold_operation,
    operation_key,
)
from vocabgap.screening_rules import Rule, rules_in_force
from vocabgap.settings_file import read_settings
from vocabgap.sources import Source, parse_source, require_type, sources_in_force
from vocabgap.stopwords import ignored_stems
from vocabgap.synonyms import synonym_table

CONFIG_NAME: Final = "vocabgap.toml"
CONFIG_VARIABLE: Final = "VOCABGAP_CONFIG"
DEBUG_VARIABLE: Final = "VOCABGAP_DEBUG"
ACTOR_VARIABLE: Final = "VOCABGAP_ACTOR"  # who decides, beside the settings
BY_WORDING: Final = "by wording"
MINILM: Final = "minilm"  # as an embedder: the model of that name that an installed package carries
DEFAULT_TOP: Final = 10
DEFAULT_OUT: Final = "out"
DEFAULT_DECISIONS: Final = "decisions.jsonl"
DEFAULT_TENANT: Final = "local"
DEFAULT_MAX_EXPANDED_MIB: Final = 1024
DEFAULT_HALF_LIFE_DAYS: Final = 90.0
HALF_LIFE_DAYS: Final = (0.1, 100_000.0)  # least and most, as below
DEFAULT_WINDOW_WEEKS: Final = 12
WINDOW_WEEKS: Final = (3, 520)
WEIGHT: Final = (0.0, 10.0)
DEFAULT_COVERED: Final = 0.28  # of the need explained by one entry: from here on it is probably covered


class RankBy(StrEnum):
    """What the ranking counts first."""

    MENTIONS = "mentions"
    IMAGES = "images"
    SESSIONS = "sessions"
    UNSATISFIED = "unsatisfied"
    PRIORITY = "priority"


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
    """How wordings are compared, and how far apart two of the same need may be.

    The distance is one, or that which suits the wordings; the embedder is a model's folder, or `minilm`.
    """

    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | Literal["by wording"] = BY_WORDING
    stop_words: tuple[str, ...] = ()
    synonyms: dict[str, tuple[str, ...] | str] = {}
    embedder: Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]+\Z")] | None = None


_Weight = Annotated[float, msgspec.Meta(ge=WEIGHT[0], le=WEIGHT[1])]


class RankSettings(_Section, frozen=True):
    """What the ranking counts first, what counts as established, and how priority and trend are reckoned."""

    by: RankBy = RankBy.MENTIONS
    min_images: Annotated[int, msgspec.Meta(ge=0)] = 1
    min_sessions: Annotated[int, msgspec.Meta(ge=0)] = 0
    half_life_days: Annotated[float, msgspec.Meta(ge=HALF_LIFE_DAYS[0], le=HALF_LIFE_DAYS[1])] = (
        DEFAULT_HALF_LIFE_DAYS
    )
    reach_weight: _Weight = 1.0
    need_weight: _Weight = 1.0
    recency_weight: _Weight = 1.0
    window_weeks: Annotated[int, msgspec.Meta(ge=WINDOW_WEEKS[0], le=WINDOW_WEEKS[1])] = DEFAULT_WINDOW_WEEKS


class ReportSettings(_Section, frozen=True):
    """Where the files go, and how many capabilities the Markdown and the terminal show (0: all)."""

    out: Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]+\Z")] = DEFAULT_OUT
    top: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = DEFAULT_TOP


class VocabularyFields(_Section, frozen=True):
    """Where the fields of an entry lie: a key, or keys joined by dots; of several the first that is there.

    Where they lead to nothing, the keys of manifests are tried: name, description, tags and touches.
    """

    name: str | tuple[str, ...] = ()
    description: str | tuple[str, ...] = ()
    tags: str | tuple[str, ...] = ()
    operations: str | tuple[str, ...] = ()


class VocabularySettings(_Section, frozen=True):
    """What can already be asked for: files or folders that list it, and how they are read.

    The threshold is the share of a need that one entry explains where it probably covers it.
    """

    paths: tuple[Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]+\Z")], ...] = ()
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = DEFAULT_COVERED
    entries: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    fields: VocabularyFields = VocabularyFields()


class DecisionSettings(_Section, frozen=True):
    """The file that keeps what people decided."""

    file: Annotated[str, msgspec.Meta(pattern=r"\A[^\x00]+\Z")] = DEFAULT_DECISIONS


class AliasSettings(_Section, frozen=True):
    """Further spellings of categories and operations, beside the built-in ones."""

    categories: dict[str, str] = {}
    operations: dict[str, str] = {}


class CategorySettings(_Section, frozen=True):
    """Whether records without a category get one, and what operations are for, beside the built-in table."""

    reclassify: bool = False
    operations: dict[str, str] = {}


class ScanOptions(TypedDict):
    """The settings that a scan depends on, by the names of its arguments."""

    tenant_id: str
    sources: dict[str, Source]
    hidden: bool
    max_expanded_mib: int


class ClusterOptions(TypedDict):
    """The settings that the clustering depends on, by the names of its arguments."""

    threshold: float | None
    stop_words: tuple[str, ...]
    synonyms: dict[str, tuple[str, ...] | str]


class RankOptions(TypedDict):
    """The settings that the ranking depends on, by the names of its arguments."""

    by: RankBy
    min_images: int
    min_sessions: int
    half_life_days: float
    reach_weight: float
    need_weight: float
    recency_weight: float
    window_weeks: int
    category_aliases: dict[str, str]
    operation_aliases: dict[str, str]


class CategoryOptions(TypedDict):
    """The settings that categories depend on, by the names of the arguments of `reclassify`."""

    operations: dict[str, str]
    category_aliases: dict[str, str]
    operation_aliases: dict[str, str]


class Settings(_Section, frozen=True):
    """Everything that can be set for a run."""

    ingest: IngestSettings = IngestSettings()
    cluster: ClusterSettings = ClusterSettings()
    rank: RankSettings = RankSettings()
    report: ReportSettings = ReportSettings()
    vocabulary: VocabularySettings = VocabularySettings()
    decisions: DecisionSettings = DecisionSettings()
    aliases: AliasSettings = AliasSettings()
    categories: CategorySettings = CategorySettings()
    not_a_gap: dict[str, tuple[str, ...] | str] = {}
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
    def cluster_options(self) -> ClusterOptions:
        """What `cluster` is to be called with."""
        return {
            "threshold": None if self.cluster.threshold == BY_WORDING else self.cluster.threshold,
            "stop_words": self.cluster.stop_words,
            "synonyms": self.cluster.synonyms,
        }

    @property
    def rank_options(self) -> RankOptions:
        """What `rank` is to be called with."""
        return {
            "by": self.rank.by,
            "min_images": self.rank.min_images,
            "min_sessions": self.rank.min_sessions,
            "half_life_days": self.rank.half_life_days,
            "reach_weight": self.rank.reach_weight,
            "need_weight": self.rank.need_weight,
            "recency_weight": self.rank.recency_weight,
            "window_weeks": self.rank.window_weeks,
            "category_aliases": self.category_aliases,
            "operation_aliases": self.operation_aliases,
        }

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What is no gap of the vocabulary, the built-in rules included."""
        return rules_in_force(self.not_a_gap)

    @property
    def category_options(self) -> CategoryOptions:
        """What `reclassify` is to be called with."""
        categories, operations = self.category_aliases, self.operation_aliases
        own = {
            operation_key(fold_operation(name, operations)): fold_category(category, categories)
            for name, category in self.categories.operations.items()
        }
        table = {**OPERATION_CATEGORIES, **own}
        return {"operations": table, "category_aliases": categories, "operation_aliases": operations}

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
