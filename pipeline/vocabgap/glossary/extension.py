"""What the glossary adds to the program."""

from typing import Annotated, Final, Literal

import msgspec

from vocabgap.extensions import Extension, Reference
from vocabgap.model.section import PathText, Section, flag

DEFAULT_GLOSSARY: Final = ".vocabgap/glossary"


class GlossarySettings(Section, frozen=True):
    """Where the glossary lies, whose meanings count first, and what its gate lets pass.

    Attributes:
        folder: Holds a file `<scope>.yaml` for each scope. Where it is named, every report is checked. Where
            it is not, the commands of the glossary look in `.vocabgap/glossary`.
        events: Folder of its logs; by default `events` within `folder`.
        scopes: The scopes, of which the first counts first; `mission_local`, `team_domain`, `audience_domain`
            and `core_domain` where none are named.
        local: The scope of a single mission; by default `mission_local`, if it is one of them.
        authored: The scope that people's own senses go to; by default `team_domain`, else the first.
        strictness: What stops a step or a report: with `off` nothing, with `medium` what is bad, with `max`
            whatever is open.
        contradictions: Whether what a step generates is looked through for uses against a definition.
    """

    folder: Annotated[PathText | None, flag("--glossary", "Folder of the glossary.")] = None
    events: PathText | None = None
    scopes: tuple[Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_-]*\Z")], ...] = ()
    local: str | None = None
    authored: str | None = None
    strictness: Annotated[
        Literal["off", "medium", "max"],
        flag(
            "--strictness",
            "What stops a step or a report: nothing (off), bad conflicts (medium) or all (max).",
        ),
    ] = "medium"
    contradictions: bool = True


EXTENSION: Final = Extension(
    name="glossary",
    settings=GlossarySettings,
    written=("folder", "events"),
    commands={"glossary": Reference("doors.cli.glossary_command:glossary")},
    tools=(Reference("doors.mcp.terms_tool:check_terms"),),
    gate=Reference("glossary.gate:check_report"),
    pages={"how to": ("glossary",)},
)
