"""The stamp of the receiving side: it says whose a chunk is, whatever the chunk itself claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from vocabgap.corpus.identity import DEFAULT_VISIBILITY, SHARED_REPO, SHARED_TENANT, normal_tenant, storage_id
from vocabgap.corpus.outcome import Code, RefusedError

GUARDED: Final = (
    "tenantId",
    "repoSlug",
    "visibility",
    "originAgentIdentity",
    "tenantConfigVersion",
    "ingestedAt",
)
"""The fields of a chunk that only the receiving side can know."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class Spoof(StrEnum):
    """What is done about a claim that the receiving side knows better."""

    OVERWRITE = "overwrite"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the receiving side knows of a chunk.

    Attributes:
        tenant_id: Whose it is.
        repo_slug: The tenant's repository.
        visibility: Who may see it.
        agent: Who pushed it, if that is known.
        config_version: The version of the tenant's configuration.
        ingested_at: When it came, in milliseconds since 1970.
    """

    tenant_id: str = SHARED_TENANT
    repo_slug: str = SHARED_REPO
    visibility: str = DEFAULT_VISIBILITY
    agent: str | None = None
    config_version: int = 0
    ingested_at: int = 0

    def as_fields(self) -> dict[str, Any]:
        """The same under the names that a chunk's fields have."""
        named = {"originAgentIdentity": self.agent} if self.agent else {}
        return {
            "tenantId": self.tenant_id,
            "repoSlug": self.repo_slug,
            "visibility": self.visibility,
            "tenantConfigVersion": self.config_version,
            "ingestedAt": self.ingested_at,
            **named,
        }


def milliseconds(moment: datetime) -> int:
    """A moment as the contract counts it: whole milliseconds since 1970."""
    return (moment - _EPOCH) // _MILLISECOND


def moment_of(count: int) -> datetime:
    """The moment of a count of milliseconds."""
    return _EPOCH + count * _MILLISECOND


def false_claims(chunk: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """The guarded fields of a chunk that say something else than the stamp.

    Args:
        chunk: The chunk.
        known: The fields of a stamp; a guarded field that is not among them cannot be claimed at all.
    """
    return [field for field in GUARDED if field in chunk and not _same(field, chunk[field], known.get(field))]


def stamped(chunk: Mapping[str, Any], stamp: Stamp, spoof: Spoof = Spoof.OVERWRITE) -> dict[str, Any]:
    """A chunk with the stamp of the receiving side and the id that it is stored under, also as its hash.

    Args:
        chunk: A chunk with `hash`, `type`, `name` and `source`.
        stamp: What the receiving side knows.
        spoof: What is done about a claim that is false.

    Raises:
        RefusedError: There is one, and it is to be rejected.
    """
    known = stamp.as_fields()
    if spoof is Spoof.REJECT:
        refuse_claims(chunk, known)
    identity = storage_id(chunk, known)
    own = {field: value for field, value in chunk.items() if field not in GUARDED}
    return {**own, **known, "hash": identity, "id": identity}


def refuse_claims(chunk: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse a chunk that claims something false.

    Raises:
        RefusedError: It does.
    """
    claims = false_claims(chunk, known)
    if claims:
        field = claims[0]
        raise RefusedError(
            Code.SPOOF_REJECTED,
            f"{field}: {chunk[field]!r} is claimed, but it is {known.get(field)!r}; nothing was written. "
            "Push as whom you are, or let false claims be overwritten (tenant_spoof)",
            fields=claims,
            claimed={each: chunk[each] for each in claims},
        )


def _same(field: str, claimed: object, known: object) -> bool:
    if field in {"tenantId", "originAgentIdentity"} and isinstance(claimed, str):
        return normal_tenant(claimed) == normal_tenant(known)
    return type(claimed) is type(known) and claimed == known
