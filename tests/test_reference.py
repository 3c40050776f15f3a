"""The manual says what the code says: commands, options, settings, columns, names, exit codes, events, files.

`make approve` writes the pages of reference anew: what has changed is then in the diff, for a reviewer.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders.manual import WHOLE
from builders.reference import (
    MANUAL,
    PAGES,
    SEEDS,
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


@WHOLE
def test_every_requirement_has_a_test() -> None:
    message = requirements_told()

    def is_there(test: str) -> bool:
        path, _, function = test.partition("::")
        file = Path(__file__).parent / f"{path}.py"
        return file.is_file() and f"def {function}(" in file.read_text(encoding="utf-8")

    assert [each for each in message if not is_there(each.test)] == []
    assert {each.seed for each in message} == {*SEEDS}
    assert len(message) >= 175


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
