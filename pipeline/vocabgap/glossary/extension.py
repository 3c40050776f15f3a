"""The extension of the program by the glossary."""

from typing import Annotated, Final, Literal

import msgspec

from vocabgap.extensions import Extension, PathText, Reference, Section, flag, meaning

FOLDER: Final = ("--glossary",)
"""The options of a command that the commands of a hint take, too."""
DEFAULT_GLOSSARY: Final = ".vocabgap/glossary"


class GlossarySettings(Section, frozen=True):
    """The folder of the glossary, its scopes, and the findings that its gate stops."""

    folder: Annotated[
        PathText | None,
        flag(
            "--glossary",
            "Folder of the glossary, a file for each scope; if named, it is a gate.",
            written=True,
        ),
    ] = None
    events: Annotated[
        PathText | None, meaning("Folder of its logs; by default `events` within `folder`.", written=True)
    ] = None
    scopes: Annotated[
        tuple[Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_-]*\Z")], ...],
        meaning(
            "The scopes, the first one with precedence; by default `mission_local`, `team_domain`,"
            " `audience_domain` and `core_domain`."
        ),
    ] = ()
    strictness: Annotated[
        Literal["off", "medium", "max"],
        flag(
            "--strictness",
            "What stops a step or a report: nothing (off), bad conflicts (medium) or all (max).",
        ),
    ] = "medium"


EXTENSION: Final = Extension(
    name="glossary",
    settings=GlossarySettings,
    commands={"glossary": Reference("glossary.checks:GLOSSARY")},
    options={
        "report": {
            "--glossary": "Folder of a glossary that is a gate: it stops a report with contested words.",
            "--strictness": "How strict it is: off, medium or max.",
        },
    },
    gate=Reference("glossary.gate:check_report"),
    pages={"how to": ("glossary",)},
)
