"""A share of the families of `make soak`, and that no kind of file is left out of them."""

import ast
import tomllib
from itertools import islice
from pathlib import Path

import pytest

import vocabgap
from faults import acknowledged, explosive, full, joins, kills, peers, shell
from faults.targets import ENTRANCES, VERBS, readers
from slices import absent
from vocabgap.ingest.adapters import ADAPTERS
from vocabgap.ingest.formats import Form
from vocabgap.ingest.reading import COMPRESSIONS

PACKAGE = Path(vocabgap.__file__).parent
NAMES = {verb.name: number for number, verb in enumerate(VERBS)}
READING = frozenset(
    (
        "opened", "whole", "rest_of", "content_of", "recognised", "text_of", "existing_content",
        "named_content", "scan_parquet", "read_parquet",
        "json.decode", "json.loads", "tomllib.loads", "pickle.loads", "parse_yaml", "parsed_with_lines",
        "read_bytes", "read_text", "copied_input", "stdin.read", "buffer.read", "stdin.readline",
    )
)  # fmt: skip


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_ACTOR", "ana")
    monkeypatch.setenv("VOCABGAP_EMBEDDER", "none")


def test_each_form_compression_and_adapter_has_a_bomb() -> None:
    assert {*explosive.FORMS} == {*Form}
    assert {*explosive.adapted()} == {*ADAPTERS}
    assert [explosive.pack(each, b"x" * 999) for each in COMPRESSIONS]


def test_each_file_that_is_read_has_a_bomb() -> None:
    bombs = {each.file for each in ENTRANCES.values()}
    assert {each.suffix for each in ENTRANCES.values()} <= {*explosive.KINDS}
    assert {reader.kind for reader in readers()} <= {*ENTRANCES}
    assert "" in bombs


def test_each_module_that_reads_is_listed() -> None:
    listed = tomllib.loads(Path(__file__).with_name("entrances.toml").read_text(encoding="utf-8"))
    here = {
        module: reason
        for modules in listed.values()
        for module, reason in modules.items()
        if module.partition("/")[0] not in absent()
    }
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if _reads(path)}

    assert found == {*here}
    assert {listed["bombs"][module] for module in listed["bombs"].keys() & here} <= {*ENTRANCES}


def _reads(path: Path) -> bool:
    """Tell whether a module opens or decodes content."""
    calls = [
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    return any(f".{call}".endswith(f".{name}") for call in calls for name in READING)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log", "decide"])
def test_a_process_that_is_killed_leaves_nothing_half_done(name: str) -> None:
    found = [*kills.killed(NAMES[name], share=5)]
    assert len(found) >= 2
    assert [each for each in found if each] == []


@pytest.mark.slow
def test_what_is_acknowledged_is_there_once_after_kills() -> None:
    found = [*acknowledged.killed(60)]
    assert len(found) >= 50
    assert [each for each in found if each] == []


@pytest.mark.slow
def test_a_disk_without_room_is_told() -> None:
    found = [*full.refused(NAMES["log"])]
    assert len(found) >= 5
    assert [each for each in found if each] == []


def test_joined_decisions_are_followed_or_named() -> None:
    found = [*joins.joined(7, 19)]
    assert [each for each in found if each] == []


def test_ties_give_the_groups_of_scipy_and_scikit_learn() -> None:
    assert [each for each in peers.compared(30) if each] == []


@pytest.mark.slow
def test_printed_commands_do_only_what_they_say() -> None:
    found = [*islice(shell.printed(), 20)]
    assert len(found) == 20
    assert [each for each in found if each] == []
