"""The identity of a chunk: its owner, its hashes and its natural key, and JSON as JavaScript writes it."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from types import NoneType
from typing import Any, Final

import msgspec

from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.errors import unusable

# A source path may be stored if it is relative and inside its root.
_PATH_FAULTS: Final = tuple(
    (re.compile(pattern, re.ASCII | re.IGNORECASE), fault)
    for pattern, fault in (
        (r"\A\Z", "is empty"),
        (r"\0", "contains a null byte"),
        (r"\\", "contains a backslash instead of a forward slash"),
        (r"\A/", "is absolute"),
        (r"\A[a-z]:", "starts with a drive letter"),
        (r"/(/|\Z)", "has an empty part"),
        (r"(\A|/)\.\.(/|\Z)", "leads out of its folder with '..'"),
        (r"(\A|/)\.(/|\Z)", "has '.' as a part"),
    )
)
PATH_HINT: Final = "expected a path relative to the root of its repository, such as notes/today.jsonl"
SHARED_REPO: Final = "neo"
DEFAULT_VISIBILITY: Final = "team"
PRIVATELY: Final = "private"  # the other visibility
NATURAL_KEY: Final = ("tenantId", "repoSlug", "source", "name", "type")
TENANT: Final = re.compile("[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
TENANT_HINT: Final = "1 to 64 lower-case letters, digits and dashes, no dash at either end"
REPO: Final = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
REPO_HINT: Final = "parts of letters, digits, dots, dashes and underscores, joined by slashes"
_ABSENT, _NULL, _TEXT, _OTHER = range(4)
GUARDED: Final = (
    "tenantId",
    "repoSlug",
    "visibility",
    "originAgentIdentity",
    "tenantConfigVersion",
    "ingestedAt",
)
"""The fields of a chunk that the receiving side sets."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)

_ENCODE_FAST: Final = msgspec.json.Encoder().encode  # escapes the same characters as JavaScript
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INDEX: Final = re.compile("0|[1-9][0-9]{0,9}")  # a key that JavaScript may take for an index
_PLAIN: Final = frozenset({str, bool, NoneType})
_EXACT: Final = 2**53  # JavaScript stores every whole number up to here exactly
_PLAIN_FROM, _PLAIN_BELOW = 1e-6, 1e21  # JavaScript writes numbers between these without an exponent


@lru_cache(maxsize=4096)
def path_fault(path: str) -> str | None:
    """Return why a source path cannot be stored, or None if it can."""
    return next((fault for pattern, fault in _PATH_FAULTS if pattern.search(path)), None)


def normal_tenant(claimed: object) -> str | None:
    """Return a tenant without one leading @, or None if there is no name."""
    if not isinstance(claimed, str):
        return None
    return claimed.removeprefix("@") or None


def require_tenant(tenant: str) -> str:
    """Return the normal form of a tenant; refuse an unusable name."""
    tenant_id = normal_tenant(tenant) or ""
    if not TENANT.fullmatch(tenant_id):
        raise unusable("tenant", TENANT_HINT, tenant)
    return tenant_id


def content_hash(record: Mapping[str, Any], tenant_id: str | None, repo_slug: str | None) -> str:
    """Return the SHA-256 (hex) of the fields that a chunk's identity depends on.

    The chunk names these fields in `hashInputs`; fields it lacks do not count. If it names `tenantId` or
    `repoSlug`, its own value replaces the one of the receiving side.
    """
    inputs = record["hashInputs"]
    values: dict[str, Any] = {"tenantId": tenant_id, "repoSlug": record.get("repoSlug") or repo_slug}
    values |= {field: record.get(field) for field in inputs}
    # JavaScript has no field `__proto__`.
    counted = {
        field: value
        for field, value in values.items()
        if field != "__proto__" and (value is not None or (field in record and field in inputs))
    }
    return sha256_of(counted)


def storage_id(chunk: Mapping[str, Any], stamp: Mapping[str, Any]) -> str:
    """Return the id (SHA-256, hex) of a stored chunk; its owner comes from the stamp."""
    values = {field: stamp[field] for field in ("tenantId", "repoSlug") if field in stamp}
    values |= {field: chunk[field] for field in ("hash", "type", "name", "source") if field in chunk}
    return sha256_of(values)


