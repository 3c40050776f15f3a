"""`vocabgap status`, `schema` and `manual`: settings in force, what published columns mean, the manual."""

import os
import platform
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import tomli_w
import typer

from vocabgap import __version__
from vocabgap.doors.cli.options import ConfigOption, TrustOption, settings_of
from vocabgap.doors.cli.output import Output, output_of, table
from vocabgap.errors import DEBUG_VARIABLE, InvalidInputError, NotFoundError, VocabgapError, nearest
from vocabgap.extensions import extensions
from vocabgap.logbook.log import SESSION_VARIABLE, SNAPSHOT_VARIABLE
from vocabgap.model.categories import OPERATION_CATEGORIES
from vocabgap.model.gap_rules import rules_in_force
from vocabgap.model.loading import ACTOR_VARIABLE, CONFIG_VARIABLE, VARIABLES
from vocabgap.model.record import RejectReason, category_key, operation_key
from vocabgap.model.settings import Settings
from vocabgap.text import count, escape_unseen

_BUILT_IN: Final = "  # built in"
_LISTED: Final = "  # `vocabgap --json status` lists what is built in"
_OPERATIONS: Final = ("categories", "operations")
_IN_FORCE: Final = ("aliases", "not_a_gap", "source")  # told with what is built in, not as they were set
_RUN: Final = "run"
_PREFIX: Final = "VOCABGAP_"
# The pages of the manual, by what they are for, in the order in which they are listed.
_PAGES: Final = {
    "tutorial": ("tutorial",),
    "how to": (
        "installing", "your-own-file", "gap-logs", "logging", "deciding", "weekly-job", "scale",
    ),
    "reference": (
        "commands", "reference-commands", "settings", "reference-settings", "reference-tables",
        "reference-python",
    ),
    "explanation": ("reading-the-report", "grouping", "comparison", "safety"),
}  # fmt: skip
_KNOWN: Final = (
    CONFIG_VARIABLE,
    *VARIABLES,
    ACTOR_VARIABLE,
    SESSION_VARIABLE,
    SNAPSHOT_VARIABLE,
    DEBUG_VARIABLE,
)


def status(context: typer.Context, config: ConfigOption = None, trust: TrustOption = False) -> None:
    """Print versions, the settings in force and the last run."""
    from vocabgap.model.moments import in_seconds
    from vocabgap.reporting.manifest import read_manifest, versions
    from vocabgap.reporting.published_run import resolve_target

    output = output_of(context)
    loaded = settings_of(context)
    libraries, grouped_by = versions(), _grouped_by(loaded.settings)
    last = read_manifest(resolve_target(loaded.settings.report.out, option="[report] out"))
    output.event(
        "result",
        vocabgap=__version__,
        python=platform.python_version(),
        libraries=libraries,
        config=None if loaded.path is None else str(loaded.path),
        settings=loaded.settings,
        grouped_by=grouped_by,
        sources=loaded.settings.sources,
        aliases={
            "categories": loaded.settings.category_aliases,
            "operations": loaded.settings.operation_aliases,
        },
        operation_categories=loaded.settings.operation_categories,
        rules={rule.name: rule.expressions for rule in loaded.settings.rules},
        environment={variable: os.environ.get(variable) or None for variable in _KNOWN},
        unknown_variables=_unknown(),
        last_run=None
        if last is None
        else {
            "now": last.now,
            "capabilities": last.capabilities,
            "command": last.command,
            "narrowed_to": last.narrowed_to,
        },
    )
    settings, where = loaded.settings, loaded.settings.report.out
    named = ", ".join(f"{name} {number}" for name, number in libraries.items())
    if last is None:
        run = f"no run in '{where}'"
    else:
        capabilities = count(last.capabilities, "capability", "capabilities")
        run = f"last run in '{where}': {in_seconds(last.now)}, {capabilities}"
        run += f", narrowed to {last.narrowed_to}" if last.narrowed_to else ""
    lines = [
        f"vocabgap {__version__}, Python {platform.python_version()}, {named}",
        f"groups by: {grouped_by}",
        f"settings file: {loaded.path or 'none'}",
        "",
        *(line for part in (_settings, _operations, _aliases, _rules, _sources) for line in part(settings)),
        "",
        "environment:",
        *_environment(),
        "",
        run,
    ]
    output.text(
        "\n".join(map(escape_unseen, "\n".join(lines).split("\n")))
    )  # a file's text, which is shown, not obeyed


