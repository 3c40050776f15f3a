"""Scopes: whose meaning of a word counts, and which counts first."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from vocabgap.glossary.errors import InvalidTermError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class GlossaryScope(StrEnum):
    """The scopes of a glossary where none are named, from the one that counts first."""

    MISSION_LOCAL = "mission_local"
    TEAM_DOMAIN = "team_domain"
    AUDIENCE_DOMAIN = "audience_domain"
    CORE_DOMAIN = "core_domain"


DEFAULT_SCOPES: Final[tuple[str, ...]] = tuple(scope.value for scope in GlossaryScope)


class ScopeStack(msgspec.Struct, frozen=True):
    """The active scopes.

    The published contract calls the last of the usual ones `spec_kitty_core`. Where a folder has a seed file
    of that name, name the scopes so, or import the folder, which puts its terms into `core_domain`.

    Attributes:
        names: From the one that counts first; each also names a seed file.
        local: The scope whose senses hold in one mission only.
        authored: The scope that people's own senses are added to.

    Raises:
        InvalidTermError: A name is no name, comes twice, or one of the two is not among them.
    """

    names: tuple[str, ...] = DEFAULT_SCOPES
    local: str | None = None
    authored: str | None = None

    def __post_init__(self) -> None:
        for name in self.names:
            if not _NAME.fullmatch(name):
                raise InvalidTermError(f"scope {name!r}: expected letters, digits, '-' and '_'")
        if len(set(self.names)) < len(self.names):
            raise InvalidTermError(f"scopes {', '.join(self.names)}: a name comes twice")
        for named in (self.local, self.authored):
            if named is not None and named not in self.names:
                raise InvalidTermError(f"scope '{named}' is not among {', '.join(self.names)}")

    @property
    def local_scope(self) -> str | None:
        """The scope of one mission: the one that was named, else `mission_local` where it is active."""
        local = GlossaryScope.MISSION_LOCAL.value
        return self.local or (local if local in self.names else None)

    @property
    def authored_scope(self) -> str:
        """Where people's own senses go: the one named, else `team_domain`, else the first that is there."""
        team = GlossaryScope.TEAM_DOMAIN.value
        return self.authored or (team if team in self.names or not self.names else self.names[0])

    def precedence(self, scope: str) -> int:
        """The place of a scope, counted from 0; one that is not active comes after all others."""
        return self.names.index(scope) if scope in self.names else len(self.names)

    def limited_to(self, names: Iterable[str]) -> "ScopeStack":
        """The same stack with some scopes only, in the order in which they are named here."""
        wanted = tuple(names)
        return ScopeStack(
            wanted,
            self.local if self.local in wanted else None,
            self.authored if self.authored in wanted else None,
        )


class ScopeRef(msgspec.Struct, frozen=True):
    """A scope in one version.

    Attributes:
        scope: Its name.
        version_id: What its senses were, as an identifier.
    """

    scope: str
    version_id: str
