"""Every frame of vocabgap: its columns, their dtypes and their meanings, defined only here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import msgspec
import polars as pl
from msgspec import structs

from vocabgap.errors import InvalidInputError, require_kind
from vocabgap.model.capability import SETTLED, Capability, Example
from vocabgap.model.effect import Effect
from vocabgap.model.record import PHRASE_FIELDS, GapRecord

UTC_MICROSECONDS: Final = pl.Datetime("us", "UTC")
NAMES: Final = pl.List(pl.String)
_DTYPES: Final[dict[type, pl.DataType | type[pl.DataType]]] = {
    bool: pl.Boolean, datetime: UTC_MICROSECONDS, float: pl.Float64, int: pl.Int64, str: pl.String,
}  # fmt: skip
# The values of columns that are closed lists.
NEW, OPEN, REGRESSED = ("new", "open", "regressed")
DISMISSED, AUTHORED = SETTLED
OPENED, CLAIMED, _, CAME_BACK, _, REOPENED, OUTGROWN = EVENT_KINDS = (
    "opened", "claimed", AUTHORED, "came back", DISMISSED, "reopened", "outgrown",
)  # fmt: skip
CONTINUED, SPLIT, MERGED, _, GONE = RELATIONS = ("continued", "split", "merged", NEW, "gone")
PRESENT, PREVIOUS = ("present", "previous")
CAPABILITY_PREFIX: Final = "cap-"  # of a `capability_id`


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    dtype: pl.DataType | type[pl.DataType]
    meaning: str
    default: Any = None

    @property
    def filling(self) -> pl.Expr:
        """The default, for rows without a value."""
        value = [*self.default] if isinstance(self.default, tuple) else self.default
        return pl.lit(value, self.dtype).alias(self.name)


@dataclass(frozen=True)
class Table:
    """The name of a frame, the meaning of a row, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    @property
    def file(self) -> str:
        """The name of its published file."""
        return f"{self.name}.parquet"

    @cached_property
    def schema(self) -> pl.Schema:
        """The Polars schema, in column order."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    def empty(self) -> pl.DataFrame:
        """Return a frame of this table without rows."""
        return pl.DataFrame(schema=self.schema)

    def fitted(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the columns of this table; missing ones have their default, others are dropped."""
        known = rows.collect_schema()
        gained = [column.filling for column in self.columns if column.name not in known]
        return rows.with_columns(gained).match_to_schema(
            self.schema, extra_columns="ignore", missing_struct_fields="insert", integer_cast="upcast"
        )

    def require(self, frame: pl.DataFrame, columns: Iterable[str] | None = None) -> None:
        """Raise InvalidInputError if a frame lacks one of these columns, or has it in another dtype."""
        hint = "convert a LazyFrame with .collect(), a pandas frame with polars.from_pandas"
        require_kind(f"frame '{self.name}'", frame, pl.DataFrame, "a polars.DataFrame", hint=hint)
        needed = set(self.names if columns is None else columns)
        dtypes = frame.schema
        for column in self.columns:
            dtype = dtypes.get(column.name)
            if column.name in needed and dtype != column.dtype:
                problem = "is missing" if dtype is None else f"has dtype {dtype}"
                raise InvalidInputError(
                    f"frame '{self.name}': column '{column.name}' {problem}, expected {column.dtype}",
                    hint=f"see `vocabgap schema {self.name}`",
                )


def dtype_of(kind: Any) -> pl.DataType | type[pl.DataType]:  # noqa: ANN401 - a type as structs annotate it
    """Return the dtype of a column for the type of a struct's field."""
    if get_origin(kind) is Annotated:
        return dtype_of(get_args(kind)[0])
    inner = [part for part in get_args(kind) if part not in {type(None), ...}]
    if get_origin(kind) is Literal:
        return pl.Int8
    if get_origin(kind) in {list, tuple}:
        return pl.List(dtype_of(inner[0]))
    if inner:  # a value or null
        return dtype_of(inner[0])
    if issubclass(kind, msgspec.Struct):
        return pl.Struct({field.name: dtype_of(field.type) for field in structs.fields(kind)})
    return _DTYPES[kind]


