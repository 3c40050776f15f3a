"""The selection: every filter of records, declared once.

Commands, tools, the manifest and the sentences about a run derive their filters from `Selection`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Self, get_args

import msgspec
from msgspec import structs

from vocabgap.errors import InvalidInputError, require_text, texts, unusable
from vocabgap.model.moments import iso, parse_moment, require_offset
from vocabgap.model.other import texts_at
from vocabgap.model.record import (
    BAD,
    FIELDS,
    LIST_FIELDS,
    MEDIOCRE,
    NULLABLE_TEXT_FIELDS,
    RATING_NAMES,
    RATING_WORDS,
    SHARED_TENANT,
    TEXT_FIELDS,
    fold_category,
    fold_operation,
    rating_word,
)
from vocabgap.model.sources import several

if TYPE_CHECKING:
    import polars as pl

_IDENTIFIERS: Final = {"image_id", "session_id", "snapshot_hash", "intent_category"}
_MATCHED: Final = [name for name in (*NULLABLE_TEXT_FIELDS, *TEXT_FIELDS) if name not in _IDENTIFIERS]
Fold = Callable[[str, Mapping[str, str]], str]
_ALIASES: Final[dict[Fold, str]] = {
    fold_category: "category_aliases", fold_operation: "operation_aliases",
}  # fmt: skip
_Names = tuple[str, ...]
_Rating = int | str | None


class Filter(NamedTuple):
    """A field of `Selection`, and how it selects records."""

    field: str
    noun: str  # of one value, as sentences and arguments name it
    option: str
    column: str = ""  # of table `gaps`, if the values are names
    fold: Fold | None = None  # of values and records alike
    where: "Callable[[Any], pl.Expr] | None" = None  # for any other kind of value

    def normaliser(self, aliases: Mapping[str, Mapping[str, str]]) -> Callable[[str], str]:
        """Return a function that makes selected values and values of records comparable."""
        if self.fold is None:
            return str
        fold, spellings = self.fold, aliases[_ALIASES[self.fold]]
        return lambda name: fold(name, spellings)


def _column(name: str) -> "pl.Expr":
    import polars as pl  # noqa: PLC0415 - here and below: commands declare their options without it

    return pl.col(name)


def _with_text(text: str) -> "pl.Expr":
    lists = (_column(name).list.join("\n") for name in LIST_FIELDS)
    return containing(text, (*map(_column, _MATCHED), *lists))


def containing(text: str, fields: "Iterable[pl.Expr]") -> "pl.Expr":
    """Return the condition that one of some fields contains a text, in any case."""
    import polars as pl  # noqa: PLC0415

    def folded(value: pl.Expr) -> pl.Expr:
        return value.str.normalize("NFC").str.to_lowercase()

    wanted = pl.select(folded(pl.lit(text))).item()
    return pl.any_horizontal(folded(field).str.contains(wanted, literal=True) for field in fields)


def _rated(ratings: tuple[_Rating, ...]) -> "pl.Expr":
    import polars as pl  # noqa: PLC0415

    satisfaction, mediocre = pl.col("satisfaction"), pl.col("mediocre")
    is_bad = satisfaction == -1
    tests: dict[_Rating, pl.Expr] = {BAD: is_bad & ~mediocre, MEDIOCRE: is_bad & mediocre}
    return pl.any_horizontal(tests.get(rating, satisfaction.eq_missing(rating)) for rating in ratings)


def _filter(description: str, noun: str, option: str = "", **extra: Any) -> msgspec.Meta:  # noqa: ANN401
    """Describe a filter: the records that pass, the noun of one value, its option, and further facts."""
    return msgspec.Meta(
        description=description, extra={"noun": noun, "names": (option or f"--{noun}",), **extra}
    )


def _with_other(pairs: _Names) -> "pl.Expr":
    import polars as pl  # noqa: PLC0415

    has = (texts_at(path).list.set_intersection([*wanted]).list.len() > 0 for path, wanted in by_path(pairs))
    return pl.all_horizontal(has)


def by_path(pairs: _Names) -> list[tuple[str, _Names]]:
    """Return the values of `PATH=VALUE` by path, in order."""
    wanted: dict[str, _Names] = {}
    for pair in pairs:
        path, _, value = pair.partition("=")
        wanted[path] = (*wanted.get(path, ()), value)
    return [*wanted.items()]


LONGEST_MATCH: Final = 10_000  # characters


def require_match(text: str) -> None:
    """Raise InvalidInputError for a text that no record can be searched for."""
    require_text("match", text)
    if not text.strip() or len(text) > LONGEST_MATCH:
        expected = f"1 to {LONGEST_MATCH:,} characters that are not blank"
        raise unusable("match", expected, text, hint="leave it out for all records")


class Selection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The filters of records. A record must pass each filter by one of its values.

    A single name needs no tuple. In `satisfaction`, null means records without a rating. In `where`, a record
    must have one of the values of each path.
    """

    since: Annotated[
        datetime | None,
        _filter(
            "Earliest moment: 2026-05-01, 2026-05-01T09:30:00Z, 2026-05, 7d, 2w, 24h or 30m (minutes).",
            "since",
            where=lambda moment: _column("timestamp") >= moment,
            accepts=str,
        ),
    ] = None
    until: Annotated[
        datetime | None,
        _filter(
            "Only before this moment, written the same way.",
            "until",
            where=lambda moment: _column("timestamp") < moment,
            accepts=str,
        ),
    ] = None
    images: Annotated[_Names, _filter("Only this image.", "image", column="image_id")] = ()
    categories: Annotated[
        _Names, _filter("Only this category.", "category", column="intent_category", fold=fold_category)
    ] = ()
    operations: Annotated[
        _Names,
        _filter(
            "Only this operation; A+B for both.",
            "operation",
            column="operations_involved",
            fold=fold_operation,
        ),
    ] = ()
    sessions: Annotated[
        _Names, _filter("Only this session; last means the newest.", "session", column="session_id")
    ] = ()
    tenants: Annotated[
        _Names,
        _filter(
            f"Only records that this tenant of a corpus may read: its own, and those of {SHARED_TENANT}.",
            "tenant",
            column="tenant_id",
            where=lambda tenants: _column("tenant_id").is_in([*tenants, SHARED_TENANT]),
            rare=True,
        ),
    ] = ()
    no_shared: Annotated[
        bool,
        _filter(
            f"Leave out {SHARED_TENANT}.",
            SHARED_TENANT,
            "--no-shared",
            where=lambda _: _column("tenant_id") != SHARED_TENANT,
            rare=True,
        ),
    ] = False
    repositories: Annotated[
        _Names,
        _filter("Only this repository of a corpus.", "repository", "--repo", column="repo_slug", rare=True),
    ] = ()
    match: Annotated[
        str | None, _filter("Only records with this text, in any case.", "match", where=_with_text)
    ] = None
    where: Annotated[
        _Names,
        _filter(
            "Only this value of another key or column: plan=pro.", "column", "--where", where=_with_other
        ),
    ] = ()
    satisfaction: Annotated[
        tuple[_Rating, ...],
        _filter(
            "Only this rating: -1, 0, 1, none, or a word such as bad.",
            "satisfaction",
            where=_rated,
            accepts=tuple[int | str, ...],
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Raise InvalidInputError for values that make no sense."""
        for filtered in FILTERS:
            if filtered.column:
                names = _names(filtered.field, getattr(self, filtered.field))
                structs.force_setattr(self, filtered.field, names)
        for name in ("since", "until"):
            if getattr(self, name) is not None:
                require_offset(getattr(self, name), name=name)
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInputError(
                f"since {self.since.isoformat()} is not before until {self.until.isoformat()}",
                hint="until is the first moment left out: give a later one, or swap the two",
            )
        if self.match is not None:
            require_match(self.match)
        structs.force_setattr(self, "where", _names("where", self.where))
        for pair in self.where:
            if not all(part.strip() for part in pair.partition("=")):
                raise unusable("where", "PATH=VALUE", pair, hint="for example plan=pro")
        ratings = tuple(dict.fromkeys(map(_rating, several(self.satisfaction))))
        structs.force_setattr(self, "satisfaction", ratings)

    @classmethod
    def asked(cls, given: Mapping[str, Any], now: datetime, *, prefix: str = "") -> Self:
        """Return the selection for values that a person gave, by field, noun, option or column.

        Spans such as `7d` count back from `now`. An error puts `prefix` before the name of a moment.
        """
        values: dict[str, Any] = {}
        for name, noun, option, column, *_ in FILTERS:
            names = (name, noun, option.removeprefix("--"), column)
            value = next((given[key] for key in names if given.get(key) is not None), None)
            if value is None:
                continue
            if noun in {"since", "until"} and isinstance(value, str):
                value = parse_moment(value, now, name=f"{prefix}{noun}")
            values[name] = value
        return cls(**values)

    @property
    def dated(self) -> bool:
        """Tell whether a record needs a readable timestamp to be selected."""
        return self.since is not None or self.until is not None

    def __bool__(self) -> bool:
        """Tell whether any filter is set."""
        return any(True for _ in self.in_force())

    @property
    def owners(self) -> dict[str, Any]:
        """The arguments of a scan that say whose records of a corpus to read."""
        shared = not self.no_shared
        return {"tenants": self.tenants, "repositories": self.repositories, "shared": shared}

    def in_force(self) -> Iterator[tuple[Filter, Any]]:
        """Yield the filters that are set, each with its value."""
        for filtered in FILTERS:
            value = getattr(self, filtered.field)
            if value not in (None, (), False):
                yield filtered, value

    def over(self, other: "Selection") -> "Selection":
        """Return another selection, in which the filters of this one override those of the same kind."""
        return structs.replace(other, **{filtered.field: value for filtered, value in self.in_force()})

    def words(self) -> Iterator[str]:
        """Yield the options and values of a command line that sets the same filters."""
        for filtered, value in self.in_force():
            if value is True:
                yield filtered.option
                continue
            for one in several(value):
                yield from (filtered.option, _typed(one))

    def in_words(self) -> dict[str, str]:
        """Map the noun of each filter that is set to its values as text."""
        words = {
            filtered.noun: "left out" if value is True else " or ".join(map(_typed, several(value)))
            for filtered, value in self.in_force()
        }
        if self.where:
            paths = (" or ".join(f"{path}={one}" for one in wanted) for path, wanted in by_path(self.where))
            words["column"] = " and ".join(paths)
        if self.satisfaction:
            ratings = (each if isinstance(each, str) else RATING_NAMES[each] for each in self.satisfaction)
            words["satisfaction"] = " or ".join(ratings)
        return words


def _filters() -> Iterator[Filter]:
    for field in structs.fields(Selection):
        extra = field.type.__metadata__[0].extra
        facts = {name: extra[name] for name in ("column", "fold", "where") if name in extra}
        yield Filter(field.name, extra["noun"], extra["names"][0], **facts)


FILTERS: Final = tuple(_filters())
_OPTIONS: Final = {
    "timestamp": "--since", **dict.fromkeys((*_MATCHED, *LIST_FIELDS), "--match"),
    **dict.fromkeys(("satisfaction", "mediocre"), "--satisfaction"),
    **{each.column: each.option for each in FILTERS if each.column},
}  # fmt: skip


def as_field(noun: str, path: str) -> str:
    """Return what selects a column that is a field of each record; empty for any other noun or path."""
    if noun != "column" or path not in FIELDS:
        return ""
    instead = f"use {_OPTIONS[path]}" if path in _OPTIONS else "--where and --by take only other columns"
    return f"it is a field of each record; {instead}"


def filter_fields(door: str) -> list[tuple[str, Any, None]]:
    """Return the filters that a door offers, for `msgspec.defstruct`.

    A tool names a filter like its column, as all its arguments; a command like its option.
    """
    fields: list[tuple[str, Any, None]] = []
    for field in structs.fields(Selection):
        kind, meta = get_args(field.type)[0], field.type.__metadata__[0]
        option = meta.extra["names"][0].removeprefix("--").replace("-", "_")
        name = meta.extra.get("column", option) if door == "mcp" else option
        fields.append((name, Annotated[meta.extra.get("accepts", kind) | None, meta], None))
    return fields


def together(value: str, fold: Callable[[str], str], known: Collection[str]) -> list[str]:
    """Return the names that a record must have together: those between plus signs, or the one name."""
    return [value] if fold(value) in known else value.split("+")


def _names(field: str, given: Any) -> _Names:  # noqa: ANN401 - anything may come
    """Return names as they are in frames: bytes that are not UTF-8 become escapes."""
    if not isinstance(given, Iterable):
        return texts(field, given)
    return texts(field, [_whole(name) if isinstance(name, str) else name for name in several(given)])


def _whole(name: str) -> str:
    with suppress(UnicodeEncodeError):
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return name


def _rating(value: object) -> _Rating:
    if value is None:
        return None
    word = rating_word(str(value)) if isinstance(value, int | str) else ""
    if isinstance(value, bool) or word not in RATING_WORDS:
        raise unusable("satisfaction", f"one of {', '.join(RATING_WORDS)}", value)
    return word if word in (BAD, MEDIOCRE) else RATING_WORDS[word]


def _typed(value: object) -> str:
    if isinstance(value, datetime):
        return iso(value)
    return "none" if value is None else str(value)
