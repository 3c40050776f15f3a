"""`vocabgap mcp`: the same verbs for agents, as a server of the Model Context Protocol."""

from pathlib import Path
from typing import Annotated

import typer

from vocabgap.doors.cli.options import (
    ConfigOption,
    DecisionsOption,
    HiddenOption,
    TrustOption,
    VocabularyOption,
    settings_of,
    with_options,
)
from vocabgap.model.settings import DEFAULT_OUT


@with_options(verb="mcp")
def mcp(
    context: typer.Context,
    root: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of the image repositories; by default that which [ingest] roots names in the"
            " settings, else the current one.",
            readable=False,
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(help=f"Folder of the published report.  [default: {DEFAULT_OUT}]")
    ] = None,
    vocabulary: VocabularyOption = None,
    decisions: DecisionsOption = None,
    hidden: HiddenOption = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tool that writes anything.")
    ] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            help="A further name of the tool that logs a gap, as agents know it from other servers, such as"
            " report_missing_tool; may be repeated.",
        ),
    ] = None,
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """Serve agents over standard input and output."""
    settings = settings_of(context).settings
    roots = settings.ingest.roots if root is None else (str(root),)
    if len(roots) > 1:
        context.fail(f"[ingest] roots names {len(roots)} folders, and a server has one: name it")
    from vocabgap.doors.mcp import require_extra

    require_extra()
    from vocabgap.doors.mcp.server import build
    from vocabgap.doors.mcp.serving import serve_stdio
    from vocabgap.doors.mcp.workspace import Workspace

    workspace = Workspace.at(roots[0] if roots else Path(), settings, is_read_only=read_only)
    serve_stdio(build(workspace, also or ()))  # from here on standard output belongs to the protocol