def default_of(field: structs.FieldInfo) -> Any:  # noqa: ANN401 - of any type
    """Return the default of a field; without one, the empty value of its type, or null."""
    if field.default is not msgspec.NODEFAULT:
        return field.default
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    kind = get_args(field.type)[0] if get_origin(field.type) is Annotated else field.type
    empty = get_origin(kind) or kind
    return empty() if empty in {bool, dict, float, int, list, str, tuple} else None


def columns_of(kind: type[msgspec.Struct]) -> tuple[Column, ...]:
    """Return a column for each described field of a struct."""
    described = [(field, getattr(field.type, "__metadata__", ())) for field in structs.fields(kind)]
    return tuple(
        Column(field.name, dtype_of(field.type), _as_meaning(meta[0].description), default_of(field))
        for field, meta in described
        if meta
    )


def _as_meaning(sentence: str) -> str:
    """Return a sentence in lower case and without a full stop, as the meanings of columns are."""
    first = sentence[0].lower() if sentence[1:2].islower() or sentence[1:2] == " " else sentence[0]
    return first + sentence[1:].removesuffix(".")


# Columns that several tables have.
SOURCE_PATH: Final = Column("source_path", pl.String, "log file, relative to the root, with forward slashes")
_SCANNED_REPO: Final = Column("repo_slug", pl.String, "the repository: the name of the scanned root folder")
_CLUSTER: Final = Column("cluster", pl.Int64, "number of the cluster in this run, counted from 0")
_OF_CAPABILITY: Final = {column.name: column for column in columns_of(Capability)}
_CAPABILITY_ID: Final = _OF_CAPABILITY["capability_id"]


MENTIONS: Final = pl.col("count").sum().alias("mentions")
"""The mentions that some records stand for."""
TOTAL: Final = (
    pl.col("variants")
    .list.eval(pl.element().struct.field("mentions"))
    .list.sum()
    .cast(pl.Int64)
    .alias("total")
)
"""All mentions of a capability, also those before it was authored."""
OWNER: Final = ("tenant_id", "repo_slug")
"""The owner of a record: its tenant and repository."""
IMAGE_KEY: Final = (*OWNER, "image_id")
"""The key of an image: folders of two repositories, or tenants, may have the same name."""
LINE_KEY: Final = (*OWNER, "source_path", "line")
"""The key of a line."""

RECORDS: Final = Table(
    "records",
    "one readable gap record that counts: neither a duplicate nor superseded",
    (
        *columns_of(GapRecord),
        Column("tenant_id", pl.String, "the tenant; `local` by default"),
        Column("repo_slug", pl.String, "the repository: name of the root folder, or name in a corpus"),
        Column("root_kind", pl.String, "kind of root: `external-source`, or its kind in a corpus"),
        SOURCE_PATH,
        Column("line", pl.Int64, "line in the file, counted from 1"),
        Column("byte_offset", pl.Int64, "offset of the line in bytes; null if a corpus does not record it"),
        Column("record_id", pl.String, "SHA-256 (hex) of the canonical record with its image"),
        Column("other", pl.String, "its keys or columns that no field reads, as sorted JSON; null if none"),
    ),
)

GAPS: Final = Table(
    "gaps",
    "one readable line of a log, whether it counts or not",
    (
        *RECORDS.columns,
        Column("capability_id", pl.String, "the capability of its wording; null if none was ranked"),
        Column("counted", pl.Boolean, "whether the record is among the mentions of its capability"),
        Column(
            "why_not",
            pl.String,
            "`duplicate`, `superseded`, `filtered`, `not_a_gap` or `not_granted`; else null",
        ),
        Column("category", pl.String, "its category, aliases resolved; null if none is known"),
        Column(
            "category_by", pl.String, "source of the category: `agent`, `operations`, `classifier` or `guess`"
        ),
        Column("category_probability", pl.Float64, "probability by the classifier, 0 to 1; else null"),
        Column("rule", pl.String, "the rule that excludes it as no gap or as not granted; else null"),
        Column("named", pl.Boolean, "whether the record names its image", default=False),
    ),
)


