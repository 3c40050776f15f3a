"""Nothing is fetched or sent: no command opens a connection, and an address is no folder and no file."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from builders.command import vocabgap
from cli.test_commands import COMMANDS, RUNS, given, kinds, ready
from vocabgap import SCHEMA_VERSION
from vocabgap.errors import ExitCode
from vocabgap.model.settings import known_settings

__all__ = ["ready"]  # a fixture
ADDRESS: Final = "https://gaps.example.org/photos"
# Options and arguments that are folders or files by what they say, beside those whose type says so.
PLACES: Final = {
    *(
        "--out",
        "--run",
        "--decisions",
        "--glossary",
        "--corpus",
        "--vocabulary",
        "--baseline",
        "--embedder",
    ),
    *("run", "old", "new", "image", "folder"),
}
# Every option is built from one declaration, so one command for each is enough.
_PLACED: Final = {
    parameter.opts[0]: (words, parameter)
    for words, parser in COMMANDS.items()
    for parameter in parser.params
    if Path in kinds(parameter) or (parameter.opts[0] in PLACES and str in kinds(parameter))
}
ASKED: Final = [
    pytest.param(words, parameter, id=f"{' '.join(words)} {name}")
    for name, (words, parameter) in _PLACED.items()
]
CONNECTING: Final = (
    "socket.gethostby", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg",
    "socket.getaddrinfo",
)  # fmt: skip
opened: list[str] = []
watching: list[bool] = []


def note_connections(event: str, arguments: tuple[Any, ...]) -> None:
    if watching and event.startswith(CONNECTING):
        opened.append(f"{event} {arguments}")
        raise PermissionError(event)


sys.addaudithook(note_connections)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Connections that were tried, each refused."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.delenv("VOCABGAP_CORPUS", raising=False)
    opened.clear()
    watching.append(True)
    yield opened
    watching.clear()


def folders(place: Path) -> set[Path]:
    return {path.relative_to(place) for path in place.rglob("*")}


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_opens_a_connection(
    words: tuple[str, ...], ready: Path, offline: list[str]
) -> None:
    result = vocabgap("--json", *given(words))

    assert ready.is_dir()
    assert (result.code != ExitCode.BUG, offline) == (True, [])
    if " ".join(words) in RUNS:
        events = [json.loads(line) for line in result.out.splitlines()]
        assert (result.code, result.err) == (0, "")
        assert {event["schema_version"] for event in events} == {SCHEMA_VERSION}
        assert [event["event"] for event in events].index("result") == len(events) - 1


@pytest.mark.parametrize(("words", "parameter"), ASKED)
def test_an_address_is_refused_where_a_path_is_meant(
    words: tuple[str, ...],
    parameter: Any,  # noqa: ANN401 - Typer's own type is private
    reported: Path,
    tmp_path: Path,
    offline: list[str],
) -> None:
    before = folders(tmp_path)
    name = parameter.opts[0]
    asked = [*given(words), name, ADDRESS] if name.startswith("--") else at(words, name)

    result = vocabgap(*asked)
    event = json.loads(vocabgap("--json", *asked).out.splitlines()[-1])

    assert reported.is_dir()
    assert (result.code, event["code"], result.out) == (2, 2, "")
    assert "expected a local path, not a URL, found 'https://" in result.err
    assert (folders(tmp_path), offline) == (before, [])


def at(words: tuple[str, ...], name: str) -> list[str]:
    """A command with an address in the place of one argument."""
    arguments = [
        each.opts[0] for each in COMMANDS[words].params if each.param_type_name == "argument"
    ]
    own = given(words)[len(words) :]
    first = next((place for place, word in enumerate(own) if word.startswith("-")), len(own))
    named = dict(zip(arguments, own[:first], strict=False)) | {name: ADDRESS}
    return [
        *words,
        *(named.get(each, "some") for each in arguments[: max(len(named), 1)]),
        *own[first:],
    ]


@pytest.mark.parametrize(
    ("table", "key", "many"),
    [
        *(("ingest", "roots", True), ("vocabulary", "paths", True)),
        *((each.table, each.key, False) for each in known_settings() if each.written),
    ],
)
def test_an_address_in_the_settings_is_refused(
    photos: Path, tmp_path: Path, table: str, key: str, many: bool
) -> None:
    value = f'["{ADDRESS}"]' if many else f'"{ADDRESS}"'
    (tmp_path / "vocabgap.toml").write_text(f"[{table}]\n{key} = {value}\n", encoding="utf-8")
    before = folders(tmp_path)

    result = vocabgap("report", photos)

    assert (result.code, folders(tmp_path)) == (2, before)
    assert result.err.startswith(f"vocabgap: vocabgap.toml: [{table}] {key}: expected a local path")
