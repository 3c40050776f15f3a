"""The pages of the manual that say what the code says: commands, settings, tables, the Python API."""

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import msgspec
from typer.main import get_command

import vocabgap
from builders.command import vocabgap as typed
from slices import additions
from vocabgap.doors.cli.app import app, options_by_panel
from vocabgap.doors.cli.output import PROGRAM
from vocabgap.model.loading import VARIABLES
from vocabgap.model.settings import Settings, known_flags
from vocabgap.model.tables import CLUSTERS, FILES, LINKAGE, LISTED, PUBLISHED, WORDINGS, Table

MANUAL: Final = Path(vocabgap.__file__).parent / "manual"
_MADE: Final = "`make approve` writes this page from the code."
_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.*(?:\n     +.*)*)", re.MULTILINE)
_KEY: Final = re.compile(r"'(\w+)': ")
_WITHIN: Final = ("not_a_gap", "source")  # tables of which each key is a name of one's own
_SHOWN: Final = (str, int, float, bool, type(None))
_RUN: Final = "run"
_SHARED: Final = 2  # commands that have an option, for it to stand at the top
_REQUIREMENTS: Final = Path(__file__).parents[1] / "data" / "requirements.tsv"
SEEDS: Final = {
    "000": "The gap record (ADR-060)", "001": "The gap log and its report",
    "003": "The shared corpus", "004": "The glossary",
}  # fmt: skip


