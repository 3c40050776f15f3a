"""Text of the logs reaches a terminal as letters and nothing else, whichever verb prints it."""

import json
import re
import sys
from pathlib import Path

import pytest

from builders.hostile import Dressed, told, unseen
from vocabgap.doors.views import table
from vocabgap.errors import ExitCode
from vocabgap.pipeline import Run

pytestmark = pytest.mark.slow

TEXT_OR_JSON = pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
OURS = re.compile("\x1b\\[[0-9;]*m")  # a style, as a table on a terminal has some


@TEXT_OR_JSON
def test_what_reads_logs(
    hostile: Dressed,
    heaped: Run,
    form: list[str],
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VOCABGAP_ACTOR", " ".join(texts).replace("\0", ""))
    roots, config = hostile
    common = ("--config", config)
    checked = told(*form, "check", *roots, *common, code=ExitCode.INVALID_INPUT)
    assert checked.count("wrong_type") >= len(roots)
    decisions = told(*form, "decisions", "list", *common)
    assert len(decisions.splitlines()) > 3 * len(roots)
    assert "because0" in decisions
    assert "spelt0" in told(*form, "status", *common)
    assert "renamed0" in told(*form, "report", *roots, *common)
    published = (*common, "--run", heaped.published.folder)
    assert "open0" in told(*form, "list", *roots, "--limit", "0", *published)
    if not form:
        assert "renamed0" in told("report", *roots, *common, "--format", "csv")


@TEXT_OR_JSON
def test_show_and_draft(hostile: Dressed, heaped: Run, form: list[str]) -> None:
    roots, config = hostile
    run = ("--run", heaped.published.folder)
    asked: list[str | Path] = [*roots, "--config", config, *run]
    gap = json.loads(told("--json", "list", *asked, "--limit", "0").splitlines()[0])
    for kind in ("image", "session", "record"):
        assert "noted" in told(*form, "show", gap[f"{kind}_id"], *asked, "--kind", kind) or not form
    needs = [item.capability_id for item in heaped.published.summary.capabilities]
    assert needs
    for need in needs:
        assert need in told(*form, "show", need, *asked)
        assert '"entry"' in told(*form, "draft", need, *run)


@TEXT_OR_JSON
def test_decide(hostile: Dressed, tmp_path: Path, form: list[str], texts: list[str]) -> None:
    roots, config = hostile
    ranked = json.loads(told("--json", "report", roots[0], "--config", config).splitlines()[4])
    text = f"x{' '.join(texts)}"
    given = (text, "--why", text, "--actor", text, "--decisions", tmp_path / "own.jsonl")
    need = ranked["capability"]["capability_id"]
    assert "rename" in told(*form, "decide", "rename", need, *given)


@TEXT_OR_JSON
def test_errors_about_arguments(texts: list[str], form: list[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    text = f"x{' '.join(texts)}".replace("\0", "")
    told(*form, "draft", text, "--run", text, code=ExitCode.NOT_FOUND)
    told(*form, "show", text, "empty", code=ExitCode.NOT_FOUND)
    told(*form, "list", "empty", "--satisfaction", text, code=ExitCode.INVALID_INPUT)
    told(*form, "list", "empty", "--image", text, "--match", text)
    told(*form, "decide", "undo", text, code=ExitCode.NOT_FOUND)
    told(*form, text, code=ExitCode.INVALID_INPUT)
    told(*form, "report", f"--{text}", code=ExitCode.INVALID_INPUT)
    told(*form, "report", "empty", "--rank-by", text, code=ExitCode.INVALID_INPUT)
    told(*form, "report", "empty", "--since", text, code=ExitCode.INVALID_INPUT)


@pytest.mark.parametrize("columns", ["80", "400"])
def test_a_table_on_a_terminal_has_its_own_styles_and_no_other(
    texts: list[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm-256color")
    benign = table(("capability", "who"), [("kind", "kind")])
    printed = table(("capability", "who"), [(text, f"x{text}x") for text in texts])
    assert OURS.findall(benign) == OURS.findall(printed) != []
    assert not unseen(OURS.sub("", printed))
