"""Whose a chunk is and which one it is: the identity tuple, content hashes, storage ids and natural keys."""

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import msgspec

from vocabgap.corpus.compact_json import compact_json
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.errors import unusable

# Source paths that may be stored are relative, inside the root, and the same file on every system.
_PATH_FAULTS: Final = tuple(
    (re.compile(pattern, re.ASCII | re.IGNORECASE), fault)
    for pattern, fault in (
        (r"\A\Z", "is empty"),
        (r"\0", "holds a null byte"),
        (r"\\", "holds a backslash, where paths have forward slashes"),
        (r"\A/", "is absolute"),
        (r"\A[a-z]:", "starts with a drive letter"),
        (r"/(/|\Z)", "has an empty part"),
        (r"(\A|/)\.\.(/|\Z)", "leads out of its folder with '..'"),
        (r"(\A|/)\.(/|\Z)", "has '.' as a part, so that it is not the only spelling of its path"),
        (
            r"(?:\A|/)((?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\ *(?:\.[^/]*)?)(?:/|\Z)",
            "has the part '{0[1]}', a name that Windows reserves",
        ),
    )
)
PATH_HINT: Final = "expected a path relative to the root of its repository, such as notes/today.jsonl"
SHARED_TENANT: Final = "neo-shared"
SHARED_REPO: Final = "neo"
DEFAULT_VISIBILITY: Final = "team"
CONTRACT_ROOT_KINDS: Final = ("neo-workspace", "bare-repo", "external-source")
NATURAL_KEY: Final = ("tenantId", "repoSlug", "source", "name", "type")
TENANT: Final = re.compile("[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
TENANT_HINT: Final = "1 to 64 lower-case letters, digits and dashes, no dash at either end"
_REPO: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_REPO_HINT: Final = "parts of letters, digits, dots, dashes and underscores, joined by slashes"
_UNSEEN: Final = "__proto__"  # a field of this name is none to JavaScript
_ABSENT, _NULL, _TEXT, _OTHER = range(4)
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


@lru_cache(maxsize=4096)
def path_fault(path: str) -> str | None:
    """What keeps a source path from being stored, in words; None where nothing does."""
    found = ((pattern.search(path), fault) for pattern, fault in _PATH_FAULTS)
    return next((fault.format(match) for match, fault in found if match), None)


def normal_tenant(claimed: object) -> str | None:
    """A tenant as it is compared and stamped, without one leading @; None where none is named."""
    if not isinstance(claimed, str):
        return None
    return claimed.removeprefix("@") or None


def require_tenant(tenant: str) -> str:
    """Refuse what is no tenant; gives it as it is stamped."""
    tenant_id = normal_tenant(tenant) or ""
    if not TENANT.fullmatch(tenant_id):
        raise unusable("tenant", TENANT_HINT, tenant)
    return tenant_id


def require_identity(tenant: str, repo: str) -> str:
    """Refuse to go on without knowing whose it is; gives the tenant as it is stamped.

    Where nobody is named, a payload itself would say whose it is, and could name anybody.
    """
    tenant_id = require_tenant(tenant)
    if not _REPO.fullmatch(repo):
        raise unusable("repo", _REPO_HINT, repo)
    return tenant_id


def content_hash(record: Mapping[str, Any], tenant_id: str | None, repo_slug: str | None) -> str:
    """The SHA-256 (hex) of what a chunk says that its identity depends on.

    Of the fields that its `hashInputs` name, in their order, those count that it has. Where they name
    `tenantId` or `repoSlug`, the chunk's own claim takes the place of what the receiving side knows.
    """
    values: dict[str, Any] = {"tenantId": tenant_id, "repoSlug": record.get("repoSlug") or repo_slug}
    for field in record["hashInputs"]:
        values[field] = record.get(field)
    known = {
        field: value
        for field, value in values.items()
        if field != _UNSEEN and (value is not None or (field in record and field in record["hashInputs"]))
    }
    return _digest(known)


def storage_id(chunk: Mapping[str, Any], stamp: Mapping[str, Any]) -> str:
    """The id (SHA-256, hex) that a chunk is stored under: it depends on whose it is, whatever it claims."""
    known = {field: stamp[field] for field in ("tenantId", "repoSlug") if field in stamp}
    known |= {field: chunk[field] for field in ("hash", "type", "name", "source") if field in chunk}
    return _digest(known)


def natural_key(metadata: Mapping[str, Any]) -> str:
    """What names a chunk whatever it says: two chunks have the same key where they are versions of one thing.

    Every field says of what sort it is, so that an absent one, null and any text stay apart.
    """
    return compact_json([_tagged(metadata, field) for field in NATURAL_KEY])


def _tagged(metadata: Mapping[str, Any], field: str) -> list[Any]:
    match metadata.get(field):
        case None:
            return [_NULL if field in metadata else _ABSENT]
        case str(value):
            return [_TEXT, value]
        case value:
            return [_OTHER, value]


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(compact_json(values).encode()).hexdigest()


class Spoof(StrEnum):
    """What is done about a claim that the receiving side knows better."""

    OVERWRITE = "overwrite"
    REJECT = "reject"


class Stamp(msgspec.Struct, frozen=True, rename="camel"):
    """What the receiving side knows of a chunk; `ingested_at` in milliseconds since 1970."""

    tenant_id: str = SHARED_TENANT
    repo_slug: str = SHARED_REPO
    visibility: str = DEFAULT_VISIBILITY
    tenant_config_version: int = 0
    ingested_at: int = 0
    origin_agent_identity: str | msgspec.UnsetType = msgspec.UNSET

    def as_fields(self) -> dict[str, Any]:
        """The stamp under the names that a chunk's fields have."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields


def stamped(chunk: Mapping[str, Any], stamp: Stamp) -> dict[str, Any]:
    """A chunk with the stamp of the receiving side and the id that it is stored under, also as its hash."""
    known = stamp.as_fields()
    identity = storage_id(chunk, known)
    unguarded = {field: value for field, value in chunk.items() if field not in GUARDED}
    return {**unguarded, **known, "hash": identity, "id": identity}


def refuse_claims(chunk: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse a chunk that claims something false."""
    if claims := false_claims(chunk, known):
        field = claims[0]
        raise RefusedError(
            Code.SPOOF_REJECTED,
            f"{field}: {chunk[field]!r} is claimed, but it is {known.get(field)!r}; nothing was written. "
            "Push as whom you are, or let false claims be overwritten (tenant_spoof)",
            fields=claims,
            claimed={each: chunk[each] for each in claims},
        )


def false_claims(chunk: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """The guarded fields of a chunk that say something else than the stamp."""
    return [field for field in GUARDED if field in chunk and not _same(field, chunk[field], known.get(field))]


def _same(field: str, claimed: object, known: object) -> bool:
    if field in {"tenantId", "originAgentIdentity"} and isinstance(claimed, str):
        return normal_tenant(claimed) == normal_tenant(known)
    return type(claimed) is type(known) and claimed == known


def milliseconds(moment: datetime) -> int:
    """A moment as the contract counts it: whole milliseconds since 1970."""
    return (moment - _EPOCH) // _MILLISECOND


def moment_of(count: int) -> datetime:
    """The moment of a count of milliseconds."""
    return _EPOCH + count * _MILLISECOND
