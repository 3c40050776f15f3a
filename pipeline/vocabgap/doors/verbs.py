"""Verbs: a request, a function and a view each. The command line and the MCP server are built from them.

A request is a struct. Each of its fields is an option or an argument. It says its meaning, default, bounds
and type, which stand nowhere else. Options that set a setting stand in the settings, and a verb names the
tables or the options that it takes from there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from inspect import cleandoc
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import msgspec
from msgspec import Meta, structs

from vocabgap.model.selection import Selection, filter_fields

if TYPE_CHECKING:
    from vocabgap.errors import VocabgapError


class Panel(StrEnum):
    """The headings of options in the help, in their order."""

    RECORD = "What to write down"
    READ = "What to read"
    SELECT = "What to select"
    GROUP = "How to group"
    RANK = "How to rank"
    WRITE = "What to write"
    RUN = "Where to run"


class Request(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Base of all requests."""


RequestType = TypeVar("RequestType", bound=Request)
Fields = Sequence[tuple[str, Any, Any]]


def option(meaning: str, *names: str, panel: Panel | None = None, **extra: Any) -> Meta:  # noqa: ANN401
    """Describe a field that is an option.

    Args:
        meaning: The help, one sentence.
        names: The spellings; by default two dashes and the name of the field.
        panel: The heading in the help.
        **extra: Further facts: `place` if the text is a path.
    """
    return Meta(description=meaning, extra={"names": names, "panel": panel, **extra})


def argument(meaning: str, metavar: str | None = None, **extra: Any) -> Meta:  # noqa: ANN401 - as above
    """Describe a field that stands on the command line without a name."""
    return Meta(description=meaning, extra={"argument": True, "metavar": metavar, **extra})


def extended(base: type[RequestType], fields: Fields, panel: Panel) -> type[RequestType]:
    """Return a request with further fields, such as those of the gap record or the filters."""
    under = Meta(extra={"panel": panel})
    request = msgspec.defstruct(
        base.__name__,
        [(name, Annotated[kind, under], default) for name, kind, default in fields],
        bases=(base,),
        kw_only=True,
        forbid_unknown_fields=True,
    )
    return cast("type[RequestType]", request)


def filtered(base: type[RequestType], *names: str) -> type[RequestType]:
    """Return a request with the filters of records; only the named ones if any are named."""
    fields = [each for each in filter_fields("cli") if not names or each[0] in names]
    return extended(base, fields, Panel.SELECT)


def selection_of(request: Request, now: datetime | None = None) -> Selection:
    """Return the selection of a request with filters; spans count back from `now`."""
    return Selection.asked(structs.asdict(request), now or datetime.now(UTC), prefix="--")


