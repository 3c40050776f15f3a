"""The glossary as a slice of the program."""

from typing import Annotated, Final, Literal

import msgspec

from vocabgap.extensions import Extension, PathText, Reference, Section, flag, meaning

FOLDER: Final = ("--glossary",)
"""The options of a command that the commands in its hint repeat."""
DEFAULT_GLOSSARY: Final = ".vocabgap/glossary"


class GlossarySettings(Section, frozen=True):
    """The folder of the glossary, its scopes, and the strictness of its gate."""

    folder: Annotated[
        PathText | None,
        flag(
            "--glossary",
            "Folder of the glossary, with a file for each scope; if given, its open questions stop reports.",
            written=True,
        ),
    ] = None
    events: Annotated[
        PathText | None,
        meaning("Folder of the event logs; by default `events` within `folder`.", written=True),
    ] = None
    scopes: Annotated[
        tuple[Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_-]*\Z")], ...],
        meaning(
            "The scopes in order of precedence; by default `mission_local`, `team_domain`,"
            " `audience_domain` and `spec_kitty_core`."
        ),
    ] = ()
    strictness: Annotated[
        Literal["off", "medium", "max"],
        flag(
            "--strictness",
            "Conflicts that stop a step or a report: none (off), severe ones (medium) or all (max).",
            rare=True,
        ),
    ] = "medium"


EXTENSION: Final = Extension(
    name="glossary",
    settings=GlossarySettings,
    commands={"glossary": Reference("glossary.checks:GLOSSARY")},
    purpose="Words",
    options={"report": (*FOLDER, "--strictness"), "mcp": FOLDER},
    tools=Reference("glossary.tools:glossary_check"),
    gate=Reference("glossary.runtime:check_report"),
    pages={"how to": ("glossary",)},
)
