"""Resources: the report that was published last."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from mcp_types import Resource, TextResourceContents

from vocabgap.errors import NotFoundError, StateError
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.mcp.report_tool import Ranked
from vocabgap.mcp.tool import MARK, NOTICE, fitting, told
from vocabgap.mcp.workspace import Workspace
from vocabgap.reporting.capability import Capability
from vocabgap.reporting.manifest import CAPABILITIES_NAME, MANIFEST_NAME, MARKDOWN_NAME
from vocabgap.reporting.published_run import read_run

MOST_CAPABILITIES: Final = 100
MOST_INPUTS: Final = 100
MOST_CHARACTERS: Final = 100_000  # of the report
_BASE: Final = "vocabgap://report"
_OPTION: Final = "--out"
_HINT: Final = "make the report again"
_META: Final = {"notice": NOTICE}


class _Kept(NamedTuple):
    """A resource, and what reads it from the folder of the report."""

    name: str
    title: str
    description: str
    media_type: str
    read: Callable[[Path], str]

    @property
    def uri(self) -> str:
        return f"{_BASE}/{self.name}"


def resources() -> list[Resource]:
    """What there is to read, whether a report was published or not yet."""
    return [
        Resource(
            name=each.name,
            title=each.title,
            uri=each.uri,
            description=f"{each.description} {MARK}",
            mime_type=each.media_type,
        )
        for each in _RESOURCES
    ]


def read_resource(workspace: Workspace, uri: str) -> TextResourceContents:
    """What a resource holds now.

    Raises:
        NotFoundError: There is no such resource, or no report was published yet.
        StateError: A file of the report is a link.
        VocabgapError: The report cannot be read.
    """
    for each in _RESOURCES:
        if each.uri == uri:
            _require_inside(workspace.out)
            return TextResourceContents(
                uri=uri, mime_type=each.media_type, text=each.read(workspace.out), _meta=_META
            )
    raise NotFoundError(f"there is no resource '{told(uri)}'", hint=f"there are {', '.join(_URIS)}")


def _require_inside(out: Path) -> None:
    """Refuse a file that lies outside the report's folder: what is not published is not read to anybody."""
    folder = out.resolve()
    for name in (MARKDOWN_NAME, CAPABILITIES_NAME, MANIFEST_NAME):
        if (out / name).resolve() != folder / name:
            raise StateError(f"'{out / name}' is a link, expected a file of the report", hint=_HINT)


def _markdown(out: Path) -> str:
    read_run(out, option=_OPTION)  # says what is wrong with the folder
    path = out / MARKDOWN_NAME
    content = content_of(path, "report")
    if isinstance(content, FileKind):
        raise StateError(f"report '{path}' is {content}, expected a file", hint=_HINT)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise StateError(f"report '{path}' is not UTF-8, at byte {error.start:,}", hint=_HINT) from error
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n\n… ({len(text):,} characters)\n"


def _capabilities(out: Path) -> str:
    _, ranked = read_run(out, option=_OPTION)
    rows = ranked.head(MOST_CAPABILITIES).iter_rows(named=True)
    shown = fitting([Ranked.of(msgspec.convert(row, Capability)) for row in rows])
    return _json({"notice": NOTICE, "capabilities": shown, "left_out": ranked.height - len(shown)})


def _manifest(out: Path) -> str:
    manifest, _ = read_run(out, option=_OPTION)
    made = msgspec.to_builtins(manifest)
    inputs = made["inputs"]
    return _json(
        {
            "notice": NOTICE,
            **made,
            "inputs": inputs[:MOST_INPUTS],
            "inputs_left_out": max(0, len(inputs) - MOST_INPUTS),
        }
    )


def _json(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(told(msgspec.to_builtins(document))), indent=2).decode()


_RESOURCES: Final = (
    _Kept("report.md", "Latest report", "The report that was published last.", "text/markdown", _markdown),
    _Kept(
        "capabilities.json",
        "Latest ranking",
        f"The first {MOST_CAPABILITIES} missing capabilities of that report, in order of rank.",
        "application/json",
        _capabilities,
    ),
    _Kept(
        "run.json",
        "Latest run",
        "What that report was made of: logs with their digests, parameters, versions and counts.",
        "application/json",
        _manifest,
    ),
)
_URIS: Final = tuple(each.uri for each in _RESOURCES)
