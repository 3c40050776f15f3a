"""What the glossary adds to the program."""

from typing import Annotated, Final, Literal

import msgspec

from vocabgap.extensions import Extension, Reference
from vocabgap.model.section import PathText, Section, flag, meaning

DEFAULT_GLOSSARY: Final = ".vocabgap/glossary"


class GlossarySettings(Section, frozen=True):
    """Where the glossary lies, which scopes it has, and what its gate stops."""

    folder: Annotated[
        PathText | None,
        flag("--glossary", "Folder of the glossary, a file for each scope; if named, it is a gate."),
    ] = None
    events: Annotated[
        PathText | None, meaning("Folder of its logs; by default `events` within `folder`.")
    ] = None
    scopes: Annotated[
        tuple[Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_-]*\Z")], ...],
        meaning(
            "The scopes, the first of which has precedence; by default `mission_local`, `team_domain`,"
            " `audience_domain` and `core_domain`."
        ),
    ] = ()
    local: Annotated[
        str | None, meaning("Scope of a single mission; by default `mission_local`, if it is one of them.")
    ] = None
    authored: Annotated[
        str | None,
        meaning("Scope of senses that people write; by default `team_domain`, else the first."),
    ] = None
    strictness: Annotated[
        Literal["off", "medium", "max"],
        flag(
            "--strictness",
            "What stops a step or a report: nothing (off), bad conflicts (medium) or all (max).",
        ),
    ] = "medium"
    contradictions: Annotated[
        bool, meaning("Search the text that a step generates for uses against a definition.")
    ] = True


EXTENSION: Final = Extension(
    name="glossary",
    settings=GlossarySettings,
    written=("folder", "events"),
    commands={"glossary": Reference("doors.cli.glossary_command:glossary")},
    tools=(Reference("doors.mcp.terms_tool:check_terms"),),
    gate=Reference("glossary.gate:check_report"),
    pages={"how to": ("glossary",)},
)
