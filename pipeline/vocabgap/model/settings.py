"""The settings: one frozen struct per table of the settings file."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
)

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, converted, nearest, require_kind
from vocabgap.extensions import PathText, Section, extensions, flag, meaning
from vocabgap.files.budget import USUAL_MIB
from vocabgap.model.categories import OPERATION_CATEGORIES
from vocabgap.model.record import (
    CATEGORIES,
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    category_key,
    fold_category,
    fold_operation,
    operation_key,
)
from vocabgap.model.sources import (
    IMAGE,
    NATIVE,
    SOURCE,
    Rule,
    Source,
    UnitName,
    rules_in_force,
    shipped_sources,
    sources_in_force,
)

BY_WORDING: Final = "by wording"
# Names of an embedder instead of a model's folder:
AUTO: Final = "auto"  # the known model if it is installed, else none
MINILM: Final = "minilm"  # the known model, and an error if it is not installed
NO_EMBEDDER: Final = "none"  # TF-IDF alone
DEFAULT_TOP: Final = 10
DEFAULT_LISTED: Final = 50  # records of a list
DEFAULT_SCREENS: Final = 20  # of a review
DEFAULT_OUT: Final = "out"
DEFAULT_DECISIONS: Final = "decisions.jsonl"
DEFAULT_TENANT: Final = "local"
DEFAULT_SHARED_FROM: Final = 3  # images of a need on a shareable page
LEAST_SHARED_FROM: Final = 2
LEAST_WEEKS: Final = 3  # since the first record, before a trend is computed
_MOST: Final = 1_000_000_000  # least value of a count
_EMPTY: Any = msgspec.field(default_factory=dict)  # a new table each time
DEFAULT_COVERED: Final = 0.28  # share of a wording that an entry must explain to probably cover it


class RankBy(StrEnum):
    """The count that a ranking is sorted by."""

    MENTIONS = "mentions"
    IMAGES = "images"
    UNSATISFIED = "unsatisfied"
    PRIORITY = "priority"


class Gate(StrEnum):
    """A problem for which `--fail-on` makes a report fail."""

    REGRESSED = "regressed"
    REJECTS = "rejects"
    NEW_TOP = "new-top"
    MIXED = "mixed"


def shared_from(min_images: int | None) -> int:
    """Return the number of images that a shared capability must be on, so that none can be recognised."""
    fewest = DEFAULT_SHARED_FROM if min_images is None else min_images
    if fewest < LEAST_SHARED_FROM:
        raise InvalidInputError(
            f"--share with --min-images {fewest} would show needs of a single image",
            hint=f"set it to {LEAST_SHARED_FROM} or more, or leave it out for {DEFAULT_SHARED_FROM}",
        )
    return fewest


class IngestSettings(Section, frozen=True):
    """The folders and logs that are read, and how."""

    tenant: Annotated[str, meaning("Tenant of the records in plain logs.", min_length=1)] = DEFAULT_TENANT
    hidden: Annotated[bool, flag("--hidden", "Also search names that start with a dot.", rare=True)] = False
    max_expanded_mib: Annotated[
        int, meaning("Size that a log may expand to, in MiB.", ge=1, le=1_048_576)
    ] = USUAL_MIB
    source: Annotated[
        str | None,
        flag(
            "--source",
            "Source that reads the named files. In folders, it reads the data files that no source knows.",
            rare=True,
        ),
    ] = None
    map: Annotated[
        dict[str, str | tuple[str, ...]],
        flag(
            "--map",
            "FIELD=PATH: path of a field of the record in the objects of your file. Of several paths for a"
            " field, the first with a value counts. A date format may follow, as in"
            " 'timestamp=Datum|%d/%m/%Y'.",
            rare=True,
        ),
    ] = _EMPTY
    roots: Annotated[
        tuple[PathText, ...],
        meaning("Folders and logs for commands that name none; relative to the settings file."),
    ] = ()


class UsualIngestSettings(IngestSettings, frozen=True):
    """The same, if no option gives `source` or `map`: then known content is read by its own source."""


class ScanSettings(IngestSettings, frozen=True):
    """The settings that a scan depends on: `[ingest]`, of which a scan takes other roots, and the sources."""

    sources: Mapping[str, Source] = msgspec.field(default_factory=shipped_sources)
    own_files: tuple[str, ...] = ()  # that vocabgap writes, and that are no logs
    is_usual: bool = False  # `source` and `map` are those of the settings file
    entries: tuple[str, ...] = ()  # whose calls in transcripts are kept


class ClusterSettings(Section, frozen=True):
    """The comparison of wordings, and the largest distance between two wordings of one need."""

    threshold: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=1)] | Literal["by wording"],
        flag(
            "--threshold", "Cosine distance at which two needs differ, 0 to 1.", variable="VOCABGAP_THRESHOLD"
        ),
    ] = BY_WORDING
    stop_words: Annotated[tuple[str, ...], meaning("Further words to ignore, like function words.")] = ()
    synonyms: Annotated[
        dict[str, tuple[str, ...] | str], meaning("Word to its synonyms, which count as that word.")
    ] = _EMPTY
    embedder: Annotated[
        PathText | None,
        flag(
            "--embedder",
            "Model that compares wordings by meaning: its folder, minilm, auto (minilm if it is installed)"
            " or none.",
            variable="VOCABGAP_EMBEDDER",
        ),
    ] = AUTO


class RankSettings(Section, frozen=True):
    """The count to rank by, the limits of an established need, and the parameters of priority and trend.

    A setting with a flag is an option of `vocabgap report`. The command that repeats a report includes it,
    and a comparison of runs names it if they differ. An established capability has at least `min_X` in column
    `X` of table `capabilities`; the others are ranked after the established ones.
    """

    by: Annotated[RankBy, flag("--rank-by", "Number to sort by.", variable="VOCABGAP_RANK_BY")] = (
        RankBy.MENTIONS
    )
    min_images: Annotated[
        int,
        flag("--min-images", "Hide capabilities on fewer images; in Parquet they come last.", ge=0, le=_MOST),
    ] = 1
    min_sessions: Annotated[
        int,
        flag(
            "--min-sessions",
            "Hide capabilities in fewer sessions; in Parquet they come last.",
            rare=True,
            ge=0,
            le=_MOST,
        ),
    ] = 0
    half_life_days: Annotated[
        float, meaning("Age of the last mention, in days, that halves the priority.", ge=0.1, le=100_000.0)
    ] = 90.0
    window_weeks: Annotated[
        int, meaning("Weeks before now that the trend covers; fewer for young logs.", ge=LEAST_WEEKS, le=520)
    ] = 12

    @property
    def fewest(self) -> dict[str, int]:
        """The least value of an established capability, by column of table `capabilities`."""
        names = (name for name in self.__struct_fields__ if name.startswith("min_"))
        return {name.removeprefix("min_"): getattr(self, name) for name in names}

    @property
    def shared_from(self) -> int:
        """The images that suffice for the shareable page; the default of `min_images` does not count."""
        return shared_from(None if self.min_images == RankSettings().min_images else self.min_images)


class ReportSettings(Section, frozen=True):
    """The folder of the report, the number of capabilities shown, and the conditions of failure."""

    out: Annotated[
        PathText, flag("--out", "Folder of the published report.", variable="VOCABGAP_OUT", written=True)
    ] = DEFAULT_OUT
    top: Annotated[
        int,
        flag(
            "--top",
            "Capabilities or groups to show; 0 shows all.",
            variable="VOCABGAP_TOP",
            ge=0,
            le=1_000_000,
        ),
    ] = DEFAULT_TOP
    by: Annotated[
        str | None, flag("--by", "Also count mentions by the values of another key or column, such as plan.")
    ] = None
    unit: Annotated[
        UnitName,
        meaning(
            "What the report counts beside mentions, such as project, run or process/processes; by default"
            " what the sources of the logs name, such as image or workflow."
        ),
    ] = ""
    allow_empty: Annotated[
        bool, flag("--allow-empty", "Publish a report even if no log is found, or no record fits.", rare=True)
    ] = False
    fail_on: Annotated[
        tuple[Gate, ...],
        flag(
            "--fail-on",
            "Publish the report, but exit with 5 if it has one of: regressed, rejects, new-top, mixed."
            " Separate several with commas.",
        ),
    ] = ()


class CheckSettings(Section, frozen=True):
    """The known bad lines."""

    baseline: Annotated[
        PathText | None,
        flag("--baseline", "File of known bad lines, which do not count.", written=True, rare=True),
    ] = None


class VocabularySettings(Section, frozen=True):
    """The vocabulary that agents already have."""

    paths: Annotated[
        tuple[PathText, ...],
        flag("--vocabulary", "File or folder that lists what agents can already ask for."),
    ] = ()
    threshold: Annotated[
        float, meaning("Share of a wording that an entry must explain to probably cover it.", ge=0, le=1)
    ] = DEFAULT_COVERED


class DecisionSettings(Section, frozen=True):
    """The decisions of people."""

    file: Annotated[
        PathText, flag("--decisions", "File of the decisions.", variable="VOCABGAP_DECISIONS", written=True)
    ] = DEFAULT_DECISIONS


class AliasSettings(Section, frozen=True):
    """Further spellings of categories and operations."""

    categories: Annotated[dict[str, str], meaning("Spelling to category.")] = _EMPTY
    operations: Annotated[dict[str, str], meaning("Spelling to operation.")] = _EMPTY


class CategorySettings(Section, frozen=True):
    """Further categories, and whether each record gets a category."""

    known: Annotated[
        tuple[str, ...], meaning("Further categories; `log` prints a note for any other that no run has.")
    ] = ()
    reclassify: Annotated[
        bool,
        flag(
            "--reclassify",
            "Give a category to records without one, from their words or operations.",
            rare=True,
        ),
    ] = False
    operations: Annotated[dict[str, str], meaning("Operation to the category that it stands for.")] = _EMPTY


_Table = TypeVar("_Table", bound=Section)


class Aliases(TypedDict):
    """The aliases of categories and operations, as arguments of the stages."""

    category_aliases: dict[str, str]
    operation_aliases: dict[str, str]


class Settings(Section, frozen=True):
    """Everything that can be set for a run.

    Each slice of the program adds its own table; `of` returns it.
    """

    ingest: IngestSettings = IngestSettings()
    cluster: ClusterSettings = ClusterSettings()
    rank: RankSettings = RankSettings()
    report: ReportSettings = ReportSettings()
    check: CheckSettings = CheckSettings()
    vocabulary: VocabularySettings = VocabularySettings()
    decisions: DecisionSettings = DecisionSettings()
    aliases: AliasSettings = AliasSettings()
    categories: CategorySettings = CategorySettings()
    not_a_gap: Annotated[
        dict[str, tuple[str, ...] | str],
        meaning(
            "Name of a rule to further phrases; `vocabgap --json status` lists the built-in ones."
            " `(a|b)` are alternatives, and `*` stands for up to five words. `re:` begins a regular"
            " expression. `if failed:` begins a phrase that counts only if something failed and nothing is"
            " named as missing. `only:` begins a phrase that must be the whole need. An empty list switches a"
            " rule off."
        ),
    ] = _EMPTY
    source: Annotated[
        dict[str, Source],
        meaning("Name of a kind of log to its keys, which override those of the built-in kind."),
    ] = _EMPTY

    def of(self, table: type[_Table]) -> _Table:
        """Return the table of a slice, such as `GlossarySettings`."""
        name = next(extension.name for extension in extensions() if extension.settings is table)
        value: _Table = getattr(self, name)
        return value

    @property
    def sources(self) -> dict[str, Source]:
        """The sources of gap logs, the shipped ones included."""
        return sources_in_force(self.source)

    def unit(self, read: Iterable[str]) -> str:
        """Return what a report counts, from the names of the sources of its logs."""
        if self.report.unit:
            return self.report.unit
        sources = self.sources
        units = {sources.get(name, NATIVE).unit or IMAGE if name else SOURCE for name in read}
        if not units or IMAGE in units:
            return IMAGE
        return units.pop() if len(units) == 1 else SOURCE

    @property
    def scan(self) -> ScanSettings:
        """The settings that `scan` depends on."""
        return ScanSettings(
            **structs.asdict(self.ingest),
            sources=self.sources,
            own_files=tuple(filter(None, (self.decisions.file, self.check.baseline))),
            is_usual=isinstance(self.ingest, UsualIngestSettings),
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that mark records as no gap of the vocabulary, the built-in ones included."""
        return rules_in_force(self.not_a_gap)

    @property
    def known_categories(self) -> frozenset[str]:
        """The built-in categories, and those in the settings."""
        own = self.categories
        named = (*own.known, *own.operations.values(), *self.category_aliases.values())
        return CATEGORIES | {fold_category(name, self.category_aliases) for name in named}

    @property
    def operation_categories(self) -> dict[str, str]:
        """Operation to category for `reclassify`, the built-in ones included."""
        categories, operations = self.category_aliases, self.operation_aliases
        own = {
            operation_key(fold_operation(name, operations)): fold_category(category, categories)
            for name, category in self.categories.operations.items()
        }
        return {**OPERATION_CATEGORIES, **own}

    @property
    def category_aliases(self) -> dict[str, str]:
        """Spelling to category for `fold_category`, the built-in ones included."""
        own = self.aliases.categories.items()
        return {**CATEGORY_ALIASES, **{category_key(spelling): category for spelling, category in own}}

    @property
    def operation_aliases(self) -> dict[str, str]:
        """Name to operation for `fold_operation`, the built-in ones included."""
        own = self.aliases.operations.items()
        return {**OPERATION_ALIASES, **{operation_key(name): operation for name, operation in own}}

    @property
    def aliases_by_argument(self) -> Aliases:
        """The aliases of categories and operations, by the names of arguments."""
        return {"category_aliases": self.category_aliases, "operation_aliases": self.operation_aliases}