def _grouped_by(settings: Settings) -> str:
    """What a report would compare wordings by."""
    from vocabgap.clustering.embedding import load_embedder

    try:
        embedder = load_embedder(settings.cluster.embedder)
    except VocabgapError as error:
        return f"nothing, for {error.message}"
    return "words alone" if embedder is None else f"words and meaning ({embedder.name})"


def _settings(settings: Settings) -> Iterator[str]:
    """The tables that have a key each, those within them by themselves; what the environment set says so."""
    variables = {place: variable for variable, place in VARIABLES.items() if os.environ.get(variable)}
    for section, values in msgspec.to_builtins(settings).items():
        if section in _IN_FORCE:
            continue
        yield f"[{section}]"
        within = {key: value for key, value in values.items() if isinstance(value, dict)}
        for key, value in values.items():
            if key in within:
                continue
            variable = variables.get((section, key))
            line = f"# {key} is not set" if value is None else _toml(key, value)
            yield line + (f"  # from {variable}" if variable else "")
        for key, entries in within.items():
            if (section, key) != _OPERATIONS:
                yield f"[{section}.{key}]"
                yield from (_toml(name, value) for name, value in entries.items())


def _operations(settings: Settings) -> Iterator[str]:
    """What operations are for, where that is not as built in."""
    in_force = settings.operation_categories
    own = {name: told for name, told in in_force.items() if OPERATION_CATEGORIES.get(name) != told}
    yield f"[{'.'.join(_OPERATIONS)}]{_LISTED}"
    yield from (_toml(name, category) for name, category in own.items())
    yield f"# {len(in_force) - len(own):,} built in"


def _aliases(settings: Settings) -> Iterator[str]:
    for section, in_force, key, own in (
        ("categories", settings.category_aliases, category_key, settings.aliases.categories),
        ("operations", settings.operation_aliases, operation_key, settings.aliases.operations),
    ):
        keys = set(map(key, own))
        yield f"[aliases.{section}]"
        for spelling, name in in_force.items():
            yield _toml(spelling, name) + ("" if spelling in keys else _BUILT_IN)


def _rules(settings: Settings) -> Iterator[str]:
    yield f"[not_a_gap]{_LISTED}"
    built_in = {rule.name: rule.expressions for rule in rules_in_force()}
    in_force = {rule.name: rule.expressions for rule in settings.rules}
    for name in (*built_in, *(name for name in settings.not_a_gap if name not in built_in)):
        shipped, phrases = built_in.get(name, ()), in_force.get(name, ())
        further = [phrase for phrase in phrases if phrase not in shipped]
        if not phrases:
            yield f"{_toml(name, [])}  # switched off"
        elif further:
            beside = f"  # beside {len(shipped):,} built in" if shipped else ""
            yield f"{_toml(name, further)}{beside}"
        else:
            yield f"# {name}: {count(len(shipped), 'phrase')} built in, '{shipped[0]}' among them"


def _sources(settings: Settings) -> Iterator[str]:
    yield f"[source]{_LISTED}"
    for name, source in settings.sources.items():
        if name not in settings.source:
            yield f"# {name}: {' '.join(source.globs)}"
    for name in settings.source:
        given = msgspec.to_builtins(settings.sources[name]).items()
        yield _toml("source", {name: {key: value for key, value in given if value not in (True, [], {})}})


def _environment() -> Iterator[str]:
    for variable in _KNOWN:
        value = os.environ.get(variable)
        yield _toml(variable, value) if value else f"{variable} is not set"
    for variable in _unknown():
        yield f"{variable} is set, but is none of these"


def _unknown() -> list[str]:
    """Variables that are set and look as if they were this program's: misspelt ones."""
    return sorted(name for name in os.environ if name.startswith(_PREFIX) and name not in _KNOWN)


def _toml(key: str, value: object) -> str:
    return tomli_w.dumps({key: value}).strip()


def _schemas() -> list[str]:
    from vocabgap.model.tables import PUBLISHED

    return [*PUBLISHED, _RUN, *_documents()]


