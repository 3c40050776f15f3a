"""Resources of the MCP server: the files of the report that was published last."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from mcp_types import Resource, TextResourceContents

from vocabgap.doors.mcp.reading_tools import Ranked
from vocabgap.doors.mcp.tool import MARK, NOTICE, fitting, shown
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.errors import NotFoundError, StateError
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.model.capability import Capability
from vocabgap.reporting.manifest import CAPABILITIES_NAME, MANIFEST_NAME, MARKDOWN_NAME
from vocabgap.reporting.published_run import read_run

_MOST_PUBLISHED: Final = 100  # capabilities
_MOST_INPUTS: Final = 100
_MOST_CHARACTERS: Final = 100_000  # of the report
_ROOT: Final = "vocabgap://report/"
_HINT: Final = "make the report again"


def _markdown(out: Path) -> str:
    read_run(out, option="--out")  # refuses a folder without a run
    path = out / MARKDOWN_NAME
    content = content_of(path, "report")
    if isinstance(content, FileKind):
        raise StateError(f"report '{path}' is {content}, expected a file", hint=_HINT)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise StateError(f"report '{path}' is not UTF-8, at byte {error.start:,}", hint=_HINT) from error
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}\n\n… ({len(text):,} characters)\n"


def _capabilities(out: Path) -> str:
    manifest, ranked = read_run(out, option="--out")
    rows = ranked.head(_MOST_PUBLISHED).iter_rows(named=True)
    covered_from = manifest.settings.vocabulary.threshold
    listed = fitting([Ranked.of(Capability.of(row, covered_from)) for row in rows])
    return _json({"capabilities": listed, "left_out": ranked.height - len(listed)})


def _manifest(out: Path) -> str:
    fields = msgspec.to_builtins(read_run(out, option="--out")[0])
    inputs = fields["inputs"]
    left_out = max(0, len(inputs) - _MOST_INPUTS)
    return _json({**fields, "inputs": inputs[:_MOST_INPUTS], "inputs_left_out": left_out})


def _json(document: dict[str, Any]) -> str:
    safe = {"notice": NOTICE, **shown(msgspec.to_builtins(document))}
    return msgspec.json.format(msgspec.json.encode(safe), indent=2).decode()


class _Published(NamedTuple):
    """A resource: its title, description and media type, and what reads it from the folder of the report."""

    title: str
    description: str
    media_type: str
    read: Callable[[Path], str]


_RESOURCES: Final = {
    MARKDOWN_NAME: _Published(
        "Latest report", "The report that was published last.", "text/markdown", _markdown
    ),
    "capabilities.json": _Published(
        "Latest ranking",
        f"The first {_MOST_PUBLISHED} missing capabilities of that report, in order of rank.",
        "application/json",
        _capabilities,
    ),
    MANIFEST_NAME: _Published(
        "Latest run",
        "The inputs of that report: logs with their digests, parameters, versions and counts.",
        "application/json",
        _manifest,
    ),
}


def resources() -> list[Resource]:
    """Return the resources, whether a report was published or not yet."""
    return [
        Resource(
            name=name,
            title=each.title,
            uri=_ROOT + name,
            description=f"{each.description} {MARK}",
            mime_type=each.media_type,
        )
        for name, each in _RESOURCES.items()
    ]


def read_resource(workspace: Workspace, uri: str) -> TextResourceContents:
    """Return the present content of a resource."""
    published = _RESOURCES.get(uri.removeprefix(_ROOT)) if uri.startswith(_ROOT) else None
    if published is None:
        there_are = ", ".join(_ROOT + name for name in _RESOURCES)
        raise NotFoundError(f"there is no resource '{shown(uri)}'", hint=f"there are {there_are}")
    _require_inside(workspace.out)
    text = published.read(workspace.out)
    return TextResourceContents(uri=uri, mime_type=published.media_type, text=text, _meta={"notice": NOTICE})


def _require_inside(out: Path) -> None:
    """Raise StateError if a file of the report lies outside its folder."""
    folder = out.resolve()
    for name in (MARKDOWN_NAME, CAPABILITIES_NAME, MANIFEST_NAME):
        if (out / name).resolve() != folder / name:
            raise StateError(f"'{out / name}' is a link, expected a file of the report", hint=_HINT)
