"""Bombs for each kind of file that is read: they would fill the memory, or never end.

A new form of logs, compression, adapter or kind of file without a bomb fails `test_families`.
"""

import gzip
import io
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from builders import gap, write_corpus
from builders.command import vocabgap
from faults.kills import ended, started
from faults.targets import ENTRANCES
from ingest.test_all_formats import FILES
from vocabgap.errors import InvalidInputError
from vocabgap.ingest.formats import Form
from vocabgap.ingest.reading import COMPRESSIONS
from vocabgap.model.sources import shipped_sources

SECONDS: Final = 10  # CPU seconds of a command
HELD: Final = 1_024  # MiB
_MIB: Final = 1 << 20
_SIZE: Final = 48 * _MIB  # of plain bombs
_DEEP: Final = 100_000
_MOST_TOLD: Final = 25  # lines of an error with its hints; seeds list 20 problems
_ROOM: Final = 8 << 30  # bytes of addresses that a command may take
_BROKEN: Final = ("Traceback", "this is a bug", "panicked")

Bombs = Iterator[tuple[str, bytes]]


def _json_lines() -> Bombs:
    hollow = b'{"a":[' + b"[]," * (_MIB // 3 - 9) + b"[]]}\n"
    yield "empty lines", b"\n" * _SIZE
    yield "hollow lines", hollow * (_SIZE // len(hollow))
    yield "hollow records", b'{"description":"x","a":%b}\n' % (b"[" * 90 + b"]" * 90) * 50_000
    yield "deep", b"[" * _DEEP + b"\n" + b'{"a":' * _DEEP
    yield "one line", b'{"description": "' + b"x" * _SIZE
    yield "a long number", b"9" * _MIB * 8


def _json() -> Bombs:
    yield "hollow", b'{"a":[' + b"[]," * (_SIZE // 3) + b"[]]}"
    yield "hollow objects", b"[[" + b"{}," * (_SIZE // 3) + b"{}]]"
    yield "deep", b"[" * _DEEP
    yield "deep objects", b'{"a":' * _DEEP
    yield "many keys", json.dumps(dict.fromkeys(map(str, range(1_000_000)), 1)).encode()
    yield "a long number", b'{"a":' + b"9" * _MIB * 8 + b"}"
    yield "one text", b'["' + b"x" * _SIZE + b'"]'


def _tables() -> Bombs:
    names = ",".join(f"c{number}" for number in range(40_000))
    yield "many columns", f"{names},description\n{'1,' * 40_000}x mask\n".encode()
    yield "equal columns", b"description," + b"c," * 40_000 + b"\nx mask\n" * 300
    yield "empty lines", b"description,workaround\n" + b"\n" * _SIZE
    yield "open quotes", b"description,workaround\n" + b'"x\n' * 4_000_000
    yield "empty cells", b"description" + b"," * 5_000 + b"\n" + (b"," * 5_000 + b"\n") * 2_000


def _logs() -> Bombs:
    head = b"2026-04-01 10:00:00 [info] Message from client: "
    for name, lines in _json_lines():
        if not name.startswith("empty"):
            yield name, head + lines.replace(b"\n", b"\n" + head)
    yield "prefixes", (head + b"{ " * 1_000 + b"\n") * 20_000


def _queries() -> Bombs:
    start = b'{"columns":["description"],"results":['
    yield "hollow", start + b"[[]]," * (_SIZE // 5) + b"[[]]]}"
    yield "deep", start + b"[" * _DEEP
    yield (
        "many columns",
        json.dumps(
            {"columns": [str(n) for n in range(40_000)], "results": [[None] * 40_000] * 50}
        ).encode(),
    )


def _parquet() -> Bombs:
    def dictionary(text: str, rows: int) -> pa.Table:
        places = pa.array([0] * rows, pa.int8())
        return pa.table({"description": pa.DictionaryArray.from_arrays(places, pa.array([text]))})

    wide = {f"c{n}": pa.array([None] * 1_000, pa.string()) for n in range(20_000)}
    named: pa.Table = pa.table({"description": ["a mask"], "a": pa.array([["crop"] * 20_000_000])})
    yield "one long text", _packed(dictionary("x" * (12 * _MIB), 1_000))
    yield "many rows", _packed(dictionary("sky mask", 20_000_000), row_group_size=20_000_000)
    yield "a long list", _packed(named)
    yield "many columns", _packed(pa.table(wide | {"description": pa.array(["m"] * 1_000)}))
    yield (
        "texts that go on",
        _packed(
            pa.table({"description": ["x" * 50_000] * 20_000}),
            use_dictionary=False,
            column_encoding={"description": "DELTA_BYTE_ARRAY"},
            data_page_size=1 << 40,
        ),
    )
    yield (
        "a large page",
        _packed(
            pa.table({"description": ["m"] * 64, "notes": ["y" * (16 * _MIB)] * 64}),
            use_dictionary=False,
            data_page_size=1 << 40,
        ),
    )


def _packed(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401 - those of pyarrow
    file = io.BytesIO()
    usual: dict[str, Any] = {"compression": "zstd", "store_schema": False}
    limits = {"dictionary_pagesize_limit": 100 * _MIB, "write_statistics": False}
    pq.write_table(table, file, **(usual | limits | options))
    return file.getvalue()


FORMS: Final[Mapping[Form, Callable[[], Bombs]]] = {
    Form.LINES: _json_lines,
    Form.DOCUMENT: _json,
    Form.TABLE: _tables,
    Form.PARQUET: _parquet,
    Form.LOG: _logs,
    Form.QUERY: _queries,
}
_SUFFIXES: Final = {
    Form.LINES: "jsonl", Form.DOCUMENT: "json", Form.TABLE: "csv", Form.PARQUET: "parquet",
    Form.LOG: "log", Form.QUERY: "json",
}  # fmt: skip


def _yaml() -> Bombs:
    start = b"terms:\n- surface: lift\n  definition: raise it\n"
    laughs = b"a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"a%d: &a%d [%b]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)
    )
    yield "aliases", start + laughs
    yield "many keys", start + b"".join(b"  k%d: 1\n" % n for n in range(200_000))
    yield "deep", start + b"  a: " + b"[" * _DEEP
    yield "deep lists", b"- " * _DEEP
    yield "empty lines", start + b"\n" * _SIZE
    yield "comments", b"#\n" * (_SIZE // 4) + start
    yield "hollow", b"terms: [" + b"[]," * 1_000_000 + b"]"
    yield "anchors", start + b"".join(b"  k%d: &a%d x\n" % (n, n) for n in range(100_000))
    yield "tags", b"".join(b"%%TAG !%d! !x\n" % n for n in range(50_000)) + b"---\n" + start
    yield "one text", start + b"  a: |\n    " + b"x" * _SIZE


def _toml() -> Bombs:
    yield "a key of many parts", b".".join([b"a"] * 20_000) + b" = 1\n"
    yield "a table of many parts", b"[" + b".".join([b"a"] * 20_000) + b"]\n"
    yield "many tables", b"".join(b"[a%d]\n" % n for n in range(100_000))
    yield "deep", b"a = " + b"[" * _DEEP
    yield "deep tables", b"a = " + b"{a = " * 20_000
    yield "hollow", b"a = [" + b"[]," * 300_000 + b"]\n"
    yield "empty lines", b"\n" * _SIZE
    yield "a long number", b"a = " + b"9" * 900_000 + b"\n"


def _prose() -> Bombs:
    yield "empty lines", b"\n" * _SIZE
    yield "one word", b"x" * _SIZE
    yield "brackets", b"[" * _MIB
    yield "quotes", b"> " * _MIB
    yield "lists", b"- " * 200_000
    yield "emphasis", b"*_" * 500_000
    yield "entities", b"&#x41;" * 300_000
    yield "tables", b"|" * 500_000 + b"\n" + b"|-" * 250_000


KINDS: Final[Mapping[str, Callable[[], Bombs]]] = {
    "json": _json, "jsonl": _json_lines, "yaml": _yaml, "toml": _toml, "parquet": _parquet, "md": _prose,
}  # fmt: skip
SPARSE: Final = 1 << 40  # bytes that a file has, though nothing lies on the disk


class Case(NamedTuple):
    """A bomb, at its place, and the command that reads it."""

    name: str
    prepare: Callable[[], object]
    place: str
    content: bytes | int  # a number for the size of a sparse file
    command: tuple[str, ...]
    is_beside: bool = False  # a good log lies beside it, whose record is listed


def _listing(place: str) -> tuple[str, ...]:
    """Return a command that reads a file and the folder around it."""
    return "list", place, "bomb", "--match", "film grain", "--limit", "1"


def _good() -> None:
    write_corpus(Path(), {"good": [gap("film grain")]}, name="bomb")


def _log(name: str, place: str, content: bytes | int) -> Case:
    return Case(name, _good, place, content, _listing(place), is_beside=True)


def cases() -> Iterator[Case]:
    """Yield all bombs."""
    for form, made in FORMS.items():
        plain = f"bomb/a.{_SUFFIXES[form]}"
        for number, (name, content) in enumerate(made()):
            yield _log(f"{form}, {name}", plain, content)
            for packed in COMPRESSIONS if form is Form.LINES or not number else ():
                yield _log(f"{form}, {name}, {packed}", f"{plain}.{packed}", pack(packed, content))
        yield _log(f"{form}, sparse", plain, SPARSE)
    for adapter, (place, lines) in adapted().items():
        for name, content in (("again and again", _repeated(lines)), ("hollow", _hollow(lines))):
            yield _log(f"{adapter}, {name}", f"bomb/{place}", content)
    for kind, each in ENTRANCES.items():
        for name, content in KINDS[each.suffix]():
            yield Case(f"{kind}, {name}", each.prepare, each.file, content, each.command)
        if each.file:
            yield Case(f"{kind}, sparse", each.prepare, each.file, 2 << 30, each.command)


def pack(compression: str, content: bytes) -> bytes:
    """Compress content as the ending of a name says."""
    if compression == "gz":
        return gzip.compress(content, 1)
    module = "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd"
    return {"zst": import_module(module).compress}[compression](content)  # type: ignore[no-any-return]


@cache
def adapted() -> dict[str, tuple[str, list[Any]]]:
    """Return an example file of each adapter: its name and its lines."""
    sources = shipped_sources()
    return {
        sources[file["source"]].adapter: (name, file["lines"])
        for name, file in FILES.items()
        if sources[file["source"]].adapter
    }


def _repeated(lines: list[Any]) -> bytes:
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    return content if len(lines) == 1 else content * (_SIZE // 4 // len(content))


def _hollow(lines: list[Any]) -> bytes:
    """Put a list of empty lists in the place of each list and text of an example."""

    def hollow(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, dict):
            return {name: hollow(each, depth + 1) for name, each in value.items()}
        if isinstance(value, list):
            return [*(hollow(each, depth + 1) for each in value), *[[]] * 50_000]
        return value

    return "".join(
        f"{json.dumps(hollow(line, 0))}\n" for line in lines if isinstance(line, dict)
    ).encode()


def exploded(start: int = 0, share: int = 1) -> Iterator[str | None]:
    """Read each bomb, or one in `share`; yield what it costs if that is too much, or another problem."""
    for case in islice(cases(), start, None, share):
        for path in Path().iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        case.prepare()
        place = Path(case.place or "stdin")
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(case.content, int):
            place.touch()
            os.truncate(place, case.content)
        else:
            place.write_bytes(case.content)
        code = ended(started(_read, case.command, str(place) if not case.place else os.devnull))
        yield _problem(case, code)


def _read(command: tuple[str, ...], given: str) -> None:
    """Run a command within limits, and note what came of it and what it took."""
    resource.setrlimit(resource.RLIMIT_AS, (_ROOM, _ROOM))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 2, SECONDS + 2))
    os.dup2(os.open("message", os.O_WRONLY | os.O_CREAT), 2)  # where a panic is told
    with open(given, encoding="utf-8") as sys.stdin:  # noqa: PTH123
        result = vocabgap(*command)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = (used.ru_utime + used.ru_stime, used.ru_maxrss >> 10)
    Path("result").write_text(json.dumps([*result, *cost]), encoding="utf-8")


def _problem(case: Case, ending: int | None) -> str | None:
    words = f"{case.name} (`{' '.join(case.command)}`)"
    if ending in {-signal.SIGXCPU, -signal.SIGKILL}:
        return f"{words}: it takes more than {SECONDS + 2} CPU s"
    told = Path("message").read_text(errors="replace") if Path("message").exists() else ""
    if ending or not Path("result").exists():
        return f"{words}: the process ends with {ending}: {told[-300:]}"
    code, out, err, seconds, held = json.loads(Path("result").read_text(encoding="utf-8"))
    if seconds > SECONDS or held > HELD:
        return f"{words}: {seconds:.1f} CPU s, {held} MiB"
    is_clear = code in {0, 2, 3, 4} and len(err.splitlines()) <= _MOST_TOLD
    if not is_clear or any(word in err + told for word in _BROKEN):
        return f"{words}: {code}: {(err + told)[-300:]}"
    if case.is_beside and code != InvalidInputError.exit_code and "film grain" not in out:
        return f"{words}: the log beside it is lost: {code}: {(out + err)[-300:]}"
    return None
