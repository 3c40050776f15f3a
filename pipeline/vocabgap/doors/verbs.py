"""Verbs: a verb has a request, a function and a view. The command line and the MCP server use verbs.

A request is a struct. Each field is an option or an argument, and only the field declares its meaning,
default, bounds and type. The settings declare the options that change a setting. A verb names the tables or
options that it takes from the settings.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
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
    """The headings of options in the help, in order."""

    RECORD = "What to log"
    READ = "What to read"
    SELECT = "What to select"
    GROUP = "How to group"
    RANK = "How to rank"
    WRITE = "What to write"
    MORE = "More"


class Request(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Base of all requests."""

    is_filtered: ClassVar[bool] = False  # `filtered` made it


RequestType = TypeVar("RequestType", bound=Request)
Fields = Sequence[tuple[str, Any, Any]]


def option(meaning: str, *names: str, panel: Panel | None = None, **extra: Any) -> Meta:  # noqa: ANN401
    """Return the description of an option.

    Args:
        meaning: The help, one sentence.
        names: The spellings; by default `--` and the name of the field.
        panel: The heading in the help.
        **extra: Other facts, such as `place` for a path.
    """
    return Meta(description=meaning, extra={"names": names, "panel": panel, **extra})


def argument(meaning: str, metavar: str | None = None, **extra: Any) -> Meta:  # noqa: ANN401 - as above
    """Return the description of a positional argument."""
    return Meta(description=meaning, extra={"argument": True, "metavar": metavar, **extra})


def extended(base: type[RequestType], fields: Fields, panel: Panel) -> type[RequestType]:
    """Return a request with more fields, such as the fields of the gap record or the filters."""
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
    """Return a request with filters of records: the named filters, or all if none is named."""
    fields = [field for field in filter_fields("cli") if not names or field[0] in names]
    request = extended(base, fields, Panel.SELECT)
    request.is_filtered = True
    return request


SelectionAt = Callable[..., Selection]
"""A function that returns the selection of a request for a present moment, by default the current time."""


def _selection_of(request: Request, now: datetime | None = None) -> Selection:
    """Return the selection that the filters of a request ask for; time spans end at `now`."""
    return Selection.asked(structs.asdict(request), now or datetime.now(UTC), prefix="--")


class Parameter(NamedTuple):
    """A field of a request, ready for the command line."""

    name: str
    kind: Any  # the type of one value
    is_list: bool
    meaning: str
    default: Any  # or `msgspec.NODEFAULT`
    extra: Mapping[str, Any]  # the facts of `option` and `argument`, and the bounds `min` and `max`

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings of the option."""
        return tuple(self.extra.get("names") or (f"--{self.name.replace('_', '-')}",))


def parameters(request: type[Request]) -> list[Parameter]:
    """Return the fields of a request: arguments first; an argument with several values after the others."""
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
                return str, metas  # for example a number or a word
            (kind,) = others
        else:
            return kind, metas


class Event(NamedTuple):
    """An event before the last event: its name and its fields."""

    name: str
    fields: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a verb.

    Attributes:
        result: The fields of the last event.
        events: The earlier events; only read for `--json`.
        view: The template that prints the answer for a person.
        shown: Further values for the view, or a function that computes them.
        text: The text for a person, if there is no view.
        notes: Messages for a person, printed on stderr.
        failure: The error to raise after the answer is printed.
        exit_code: The exit code.
        done: What was done, for the error if the answer cannot be printed.
    """

    result: Mapping[str, object]
    events: Iterable[Event] = ()
    view: str = ""
    shown: Mapping[str, object] | Callable[[], Mapping[str, object]] = field(default_factory=dict)
    text: str = ""
    notes: Iterable[str] = ()
    failure: "VocabgapError | None" = None
    exit_code: int = 0
    done: str = "the command did its work"


Run = Callable[[Any, RequestType], Answer | None]
"""A function that takes a `Call` and a request."""


@dataclass(frozen=True)
class Verb(Generic[RequestType]):
    """A command."""

    name: str
    request: type[RequestType]
    run: Run[RequestType]  # returns None if it printed everything itself
    help: str
    settings: tuple[str, ...] | None  # its tables and options; None if it reads no settings


def verb(
    request: type[RequestType], *, name: str = "", settings: tuple[str, ...] | None = None
) -> Callable[[Callable[..., "Answer | None"]], Verb[RequestType]]:
    """Turn a function into a verb; the docstring becomes the help.

    If the request has filters, the function takes a `SelectionAt` as its third argument, `selection_at`.
    """

    def decorate(run: Callable[..., Answer | None]) -> Verb[RequestType]:
        if ("selection_at" in inspect.signature(run).parameters) is not request.is_filtered:
            raise TypeError(f"{run.__name__} must take `selection_at` if its request has filters, else not")

        def run_filtered(call: Any, request: RequestType) -> Answer | None:  # noqa: ANN401 - a `Call`
            return run(call, request, partial(_selection_of, request))

        whole = run_filtered if request.is_filtered else run
        return Verb(name or run.__name__, request, whole, inspect.cleandoc(run.__doc__ or ""), settings)

    return decorate


@dataclass(frozen=True)
class Verbs:
    """A group of verbs, such as `decide`."""

    name: str
    help: str
    verbs: "tuple[Verb[Any] | Verbs, ...]"


Place = Annotated[str, Meta(extra={"place": True})]
"""A path as text; a URL is refused."""


class OverRoots(Request):
    """Base of requests that read gap logs."""

    roots: Annotated[
        tuple[Path, ...],
        argument(
            "Folders to search for gap logs, files of any name, shared corpora, or - for standard input;"
            " by default [ingest] roots in the settings.",
            "[ROOTS]...",
            address=True,
        ),
    ] = ()


Limit = Annotated[int, Meta(ge=0), option("Records to list; 0 lists all.", panel=Panel.WRITE)]
WHOSE: Final = ("tenant", "repo", "no_shared")
"""The filters by the owner of a record."""
RUN: Final = option("Folder of the published run.", panel=Panel.READ, place=True, default="out")
SHARE: Final = option(
    "Also write share.html, a page that is safe to share. It shows capabilities and words on at least"
    " --min-images images (3 by default), and no names.",
    panel=Panel.WRITE,
)
EVIDENCE: Final = option(
    "Also write evidence.md: the evidence of each capability of the list, and all overviews.",
    panel=Panel.WRITE,
)
QUIET: Final = option("Print only errors.", "--quiet", "-q", panel=Panel.WRITE)
ACTOR: Final = option("Name of the person who decides; by default VOCABGAP_ACTOR, else the user name.")
NOW: Final = option("The time of the decision; by default the current time.")
AS_OF: Final = option(
    "The time to use as the present, or last for the time of the newest record; by default the current time.",
    panel=Panel.SELECT,
)
