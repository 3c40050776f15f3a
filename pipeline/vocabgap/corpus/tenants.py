"""What is kept of tenants beside their chunks: the paths of repositories, how often each was configured."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from vocabgap.corpus.compact_json import is_unicode
from vocabgap.corpus.identity import (
    DEFAULT_VISIBILITY,
    milliseconds,
    moment_of,
    normal_tenant,
    require_tenant,
)
from vocabgap.corpus.outcome import Code
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import PathSnapshot
from vocabgap.corpus.withdrawal import normal_paths
from vocabgap.errors import VocabgapError


@dataclass(frozen=True, slots=True)
class Written:
    """What came of writing something about a tenant.

    Attributes:
        value: What was written, under the contract's names; nothing where it failed.
        code: Why it failed; None where it did not.
        message: The same in words.
    """

    value: dict[str, Any]
    code: Code | None = None
    message: str = ""


def manifest_node(tenant_id: str) -> str:
    """The name under which the contract keeps the snapshots of a tenant."""
    return f"kb-manifest:{tenant_id}"


def set_manifest(
    store: Store, tenant: str, repo_slug: str, paths: object, now: datetime | None = None
) -> Written:
    """Keep which paths a repository has. The version of the tenant's configuration stays as it is.

    Args:
        store: The corpus.
        tenant: Whose repository it is.
        repo_slug: The repository.
        paths: Its paths; those that are no text, or empty, are left out.
        now: The moment that it is true for; the present one by default.
    """
    tenant_id, listed = normal_tenant(tenant), normal_paths(paths)
    if listed is None or tenant_id is None or not repo_slug or not is_unicode(repo_slug):
        told = (
            "`pathsAfterPush` is expected to be a list of paths, of a tenant and a repository that are named"
        )
        return Written({}, Code.TENANT_MANIFEST_INVALID, told)
    moment = milliseconds(datetime.now(UTC) if now is None else now)
    try:
        with store.changing(f"snapshot of {tenant_id}/{repo_slug}") as change:
            change.keep_snapshot(PathSnapshot(tenant_id, repo_slug, listed, moment_of(moment)))
    except (VocabgapError, OSError) as error:
        return Written({}, Code.TENANT_MANIFEST_FAILED, str(error))
    return Written(
        {
            "node": manifest_node(tenant_id),
            "tenantId": tenant_id,
            "repoSlug": repo_slug,
            "pathsAfterPush": list(listed),
            "updatedAt": moment,
            "visibility": DEFAULT_VISIBILITY,
        }
    )


def configure(store: Store, tenant: str) -> int:
    """Note that a tenant was configured anew: chunks that are not pushed again fall behind.

    Args:
        store: The corpus.
        tenant: The tenant.

    Returns:
        How often it was configured by now.

    Raises:
        InvalidInputError: It is no tenant.
        VocabgapError: The corpus cannot be changed.
    """
    tenant_id = require_tenant(tenant)
    with store.changing(f"configuration of {tenant_id}") as change:
        return change.configure(tenant_id)


def set_config(store: Store, tenant: str) -> Written:
    """The same as the contract answers it.

    Args:
        store: The corpus.
        tenant: The tenant.
    """
    try:
        version = configure(store, tenant)
    except (VocabgapError, OSError) as error:
        return Written({}, Code.TENANT_CONFIG_FAILED, str(error))
    return Written({"tenantId": normal_tenant(tenant), "version": version})