class Parameter(NamedTuple):
    """A field of a request as a door needs it."""

    name: str
    kind: Any  # of one value
    is_list: bool
    meaning: str
    default: Any  # or `msgspec.NODEFAULT`
    extra: Mapping[str, Any]  # as `option` and `argument` take it, and the bounds `min` and `max`

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings of the option."""
        return tuple(self.extra.get("names") or (f"--{self.name.replace('_', '-')}",))


def parameters(request: type[Request]) -> list[Parameter]:
    """Return the fields of a request: arguments first, the one with several values last of them."""
    fields = map(_parameter, structs.fields(request))
    return sorted(fields, key=lambda field: 1 + field.is_list if "argument" in field.extra else 3)


def _parameter(declared: structs.FieldInfo) -> Parameter:
    kind, metas = _bare(declared.type)
    extra: dict[str, Any] = {"meaning": ""}
    for meta in metas:
        facts = {"meaning": meta.description, "min": meta.ge, "max": meta.le}
        extra |= {name: fact for name, fact in facts.items() if fact is not None} | (meta.extra or {})
    meaning = extra["meaning"] + (f"  [default: {extra['default']}]" if extra.get("default") else "")
    if is_list := get_origin(kind) in {tuple, list}:
        kind, _ = _bare(get_args(kind)[0])
    return Parameter(declared.name, kind, is_list, meaning, declared.default, extra)


def _bare(kind: Any) -> tuple[Any, list[Meta]]:  # noqa: ANN401 - any type
    """Return a type without `Annotated` and `None`, and its annotations."""
    metas: list[Meta] = []
    while True:
        if get_origin(kind) is Annotated:
            kind, *annotations = get_args(kind)
            metas += [each for each in annotations if isinstance(each, Meta)]
        elif get_origin(kind) in {Union, UnionType}:
            others = [each for each in get_args(kind) if each is not type(None)]
            if len(others) > 1:
                return str, metas  # such as a number or a word
            (kind,) = others
        else:
            return kind, metas


class Event(NamedTuple):
    """An event before the last one: its name and its fields."""

    name: str
    fields: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a verb.

    Attributes:
        result: The fields of the last event.
        events: The events before it; read only if events are wanted.
        view: The template that makes a text of the answer for a person.
        shown: What the view needs beside the result, or a function that computes it.
        text: The text for a person, if there is no view.
        notes: Messages beside the data, for a person.
        failure: The error that ends the command once the answer is printed.
        exit_code: The exit code.
        done: What was done already if the answer cannot be printed.
    """

    result: Mapping[str, object]
    events: Iterable[Event] = ()
    view: str = ""
    shown: Mapping[str, object] | Callable[[], Mapping[str, object]] = field(default_factory=dict)
    text: str = ""
    notes: Iterable[str] = ()
    failure: "VocabgapError | None" = None
    exit_code: int = 0
    done: str = ""


Run = Callable[[Any, RequestType], Answer | None]
"""A function of a `Call` and a request."""


@dataclass(frozen=True)
class Verb(Generic[RequestType]):
    """A command."""

    name: str
    request: type[RequestType]
    run: Run[RequestType]  # its answer is null if it has printed all itself
    help: str
    settings: tuple[str, ...] | None  # tables and single options that it takes; null if it reads none


def verb(
    request: type[RequestType],
    *,
    name: str = "",
    settings: tuple[str, ...] | None = None,
) -> Callable[[Run[RequestType]], Verb[RequestType]]:
    """Make a verb of a function; its help is the docstring."""

    def decorate(run: Run[RequestType]) -> Verb[RequestType]:
        return Verb(name or run.__name__, request, run, cleandoc(run.__doc__ or ""), settings)

    return decorate


@dataclass(frozen=True)
class Verbs:
    """A group of verbs, such as `decide`."""

    name: str
    help: str
    verbs: "tuple[Verb[Any] | Verbs, ...]"


Place = Annotated[str, Meta(extra={"place": True})]
"""A path as text; an address is refused."""


class OverRoots(Request):
    """Base of requests that read gap logs."""

    roots: Annotated[
        tuple[Path, ...],
        argument(
            "Folders to search for gap logs, single log files, or shared corpora; by default those that"
            " [ingest] roots names in the settings.",
            "[ROOTS]...",
        ),
    ] = ()


WHOSE: Final = ("tenant", "repo")
"""The filters that select the records of a corpus by their owner."""
RUN: Final = option("Folder of the published run.", panel=Panel.READ, place=True, default="out")
SHARE: Final = option(
    "Write share.html, too, which may leave the machine: only capabilities on several images, no names, and"
    " only words that as many images share. --min-images says how many; 3 by default.",
    panel=Panel.WRITE,
)
QUIET: Final = option("Print nothing but errors.", "--quiet", "-q", panel=Panel.WRITE)
ACTOR: Final = option("Who decides or answers; by default VOCABGAP_ACTOR, else who is logged in.")
NOW: Final = option("The moment to count as the present; the clock's by default.")
AS_OF: Final = option(
    "The moment to count as the present, or last for that of the newest record; the clock's by default.",
    panel=Panel.SELECT,
)