def counted(lines: pl.LazyFrame, **values: str) -> pl.LazyFrame:
    """Return the lines of table `gaps` that count and have these values."""
    return lines.filter("counted", **values)


REJECTS: Final = Table(
    "rejects",
    "one line that is no gap record, or one file that could not be read",
    (
        SOURCE_PATH,
        Column("line", pl.Int64, "line in the file, counted from 1; null for the whole file"),
        Column("byte_offset", pl.Int64, "offset of the line in bytes; null for the whole file"),
        Column("reason", pl.String, "the reason; the manual page `gap-logs` explains each one"),
        Column("detail", pl.String, "expected and found value"),
        Column("raw", pl.String, "the first 512 bytes of the line, with unprintable bytes escaped"),
        _SCANNED_REPO,
    ),
)

_CALLS: Final = pl.List(
    pl.Struct({**dict.fromkeys(("entry", "call", "session"), pl.String()), "moment": UTC_MICROSECONDS})
)
FILES: Final = Table(
    "files",
    "one log file that was read",
    (
        _SCANNED_REPO,
        SOURCE_PATH,
        Column("bytes", pl.Int64, "size in bytes, after decompression"),
        Column("lines", pl.Int64, "lines that are not blank and not passed over"),
        Column("sha256", pl.String, "SHA-256 (hex) of the content, after decompression"),
        Column("source", pl.String, "the kind of log; empty for a file of no known kind"),
        Column("passed_over", pl.Int64, "lines that the source does not count as gaps"),
        Column("repeats", pl.String, "the log that has the same gaps, if this one was left out for it"),
        Column("calls", _CALLS, "calls of authored entries, by their normal forms"),
    ),
)


# White space as in Python: Polars does not strip U+001C to U+001F.
_BLANKS: Final = "".join(filter(str.isspace, map(chr, range(0x3001))))


def stripped(text: pl.Expr) -> pl.Expr:
    """Return text without outer white space, as Python defines it."""
    return text.str.strip_chars(_BLANKS)


def phrase() -> pl.Expr:
    """Return the need of a record, as `need_of` does; null if it has none."""
    trimmed = [stripped(pl.col(name)) for name in PHRASE_FIELDS]
    return pl.coalesce(pl.when(text != "").then(text) for text in trimmed)


WORDINGS: Final = Table(
    "wordings",
    "one distinct phrase as it was written",
    (
        Column("wording", pl.String, "the phrase: missing_capability, else description"),
        Column("mentions", pl.Int64, "mentions of exactly this phrase"),
        Column("surface", pl.String, "its normal form"),
        Column("cluster", pl.Int64, "number of its cluster in this run, counted from 0"),
        Column("similarity", pl.Float64, "cosine similarity of its surface to the label's, 0 to 1"),
    ),
)

CLUSTERS: Final = Table(
    "clusters",
    "one group of surfaces",
    (
        _CLUSTER,
        Column("label", pl.String, "the need in the wording that represents the group"),
        Column("label_surface", pl.String, "the surface of that wording"),
        Column("surfaces", pl.Int64, "distinct surfaces in the group"),
        Column("mentions", pl.Int64, "mentions in the group"),
        _OF_CAPABILITY["cohesion"],
        Column("weakest_link", pl.Float64, "cosine distance of the last merge, 0 to 1; 0 for one surface"),
        *(_OF_CAPABILITY[name] for name in ("mentions_low", "mentions_high", "mixed")),
    ),
)

LINKAGE: Final = Table(
    "linkage",
    "one merge of the dendrogram, in order of height (the layout of SciPy's linkage matrix)",
    (
        Column("left", pl.Int64, "the merged cluster with the smaller number; below n it is a surface"),
        Column("right", pl.Int64, "the merged cluster with the larger number; merge i makes cluster n + i"),
        Column("height", pl.Float64, "mean cosine distance between the two"),
        Column("size", pl.Int64, "surfaces in the merged cluster"),
    ),
)


