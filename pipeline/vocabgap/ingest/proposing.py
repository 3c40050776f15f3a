"""Propose which keys of foreign objects are the fields of a record, by their names and their values.

A proposal becomes a ranking, so it must be sure. For a conversation or a list of all calls there is no
proposal: no key says what was missing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from vocabgap.ingest.decoding import json_type, ungrouped
from vocabgap.model.moments import format_of, moment_of
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.sources import Pointer, json_pointer, pointer_of, value_at
from vocabgap.text import excerpt, surface

_DEPTH: Final = 3  # of the objects that are searched for keys
_MOST_KEYS: Final = 200
_MOST_TEXTS: Final = 1_000  # distinct values of a key
_MOST_SIGNS: Final = 500  # of a value, which tell what it is
_SHOWN: Final = 15
_LEADING: Final = 5
# The words of a key that say what it holds, the best first. The fields are tried in this order.
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "timestamp": (
        "timestamp", "time", "created", "when", "date", "datetime", "ts", "submitted", "opened", "received",
        "posted", "at", "datum", "zeit", "erstellt", "créé", "fecha", "creado",
    ),
    "count": (
        "count", "votes", "upvotes", "searches", "times", "occurrences", "mentions", "requests", "frequency",
        "impressions", "users", "customers", "people", "voters", "supporters", "stimmen", "anzahl", "votos",
    ),
    "description": (
        "need", "request", "wish", "suggestion", "idea", "wunsch", "vorschlag", "souhait", "besoin", "deseo",
        "description", "feedback", "why", "reason", "message", "body", "details", "text", "question",
        "explanation", "content", "comment", "summary", "beschreibung", "grund", "motif", "motivo",
    ),
    "missing_capability": (
        "capability", "missing", "tool", "feature", "function", "query", "queries", "search", "term",
        "keyword", "title", "subject", "topic", "q", "funktion", "titel", "betreff", "suche", "titre",
        "recherche", "título",
    ),
    "workaround": ("workaround", "alternative", "alternatives", "instead", "fallback"),
    "session_id": (
        "session", "conversation", "run", "trace", "thread", "author", "user", "login", "username", "email",
        "reporter", "requester", "customer", "creator", "submitter", "person", "who",
        "reported", "requested", "benutzer", "kunde", "nutzer", "autor", "client",
        "utilisateur", "auteur", "cliente", "usuario",
    ),
    "image_id": (
        "image", "project", "repository", "repo", "workflow", "agent", "app", "product", "board", "channel",
        "workspace", "server", "service", "site", "source", "projekt", "produkt", "projet", "producto",
    ),
}  # fmt: skip
_NEEDS: Final = frozenset(_WORDS["description"][:10])  # also fit `missing_capability`
_CALLS: Final = frozenset(("tool", "function"))  # that succeeded, too, if an outcome stands beside
_NAMES: Final = frozenset(("session_id", "image_id"))
# A key with such a word holds no need and no count.
_CODES: Final = frozenset((
    "type", "role", "status", "state", "kind", "level", "severity", "priority", "event", "lang",
    "language", "locale", "country", "id", "uuid", "guid", "url", "uri", "link", "href", "hash", "sha",
    "version", "model", "author", "user", "username", "login", "email", "sender", "participant",
    "assignee", "reporter", "customer", "owner", "creator", "submitter", "key", "path", "file", "filename",
    "folder", "mime", "format", "color", "result", "results", "reply", "replies", "comments", "tokens",
    "chars", "pages", "duration", "latency", "ms", "seconds", "size", "length", "updated", "closed", "due",
))  # fmt: skip
_OUTCOMES: Final = frozenset((
    "success", "ok", "error", "status", "outcome", "duration", "latency", "exit", "failed",
))  # fmt: skip
_SPEAKERS: Final = frozenset((
    "user", "assistant", "system", "tool", "agent", "bot", "human", "ai", "model", "customer", "support",
))  # fmt: skip
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}([./-])\d{1,2}\1\d{2,4}\b")
_WORD: Final = re.compile(r"[^\W\d_a-zß-ÿ]?[a-zß-ÿ]+|[A-Z]+|\d+")
_NO_TEXT: Final = re.compile(rf"{_DAY.pattern}|\w+://|\S+@\S+\.\w+$|[\d\W_]*$")


@dataclass(slots=True)
class Keys:
    """The keys of some objects, with their frequencies and values."""

    objects: list[dict[str, Any]]
    times: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, objects: list[dict[str, Any]]) -> "Keys":
        """Count the keys of objects."""
        keys = cls(objects)
        for value in objects:
            for pointer, member in _leaves(value):
                path = path_of(pointer)
                if path not in keys.times and len(keys.times) >= _MOST_KEYS:
                    continue
                keys.times[path] += 1
                keys.examples.setdefault(path, member)
                texts = keys.texts.setdefault(path, set())
                if _is_plain(member) and len(texts) < _MOST_TEXTS:
                    texts.add(str(member)[:_MOST_SIGNS])
        return keys

    @property
    def in_words(self) -> str:
        """The most frequent keys, each with its frequency and an example."""
        listed = sorted(self.times.items(), key=lambda item: -item[1])
        shown = [
            f"{excerpt(key)} ({times:,}, {_example(self.examples[key])})" for key, times in listed[:_SHOWN]
        ]
        more = len(listed) - _SHOWN
        return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown) or "no keys"

    def proposal(self) -> dict[str, str]:
        """Return the most plausible path of each field; empty if no need is sure."""
        if any(_is_speaker(self.texts[path], path) for path in self.times):
            return {}
        free = [path for path in self.times if _is_plain(self.examples[path])]
        proposed: dict[str, str] = {}
        for name in _WORDS:
            if path := self._best(free, name):
                proposed[name] = path
                free.remove(path)
        need = proposed.get("description", "")
        is_need = need and not _NEEDS.isdisjoint(_words_of(need))
        if is_need and "missing_capability" not in proposed and (second := self._best(free, "description")):
            proposed |= {"description": second, "missing_capability": need}
        days = [path for path in free if self._most(path, _DAY.match) and self._are_dates(path)]
        if len(days) == 1 and "timestamp" not in proposed:
            proposed["timestamp"] = days[0]
        if proposed.keys().isdisjoint(PHRASE_FIELDS):
            texts = sorted((-self._words(path), path) for path in free if self._is_text(path, words=2))
            is_sure = texts and (len(texts) == 1 or texts[0][0] <= 3 * texts[1][0])
            proposed |= {"description": texts[0][1]} if is_sure else {}
        called = proposed.get("missing_capability", "")
        if called and not _CALLS.isdisjoint(_words_of(called)) and "description" not in proposed:
            outcomes = (path for path in self.times if not _OUTCOMES.isdisjoint(_words_of(path)))
            proposed = {} if any(outcomes) else proposed
        if proposed.keys().isdisjoint(PHRASE_FIELDS):
            return {}
        if date_format := format_of(self.texts[proposed["timestamp"]] if "timestamp" in proposed else ()):
            proposed["timestamp"] += f"|{date_format}"
        first = ("description", "missing_capability")
        return {name: proposed[name] for name in (*first, *_WORDS) if name in proposed}

    def leading(self, proposal: dict[str, str]) -> str:
        """Return a line with the most frequent wordings by a proposal."""
        path = next(proposal[name] for name in PHRASE_FIELDS if name in proposal)
        times, wordings = Counter[str](), dict[str, str]()
        for value in self.objects:
            text = str(value_at(value, pointer_of(path)) or "").strip()
            if any(map(str.isalpha, text)):
                counted = str(value_at(value, pointer_of(proposal["count"]))) if "count" in proposal else "1"
                number, need = ungrouped(counted), surface(text)
                times[need] += int(number) if number.isdecimal() else 1
                wordings.setdefault(need, text)
        needs = sorted(times.items(), key=lambda item: (-item[1], item[0]))[:_LEADING]
        return "the most frequent wordings: " + ", ".join(
            f'"{excerpt(wordings[need], 60)}" ({number:,})' for need, number in needs
        )

    def unclear_dates(self) -> list[str]:
        """Return a line for each key whose dates have several meanings."""
        days = [path for path in self.times if self._most(path, _DAY.match) and not self._are_dates(path)]
        return [
            f"dates such as {min(self.texts[path])} have several meanings: add"
            f" --map 'timestamp={path}|%d/%m/%Y', or another format"
            for path in days
        ]

    def _are_dates(self, path: str) -> bool:
        return bool(self._most(path, moment_of) or format_of(self.texts[path]))

    def _best(self, paths: Iterable[str], name: str) -> str:
        """Return the path that suits a field best; empty if none does."""
        scored = [(score, path) for path in paths if (score := self._score(path, name)) is not None]
        return min(scored)[1] if scored else ""

    def _score(self, path: str, name: str) -> tuple[bool, int, bool, int] | None:
        """Return a sort key: the lowest suits the field best. None if the key does not suit it."""
        last, known = _words_of(path), _WORDS[name]
        is_code = last[-1] == "id"
        if name in _NAMES and last[-1] in ("id", "name", "key", "slug", "login", "email", "by"):
            above = _words_of(path.rpartition(".")[0])
            last = last[:-1] or (above if any(above) else last)
        places = [known.index(word) for word in (last[-1:] if name in _NAMES else last) if word in known]
        if not places:
            return None
        fits = True
        if name == "timestamp":
            fits = self._are_dates(path) and _CODES.isdisjoint(last)
        elif name == "count":
            fits = self._most(path, lambda value: ungrouped(value).isdecimal()) and _CODES.isdisjoint(last)
        elif name not in _NAMES:
            is_name = name == "missing_capability" or not _NEEDS.isdisjoint(last)
            fits = self._is_text(path, words=1 if is_name else 2)
        return (len(last) > 1, min(places), is_code, -len(self.texts[path])) if fits else None

    def _is_text(self, path: str, words: int) -> bool:
        """Tell whether the values look like those of a person, with at least `words` words in the median."""
        values = self.texts[path]
        if not values or not _CODES.isdisjoint(_words_of(path)[-1:]) or self._most(path, _NO_TEXT.match):
            return False
        return self._words(path) >= words

    def _words(self, path: str) -> float:
        """Return the median number of words of the values of a key."""
        return median(len(value.split()) for value in self.texts[path])

    def _most(self, path: str, test: Callable[[str], object]) -> bool:
        """Tell whether most of the distinct values of a key pass a test."""
        values = self.texts[path]
        return 2 * sum(bool(test(value)) for value in values) > len(values)


def path_of(pointer: Pointer) -> str:
    """Return the keys of a pointer as a path of the settings."""
    if any(not key or "." in key or "/" in key for key in pointer):
        return json_pointer(pointer)
    return ".".join(pointer)


def _leaves(value: dict[str, Any], above: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    for key, member in value.items():
        if isinstance(member, dict | list) and (moment := moment_of(member)):
            yield (*above, key), moment.isoformat()
        elif isinstance(member, dict) and member and len(above) + 1 < _DEPTH:
            yield from _leaves(member, (*above, key))
        elif member not in (None, "", [], {}):
            yield (*above, key), member


def _example(value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return f'"{excerpt(value, 40)}"'
    return str(value) if _is_plain(value) else json_type(value)


def _words_of(path: str) -> list[str]:
    """Return the words of the last key of a path."""
    words = _WORD.findall(path.rpartition("/" if path[:1] == "/" else ".")[2])
    return [word.casefold() for word in words] or [""]


def _is_plain(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_speaker(values: set[str], path: str) -> bool:
    """Tell whether a key has the roles of a conversation, such as user and assistant."""
    several = 2
    is_named = not {"role", "speaker", "sender", "participant", "from"}.isdisjoint(_words_of(path))
    return is_named and len({value.casefold() for value in values} & _SPEAKERS) >= several
