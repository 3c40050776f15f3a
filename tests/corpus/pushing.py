"""What a case says of a push: the corpus before, whose push it is, and what revisions and parsers answer."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import msgspec
import polars as pl

from conforming.cases import AnyOf, Case, Each, Noted
from corpus.memory_store import MemoryStore, MemoryVersion
from vocabgap.corpus.chunks import frame_of, row_of
from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.incoming import Parser, RawFile, raw_text
from vocabgap.corpus.push import MOST_CHUNKS, PushResult, push
from vocabgap.corpus.withdrawal import Resolver
from vocabgap.errors import StateError

NOW: Final = datetime(2026, 4, 1, 10, tzinfo=UTC)
KNOWN: Final = frozenset(
    {"authenticated_tenant", "agent", "rows", "embed_returns", "parsers", "resolver", "spoof"}
)


class RefusingStore(MemoryStore):
    """A corpus that answers an addition as a case says."""

    def __init__(self, chunks: pl.DataFrame, answer: Mapping[str, Any]) -> None:
        super().__init__(chunks)
        self.answer = answer

    @contextmanager
    def changing(self, purpose: str) -> Iterator[MemoryVersion]:
        with super().changing(purpose) as change:
            answer, add = self.answer, change.add

            def answered(rows: pl.DataFrame) -> int:
                if not answer:
                    return add(rows)
                self.current.added.append(len(rows))
                raise RefusedError(answer.get("code") or Code.EMBED_FAILED, answer["error"])

            change.add = answered  # type: ignore[method-assign]
            yield change


def ingest(given: Mapping[str, Any], _: Mapping[str, Case]) -> dict[str, Any] | Noted:
    env = given.get("env") or {}
    rows = [
        row_of(row["id"], row["metadata"], row.get("document", "")) for row in env.get("rows") or []
    ]
    answer = env.get("embed_returns") or {}
    store = RefusingStore(frame_of(rows), answer)
    result = push(
        store,
        given["payload"],
        tenant=env.get("authenticated_tenant"),
        agent=env.get("agent"),
        now=NOW,
        refuse_false=env.get("spoof") == "reject",
        resolver=_resolver(env.get("resolver")),
        parsers=_parsers(env.get("parsers") or {}),
        strict_tombstones=True,
        confirmed=True,
        most=0 if answer.get("code") == Code.VOLUME_EXCEEDED else MOST_CHUNKS,
    )
    before = {row[0] for row in rows}
    after = store.current.rows()
    remaining = sorted(after["id"])
    stored = [
        {
            **msgspec.json.decode(metadata),
            "id": identity,
            "content": content,
            "description": content,
        }
        for identity, metadata, content in after.select("id", "metadata", "content").iter_rows()
        if identity not in before
    ]
    observed = {
        **result.as_object(),
        "metric": metric_of(result),
        "embed_calls": len(store.current.added),
        "throws": False,
        "remaining": AnyOf(sorted(before & set(remaining)), remaining),
        "stored": Each(stored),
        "manifests": {
            repo: AnyOf({"pathsAfterPush": paths}, paths)
            for repo, paths in store.current.table("paths").select("repo_slug", "paths").iter_rows()
        },
    }
    unknown = [key for key in env if key not in KNOWN]
    message = (
        f"env has {', '.join(map(ascii, unknown))}, which is not known here and was not followed"
    )
    return Noted(observed, message) if unknown else observed


def metric_of(result: PushResult) -> str:
    """Return the contract's word for the outcome of a push."""
    if result.errors:
        return "error"
    if result.deleted:
        return "reconcile" if result.ingested else "tombstone"
    return "ingest"


def repush_identical(given: Mapping[str, Any], _: Mapping[str, Case]) -> dict[str, Any]:
    payload = given.get("payload") or {
        "files": [{"content": "the same text", "sourcePath": "notes/same.txt"}]
    }
    store = MemoryStore()
    first = push(store, payload, now=NOW)
    rows = store.current.rows()
    second = push(store, payload, now=NOW + timedelta(days=1))
    return {
        "upserts": sum(result.added > 0 for result in (first, second)),
        "ingestedAt_changed": not rows.equals(store.current.rows()),
        "errors": [error.code for result in (first, second) for error in result.errors],
    }


def _resolver(answer: Any) -> Resolver | None:  # noqa: ANN401 - as a case has it
    """Return the resolver of a case: its paths, or the error that it raises."""
    if answer is None:
        return None
    paths: Iterable[Any] = answer.get("paths", ()) if isinstance(answer, dict) else answer

    def resolve(_base: str, _head: str) -> Iterable[Any]:
        if isinstance(answer, dict) and "error" in answer:
            raise StateError(answer["error"])
        return paths

    return resolve


def _parsers(named: Mapping[str, str] | list[str]) -> dict[str, Parser]:
    """Return the parsers that a case registers: their names, or the error of each."""
    if isinstance(named, list):
        return dict.fromkeys(named, raw_text)
    return {name: partial(_fail, message) for name, message in named.items()}


def _fail(message: str, _: RawFile) -> list[Mapping[str, Any]]:
    raise StateError(message)