def settings_of(given: Settings | None) -> Settings:
    """Return the given settings, or the default ones; refuse anything else."""
    settings = Settings() if given is None else given
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    return settings


if not TYPE_CHECKING:
    Settings = msgspec.defstruct(
        "Settings",
        [(slice_.name, slice_.settings, slice_.settings()) for slice_ in extensions() if slice_.settings],
        bases=(Settings,),
        namespace={"__doc__": Settings.__doc__},
        module=__name__,
        frozen=True,
        kw_only=True,
    )


class Setting(NamedTuple):
    """A setting, with its flag and its environment variable."""

    table: str
    key: str
    kind: Any  # without its bounds
    default: Any
    meaning: str
    flag: str
    variable: str
    written: bool
    rare: bool


@cache
def known_settings() -> tuple[Setting, ...]:
    """Return every setting of a table whose keys are declared."""
    return tuple(
        Setting(
            table.name,
            field.name,
            get_args(field.type)[0],
            field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory(),
            meta.description,
            **meta.extra,
        )
        for table in structs.fields(Settings)
        if isinstance(table.default, Section)
        for field in structs.fields(table.type)
        for meta in getattr(field.type, "__metadata__", ())
        if meta.extra
    )


def known_flags() -> dict[str, Setting]:
    """Return the options of the command line that set a setting."""
    return {setting.flag: setting for setting in known_settings() if setting.flag}


def overridden(
    settings: _Table, names: Mapping[str, str] = {}, hint: str = "", /, **changes: object
) -> _Table:
    """Return settings with the changes that are not None, checked like the settings of a file.

    `names` maps a setting to the name of its argument, if that differs. InvalidInputError names an unknown
    setting, or a setting with a wrong value.
    """
    kinds = {field.name: field.type for field in structs.fields(settings)}
    for name in changes.keys() - kinds.keys():
        raise InvalidInputError(f"there is no setting '{name}'", hint=nearest(name, kinds))
    given = {name: _plain(value, kinds[name]) for name, value in changes.items() if value is not None}
    # The constructor of a struct checks nothing.
    values = {**structs.asdict(settings), **given}
    return type(settings)(
        **{
            name: converted(value, kinds[name], names.get(name, name), hint=hint)
            for name, value in values.items()
        }
    )


def _plain(value: object, kind: object) -> object:
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if isinstance(value, str) and bare == tuple[str, ...]:
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return [*value]
    return value
