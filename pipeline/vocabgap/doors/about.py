"""`status`, `schema` and `manual`: the active settings, the published columns, and the manual."""

import os
import platform
import shlex
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from vocabgap import __version__
from vocabgap.doors.verbs import Answer, Event, Request, argument, verb
from vocabgap.errors import DEBUG_VARIABLE, InvalidInputError, NotFoundError, nearest
from vocabgap.extensions import extensions
from vocabgap.files import text_of
from vocabgap.logbook.log import SESSION_VARIABLE, SNAPSHOT_VARIABLE
from vocabgap.model.loading import ACTOR_VARIABLE, CONFIG_VARIABLE, VARIABLES
from vocabgap.model.record import RejectReason

if TYPE_CHECKING:
    from vocabgap.doors.cli.calls import Call

_RUN: Final = "run"
# The pages of the manual by kind, in the order of the list.
_PAGES: Final = {
    "tutorial": ("tutorial",),
    "how to": (
        "installing", "gap-logs", "logging", "deciding", "weekly-job", "scale",
    ),
    "reference": (
        "commands", "reference-commands", "settings", "reference-settings", "reference-tables",
        "reference-python", "requirements",
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


class Status(Request):
    """The request of `status`."""


@verb(Status, settings=())
def status(call: "Call", _request: Status) -> Answer:
    """Print versions, the changed settings and the last run; with --json all active settings."""
    from vocabgap.model.settings import Settings
    from vocabgap.reporting.manifest import MANIFEST_NAME, read_manifest, versions
    from vocabgap.reporting.published_run import resolve_target

    settings, path = call.settings, call.loaded.path
    file = str(Path(settings.report.out, MANIFEST_NAME))
    last = read_manifest(resolve_target(settings.report.out, option="[report] out"))
    run = last and {
        "now": last.now,
        "capabilities": last.capabilities,
        "command": f"vocabgap report --from {shlex.quote(file)} --out again" * last.can_be_repeated,
        "narrowed_to": last.narrowed_to,
    }
    return Answer(
        result={
            "vocabgap": __version__,
            "python": platform.python_version(),
            "libraries": versions(),
            "config": None if path is None else str(path),
            "settings": settings,
            "sources": settings.sources,
            "aliases": {"categories": settings.category_aliases, "operations": settings.operation_aliases},
            "operation_categories": settings.operation_categories,
            "rules": {rule.name: rule.expressions for rule in settings.rules},
            "environment": {variable: os.environ.get(variable) or None for variable in _KNOWN},
            "unknown_variables": [
                name for name in sorted(os.environ) if name.startswith("VOCABGAP_") and name not in _KNOWN
            ],
            "last_run": run,
        },
        view="status.txt.j2",
        shown=lambda: {"changed": _changed(msgspec.to_builtins(settings), msgspec.to_builtins(Settings()))},
    )


def _changed(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of the settings that have other values than by default, with these values only."""
    changed = {
        table: {key: value for key, value in values.items() if value != defaults[table].get(key)}
        for table, values in settings.items()
    }
    return {table: values for table, values in changed.items() if values}


def _documents() -> dict[str, Path]:
    """Return the documents that slices add: name to file."""
    return {name: each.folder / file for each in extensions() for name, file in each.documents.items()}


class Schema(Request, kw_only=True):
    """The request of `schema`."""

    name: Annotated[
        str,
        argument(
            "A table: records, capabilities, gaps, rejects, lineage, groups, combinations, history, events,"
            f" effects or run; or a contract: {', '.join(_documents()) or 'none'}."
        ),
    ]


@verb(Schema)
def schema(_call: "Call", request: Schema) -> Answer:
    """Explain the columns of a published table, or print a contract."""
    from vocabgap.model.tables import PUBLISHED, REJECTS

    name, documents = request.name, _documents()
    if name in documents:
        text = text_of(documents[name])
        return Answer(result={"schema": name, "document": text}, text=text.removesuffix("\n"))
    if name != _RUN and name not in PUBLISHED:
        expected = ", ".join([*PUBLISHED, _RUN, *documents])
        raise InvalidInputError(f"there is no schema '{name}'", hint=f"expected one of {expected}")
    if name == _RUN:
        heading, columns = "the manifest of a run, run.json", [*_run_fields()]
    else:
        heading = PUBLISHED[name].row
        columns = [(each.name, str(each.dtype), each.meaning) for each in PUBLISHED[name].columns]
    reasons = {"reasons": list(RejectReason)} if PUBLISHED.get(name) is REJECTS else {}
    return Answer(
        events=(
            Event("column", {"name": column, "dtype": dtype, "meaning": meaning})
            for column, dtype, meaning in columns
        ),
        result={"schema": name, "columns": len(columns), **reasons},
        view="schema.txt.j2",
        shown={"heading": heading, "rows": columns},
    )


def _run_fields() -> Iterator[tuple[str, str, str]]:
    from vocabgap.reporting.manifest import Manifest

    for name, field in msgspec.json.schema(Manifest)["$defs"]["Manifest"]["properties"].items():
        options = field.get("anyOf", [field])
        kinds = dict.fromkeys(option.get("type", "object") for option in options)
        meanings = (option["description"] for option in [field, *options] if "description" in option)
        yield name, " or ".join(kinds), next(meanings, "version of this schema")


def pages() -> dict[str, list[str]]:
    """Return the pages of the manual and of slices: kind to names."""
    return {
        kind: [*names, *(name for each in extensions() for name in each.pages.get(kind, ()))]
        for kind, names in _PAGES.items()
    }


class Manual(Request):
    """The request of `manual`."""

    page: Annotated[str | None, argument("Name of the page; without it, the pages are listed.")] = None


@verb(Manual)
def manual(_call: "Call", request: Manual) -> Answer:
    """Print a page of the manual.

    A link to (NAME.md) means the page NAME.
    """
    core = Path(__file__).parents[1] / "manual"
    own = {name: each.folder / "manual" for each in extensions() for name in chain(*each.pages.values())}
    texts = {name: own.get(name, core) / f"{name}.md" for name in chain(*pages().values())}
    page = request.page
    if page is None:
        first = {name: text_of(text).partition("\n")[0] for name, text in texts.items()}
        titles = {name: line.removeprefix("# ") for name, line in first.items()}
        return Answer(result={"pages": titles}, view="manual.txt.j2", shown={"kinds": pages()})
    if page not in texts:
        raise NotFoundError(f"the manual has no page '{page}'", hint=nearest(page, [*texts]))
    text = text_of(texts[page])
    return Answer(result={"page": page, "text": text}, text=text.removesuffix("\n"))
