"""Whose a chunk is and which one it is: the identity tuple, content hashes, storage ids and natural keys."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from vocabgap.corpus.compact_json import compact_json
from vocabgap.errors import unusable
from vocabgap.records.record import ROOT_KIND

SHARED_TENANT: Final = "neo-shared"
SHARED_REPO: Final = "neo"
DEFAULT_VISIBILITY: Final = "team"
CONTRACT_ROOT_KINDS: Final = ("neo-workspace", "bare-repo", "external-source")
ROOT_KINDS: Final = (*CONTRACT_ROOT_KINDS, ROOT_KIND)
"""What a stored chunk's root may be; the last one is ours and never in a parsed-chunk-v1."""

NATURAL_KEY: Final = ("tenantId", "repoSlug", "source", "name", "type")
_TENANT: Final = re.compile("[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_UNSEEN: Final = "__proto__"  # a field of this name is none to JavaScript
_ABSENT, _NULL, _TEXT, _OTHER = range(4)


def normal_tenant(claimed: object) -> str | None:
    """A tenant as it is compared and stamped, without one leading @; None where none is named."""
    if not isinstance(claimed, str):
        return None
    return claimed.removeprefix("@") or None


def is_tenant(name: str) -> bool:
    """Whether a name can be a tenant's: 1 to 64 lower-case letters, digits and dashes, none at either end."""
    return _TENANT.fullmatch(name) is not None


def require_tenant(tenant: str) -> str:
    """Refuse what is no tenant; gives it as it is stamped.

    Raises:
        InvalidInputError: It is none.
    """
    named = normal_tenant(tenant) or ""
    if not is_tenant(named):
        told = "1 to 64 lower-case letters, digits and dashes, no dash at either end"
        raise unusable("tenant", told, tenant)
    return named


def require_identity(tenant: str, repo: str) -> str:
    """Refuse to go on without knowing whose it is; gives the tenant as it is stamped.

    Where nobody is named, a payload itself would say whose it is, and could name anybody.

    Args:
        tenant: The tenant.
        repo: The repository.

    Raises:
        InvalidInputError: One of them cannot be used.
    """
    named = require_tenant(tenant)
    if not repo:
        raise unusable("repo", "a name", repo)
    return named


def content_hash(record: Mapping[str, Any], tenant_id: str | None, repo_slug: str | None) -> str:
    """The SHA-256 (hex) of what a chunk says that its identity depends on.

    Args:
        record: A parsed chunk. Of the fields that its `hashInputs` name, in their order, those count that it
            has; naming `tenantId` or `repoSlug` puts the record's own claim in the place of what is given.
        tenant_id: Whose it is, as the receiving side knows.
        repo_slug: The repository, for a record that names none.
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
    """The id (SHA-256, hex) that a chunk is stored under: it depends on whose it is, whatever it claims.

    Args:
        chunk: A chunk with `hash`, `type`, `name` and `source`.
        stamp: `tenantId` and `repoSlug` as the receiving side knows them.
    """
    known = {field: stamp[field] for field in ("tenantId", "repoSlug") if field in stamp}
    known |= {field: chunk[field] for field in ("hash", "type", "name", "source") if field in chunk}
    return _digest(known)


def natural_key(metadata: Mapping[str, Any]) -> str:
    """What names a chunk whatever it says: two chunks have the same key where they are versions of one thing.

    Every field says of what sort it is, so that an absent one, null and any text stay apart.

    Args:
        metadata: A chunk's metadata, or the chunk.
    """
    return compact_json([_tagged(metadata, field) for field in NATURAL_KEY])


def _tagged(metadata: Mapping[str, Any], field: str) -> list[Any]:
    if field not in metadata:
        return [_ABSENT]
    value = metadata[field]
    if value is None:
        return [_NULL]
    return [_TEXT, value] if isinstance(value, str) else [_OTHER, value]


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(compact_json(values).encode()).hexdigest()
