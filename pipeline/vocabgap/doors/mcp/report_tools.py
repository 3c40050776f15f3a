"""The report: `report_gaps` ranks what is logged now, and resources hold what was published last."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, get_type_hints

import msgspec
from mcp_types import Resource, TextResourceContents
from msgspec import Meta

from vocabgap.doors.mcp.tool import (
    MARK,
    NOTICE,
    Answer,
    Arguments,
    Checkpoint,
    Limit,
    extended,
    fitting,
    shown,
    tool,
)
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.errors import NotFoundError, StateError
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.model.capability import Capability, Covered, Tally, Wording, Workaround
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.model.settings import DEFAULT_TOP
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    MANIFEST_NAME,
    MARKDOWN_NAME,
    Parameters,
    Rendering,
    new_manifest,
)
from vocabgap.reporting.overviews import Category
from vocabgap.reporting.published_run import read_run
from vocabgap.reporting.summary import Tables, summarise

MOST_CAPABILITIES: Final = 50
_MOST_PUBLISHED: Final = 100
_MOST_INPUTS: Final = 100
_MOST_CHARACTERS: Final = 100_000  # of the report
_OPTION: Final = "--out"
_HINT: Final = "make the report again"
_MOST_NAMES: Final = 5  # operations, wordings and workarounds of one capability
_SAME: Final = (
    "rank", "capability_id", "label", "mentions", "images", "sessions", "unsatisfied", "rated", "first_seen",
    "last_seen", "trend", "priority", "status", "intent_category", "mentions_low", "mentions_high", "mixed",
    "pinned_by", "unpinned_rank",
)  # fmt: skip


class ReportArguments(Arguments):
    """The filters of the records that are ranked."""

    limit: Annotated[int, Meta(ge=1, le=MOST_CAPABILITIES, description="How many capabilities to list.")] = (
        DEFAULT_TOP
    )


if not TYPE_CHECKING:
    ReportArguments = extended(ReportArguments, filter_fields("mcp"))


if TYPE_CHECKING:
    _Columns = msgspec.Struct
else:
    _Columns = msgspec.defstruct(
        "_Columns", [(name, get_type_hints(Capability).get(name, int)) for name in _SAME]
    )


class Ranked(_Columns):
    """A missing capability in its place; the fields mean what they mean in `capabilities.parquet`.

    Attributes:
        covered: The entries that probably cover some of its wordings, the one that covers most first.
    """

    operations: list[Tally]
    wordings: list[Wording]
    workarounds: list[Workaround]
    covered: list[Covered]

    @classmethod
    def of(cls, capability: Capability) -> Self:
        """The capability as the answer of a tool lists it: of what is many, what is most frequent."""
        return cls(
            **{name: getattr(capability, name) for name in _SAME},
            operations=list(capability.operations[:_MOST_NAMES]),
            wordings=list(capability.variants[:_MOST_NAMES]),
            workarounds=list(capability.workarounds[:_MOST_NAMES]),
            covered=list(capability.covered[:_MOST_NAMES]),
        )


class Report(Answer, kw_only=True):
    """A ranking.

    Attributes:
        capabilities: Those that are to be authored, in order of rank.
        left_out: How many more of these there are.
        total: Capabilities in all.
        mentions: Records that ask for any of them.
        covered: Those of them that an entry of the vocabulary probably covers.
        decided: Those that people have dismissed or authored.
        too_few: Those on too few images or in too few sessions to be listed.
        categories: Records by category, most frequent first.
        rejects: Lines of the logs that could not be read.
    """

    capabilities: list[Ranked]
    left_out: int
    total: int
    mentions: int
    covered: int
    decided: int
    too_few: int
    categories: list[Category]
    rejects: int


@tool("Report vocabulary gaps", Limit.COMPUTE)
def report_gaps(workspace: Workspace, arguments: ReportArguments, checkpoint: Checkpoint) -> Report:
    """Rank the missing capabilities of all images: what agents most often reached for and did not find.

    The same need counts once, however it was worded. Use it to decide what to author next.
    """
    settings, now = workspace.settings, datetime.now(UTC)
    asked = msgspec.structs.asdict(arguments)
    selection = Selection.asked(asked, now)
    request = tuple(value for name, value in asked.items() if name != "limit")
    analysis = workspace.rankings.of(selection, checkpoint, request=request)
    scan, number = analysis.scan, analysis.ranked.height
    rendering = Rendering(arguments.limit, settings.rank.by.value, "")
    manifest = new_manifest(now, number, rendering, Parameters(settings, selection))
    summary = summarise(Tables(analysis.ranked, scan.gaps, scan.rejects), manifest, scan.summary)
    listed = fitting([Ranked.of(each) for each in summary.capabilities])
    return Report(
        capabilities=listed,
        left_out=summary.open_total - len(listed),
        total=summary.total,
        mentions=summary.mentions,
        covered=summary.covered_total,
        decided=summary.settled_total,
        too_few=summary.hidden,
        categories=list(summary.categories[:MOST_CAPABILITIES]),
        rejects=0 if summary.account is None else summary.account.rejects,
    )


def resources() -> list[Resource]:
    """What there is to read, whether a report was published or not yet."""
    return [resource for resource, _ in _RESOURCES.values()]


def read_resource(workspace: Workspace, uri: str) -> TextResourceContents:
    """What a resource holds now."""
    if uri not in _RESOURCES:
        raise NotFoundError(f"there is no resource '{shown(uri)}'", hint=f"there are {', '.join(_RESOURCES)}")
    resource, text_of = _RESOURCES[uri]
    _require_inside(workspace.out)
    return TextResourceContents(
        uri=uri, mime_type=resource.mime_type, text=text_of(workspace.out), _meta={"notice": NOTICE}
    )


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
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}\n\n… ({len(text):,} characters)\n"


def _capabilities(out: Path) -> str:
    manifest, ranked = read_run(out, option=_OPTION)
    rows = ranked.head(_MOST_PUBLISHED).iter_rows(named=True)
    covered_from = manifest.settings.vocabulary.threshold
    listed = fitting([Ranked.of(Capability.of(row, covered_from)) for row in rows])
    return _json({"notice": NOTICE, "capabilities": listed, "left_out": ranked.height - len(listed)})


def _manifest(out: Path) -> str:
    manifest, _ = read_run(out, option=_OPTION)
    fields = msgspec.to_builtins(manifest)
    inputs = fields["inputs"]
    shortened = {"inputs": inputs[:_MOST_INPUTS], "inputs_left_out": max(0, len(inputs) - _MOST_INPUTS)}
    return _json({"notice": NOTICE, **fields, **shortened})


def _json(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(shown(msgspec.to_builtins(document))), indent=2).decode()


def _resource(
    name: str, title: str, description: str, media_type: str, text_of: Callable[[Path], str]
) -> tuple[str, tuple[Resource, Callable[[Path], str]]]:
    uri = f"vocabgap://report/{name}"
    description = f"{description} {MARK}"
    resource = Resource(name=name, title=title, uri=uri, description=description, mime_type=media_type)
    return uri, (resource, text_of)


_RESOURCES: Final = dict(
    [
        _resource(
            "report.md", "Latest report", "The report that was published last.", "text/markdown", _markdown
        ),
        _resource(
            "capabilities.json",
            "Latest ranking",
            f"The first {_MOST_PUBLISHED} missing capabilities of that report, in order of rank.",
            "application/json",
            _capabilities,
        ),
        _resource(
            "run.json",
            "Latest run",
            "What that report was made of: logs with their digests, parameters, versions and counts.",
            "application/json",
            _manifest,
        ),
    ]
)
