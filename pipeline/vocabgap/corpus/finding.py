"""Find chunks of a shared corpus by owner, repository, path, kind, name and text."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.corpus.chunks import LISTED_BY, absent, readable, require_owner
from vocabgap.corpus.version import CHUNKS, GAP_KIND, PATH_KEY, Version
from vocabgap.errors import texts
from vocabgap.ingest.scanning import reads_shared
from vocabgap.model.lookup import Named, lookup
from vocabgap.model.record import FEWEST_DIGITS, SHARED_TENANT
from vocabgap.text import short_hash

_NOUNS: Final = {"repo_slug": "repository", "source_path": "path", "kind": "kind", "name": "name"}
SHOWN: Final = [name for name in CHUNKS.names if name not in {"embedding", "backup_line"}]
_IS_GAP: Final = pl.col("kind").eq_missing(pl.lit(GAP_KIND))
Names = str | Sequence[str]


class ListedChunks(NamedTuple):
    """The chunks that a reader asked for, and notes on tenants without chunks."""

    chunks: pl.DataFrame  # table `chunks` without vectors, the newest first
    notes: tuple[str, ...]


def show_chunk(rows: pl.DataFrame, name: str) -> dict[str, Any]:
    """Return the row of table `chunks` with an id or a name, or with the beginning of one."""
    either = pl.col("id", "name")
    hits = rows.filter(pl.any_horizontal(either == pl.lit(name)))
    if hits.is_empty() and len(name) >= FEWEST_DIGITS:
        hits = rows.filter(pl.any_horizontal(either.str.starts_with(name)))
    candidates, asked = (hits, [name]) if hits.height else (rows.filter(~_IS_GAP), [])
    things = [
        Named(short_hash(identity), "/".join(place), [own or "", *asked])
        for identity, *place, own in candidates.select("id", *PATH_KEY, "name").iter_rows()
    ]
    place = lookup(things, name, singular="record", plural="records", hint=LISTED_BY)
    return candidates.row(place, named=True)


def chosen(
    version: Version,
    names: Mapping[str, Names] = {},
    *,
    tenants: Names = (),
    repositories: Names = (),
    shared: bool = True,
    private: pl.Expr | None = None,
) -> tuple[pl.Expr, tuple[str, ...]]:
    """Return the condition of the chunks that a reader asks for, and notes on tenants without chunks.

    Raises:
        NotFoundError: The reader can read no chunk with one of the names; the error lists similar names.
    """
    tenants = texts("tenants", tenants)
    condition = readable(tenants, shared=shared, private=private)
    visible = version.rows(["tenant_id", *_NOUNS], condition)
    without_chunks = [tenant for tenant in tenants if tenant not in visible["tenant_id"]]
    is_shared = shared and SHARED_TENANT in visible["tenant_id"]
    for tenant in () if is_shared else without_chunks:
        require_owner(version, tenant)
    for column, wanted_names in {"repo_slug": repositories, **names}.items():
        fits = {name: _fits(column, name) for name in texts(column, wanted_names)}
        for name, fit in fits.items():
            if visible.filter(fit).is_empty():
                # The name of a gap is its id.
                others = (visible.filter(~_IS_GAP) if column == "name" else visible)[column]
                raise absent(f"{_NOUNS[column]} '{name}'", name, others, LISTED_BY)
        condition &= pl.any_horizontal(fits.values()) if fits else pl.lit(value=True)
    return condition, tuple(map(reads_shared, without_chunks if is_shared else ()))


def _fits(column: str, name: str) -> pl.Expr:
    """Return the condition of chunks with a name, in a folder, or with the first digits of a gap's id."""
    value, also = pl.col(column), pl.lit(value=False)
    if column == "source_path":
        also = value.str.starts_with(f"{name.rstrip('/')}/")
    elif column == "name" and len(name) >= FEWEST_DIGITS:
        also = _IS_GAP & value.str.starts_with(name)
    return (value == pl.lit(name)) | also


def _with_values(content: str) -> str:
    """Append the values of a JSON object, whose text may be escaped."""
    with suppress(msgspec.DecodeError, RecursionError, UnicodeError):
        return "\n".join([content, *map(str, msgspec.json.decode(content, type=dict[str, Any]).values())])
    return content


_ESCAPED: Final = pl.when(_IS_GAP & pl.col("content").str.contains("\\", literal=True)).then("content")
TEXT: Final = pl.coalesce(_ESCAPED.map_elements(_with_values, return_dtype=pl.String), "content")
