"""Hostile inputs of one, two and four sizes: no reader and no rule takes more than its share of CPU time.

`CASES` has them by name, those of each slice too. A test takes small sizes, `make soak` larger ones.
"""

import gzip
import hashlib
import io
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import polars as pl

from slices import parts
from vocabgap.clustering.contrasts import parting_poles, poles_of
from vocabgap.clustering.describing import best_wording, labels_of
from vocabgap.clustering.spelling import spellings
from vocabgap.clustering.wordings import compared_text
from vocabgap.clutter import shared_lines
from vocabgap.decisions.record import read_decisions
from vocabgap.errors import VocabgapError, nearest
from vocabgap.files.yaml import parsed_with_lines
from vocabgap.ingest.adapters import ADAPTERS
from vocabgap.ingest.checking import read_baseline
from vocabgap.ingest.proposing import Keys
from vocabgap.ingest.scanning import scan
from vocabgap.messages import is_refusal, refused_call, unknown_name
from vocabgap.model.corrections import corrected_in, without_corrections
from vocabgap.model.frames import need
from vocabgap.model.loading import load_settings
from vocabgap.model.moments import format_of, moment_of
from vocabgap.model.other import encoded, paths_in, values_at
from vocabgap.model.sources import rules_in_force
from vocabgap.ranking.screening import rule_of
from vocabgap.ranking.vocabulary import load_vocabulary
from vocabgap.reporting.issues import read_issues
from vocabgap.reporting.wording import code, escape
from vocabgap.text import (
    escape_unseen_in_json,
    excerpt,
    literal,
    own_form,
    pieces,
    printable_name,
    surface,
    visible,
    without_commands,
    without_commands_in_json,
    words,
)

Content = bytes | str
_MOST: Final = 3  # times the CPU seconds of half the size
_LEAST: Final = 0.3  # CPU seconds that are compared
_TRIES: Final = 3


class Case(NamedTuple):
    """An input that grows, and what reads it.

    Attributes:
        make: Returns the input of about so many characters, lines or values.
        use: Reads it; it may refuse it by an error of ours.
        size: The smallest size.
        is_text: One of many alphabets of a rule; a test takes some of them.
    """

    make: Callable[[int], Any]
    use: Callable[[Any], object]
    size: int
    is_text: bool = False


def problem(case: Case) -> str | None:
    """Compare the CPU times of two sizes; None if the larger one takes no more than its share.

    What is steep must be so at twice these sizes, too: a short time on a busy machine is uncertain.
    """
    with suppress(VocabgapError):
        case.use(case.make(16))  # loads tables
    return _steep(case, 2 * case.size) and _steep(case, 4 * case.size)


def problems() -> Iterator[str | None]:
    """Compare all cases."""
    for name, case in CASES.items():
        found = problem(case)
        yield found and f"{name}: {found}"


def _steep(case: Case, size: int) -> str | None:
    if _seconds(case, 2 * size) < _LEAST:
        return None
    half, whole = (min(_seconds(case, each) for _ in range(_TRIES)) for each in (size, 2 * size))
    is_steep = whole > _LEAST and whole > _MOST * half
    return f"{half:.2f} CPU s for {size:,}, {whole:.2f} for {2 * size:,}" if is_steep else None


def _seconds(case: Case, size: int) -> float:
    content = case.make(size)
    for cached in [each for module in _own_modules() for each in module.values()]:
        if hasattr(cached, "cache_clear") and cached.cache_parameters()["maxsize"] is not None:
            cached.cache_clear()  # what it keeps by text, but not the tables
    began = time.process_time()
    with suppress(VocabgapError):
        case.use(content)
    return time.process_time() - began


def _own_modules() -> Iterator[dict[str, Any]]:
    return (vars(module) for name, module in [*sys.modules.items()] if name.startswith("vocabgap."))