class Together(NamedTuple):
    """Must-link: the groups of two surfaces become one. It keeps the identifier of the first."""

    first: str
    second: str
    capability_id: str | None = None  # the identifier that people named first

    @property
    def surfaces(self) -> tuple[str, str]:
        """The surfaces that people named."""
        return self.first, self.second


class Apart(NamedTuple):
    """Cannot-link: some surfaces leave the group of the anchor and form a new group.

    Surfaces in `staying` stay. Each other surface of the group joins the nearer part.
    """

    anchor: str
    leaving: tuple[str, ...]
    name: str  # of the new group
    staying: tuple[str, ...] = ()  # in addition to the anchor

    @property
    def surfaces(self) -> tuple[str, ...]:
        """The surfaces that people named, the anchor first."""
        return (self.anchor, *self.leaving)


class Confirmed(NamedTuple):
    """Evidence of a review, which changes no group: surfaces of one need, and surfaces of other needs."""

    anchor: str
    same: tuple[str, ...]
    apart: tuple[str, ...]

    @property
    def surfaces(self) -> tuple[str, ...]:
        """The surface that people named."""
        return (self.anchor,)


Constraint = Together | Apart | Confirmed

VERDICTS: Final = Table(
    "verdicts",
    "one surface that a decision is about",
    (
        Column("surface", pl.String, "the surface; the decision is about the group that holds it"),
        Column("decision_id", pl.String, "the decision"),
        Column("time", UTC_MICROSECONDS, "when it was decided"),
        Column("actor", pl.String, "who decided it"),
        Column("action", pl.String, "the decision, see `vocabgap.decisions.record.Action`"),
        Column("label", pl.String, "the name that a `rename` gives; null otherwise"),
        Column("entry", pl.String, "the entry that was authored; null otherwise"),
        Column("told", pl.String, "the decision in words"),
        Column("about", NAMES, "surfaces that the decision is about"),
    ),
)

IDENTITIES: Final = Table(
    "identities",
    "one group of surfaces with its identity from earlier runs and decisions",
    (
        _CLUSTER,
        _CAPABILITY_ID,
        Column("label", pl.String, "the name that people gave it; null if nobody did"),
        _OF_CAPABILITY["status"],
        *(_OF_CAPABILITY[name] for name in ("status_since", "status_by", "since")),
        Column("pinned", pl.Boolean, "whether people pinned it"),
        *(_OF_CAPABILITY[name] for name in ("pinned_by", "decisions")),
        Column(
            "outgrown", NAMES, "decisions on its status that ended: under half of its mentions are theirs"
        ),
    ),
)

GROUPS: Final = Table(
    "groups",
    "one surface of a run; the next run recognises capabilities by it",
    (
        Column("run", pl.String, "`present` for this run, `previous` for the run before"),
        Column("surface", pl.String, "a wording in normal form"),
        Column("mentions", pl.Int64, "its mentions, selected or not"),
        Column("group_id", pl.String, "its group after clustering, before decisions"),
        Column("group_surface", pl.String, "the surface of that group's label"),
        Column("capability_id", pl.String, "its capability, after all decisions"),
        Column("label", pl.String, "the capability's label"),
        Column("rank", pl.Int64, "the capability's rank; null if it is not selected"),
    ),
)

LINEAGE: Final = Table(
    "lineage",
    "the relation of a capability to a capability of the run before",
    (
        Column("relation", pl.String, "`continued`, `split`, `merged`, `new` or `gone`"),
        Column("capability_id", pl.String, "the capability in this run; null if gone"),
        Column("previous_id", pl.String, "the capability in the run before; null if new"),
        Column("shared_mentions", pl.Int64, "mentions of the surfaces in both; of each, the smaller number"),
        Column("label", pl.String, "its label in this run"),
        Column("previous_label", pl.String, "the label in the run before"),
        Column("rank", pl.Int64, "its rank in this run; null if it is not selected"),
        Column("previous_rank", pl.Int64, "the rank in the run before; null if it was not selected"),
        Column("mentions", pl.Int64, "its mentions in this run, selected or not"),
        Column("previous_mentions", pl.Int64, "its mentions in the run before, selected or not"),
        Column("decided", pl.Boolean, "whether people merged or split it; null for other relations"),
    ),
)