def natural_key(metadata: Mapping[str, Any]) -> str:
    """Return the natural key of a chunk: chunks with the same key are versions of one thing.

    Each field carries a tag of its type, so that an absent value, null and any text stay different.
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


def sha256_of(value: object) -> str:
    """Return the SHA-256 (hex) of a value's compact JSON."""
    return hashlib.sha256(compact_json(value).encode()).hexdigest()


def stamped(chunk: Mapping[str, Any], stamp: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chunk with the guarded fields of the stamp; its `id` and `hash` are its storage id."""
    identity = storage_id(chunk, stamp)
    unguarded = {field: value for field, value in chunk.items() if field not in GUARDED}
    return {**unguarded, **stamp, "hash": identity, "id": identity}


def refuse_claims(chunk: Mapping[str, Any], stamp: Mapping[str, Any]) -> None:
    """Refuse a chunk that makes a false claim."""
    if claims := false_claims(chunk, stamp):
        field = claims[0]
        raise RefusedError(
            Code.SPOOF_REJECTED,
            f"{field}: the payload claims {chunk[field]!r}, but it is {stamp.get(field)!r}; "
            "nothing was written. Correct the claim, or set tenant_spoof to overwrite",
            fields=claims,
            claimed={name: chunk[name] for name in claims},
        )


def false_claims(chunk: Mapping[str, Any], stamp: Mapping[str, Any]) -> list[str]:
    """Return the guarded fields of a chunk that contradict the stamp."""
    return [field for field in GUARDED if field in chunk and not _same(field, chunk[field], stamp.get(field))]


def _same(field: str, claimed: object, stamp: object) -> bool:
    if field in {"tenantId", "originAgentIdentity"} and isinstance(claimed, str):
        return normal_tenant(claimed) == normal_tenant(stamp)
    return type(claimed) is type(stamp) and claimed == stamp


def milliseconds(moment: datetime) -> int:
    """Return a moment in whole milliseconds since 1970."""
    return (moment - _EPOCH) // _MILLISECOND


def moment_of(count: int) -> datetime:
    """Return the moment of a count of milliseconds."""
    return _EPOCH + count * _MILLISECOND


def compact_json(value: object) -> str:
    """Write a value as JavaScript's `JSON.stringify` does, so that both sides compute the same hash.

    Numbers look as in JavaScript (`42.0` as `42`), and halves of surrogate pairs are escaped. Keys that look
    like an index come first, in numeric order; all other keys keep their order.
    """
    if _is_plain(value):
        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            return _ENCODE_FAST(value).decode()
    return _escaped(_written(value))


def is_unicode(text: str) -> bool:
    """Check that a text can be stored: it has no half of a surrogate pair."""
    return text.isascii() or _SURROGATE.search(text) is None


def _is_plain(value: object) -> bool:
    """Check that any encoder writes the same JSON as JavaScript."""
    if isinstance(value, dict):
        if value and min(value) < ":":  # a key may look like an index
            return False
        value = list(value.values())
    if isinstance(value, list):
        return _PLAIN.issuperset(map(type, value)) or all(map(_is_plain, value))
    return type(value) in _PLAIN or (type(value) is int and -_EXACT <= value <= _EXACT)


def _written(value: object) -> str:
    if isinstance(value, dict):
        indices = sorted(filter(_is_index, value), key=int)
        keys = [*indices, *(key for key in value if not _is_index(key))]
        return "{" + ",".join(f"{_ENCODE(key)}:{_written(value[key])}" for key in keys) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _ENCODE(value)
    return _number(value)


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) <= 2**32 - 2


def _number(value: float) -> str:
    """Write a number as JavaScript does: with the fewest digits that distinguish it from all others."""
    try:
        number = float(value) + 0.0  # no negative zero
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number and not _PLAIN_FROM <= abs(number) < _PLAIN_BELOW:
        return repr(number).replace("e-0", "e-")
    return f"{Decimal(repr(number)).normalize():f}"


def _escaped(text: str) -> str:
    """Escape halves of surrogate pairs; two that belong together become one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)
    return text
