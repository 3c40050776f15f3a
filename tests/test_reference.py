"""The manual says what the code says: commands, options, settings, columns, names, exit codes, events, files.

`make approve` writes the pages of reference anew: what has changed is then in the diff, for a reviewer.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from builders.manual import WHOLE
from builders.reference import (
    MANUAL,
    PAGES,
    SEEDS,
    Requirement,
    contexts,
    meanings,
    options_of,
    requirements_told,
    settings_rows,
    written,
)
from vocabgap.extensions import extensions
from vocabgap.model.loading import VARIABLES
from vocabgap.model.settings import Settings
from vocabgap.model.tables import PUBLISHED
from vocabgap.reporting.manifest import RUN_FILES

PACKAGE = MANUAL.parent
TESTS = Path(__file__).parent
MOST_SHARED = 84  # requirements of other seeds that share a test; none may be added
VARIABLE = re.compile(r"(?:VOCABGAP|XDG)_[A-Z_]*[A-Z]|COLUMNS")
CELL = re.compile(r"^(?:\| |- )((?:`[^`]+`(?:, )?)+)(?= \||:| \()", re.MULTILINE)


def page(name: str) -> str:
    return (MANUAL / f"{name}.md").read_text(encoding="utf-8")


def first_cells(text: str) -> set[str]:
    """What stands as code in the first column of the tables of a text."""
    return {name for cell in CELL.findall(text) for name in re.findall(r"`([^`]+)`", cell)}


def constants() -> Iterator[str]:
    """Every text that stands in the code, docstrings among them."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def events() -> set[str]:
    """The names of the events that the command line prints."""
    calls = [
        node
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and node.args
    ]
    printers = {"event", "Event"}
    named = [
        ast.walk(call.args[0])
        for call in calls
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in printers
    ]
    texts = (node.value for nodes in named for node in nodes if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str)}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (*VARIABLES, "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)


@WHOLE
@pytest.mark.parametrize("name", PAGES)
def test_reference_is_what_the_code_says(name: str, pytestconfig: pytest.Config) -> None:
    text = written(name)
    if pytestconfig.getoption("approve"):
        (MANUAL / f"{name}.md").write_text(text, encoding="utf-8")

    assert page(name) == text, "if this is meant, `make approve` writes it to the manual"


def names_of(path: Path, text: str) -> set[str]:
    """Return the tests in a file: its functions, or the cases that `test_own_case` runs."""
    if path.suffix == ".jsonl":
        names = (json.loads(line)["id"] for line in text.split("\n") if line)
        return {f"test_conformance::test_own_case[{name}]" for name in names}
    module = path.relative_to(TESTS).with_suffix("").as_posix()
    return {
        f"{module}::{name}"
        for name in re.findall(r"^(?:async )?def (test_\w+)\(", text, re.MULTILINE)
    }


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    """Return the text of each file with tests or cases."""
    patterns = ("**/test_*.py", "*/cases.jsonl")
    paths = sorted(path for pattern in patterns for path in TESTS.glob(pattern))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def missing(files: Mapping[Path, str], told: Iterable[Requirement]) -> list[str]:
    """Return the tests that requirements name and that are in no file."""
    known = {name for path, text in files.items() for name in names_of(path, text)}
    return sorted({each.test for each in told} - known)


@WHOLE
def test_every_requirement_has_a_test(files: dict[Path, str]) -> None:
    message = requirements_told()

    assert missing(files, message) == []
    assert {each.seed for each in message} == {*SEEDS}
    assert len(message) >= 280


@WHOLE
def test_requirement_of_the_glossary_has_a_test_of_its_own() -> None:
    message = requirements_told()
    uses = Counter(each.test for each in message)
    shared = [each for each in message if uses[each.test] > 1]

    assert [each for each in shared if each.seed == "004"] == []
    assert len(shared) <= MOST_SHARED


@WHOLE
def test_requirement_fails_without_its_test(files: dict[Path, str]) -> None:
    message = requirements_told()
    for path, text in files.items():
        named = names_of(path, text) & {each.test for each in message}
        for test in named:
            name = re.escape(re.split(r"::|\[", test.rstrip("]"))[-1])
            line = rf'^.*"id": ?"{name}".*\n' if "[" in test else rf"^(?:async )?def {name}\("
            without = re.sub(line, "", text, flags=re.MULTILINE)
            only = [each for each in message if each.test in named]
            assert missing({path: without}, only) == [test]


def test_every_option_and_every_setting_is_explained() -> None:
    options = [
        (context.command_path, names, meaning)
        for context in contexts()
        for names, meaning in options_of(context)
    ]
    settings = [(table, row[0], row[-1]) for table, row in settings_rows(Settings) if table]

    assert (len(options) > 150, len(settings) > 20) == (True, True)
    assert [each for each in (*options, *settings) if not each[2]] == []
    assert {"not_a_gap", "source"} == {*meanings(Settings)}


def test_every_schema_is_named_where_one_is_asked_for() -> None:
    (context,) = (each for each in contexts() if each.command_path == "vocabgap schema")
    (_, meaning), *_ = options_of(context)

    documents = [name for each in extensions() for name in each.documents]
    assert {name for name in (*PUBLISHED, *documents) if name not in meaning} == set()


@WHOLE
def test_every_variable_is_told_where_settings_are() -> None:
    used = {name for text in constants() for name in VARIABLE.findall(text)}
    message = first_cells(page("settings").partition("## The environment")[2].partition("\n## ")[0])

    assert used == message


@WHOLE
def test_every_event_is_told_with_the_command_that_prints_it() -> None:
    assert events() == first_cells(page("commands").partition("## Events")[2])


def test_every_page_that_a_message_names_is_there() -> None:
    named = {
        name for text in constants() for name in re.findall(r"`vocabgap manual ([a-z-]+)", text)
    }

    assert len(named) > 3
    assert {name for name in named if not [*PACKAGE.glob(f"**/manual/{name}.md")]} == set()


def test_every_file_of_a_run_is_told() -> None:
    assert first_cells(page("reading-the-report").partition("## The first lines")[0]) == RUN_FILES


def test_every_tool_of_the_server_is_told() -> None:
    server = pytest.importorskip(
        "vocabgap.doors.mcp.server", reason="the extra mcp is not installed"
    )

    assert {tool.name for tool in server.TOOLS.values()} <= first_cells(page("logging"))
