"""The command lines with which a person decides about a capability."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from vocabgap.reporting.details import SETTLED, Listed

_OURS: Final = re.compile(r"cap-[0-9a-f]{12}")


class Command(msgspec.Struct, frozen=True):
    """What a command does, and its words before and after the capability's identifier.

    Attributes:
        does: What it does, in a word or two.
        before: The words up to the identifier.
        after: The words from there on; those in capitals are for the person to fill in.
        group: The group of capabilities that it is for; null for all.
    """

    does: str
    before: str
    after: str
    group: str | None = None

    def line(self, capability_id: str) -> str:
        """The whole line. Nothing that a log says is in it, so that it can be pasted unread."""
        return f"{self.before}{capability_id}{self.after}"


_COMMANDS: Final = (
    ("merge", "vocabgap decide merge ", " OTHER", None),
    ("split", "vocabgap decide split ", " --wording 'WORDING'", None),
    ("rename", "vocabgap decide rename ", " 'NEW LABEL'", None),
    ("pin", "vocabgap decide pin ", "", None),
    ("dismiss", "vocabgap decide dismiss ", " --why 'REASON'", None),
    ("author", "vocabgap decide author ", " --entry ENTRY", None),
    ("reopen", "vocabgap decide reopen ", "", SETTLED),
)


def commands(everything: Sequence[Listed], deciding: str | None) -> tuple[Command, ...]:
    """The commands for every capability; none where there is none.

    Args:
        everything: The capabilities. If one has an identifier that is not of our making, there are no
            commands: what a shell would make of it is not known.
        deciding: The options that all of them end in; null where nobody is to be told of commands.
    """
    if deciding is None or not everything:
        return ()
    if any(not _OURS.fullmatch(each.capability.capability_id) for each in everything):
        return ()
    options = f" {deciding}" if deciding else ""
    return tuple(Command(does, before, after + options, group) for does, before, after, group in _COMMANDS)
