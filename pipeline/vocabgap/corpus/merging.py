"""Whether records may join a corpus: an id says what a chunk holds, its natural key which chunk it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.corpus.identity import natural_key
from vocabgap.corpus.outcome import Code, RefusedError
from vocabgap.corpus.rows import Row, frame_of, row_of
from vocabgap.corpus.store import Version

SAMPLE: Final = 5
_CANDIDATE: Final = ("tenant_id", "repo_slug", "kind", "name")  # equal wherever natural keys are
_SHOWN_ID: Final = 12


class Merged(StrEnum):
    """What becomes of a record that is merged."""

    PRESENT = "id-already-present"
    DIVERGENT = "natural-key-divergent"
    INSERTED = "inserted"


class DivergenceScan(StrEnum):
    """Whether records were compared with a corpus before they were merged into it, or why they were not."""

    PERFORMED = "performed"
    SKIPPED_EMPTY = "skipped-empty-target"
    SKIPPED_REPLACE = "skipped-replace-mode"


@dataclass(frozen=True, slots=True)
class Classified:
    """What becomes of a record, and the chunks of the corpus that it meets there."""

    id: str
    outcome: Merged
    live_ids: tuple[str, ...]
    key: tuple[Any, ...]


def divergence_scan(live: Version, *, replace: bool) -> DivergenceScan:
    """Whether records are to be compared with a corpus: not where it is empty, nor where nothing stays."""
    if replace:
        return DivergenceScan.SKIPPED_REPLACE
    return DivergenceScan.PERFORMED if len(live.rows(["id"])) else DivergenceScan.SKIPPED_EMPTY


def classify(live: Version, incoming: Sequence[Mapping[str, Any]]) -> list[Classified]:
    """What becomes of records that are merged into a corpus.

    Args:
        live: The corpus.
        incoming: Records with `id` and `metadata`.
    """
    ids = [record["id"] for record in incoming]
    present = set(live.rows(["id"], pl.col("id").is_in(ids))["id"])
    named = _alike(live, [record for record in incoming if record["id"] not in present])
    return [_classified(record, present, named) for record in incoming]


def refuse_divergence(classified: Iterable[Classified]) -> None:
    """Refuse a merge in which a record would stand beside another version of the same chunk.

    Raises:
        RefusedError: There is one; the message says how many, and names a few.
    """
    divergent = [each for each in classified if each.outcome is Merged.DIVERGENT]
    if not divergent:
        return
    sample = "; ".join(_told(each) for each in divergent[:SAMPLE])
    raise RefusedError(
        Code.DIVERGENCE,
        f"{len(divergent)} of the records name a chunk that is there under another id: {sample}. "
        "Nothing was written. See why the ids differ, or replace the corpus as a whole",
        divergent=len(divergent),
        sample=[{"id": each.id, "liveIds": list(each.live_ids)} for each in divergent[:SAMPLE]],
    )


def _alike(live: Version, incoming: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Natural key to the ids of the chunks that have it, for all keys of some records."""
    if not incoming:
        return {}
    rows: list[Row] = [row_of(record["id"], record["metadata"], None, verbatim="") for record in incoming]
    sought = frame_of(rows).select(_CANDIDATE).unique()
    tenants = sought["tenant_id"].drop_nulls().to_list()
    within = pl.col("tenant_id").is_in(tenants) | pl.col("tenant_id").is_null()
    chunks = live.rows(["id", "metadata", *_CANDIDATE], within)
    candidates = chunks.join(sought, on=_CANDIDATE, how="semi", nulls_equal=True).sort("id")
    named: dict[str, list[str]] = {}
    for identity, metadata in candidates.select("id", "metadata").iter_rows():
        named.setdefault(natural_key(msgspec.json.decode(metadata)), []).append(identity)
    return named


def _classified(
    record: Mapping[str, Any], present: set[str], named: Mapping[str, Sequence[str]]
) -> Classified:
    identity, metadata = record["id"], record["metadata"]
    key = tuple(metadata.get(field) for field in ("type", "name", "source", "tenantId", "repoSlug"))
    if identity in present:
        return Classified(identity, Merged.PRESENT, (identity,), key)
    alike = tuple(named.get(natural_key(metadata), ()))
    return Classified(identity, Merged.DIVERGENT if alike else Merged.INSERTED, alike, key)


def _told(each: Classified) -> str:
    kind, name, source, tenant, repo = each.key
    ids = f"{each.id[:_SHOWN_ID]} here, {each.live_ids[0][:_SHOWN_ID]} there"
    return f"{kind} {name!r} in {source!r} of {tenant}/{repo} ({ids})"