EVENTS: Final = Table(
    "events",
    "one change of the status of a capability; the last one gives the status",
    (
        _CAPABILITY_ID,
        Column("label", pl.String, "its label in this run"),
        Column("kind", pl.String, f"{', '.join(f'`{kind}`' for kind in EVENT_KINDS[:-1])} or `{OUTGROWN}`"),
        Column("moment", UTC_MICROSECONDS, "when it happened; null if that is unknown"),
        Column("by", pl.String, "who decided it; null if nobody did"),
        Column("entry", pl.String, "the entry that was authored; null for other kinds"),
        Column("decision_id", pl.String, "the decision; of `came back` and `outgrown`, the one that ended"),
    ),
)

HISTORY: Final = Table(
    "history",
    "one capability in one published run of a folder",
    (
        Column("run", pl.Categorical(), "the run: a hash of its moment and its selection"),
        Column("moment", UTC_MICROSECONDS, "the present of the run"),
        Column("capability_id", pl.Categorical(), "identifier, carried over from run to run"),
        Column("label", pl.Categorical(), "its label in that run"),
        Column("rank", pl.Int32, "its rank in that run"),
        Column("mentions", pl.Int64, "its mentions"),
        Column("images", pl.Int32, "distinct images among them"),
        Column("sessions", pl.Int32, "distinct known sessions among them"),
        Column("unsatisfied", pl.Int64, "mentions with satisfaction -1"),
        Column("status", pl.Categorical(), _OF_CAPABILITY["status"].meaning),
        Column("came_from", NAMES, "capabilities of the run before that it continues"),
        Column("narrowed", pl.Categorical(), "other filters and the ranking of the run; often empty"),
        Column("since", UTC_MICROSECONDS, "start of the selected time; null for none"),
        Column("until", UTC_MICROSECONDS, "end of the selected time, not included; null for none"),
        Column("unpinned_rank", pl.Int32, "if pinned in that run, the rank by its counts; else null"),
    ),
)


EXAMPLE_FIELDS: Final = Example.__struct_fields__

CAPABILITIES: Final = Table("capabilities", "one missing capability, ranked", tuple(_OF_CAPABILITY.values()))


EFFECTS: Final = Table("effects", "one authored need and what became of it", columns_of(Effect))


COMBINATIONS: Final = Table(
    "combinations",
    "one set of operations that recur together in records, alone or with others",
    (
        Column("operations", NAMES, "the operations, aliases resolved, sorted by name"),
        Column("size", pl.Int64, "number of operations, two or more"),
        Column(
            "records", pl.Int64, "records with all of them, each once; a session's equal records count once"
        ),
        Column("sessions", pl.Int64, "distinct sessions; a record without one counts as a session"),
        Column("images", pl.Int64, "distinct images among them"),
        Column("expected", pl.Float64, "expected records, if one operation joined the others at random"),
        Column("lift", pl.Float64, "records divided by expected records; 1 is chance"),
        Column(
            "lift_low", pl.Float64, "lower end of the 90 % interval of the lift; above 1 is more than chance"
        ),
    ),
)


LISTED: Final = Table(
    "listed",
    "one record that counts, with its capability",
    (
        *RECORDS.columns,
        Column("category", pl.String, "its category as the agent wrote it, aliases resolved"),
        Column("capability_id", pl.String, "the published capability of its wording; null if none is known"),
        Column("capability", pl.String, "the label of that capability"),
    ),
)


OF_A_RUN: Final = (CAPABILITIES, GAPS, REJECTS, LINEAGE, GROUPS, COMBINATIONS, HISTORY, EVENTS, EFFECTS)
"""The tables in the folder of a run."""
PUBLISHED: Final = {table.name: table for table in (RECORDS, *OF_A_RUN)}
