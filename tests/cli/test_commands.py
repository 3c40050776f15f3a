"""One table over all commands and their options: help, values that do not fit, and JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from typer.core import TyperGroup

from builders.command import vocabgap
from slices import additions
from vocabgap.doors.cli.app import Parsers

# What each command needs to say something of the run that `reported` made.
RUNS: Final[dict[str, tuple[str, ...]]] = {
    "report": ("photos",),
    "render": ("out", "--out", "again"),
    "list": ("photos",),
    "show": ("heron", "photos"),
    "draft": ("sky mask",),
    "log": ("photos/heron", "--description", "lens flare"),
    "decide pin": ("sky mask",),
    "decide rename": ("sky mask", "sky selection"),
    "decide merge": ("sky mask", "film grain"),
    "decide dismiss": ("sky mask", "--why", "not ours"),
    "decide author": ("sky mask", "--entry", "sky_mask"),
    "decisions list": (),
    "diff": ("out", "out"),
    "demo": (),
    "manual": (),
    "schema": ("records",),
    "status": (),
    **{command: arguments for each in additions() for command, arguments in each.commands.items()},
}
# Words that no command can mean by these options, whichever has them.
TEXTS: Final = {
    "--since": "last tuesday", "--until": "2026-13-01", "--now": "tomorrow", "--threshold": "near",
    "--top": "ten", "--limit": "few", "--min-images": "-1", "--min-sessions": "some", "--rank-by": "beauty",
    "--kind": "colour", "--format": "html",
}  # fmt: skip


def commands(parsers: Mapping[str, Any], *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for verb, parser in parsers.items():
        if isinstance(parser, TyperGroup):
            yield from commands(parser.commands, *words, verb)
        else:
            yield (*words, verb), parser


COMMANDS: Final = dict(commands(Parsers()))
FIRST_LOOKED_FOR: Final = {
    tuple(command.split()) for each in additions() for command in each.looked_for
}


def kinds(option: Any) -> tuple[Any, ...]:  # noqa: ANN401 - Typer's own type is private
    """The types that a value of an option may have."""
    kind = option.type_descriptor.annotation
    return (kind, *get_args(kind))


def unfit(option: Any) -> str | None:  # noqa: ANN401 - as above
    """A value that does not fit an option, where there is one before anything is read."""
    if option.opts[0] in TEXTS:
        return TEXTS[option.opts[0]]
    closed = any(
        kind in {int, float} or (isinstance(kind, type) and issubclass(kind, Enum))
        for kind in kinds(option)
    )
    return "nonsense" if closed else None


# Every option is built from one declaration, so one command for each is enough.
_CLOSED: Final[dict[str, Any]] = {
    option.opts[0]: (words, option)
    for words, parser in COMMANDS.items()
    for option in parser.params
    if option.param_type_name == "option"
    and not option.is_flag
    and not option.hidden
    and unfit(option)
    if words not in FIRST_LOOKED_FOR
}
CLOSED: Final = [
    pytest.param(words, option, id=f"{' '.join(words)} {name}")
    for name, (words, option) in _CLOSED.items()
]


def required(parser: Any) -> list[Any]:  # noqa: ANN401 - as above
    return [each for each in parser.params if each.required]


def given(words: tuple[str, ...]) -> list[str]:
    """A command with all that it needs: what it says something of, or any words."""
    known = RUNS.get(" ".join(words))
    if known is not None:
        return [*words, *known]
    needed = sorted(
        required(COMMANDS[words]), key=lambda each: each.param_type_name
    )  # arguments first
    named = [[each.opts[0]] * (each.opts[0][0] == "-") + ["some"] for each in needed]
    return [*words, *(word for pair in named for word in pair)]


@pytest.fixture
def ready(reported: Path, tmp_path: Path) -> Path:
    """A folder with a run and with the files of the slices."""
    for path, text in (file for each in additions() for file in each.files.items()):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return reported


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_has_a_sentence_and_describes_every_option(words: tuple[str, ...]) -> None:
    result = vocabgap(*words, "--help")
    shown = [each for each in COMMANDS[words].params if not each.hidden] if result.code == 0 else []
    options = {each.opts[0] for each in shown if each.param_type_name == "option"}

    assert (result.code, result.err) == (0, "")
    assert re.search(r"\n\n  [A-Z][^.]+[.;:]", result.out)
    assert options <= set(re.findall(r"--[a-z-]+", result.out))
    assert all(each.help for each in shown)


@pytest.mark.parametrize(("words", "option"), CLOSED)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_option(
    words: tuple[str, ...],
    option: Any,  # noqa: ANN401 - as above
    ready: Path,
) -> None:
    asked = [*given(words), option.opts[0], str(unfit(option))]

    result = vocabgap(*asked)
    event = json.loads(vocabgap("--json", *asked).out)

    message = result.err.splitlines()
    assert (result.code, result.out, message[0][:10]) == (2, "", "vocabgap: ")
    assert ready.is_dir()
    assert option.opts[0].removeprefix("--") in message[0]
    assert (event["event"], event["code"]) == ("error", 2)
    assert event["message"] in message[0]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_unknown_option_and_a_missing_argument_are_named(words: tuple[str, ...]) -> None:
    misuse = 0 if words == ("hook",) else 2  # an agent may take this code for a veto

    unknown = vocabgap(*given(words), "--nonsense")
    missing = vocabgap(*words) if required(COMMANDS[words]) else None

    assert (unknown.code, unknown.out) == (misuse, "")
    assert f"`vocabgap {' '.join(words)} --help`" in unknown.err
    assert missing is None or (missing.code, missing.out) == (misuse, "")
    assert missing is None or "Missing " in missing.err