def repeated(piece: str) -> Callable[[int], str]:
    """Return what writes a piece again and again, up to a number of characters."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def lines(line: Callable[[int], str]) -> Callable[[int], str]:
    """Return what writes a number of numbered lines."""
    return lambda number: "".join(f"{line(place)}\n" for place in range(number))


def _random_words(size: int) -> str:
    drawn = random.Random(size)  # noqa: S311
    some = (
        "".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(1, 9))) for _ in count()
    )
    return _joined(some, size)


def _joined(some: Iterator[str], size: int, sign: str = " ") -> str:
    listed: list[str] = []
    while size > 0:
        listed.append(next(some))
        size -= len(listed[-1]) + len(sign)
    return sign.join(listed)


_PIECES: Final = (
    "x", "x ", "ab", "aB", "A", "Ab ", "a_", "a-b ", "_", "-", " ", "\n", "\t", " \n", "\r",
    "\u2028", "\0", ".", ". ", ",", ", ", ":", ": ", ";", "!", "?", "'", '"', "`", "``", "“",
    "a'b ", "'a ", '"a" ', "`a` ", "“a” ", "(", ")", "()", "[", "]", "](", "[a](", "{", "}", "<",
    ">", "<a", "<a>", "<!--", "</a>", "&", "&amp;", "*", "**a", "*a* ", "#", "#1 ", "|", "\\",
    "\\u", "~", "^", "=", "+", "+1 ", "<=5 ", "c++ ", "@", "a@", "a@b.c ", "//", "http://",
    "http://a.b/ ", "www.", "a.", "a.b ", "1.1.1.1 ", "1", "1 ", "1.", "1,", "-1 ", "0x",
    "abcdef0 ", "::", "##[", "::a::", "%", "$", "$a", "/", "/a", "a/b ", "~/", "e\u0301", "\u0301",
    "\u200d", "\ufe0f", "\U0001f600", "\ufdfa", "\ud800", "字", "字 ", "ก", "ß", "İ", "with ",
    "without a ", "no ", "not ", "non ", "too ", "in out ", "from a to b ", "and ", "a, b ",
    "the ", "please ", "I want to ", "i would like ", "can you ", "used unused ", "add remove ",
    "want denied ", "is the ", "x is a y. ", "Note: ", "error: ", "failed ", "corrects ",
    f"corrects {'a' * 64} ", f"{'a' * 64} ", f"{'a' * 63} ", "wrong ", "wrong: ", "see above, ",
    "Tool 'x' does not exist. ", "unknown tool x ", "Unknown tool: ", "command not found: ",
    "x: command not found\n", "No such tool available: ", "permission denied ",
    "Available tools: a, ", "Traceback (most recent call last):\n", '  File "x", line 1\n',
    "    at a.b (c.js:1)\n", "Error: x\n", "```\n", "```a\n", "> ", "- ", "- a\n", "1. ", "1. a\n",
    "    a\n", "# a\n", "a\n===\n", "a |", "|-|", "2026-06-01 ", "10:07 ", "\x1b[31m",
)  # fmt: skip
TEXTS: Final[Mapping[str, Callable[[int], str]]] = {
    **{repr(piece): repeated(piece) for piece in _PIECES},
    "marks before a letter": lambda size: ")" * size + "x",
    "words": _random_words,
    "numbered words": lambda size: _joined(map("word{}".format, count()), size),
    "negated words": lambda size: _joined(
        (f"{_letters(n)} un{_letters(n)}" for n in count(10_000)), size
    ),
    "camel case": lambda size: _joined((_letters(n).title() for n in count(10_000)), size, ""),
    "snake case": lambda size: _joined(map(_letters, count(10_000)), size, "_"),
    "particles among words": lambda size: _joined(
        (f"{_letters(n)} in" for n in count(10_000)), size
    ),
    "a wish and refusals": lambda size: "i want " + repeated("permission denied ")(size),
}


def _letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def _is_told(text: str) -> object:
    return rule_of(text, "", text, text, rules=rules_in_force())


RULES: Final[Mapping[str, Callable[[str], object]]] = {
    **{
        rule.__name__: rule
        for rule in (
            surface,
            own_form,
            words,
            visible,
            excerpt,
            literal,
            without_commands,
            escape_unseen_in_json,
            without_commands_in_json,
            escape,
            code,
            unknown_name,
            is_refusal,
            refused_call,
            corrected_in,
            without_corrections,
            need,
            moment_of,
        )
    },
    "printable_name": lambda text: printable_name(text.replace("\ud800", "")),
    "pieces": lambda text: [*pieces(text.split())],
    "shared lines": lambda text: compared_text(text, shared_lines([text, f"{text} b"])),
    "poles": lambda text: poles_of(surface(text).split()),
    "parting poles": lambda text: parting_poles(
        [form.split()] if (form := surface(text)) else [], [text]
    ),
    "spellings": lambda text: spellings([text, text[::-1]]),
    "labels": lambda text: (
        labels_of([text, f"{text}s"]),
        best_wording([(text, 1), (text[1:], 1)]),
    ),
    "nearest": lambda text: nearest(text[:2_000], [text[:2_000], text[1:2_000], "other"]),
    "corrections": lambda text: corrected_in(f"{text} {'a' * 64}"),
    "not a gap": _is_told,
}


def file_of(name: str, read: Callable[[Path], object]) -> Callable[[Content], object]:
    """Return what writes a content to a file of a name, and reads it."""

    def use(content: Content) -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                content if isinstance(content, bytes) else content.encode("utf-8", "replace")
            )
            return read(path)

    return use


def _packed(
    make: Callable[[int], Content], pack: Callable[[bytes], bytes]
) -> Callable[[int], bytes]:
    def packed(size: int) -> bytes:
        content = make(size)
        return pack(content if isinstance(content, bytes) else content.encode())

    return packed


def _in_zstd(content: bytes) -> bytes:
    if sys.version_info < (3, 14):
        from backports import zstd  # noqa: PLC0415
    else:
        from compression import zstd  # noqa: PLC0415
    return zstd.compress(content)


def _digest(number: int) -> str:
    return hashlib.sha256(b"%d" % number).hexdigest()


def _parquet(frame: pl.DataFrame) -> bytes:
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


def _keys(number: int, key: str = '"k{}"') -> str:
    return ",".join(f"{key.format(place)}:{place}" for place in range(number))


def _a_need(**fields: object) -> Callable[[int], str]:
    return lambda place: json.dumps({"description": f"need {place}", **fields})


# Contents of logs, by size in lines or values.
LOGS: Final[Mapping[str, tuple[Callable[[int], Content], int]]] = {
    "empty lines": (repeated("\n"), 15_000),
    "blank lines": (repeated(" \n"), 15_000),
    "blank lines and needs": (lines(lambda place: "" if place % 50 else _a_need()(place)), 3_000),
    "empty objects": (lines(lambda _: "{}"), 1_000),
    "no objects": (lines(lambda _: "[]"), 1_000),
    "no JSON": (lines(lambda _: "x"), 800),
    "needs": (lines(_a_need()), 1_000),
    "needs without a mark": (lines(lambda place: "\ufeff" + _a_need()(place)), 800),
    "needs with a null": (lines(_a_need(operations_involved=None)), 1_000),
    "bad ratings": (lines(_a_need(satisfaction="x")), 800),
    "bad times": (lines(_a_need(timestamp="x")), 800),
    "other keys": (lines(lambda place: json.dumps({"description": "a", f"k{place}": place})), 800),
    "corrections": (
        lines(
            lambda place: json.dumps(
                {
                    "description": f"n {place}",
                    "snapshot_hash": _digest(place),
                    "notes": f"corrects {_digest(place - 1)}",
                }
            )
        ),
        400,
    ),
    "corrections of one record": (
        lines(
            lambda place: json.dumps(
                {
                    "description": f"n {place}",
                    "snapshot_hash": _digest(0),
                    "notes": f"corrects {_digest(0)}",
                }
            )
        ),
        400,
    ),
    "one record": (
        lines(lambda _: '{"description":"a","timestamp":"2026-06-01T10:00:00Z","session_id":"s"}'),
        1_000,
    ),
    "many names": (
        lambda size: json.dumps(
            {"description": "a", "operations_involved": [*map(str, range(size))]}
        ),
        1_500,
    ),
    "one object": (lambda size: '{"description":"a",' + _keys(size) + "}", 800),
    "one object of equal keys": (
        lambda size: '{"description":"a",' + _keys(size, '"k"') + "}",
        800,
    ),
    "one object of dotted keys": (
        lambda size: '{"description":"a",' + _keys(size, '"a.b{}.c"') + "}",
        800,
    ),
    "one object of objects": (
        lambda size: (
            '{"description":"a","o":{'
            + ",".join(f'"k{n}":{{"a":{{"b":{n}}}}}' for n in range(size))
            + "}}"
        ),
        800,
    ),
    "lists in a line": (lambda size: "[" + "[]," * size + "[]]", 3_000),
    "objects in a line": (lambda size: "[" + "{}," * size + "{}]", 1_000),
    "values in a line": (lambda size: "{} " * size, 3_000),
    "open lists": (repeated("["), 20_000),
    "open objects": (repeated('{"a":'), 20_000),
    "a document": (
        lambda size: json.dumps([{"description": f"n {n}"} for n in range(size)], indent=1),
        800,
    ),
    "a document of lists": (
        lambda size: json.dumps(
            {f"k{n}": [{"description": f"n {n}"}] for n in range(size)}, indent=1
        ),
        800,
    ),
    "an answer of a query": (
        lambda size: json.dumps(
            {"columns": ["description"], "results": [[f"n {n}"] for n in range(size)]}
        ),
        800,
    ),
    "columns of a query": (
        lambda size: json.dumps({"columns": [*map(str, range(size))], "results": [[*range(size)]]}),
        800,
    ),
    "columns of a table": (
        lambda size: (
            ",".join(map("c{}".format, range(size))) + "\n" + ",".join(map(str, range(size)))
        ),
        1_500,
    ),
    "equal columns of a table": (
        lambda size: "description" + ",c" * size + "\na" + ",1" * size,
        1_500,
    ),
    "dotted columns of a table": (
        lambda size: (
            "description,"
            + ",".join(map("properties.a.{}".format, range(size)))
            + "\na"
            + ",1" * size
        ),
        1_500,
    ),
    "rows of a table": (lambda size: "description\n" + "\n".join(map(str, range(size))), 1_000),
    "quoted rows of a table": (lambda size: "description\n" + '"a\n\n"\n' * size, 800),
    "an open quote of a table": (lambda size: 'description,b\n"' + "a\n" * size, 3_000),
    "quotes of a table": (lambda size: "description,b\n" + '"' * size, 3_000),
    "rows without cells": (lambda size: "description,b\n" + "\n" * size, 3_000),
    "a log with JSON": (lines(lambda place: f"2026-06-01 10:00:00 INFO x {_a_need()(place)}"), 800),
    "braces of a log": (lambda size: "2026-06-01 10:00:00 INFO x {" + "{" * size, 3_000),
    "escapes": (lambda size: '{"description":"' + "\\u00e9" * size + '"}', 3_000),
    "surrogates": (lambda size: '{"description":"' + "\\ud800" * size + '"}', 3_000),
    "UTF-16": (lambda size: lines(_a_need())(size).encode("utf-16"), 800),
    "rows of Parquet": (
        lambda size: _parquet(pl.DataFrame({"description": [*map(str, range(size))]})),
        1_500,
    ),
    "columns of Parquet": (
        lambda size: _parquet(
            pl.DataFrame({"description": "a"} | {f"c{n}": n for n in range(size)})
        ),
        300,
    ),
    "names of Parquet": (
        lambda size: _parquet(
            pl.DataFrame({"description": ["a"], "operations_involved": [[*map(str, range(size))]]})
        ),
        1_500,
    ),
}
# The messages of agents, by the adapter that reads them, with `{}` for a number.
_MESSAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "messages": (
        '{"message":{"content":[{"type":"tool_use","id":"{}","name":"t{}"},{"type":"tool_result","tool_use_id":"{}","is_error":true,"content":"x"}]}}',
        '{"role":"tool","tool_call_id":"a","content":"x"}',
        '{"permission_denials":[{"tool_name":"t"}]}',
    ),
    "codex": (
        '{"type":"session_meta","payload":{"id":"{}"}}',
        '{"payload":{"type":"function_call","call_id":"{}","name":"t"}}',
        '{"payload":{"type":"function_call_output","call_id":"{}","output":"{\\"output\\":\\"x\\"}"}}',
    ),
    "gemini": (
        '{"id":"{}","toolCalls":[{"id":"{}","name":"t","status":"error"}]}',
        '{"$set":{"messages":[{"id":"{}"}]}}',
        '{"$rewindTo":"x"}',
        '{"id":"{}"}',
    ),
    "opencode": ('{"type":"tool","tool":"invalid","callID":"{}","state":{"input":{"tool":"x"}}}',),
    "openhands": (
        '{"id":"{}","kind":"error","tool_name":"t","error":"x"}',
        '{"observation":"user_rejected","cause":"{}"}',
    ),
    "copilot": (
        '{"data":{"toolRequests":[{"toolCallId":"{}","name":"x"}]}}',
        '{"type":"tool.execution_complete","data":{"toolCallId":"{}","success":false,"error":{"code":"denied"}}}',
    ),
    "cursor": ('{"role":"user"}',),
    "langsmith": (
        '{"id":"{}","run_type":"tool","error":"x","name":"t"}',
        '{"name":"tools","outputs":{"messages":[{"content":"x"}]}}',
    ),
    "otlp": (
        (
            '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"execute_tool x","spanId":"{}",'
            '"status":{"code":2}}]}]}]}'
        ),
    ),
}


def _adapted(adapter: Callable[[list[Any]], Any], values: list[Any]) -> list[Any]:
    return [*adapter(values)]


def _mixed(patterns: tuple[str, ...]) -> Callable[[int], list[Any]]:
    return lambda size: [
        json.loads(pattern.replace("{}", str(place)))
        for place in range(size)
        for pattern in patterns
    ]


def _many_logs(number: int) -> list[str]:
    return [f"log {place}" for place in range(number)]


def _scan_all(names: list[str]) -> object:
    with TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder, name, "vocabulary_gaps.jsonl")
            path.parent.mkdir()
            line = '{"description":"a","timestamp":"2026-06-01T10:00:00Z"}\n'
            path.write_text(
                f'{line}{{"description":"{name}","timestamp":"2026-06-01T10:00:00Z"}}\n'
            )
        return scan(folder)


def _read_log(name: str) -> Callable[[Content], object]:
    return file_of(f"heron/{name}", scan)


YAML: Final[Mapping[str, tuple[Callable[[int], str], int]]] = {
    **{
        f"repeated {piece!r}": (repeated(piece), 40_000)
        for piece in (
            "- ",
            "? ",
            "[",
            "{",
            "'",
            '"',
            ":",
            "a: ",
            "\n",
            "# a\n",
            "---\n",
            "\t",
            "%",
            "&a ",
            "*a ",
            "!",
            "| ",
            "<<: ",
            "a: |\n ",
        )
    },
    "values": (lambda size: "[" + "1," * size + "1]", 1_500),
    "keys": (lines("k{0}: v".format), 1_500),
    "equal keys": (lines(lambda _: "k: v"), 1_500),
    "anchors": (lines("- &a{0} v".format), 1_500),
    "aliases": (lambda size: "- &a v\n" + "- *a\n" * size, 1_500),
    "merges": (
        lambda size: (
            "- &a {" + ",".join(map("k{}: v".format, range(size))) + "}\n- {<<: [*a, *a, *a]}"
        ),
        3_000,
    ),
    "tags": (lines(lambda _: "- !!str v"), 1_500),
    "lines that declare tags": (
        lambda size: lines("%TAG !{0}! tag:x,{0}:".format)(size) + "--- a",
        20_000,
    ),
    "digits": (lambda size: "a: " + "9" * size, 40_000),
    "exponents": (lambda size: "a: 1e" + "9" * size, 40_000),
    "a long text": (lambda size: 'a: "' + "\\n" * size + '"', 40_000),
    "a folded text": (lambda size: "a: >\n" + "  b\n" * size, 15_000),
}
_DECISION: Final = (
    '{{"event":"pin","decision_id":"d{0}","by":"ana","at":"2026-06-01T10:00:00Z","surface":"s{0}"}}'
).format
_FILES: Final[
    Mapping[
        str, tuple[Callable[[Content], object], Mapping[str, tuple[Callable[[int], Content], int]]]
    ]
] = {
    "YAML": (parsed_with_lines, YAML),  # type: ignore[dict-item]
    "settings": (
        file_of("vocabgap.toml", load_settings),
        {
            "keys": (lines("k{0} = 1".format), 1_000),
            "tables": (lines("[t{0}]".format), 1_000),
            "a dotted key": (lambda size: ".".join("a" * size) + " = 1", 2_000),
            "sources": (lines('[sources.s{0}]\nmap.description = "a"'.format), 200),
            "a list": (lambda size: "[cluster]\nstop_words = [" + '"a",' * size + "]", 2_000),
            "open lists": (lambda size: "a = " + "[" * size, 20_000),
            "a long text": (lambda size: 'a = "' + "\\n" * size + '"', 15_000),
            "synonyms": (
                lambda size: "[cluster.synonyms]\n" + lines('w{0} = ["v{0}"]'.format)(size),
                500,
            ),
        },
    ),
    "decisions": (
        file_of("decisions.jsonl", read_decisions),
        {
            "pins": (lines(_DECISION), 1_000),
            "empty lines": (repeated("\n"), 15_000),
            "no JSON": (lines(str), 1_000),
        },
    ),
    "a baseline": (
        file_of("known.jsonl", read_baseline),
        {
            "lines": (
                lines('{{"source_path":"a","sha256":"{0}","line":{0},"reason":"r"}}'.format),
                2_000,
            ),
            "empty lines": (repeated("\n"), 15_000),
        },
    ),
    "a vocabulary in JSON": (
        file_of("v.json", load_vocabulary),
        {
            "entries": (
                lambda size: json.dumps(
                    {"entries": [{"name": f"e {n}", "description": "d"} for n in range(size)]}
                ),
                1_000,
            ),
            "equal entries": (
                lambda size: json.dumps({"entries": [{"name": "e", "description": "d"}] * size}),
                1_000,
            ),
            "tags": (
                lambda size: json.dumps(
                    {"name": "e", "description": "d", "tags": [*map(str, range(size))]}
                ),
                3_000,
            ),
            "open lists": (repeated("["), 30_000),
        },
    ),
    "a vocabulary in JSON Lines": (
        file_of("v.jsonl", load_vocabulary),
        {
            "entries": (lines('{{"name":"e {0}","description":"d"}}'.format), 1_000),
            "empty lines": (repeated("\n"), 15_000),
        },
    ),
    "a vocabulary in CSV": (
        file_of("v.csv", load_vocabulary),
        {
            "entries": (lambda size: "name,description\n" + lines("e {0},d".format)(size), 1_000),
            "columns": (lambda size: "name" + ",c" * size + "\ne" + ",1" * size, 1_500),
            "empty lines": (lambda size: "name,description\n" + "\n" * size, 20_000),
            "quotes": (lambda size: "name,description\n" + '"' * size, 20_000),
        },
    ),
    "a vocabulary in Markdown": (
        file_of("SKILL.md", load_vocabulary),
        {
            "lines": (lambda size: "---\nname: a\n" + "description: b\n" * size + "---\n", 1_500),
            "blanks": (lambda size: "---\nname:" + " " * size + "a\ndescription: b\n---\n", 15_000),
            "rules": (repeated("---\n"), 20_000),
        },
    ),
    "issues": (
        lambda content: read_issues(content if isinstance(content, bytes) else content.encode()),
        {
            "issues": (
                lambda size: json.dumps(
                    [{"number": n, "title": "t", "body": "b", "state": "open"} for n in range(size)]
                ),
                1_000,
            )
        },
    ),
}


def _proposed(objects: list[dict[str, Any]]) -> object:
    keys = Keys.of(objects)
    return keys.in_words, keys.proposal(), keys.unclear_dates()


def _cases() -> Iterator[tuple[str, Case]]:
    for (name, rule), (alphabet, text) in ((r, t) for r in RULES.items() for t in TEXTS.items()):
        yield f"{name}: {alphabet}", Case(text, rule, 5_000, is_text=True)
    for name, (make, size) in LOGS.items():
        yield f"log: {name}", Case(make, _read_log("vocabulary_gaps.jsonl"), size)
        yield f"file: {name}", Case(make, _read_log("other.log"), size)
    for ending, pack in (("gz", partial(gzip.compress, compresslevel=1)), ("zst", _in_zstd)):
        for name in ("empty lines", "needs", "a document", "rows of a table", "open lists"):
            make, size = LOGS[name]
            yield (
                f"{ending}: {name}",
                Case(_packed(make, pack), _read_log(f"vocabulary_gaps.jsonl.{ending}"), size),
            )
    yield "log: many with one first line", Case(_many_logs, _scan_all, 100)
    for name, adapter in ADAPTERS.items():
        patterns = _MESSAGES[name]
        for chosen in (*((each,) for each in patterns), patterns):
            yield (
                f"{name}: {len(chosen)} like {chosen[0][:40]}",
                Case(_mixed(chosen), partial(_adapted, adapter), 2_000),
            )
    for kind, (use, contents) in _FILES.items():
        for name, (make, size) in contents.items():
            yield f"{kind}: {name}", Case(make, use, size)
    yield (
        "proposal: keys",
        Case(lambda size: [{f"k{n}": f"a b {n}" for n in range(size)}], _proposed, 500),
    )
    yield (
        "proposal: values",
        Case(
            lambda size: [
                {"text": f"a b {n}", "at": f"{n % 28 + 1}/{n % 12 + 1}/2026"} for n in range(size)
            ],
            _proposed,
            500,
        ),
    )
    yield (
        "format: dates",
        Case(lambda size: [f"{n % 28 + 1}/{n % 12 + 1}/2026" for n in range(size)], format_of, 500),
    )
    yield "other: keys", Case(lambda size: [{f"k{n}": n for n in range(size)}], encoded, 1_500)
    yield (
        "other: values",
        Case(
            lambda size: json.dumps({"a": [{"b": n} for n in range(size)]}),
            lambda text: (values_at(text, "a.b"), paths_in(text)),
            1_500,
        ),
    )
    yield (
        "nearest: many",
        Case(
            lambda size: [*map("name{}".format, range(size))],
            lambda names: nearest("nome", names),
            2_000,
        ),
    )
    yield "labels: many", Case(lambda size: [*map("name {}".format, range(size))], labels_of, 2_000)
    yield (
        "parting poles: many",
        Case(
            lambda size: [f"{a} sky {n}" for n in range(size) for a in ("add", "remove")],
            lambda needs: parting_poles([surface(each).split() for each in needs], needs),
            300,
        ),
    )
    for part in parts("growth"):
        yield from part.cases()


CASES: Final[dict[str, Case]] = dict(_cases())
