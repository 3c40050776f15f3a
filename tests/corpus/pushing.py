"""What a case says of a push: the corpus before, whose push it is, and what revisions and parsers answer."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
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
KNOWN: Final = (
    "authenticated_tenant",
    "agent",
    "rows",
    "embed_returns",
    "embed_throws",
    "parsers",
    "spoof",
)
REVISIONS: Final = ("resolv", "revision")
FAILS: Final = ("error", "throws", "message", "code")


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
                if any(answer.get(key) for key in FAILS):
                    self.current.added.append(len(rows))
                    message = answer.get("message") or answer.get("error") or "refused"
                    raise RefusedError(answer.get("code") or Code.EMBED_FAILED, str(message))
                added = add(rows)
                return int(answer.get("embedded", added))

            change.add = answered  # type: ignore[method-assign]
            yield change


def ingest(given: Mapping[str, Any], _: Mapping[str, Case]) -> dict[str, Any] | Noted:
    env = given.get("env") or {}
    rows = [
        row_of(row["id"], row["metadata"], row.get("document", "")) for row in env.get("rows") or []
    ]
    answer = env.get("embed_returns") or {}
    if env.get("embed_throws"):
        answer = {"error": str(env["embed_throws"])}
    store = RefusingStore(frame_of(rows), answer)
    over = answer.get("code") == Code.VOLUME_EXCEEDED
    result = push(
        store,
        given["payload"],
        tenant=env.get("authenticated_tenant"),
        agent=env.get("agent"),
        now=NOW,
        refuse_false=env.get("spoof") == "reject",
        resolver=_resolver(env),
        parsers=_parsers(env.get("parsers") or {}),
        strict_tombstones=True,
        confirmed=True,
        most=0 if over else MOST_CHUNKS,
    )
    before = {row[0] for row in rows}
    after = store.current.rows()
    left = sorted(after["id"])
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
        "eventType": metric_of(result),
        "embed_calls": len(store.current.added),
        "throws": False,
        "remaining": AnyOf(sorted(before & set(left)), left),
        "deleted_ids": sorted(before - set(left)),
        "deletedIds": sorted(before - set(left)),
        "stored": Each(stored),
        "stored_count": len(stored),
        "manifests": {
            repo: AnyOf({"pathsAfterPush": paths}, paths)
            for repo, paths in store.current.table("paths").select("repo_slug", "paths").iter_rows()
        },
    }
    unknown = [key for key in env if key not in KNOWN and not _is_about_revisions(key)]
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
    kept = store.current.rows()
    second = push(store, payload, now=NOW + timedelta(days=1))
    return {
        "upserts": sum(result.added > 0 for result in (first, second)),
        "ingestedAt_changed": not kept.equals(store.current.rows()),
        "errors": [error.code for result in (first, second) for error in result.errors],
    }


def _resolver(env: Mapping[str, Any]) -> Resolver | None:
    """Return the resolver that a case describes, in whatever way."""
    said = {
        key: env[key]
        for key in env
        if _is_about_revisions(key) and (env[key] is not None and env[key] is not False)
    }
    if not said:
        return None
    key, value = next(iter(said.items()))
    if isinstance(value, str) or (
        isinstance(value, dict) and any(value.get(each) for each in FAILS)
    ):
        raised = (
            value
            if isinstance(value, str)
            else next(value[each] for each in FAILS if value.get(each))
        )
        return lambda _base, _head: _fail(str(raised))
    if "throw" in key.lower() or "error" in key.lower():
        return lambda _base, _head: _fail(key)
    paths = list(_listed(value))
    return lambda _base, _head: paths


def _is_about_revisions(key: str) -> bool:
    return any(word in key.lower() for word in REVISIONS)


def _listed(value: object) -> Iterator[Any]:
    """Yield the paths of a list, or of the first list in an object."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, dict):
        for each in value.values():
            if isinstance(each, list | dict):
                yield from _listed(each)
                return


def _fail(message: str) -> Iterable[Any]:
    raise StateError(message)


def _parsers(said: object) -> dict[str, Parser]:
    """Return the parsers that a case registers: their names, or the pieces of each."""
    if isinstance(said, list):
        return dict.fromkeys(said, raw_text)
    return (
        {name: _parser(answer) for name, answer in said.items()} if isinstance(said, dict) else {}
    )


def _parser(answer: object) -> Parser:
    def parse(_: RawFile) -> list[Mapping[str, Any]]:
        if isinstance(answer, list):
            return answer
        raise StateError(str(answer))

    return parse