def _documents() -> dict[str, Path]:
    """Return the files of the documents that slices add, by name."""
    return {name: each.folder / file for each in extensions() for name, file in each.documents.items()}


def pages() -> dict[str, list[str]]:
    """Return the names of the pages of the manual, those of slices included, by what they are for."""
    return {
        kind: [*names, *(name for each in extensions() for name in each.pages.get(kind, ()))]
        for kind, names in _PAGES.items()
    }


def _pages() -> list[str]:
    return [name for names in pages().values() for name in names]


def schema(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="records, capabilities, gaps, rejects, lineage, groups, combinations, history or run; or a "
            "contract of the corpus: parsed-chunk-v1, backup-record-v1, identity or deletion-signals.",
            autocompletion=_schemas,
        ),
    ],
) -> None:
    """Print the columns of a published frame, or a contract of the shared corpus."""
    from vocabgap.model.tables import PUBLISHED, REJECTS

    output = output_of(context)
    if name == _RUN:
        _run_fields(output)
        return
    documents = _documents()
    if name in documents:
        text = documents[name].read_text(encoding="utf-8")
        output.result(text.removesuffix("\n"), schema=name, document=text)
        return
    if name not in PUBLISHED:
        known = ", ".join(_schemas())
        raise InvalidInputError(f"there is no schema '{name}'", hint=f"expected one of {known}")
    table = PUBLISHED[name]
    columns = [
        {"name": column.name, "dtype": str(column.dtype), "meaning": column.meaning}
        for column in table.columns
    ]
    reasons = {"reasons": list(RejectReason)} if table is REJECTS else {}
    _show(output, f"{name}: {table.row}", columns, name, **reasons)


def manual(
    context: typer.Context,
    page: Annotated[
        str | None,
        typer.Argument(help="Its name; without it, the pages are listed.", autocompletion=_pages),
    ] = None,
) -> None:
    """Print a page of the manual.

    What a page links to as (NAME.md) is the page NAME.
    """
    core = Path(__file__).parents[2] / "manual"
    own = {name: each.folder / "manual" for each in extensions() for name in chain(*each.pages.values())}
    texts = {name: own.get(name, core) / f"{name}.md" for name in _pages()}
    output = output_of(context)
    if page is None:
        titles = {name: _title(text.read_text(encoding="utf-8")) for name, text in texts.items()}
        rows = [
            (kind if name == names[0] else "", name, titles[name])
            for kind, names in pages().items()
            for name in names
        ]
        listed = table(("", "page", "what"), rows)
        output.result(
            f"{listed}\n\n`vocabgap manual PAGE` prints one; a link to (NAME.md) leads to NAME.", pages=titles
        )
        return
    if page not in texts:
        raise NotFoundError(f"the manual has no page '{page}'", hint=nearest(page, [*texts]))
    text = texts[page].read_text(encoding="utf-8")
    output.result(text.removesuffix("\n"), page=page, text=text)


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _run_fields(output: Output) -> None:
    from vocabgap.reporting.manifest import Manifest

    fields = msgspec.json.schema(Manifest)["$defs"]["Manifest"]["properties"]
    columns = [
        {"name": name, "dtype": _json_type(field), "meaning": _meaning(field)}
        for name, field in fields.items()
    ]
    _show(output, "run: the manifest of a run, run.json", columns, _RUN)


def _show(
    output: Output, heading: str, columns: list[dict[str, str]], name: str, **closed_lists: list[RejectReason]
) -> None:
    for column in columns:
        output.event("column", **column)
    output.event("result", schema=name, columns=len(columns), **closed_lists)
    output.text(f"{heading}\n")
    output.text(table(("column", "dtype", "meaning"), [tuple(column.values()) for column in columns]))
    for what, values in closed_lists.items():
        output.text(f"\n{what}: {', '.join(values)}")


def _json_type(field: dict[str, Any]) -> str:
    kinds = [option.get("type", "object") for option in field.get("anyOf", [field])]
    return " or ".join(dict.fromkeys(kinds))


def _meaning(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", [])]
    return next(
        (option["description"] for option in options if "description" in option), "version of this schema"
    )
