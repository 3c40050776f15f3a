"""`vocabgap demo`: what it writes, where it refuses to, and what it says to try next."""

import json
import re
import shlex
from pathlib import Path

import pytest

from builders.command import CommandResult, vocabgap

PROJECT = Path(__file__).parents[2]


def steps(result: CommandResult) -> list[list[str]]:
    """The command lines to go on with."""
    listed = result.out.partition("Then try these commands:\n")[2].splitlines()
    return [shlex.split(line, comments=True) for line in listed]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file()
    }


def test_the_workspace_is_written_and_reported_on(demo: Path, tmp_path: Path) -> None:
    result = vocabgap("demo")

    written = contents(tmp_path / "vocabgap-demo")
    published = {name for name in written if name.startswith("out/")}
    assert (result.code, result.err) == (0, "")
    assert {name: written[name] for name in written.keys() - published} == {
        name: content for name, content in contents(demo).items() if not name.endswith(".png")
    }
    assert {"out/report.html", "out/report.md"} < published
    assert [each.name for each in tmp_path.iterdir()] == ["vocabgap-demo"]
    assert "\nOpen vocabgap-demo/out/report.html in a browser." in result.out


def test_what_it_says_to_try_next_works_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    (enter, *further) = steps(vocabgap("demo", "to/try it"))

    assert enter == ["cd", "to/try it"]
    monkeypatch.chdir(enter[1])
    codes = {line[1]: vocabgap(*line[1:]).code for line in further}
    assert {"show", "check", "decide", "report", "status"} == {*codes}
    assert codes == dict.fromkeys(codes, 0) | {"check": 2}  # it has bad lines
    assert "(pinned by " in vocabgap(*further[-2][1:]).out


def test_its_page_decides_in_the_folder_that_it_says_to_enter(tmp_path: Path) -> None:
    vocabgap("demo", "to/try it")

    manifest = json.loads((tmp_path / "to/try it/out/run.json").read_text(encoding="utf-8"))
    assert manifest["rendering"]["deciding"] == ""  # its run and its decisions are the usual ones


def test_what_somebody_has_set_and_decided_plays_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vocabgap.toml").write_text("[report\n", encoding="utf-8")
    (tmp_path / "decisions.jsonl").write_text("no decision\n", encoding="utf-8")
    monkeypatch.setenv("VOCABGAP_TOP", "1")
    monkeypatch.setenv("VOCABGAP_OUT", "elsewhere")

    result = vocabgap("--json", "demo")

    event = json.loads(result.out.splitlines()[-1])
    assert (result.code, event["event"], event["mentions"]) == (0, "result", 334)
    assert event["capabilities"] == 36
    assert Path(event["page"]) == tmp_path / "vocabgap-demo" / "out" / "report.html"
    assert event["next"][0] == "cd vocabgap-demo"
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_holds_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep", encoding="utf-8")

    result = vocabgap("demo", "mine")

    assert (
        result.code,
        "is not a new or empty folder" in result.err,
        "demo DIR" in result.err,
    ) == (
        4,
        True,
        True,
    )
    assert contents(tmp_path) == {"mine/notes.txt": b"keep"}


def test_a_file_and_the_current_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    assert vocabgap("demo", "a-file").code == 4
    (tmp_path / "a-file").unlink()
    assert vocabgap("demo", ".").code == 4
    assert contents(tmp_path) == {}


def test_no_hint_of_an_installation_names_what_is_only_in_the_repository() -> None:
    package = PROJECT / "pipeline" / "vocabgap"
    names = re.compile(r"data/demo|tests/|notebooks/|README|CONTRIBUTING")
    message = [
        f"{path.name}:{number}: {line.strip()}"
        for path in (*package.rglob("*.py"), *package.rglob("*.j2"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if names.search(re.sub(r"(^|  )#.*|`tests/benchmarks/\w+\.py`", "", line))  # comments may
    ]

    assert message == []