def lines_of_list(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A list of Markdown: what is told, further facts in brackets if there are any, and its meaning."""
    for message, *facts, meaning in rows:
        within = "; ".join(filter(None, facts))
        yield " ".join(f"- {message}{f' ({within})' if within else ''}: {meaning}".split())


def code(text: str) -> str:
    """As code, where there is any."""
    return f"`{text}`" if text else ""


# Commands


def contexts(command: Any = None, name: str = PROGRAM, parent: Any = None) -> Iterator[Any]:  # noqa: ANN401
    """The root and every command, groups before their commands, in the order of the help."""
    command = command or get_command(app)
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    yield context
    for verb, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from contexts(each, verb, context)


def options_of(context: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - Typer's own type is private
    """The arguments and options of a command as its help tells them, in the same order."""
    return [*chain.from_iterable(options_by_panel(context.command, context).values())]


def commands() -> Iterator[str]:
    """Every command with its options; an option that several commands share stands once, at the top."""
    every = list(contexts())
    message = {context.command_path: options_of(context) for context in every}
    uses = Counter(option for options in message.values() for option in options)
    shared = sorted(option for option, number in uses.items() if number >= _SHARED)
    yield from (
        "# Every command",
        "",
        _MADE,
        "A session with them is in [the command line](commands.md).",
    )
    yield from ("", "## What several commands take")
    yield from _options(option for option in shared if "--help" not in option[0])
    for context in every:
        yield from ("", f"## {context.command_path}", "")
        yield inspect.cleandoc(context.command.help).replace("\b\n", "")
        options = [option for option in message[context.command_path] if "--help" not in option[0]]
        yield from _options(option for option in options if option not in shared)
        if others := ", ".join(
            code(option[0].partition(" <")[0]) for option in options if option in shared
        ):
            yield from ("", f"Also {others}.")


def _options(options: Iterable[tuple[str, str]]) -> list[str]:
    items = list(lines_of_list((code(names), meaning) for names, meaning in options))
    return ["", *items] if items else []


# Settings


def meanings(struct: type) -> dict[str, str]:
    """Return the meaning of each field: from its annotation, or from section `Attributes` of a docstring."""
    docs = (inspect.cleandoc(each.__doc__ or "") for each in reversed(struct.__mro__))
    sections = (doc.partition("Attributes:\n")[2].partition("\n\n")[0] for doc in docs)
    described = {
        name: " ".join(text.split())
        for section in sections
        for name, text in _ATTRIBUTE.findall(section)
    }
    if issubclass(struct, msgspec.Struct):
        for field in msgspec.structs.fields(struct):
            for meta in getattr(field.type, "__metadata__", ()):
                described[field.name] = meta.description or described.get(field.name, "")
    return described


def kind_of(schema: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if "anyOf" in schema:
        return " or ".join(map(kind_of, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    words = {
        "integer": "whole number",
        "string": "text",
        "boolean": "true or false",
        "null": "none",
    }
    kind = schema.get("type", "table" if "$ref" in schema else "anything")
    if kind == "array":
        return f"list of {kind_of(schema['items'])}"
    if kind == "object":
        return "table"
    low, high = schema.get("minimum"), schema.get("maximum")
    within = f" from {low:,}" if low is not None else ""
    return str(words.get(kind, kind)) + within + (f" to {high:,}" if high is not None else "")


def settings_rows(struct: type, table: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The table of each key, and what a row says: key, kind, default, option and variable, meaning."""
    schemas = msgspec.json.schema(struct)
    definitions = schemas["$defs"]
    properties = definitions[struct.__name__]["properties"]
    explained = meanings(struct)
    flags = {(flag.table, flag.key): name for name, flag in known_flags().items()}
    variables = {place: name for name, place in VARIABLES.items()}
    for field in msgspec.structs.fields(struct):
        if isinstance(field.default, msgspec.Struct):
            yield from settings_rows(type(field.default), f"{table}.{field.name}".lstrip("."))
            continue
        schema = properties[field.name]
        named = schema.get("$ref", "").rpartition("/")[2]
        kind = kind_of(definitions[named] if "enum" in definitions.get(named, {}) else schema)
        if schema.get("type") == "array" and "$ref" in schema["items"]:
            kind = f"list of {kind_of(definitions[schema['items']['$ref'].rpartition('/')[2]])}"
        default = field.default
        if default is msgspec.NODEFAULT:
            default = (
                field.default_factory() if field.default_factory is not msgspec.NODEFAULT else None
            )
        shown = "" if default is None else msgspec.json.encode(default).decode()
        shown = f"default {code(shown)}" if shown else ""
        also = [flags.get((table, field.name)), variables.get((table, field.name))]
        yield (
            table,
            (
                code(field.name),
                kind,
                shown,
                *map(code, filter(None, also)),
                explained.get(field.name, ""),
            ),
        )


def settings() -> Iterator[str]:
    """Every key of the settings file."""
    yield from ("# Every setting", "", _MADE)
    yield "A file with them, and what counts more than what, is in [settings](settings.md)."
    yield "Brackets hold what a key takes, its default, its option and its variable."
    rows = [row for row in settings_rows(Settings) if row[0]]
    for table in dict.fromkeys(table for table, _ in rows):
        yield from (
            "",
            f"## [{table}]",
            "",
            *lines_of_list(row for name, row in rows if name == table),
        )
    names = meanings(Settings)
    for table in _WITHIN:
        yield from (
            "",
            f"## [{table}]" if table != "source" else "## [source.NAME]",
            "",
            names[table],
        )
    yield from ("", *lines_of_list(row for _, row in settings_rows(_source())))


def _source() -> type:
    (field,) = (field for field in msgspec.structs.fields(Settings) if field.name == "source")
    kind: type = get_args(get_args(field.type)[0])[1]
    return kind


# Tables


def columns(table: Table) -> tuple[str, Iterator[tuple[str, ...]]]:
    """The columns of a table; where it begins with all those of `records`, only what it has beside."""
    records = PUBLISHED["records"].columns
    follows = table.columns != records and table.columns[: len(records)] == records
    rows = table.columns[len(records) :] if follows else table.columns
    beside = " The columns of `records`, then:" if follows else ""
    return beside, ((code(each.name), code(_type(each.dtype)), each.meaning) for each in rows)


def _type(dtype: object) -> str:
    """A type of Polars, of a struct the names alone."""
    names = re.sub(
        r"Struct\(\{(.*?)\}\)",
        lambda found: f"Struct({','.join(_KEY.findall(found[1]))})",
        str(dtype),
    )
    return re.sub(r"time_\w+='(\w+)'", r"\1", names)


def tables() -> Iterator[str]:
    """Every column of every table that is published, and of the frames of the Python API."""
    yield from (
        "# Every table",
        "",
        _MADE,
        "`vocabgap schema NAME` prints one of the published ones.",
    )
    own = (WORDINGS, CLUSTERS, LINKAGE, FILES, LISTED)
    of_slices = (table for each in additions() for table in each.tables)
    for table in (*PUBLISHED.values(), *own, *of_slices):
        beside, rows = columns(table)
        yield from ("", f"## {table.name}", "", f"A row is {table.row}.{beside}")
        yield from ("", *lines_of_list(rows))
    yield from ("", f"## {_RUN}.json", "", "The manifest of a run.")
    events = [json.loads(line) for line in typed("--json", "schema", _RUN).out.splitlines()[:-1]]
    fields = ((code(each["name"]), code(each["dtype"]), each["meaning"]) for each in events)
    yield from ("", *lines_of_list(fields))


# Python


def signature_of(name: str, call: Callable[..., object], *, bound: bool = False) -> str:
    """A call with the names of its parameters and their defaults; types are read by the editor."""
    parameters = list(inspect.signature(call).parameters.values())[bound:]
    plain = [
        each.replace(
            annotation=inspect.Parameter.empty,
            default=each.default if each.default is each.empty else _default(each.default),
        )
        for each in parameters
    ]
    return f"{name}{inspect.Signature(plain)}"


class _Shown(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _default(value: object) -> _Shown:
    value = value.value if isinstance(value, Enum) else value
    plain = isinstance(value, _SHOWN) or value in ((), {})
    return _Shown(repr(value) if plain else "...")


def sentence(thing: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join(inspect.cleandoc(thing.__doc__ or "").partition("\n\n")[0].split())


def members(kind: type) -> Iterator[tuple[str, str]]:
    """The public methods and properties that a class itself has, or the class of its name that it adds to."""
    same = [each for each in kind.__mro__ if each.__name__ == kind.__name__]
    for name, member in (pair for each in same for pair in vars(each).items()):
        function = getattr(member, "__func__", member)
        if name.startswith("_") or not (function.__doc__ or "").strip():
            continue
        if inspect.isfunction(function):
            bound = not isinstance(member, staticmethod)
            yield code(f".{signature_of(name, function, bound=bound)}"), sentence(function)
        elif isinstance(member, property) or type(member).__name__ == "cached_property":
            yield code(f".{name}"), sentence(member)


_PYTHON: Final = (
    "```python",
    "import vocabgap as vg",
    "",
    'scan = vg.scan("data/demo")              # .records, .rejects, .gaps; .summary',
    "clusters = vg.cluster(scan.records)      # .wordings, .clusters, .linkage; .at(0.4)",
    "ranked = vg.rank(scan.records, clusters) # as in capabilities.parquet",
    'vg.report(ranked, out="run", scan=scan)  # the files of a run',
    'vg.run("data/demo", out="run", settings=vg.load_settings())  # all of it, like `vocabgap report`',
    "```",
    "",
    "No function reads a settings file or the environment by itself; `vg.load_settings()` does. The stages",
    "do only their work: decisions, lasting identifiers and guessed categories come with `vg.run` alone.",
    "Five notebooks, from `01-explore` to `05-parquet`, need no network: install `.[notebooks]`, then type",
    "`jupyter lab notebooks`.",
)


def python() -> Iterator[str]:
    """Every public name with its signature and what it gives."""
    yield from ("# Every name of the Python API", "", _MADE)
    yield from (
        "`help(vocabgap.NAME)` prints arguments, attributes, types and errors.",
        "",
        *_PYTHON,
    )
    public = {
        name: getattr(vocabgap, name) for name in vocabgap.__all__ if not name.startswith("__")
    }
    functions = {name: each for name, each in public.items() if inspect.isfunction(each)}
    yield from ("", "## Functions")
    rows = [(code(signature_of(name, each)), sentence(each)) for name, each in functions.items()]
    yield from ("", *lines_of_list(rows))
    for name, kind in public.items():
        if name not in functions:
            yield from ("", f"## {name}", "", sentence(kind))
            if fields := ", ".join(code(f".{field}") for field in meanings(kind)):
                yield from ("", f"Attributes: {fields}.")
            rows = list(members(kind))
            yield from ("", *lines_of_list(rows)) if rows else ()


# Requirements


class Requirement(NamedTuple):
    """A row of `requirements.tsv`."""

    seed: str
    requirement: str
    test: str  # FILE::FUNCTION below `tests`, without `.py`; a case is the parameter of `test_own_case`
    why: str  # the program differs, and this is better


def requirements_told() -> list[Requirement]:
    """What the seeds ask for, each with a test that shows it."""
    _, *rows = _REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [Requirement(*row.split("\t")) for row in rows]


def requirements() -> Iterator[str]:
    """Every requirement with its test."""
    every = requirements_told()
    yield from ("# Requirements, each with its test", "")
    yield "Each line is a requirement of one of four documents, with its test below `tests`."
    yield "`make approve` writes this page from `tests/data/requirements.tsv`."
    for seed, title in SEEDS.items():
        yield from ("", f"## {title}", "")
        for each in every:
            if each.seed == seed:
                differs = f". Differs: {each.why}" if each.why else ""
                yield f"- {each.requirement}: {code(each.test)}{differs}"


PAGES: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "reference-commands": commands,
    "reference-settings": settings,
    "reference-tables": tables,
    "reference-python": python,
    "requirements": requirements,
}


def written(page: str) -> str:
    """The text of a page as the code has it now."""
    return "\n".join(PAGES[page]()) + "\n"
