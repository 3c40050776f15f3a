"""`vocabgap mcp`: the same verbs for agents, as a server of the Model Context Protocol."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from vocabgap.cli.options import (
    ConfigOption,
    DecisionsOption,
    HiddenOption,
    TrustOption,
    VocabularyOption,
    settings_of,
)
from vocabgap.cli.output import PROGRAM, output_of
from vocabgap.model.settings import DEFAULT_OUT

_HIGHEST_PORT: Final = 65_535


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
    glossary: Annotated[
        str | None, typer.Option(help="Folder of the glossary that terms are checked against.")
    ] = None,
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
    http: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_HIGHEST_PORT,
            help="Serve over HTTP on this port, for clients of this machine that send the token which is"
            " told at the start, or that VOCABGAP_MCP_TOKEN names; 0 for a free port.",
        ),
    ] = None,
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """Serve agents over standard input and output, or over HTTP on this machine."""
    output = output_of(context)
    settings = settings_of(context).settings
    roots = settings.ingest.roots if root is None else (str(root),)
    if len(roots) > 1:
        context.fail(f"[ingest] roots names {len(roots)} folders, and a server has one: name it")
    from vocabgap.mcp import require_extra

    require_extra()
    from vocabgap.mcp.door import chosen_token, new_token
    from vocabgap.mcp.server import build
    from vocabgap.mcp.serving import serve_http, serve_stdio
    from vocabgap.mcp.workspace import Workspace

    workspace = Workspace.at(roots[0] if roots else Path(), settings, is_read_only=read_only)
    server = build(workspace, also or ())
    if http is None:
        serve_stdio(server)  # from here on standard output belongs to the protocol
        return

    chosen = chosen_token()
    token = chosen or new_token()

    def announce(address: str) -> None:
        # A token that was chosen is known, and is not told. The one that was made is told whatever is wanted
        # to be quiet: nobody could come in.
        output.event("listening", address=address, **({} if chosen else {"token": token}))
        output.note(f"{PROGRAM} serves {address}")
        if not chosen and not output.as_json:
            print(f"{PROGRAM} expects the header Authorization: Bearer {token}", file=sys.stderr, flush=True)

    serve_http(server, http, token, announce)
