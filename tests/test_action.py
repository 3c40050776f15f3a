"""The Action: its steps are run as a runner would, with stand-ins for pip and for the API."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from builders import gap, write_corpus

ACTION: Final = Path(__file__).parents[1] / "action.yml"
TITLE: Final = "What agents asked for"
GH: Final = """#!{python}
import json, os, sys
words = sys.argv[1:]
with open("calls.jsonl", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if words[:2] == ["issue", "list"]:
    assert "env.TITLE" in words[-1]
    known = [each for each in json.load(open("issues.json")) if each["title"] == os.environ["TITLE"]]
    print(min((each["number"] for each in known), default=""))
else:
    with open(words[words.index("--body-file") + 1]) as body, open("body.md", "w") as kept:
        kept.write(body.read())
"""

Steps = Callable[..., subprocess.CompletedProcess[str]]

BASH: Final = shutil.which("bash") or ""

pytestmark = pytest.mark.skipif(not BASH, reason="there is no bash to run the steps with")


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(ACTION.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    """Runs the shell steps of some names, in their order, with the inputs that are given."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "gh").write_text(GH.format(python=sys.executable), encoding="utf-8")
    (programs / "gh").chmod(0o755)
    (programs / "vocabgap").symlink_to(Path(sys.executable).with_name("vocabgap"))
    (tmp_path / "issues.json").write_text("[]", encoding="utf-8")

    def run(*names: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        known = {name: each["default"] for name, each in action()["inputs"].items()}
        known |= {name.replace("_", "-"): value for name, value in inputs.items()}
        said = {f"inputs.{name}": value for name, value in known.items()}
        said |= {"github.token": "t", "github.repository": "o/r", "github.action_path": "p"}
        done = None
        for step in action()["runs"]["steps"]:
            if step.get("name") in names:
                told = {name: said[value[4:-3]] for name, value in step.get("env", {}).items()}
                summary = str(tmp_path / "summary.md")
                path = f"{programs}:{os.environ['PATH']}"
                done = subprocess.run(
                    [BASH, "-e", "-o", "pipefail", "-c", step["run"]],
                    env={**os.environ, **told, "PATH": path, "GITHUB_STEP_SUMMARY": summary},
                    cwd=tmp_path,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    return done
        assert done is not None
        return done

    return run


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, {"one": [gap("sky mask"), gap("mask the sky")], "two": [gap("film grain")]})


def test_the_next_run_finds_what_was_published_though_a_gate_fails() -> None:
    *before, report, summary, save, upload, _, _ = action()["runs"]["steps"]
    restore = before[1]

    assert (report["name"], restore["uses"], save["uses"]) == (
        "report",
        "actions/cache/restore@v4",
        "actions/cache/save@v4",
    )
    assert [step["if"] for step in (summary, save, upload)] == ["always()"] * 3
    assert restore["with"]["path"] == save["with"]["path"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])


def calls(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.usefixtures("photos")
def test_the_report_is_the_summary_and_one_issue_is_kept_up_to_date(steps: Steps, tmp_path: Path) -> None:
    done = steps("report", "summary", "issue", roots="photos\n\n", options="--top\n1\n")

    assert done.returncode == 0, done.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "sky mask" in summary
    assert (tmp_path / "vocabgap-out/report.md").read_text(encoding="utf-8") == summary
    assert calls(tmp_path)[-1][:4] == ["issue", "create", "--title", TITLE]

    others = [{"number": 9, "title": TITLE}, {"number": 7, "title": TITLE}, {"number": 3, "title": "other"}]
    (tmp_path / "issues.json").write_text(json.dumps(others), encoding="utf-8")
    assert steps("issue").returncode == 0
    assert calls(tmp_path)[-1][:3] == ["issue", "edit", "7"]
    assert "sky mask" in (tmp_path / "body.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("issues", "message"), [([], "create an issue"), ([7], "edit issue 7")])
def test_a_dry_run_says_what_it_would_do(
    steps: Steps, tmp_path: Path, issues: list[int], message: str
) -> None:
    (tmp_path / "vocabgap-out").mkdir()
    (tmp_path / "vocabgap-out/report.md").write_text("# Report\n", encoding="utf-8")
    existing = [{"number": number, "title": TITLE} for number in issues]
    (tmp_path / "issues.json").write_text(json.dumps(existing), encoding="utf-8")

    done = steps("issue", dry_run="true")

    assert done.stdout.startswith(f"would {message}: {TITLE}, ")
    assert [call[1] for call in calls(tmp_path)] == ["list"]


def test_a_name_from_the_workflow_is_never_run(steps: Steps, tmp_path: Path) -> None:
    write_corpus(tmp_path, {"one": [gap("sky mask")]}, name="a $(touch run) b")

    done = steps("report", roots="a $(touch run) b", options="--top\n$(touch run)")

    assert done.returncode == 2
    assert steps("report", "issue", roots="a $(touch run) b", title="`touch run`").returncode == 0
    assert not (tmp_path / "run").exists()


def test_a_long_report_is_cut_at_a_whole_line(steps: Steps, tmp_path: Path) -> None:
    (tmp_path / "vocabgap-out").mkdir()
    line = "größer als alles andere auf der Seite\n"
    (tmp_path / "vocabgap-out/report.md").write_text(line * 40_000, encoding="utf-8")

    assert steps("summary", "issue").returncode == 0

    for name, most in (("summary.md", 1_000_000), ("body.md", 60_000)):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines(keepends=True)
        assert set(lines) == {line}
        assert most - 2 * len(line.encode()) < sum(len(each.encode()) for each in lines) <= most


def test_a_failed_check_comes_after_everything_else(steps: Steps, tmp_path: Path) -> None:
    write_corpus(tmp_path, {"one": [gap("sky mask"), "{broken"]})

    done = steps("report", "summary", "check")

    assert (done.returncode, (tmp_path / "summary.md").exists()) == (2, True)
    names = [step.get("name", step.get("uses")) for step in action()["runs"]["steps"]]
    assert names[-1] == "check"
    assert all("${{" not in step.get("run", "") for step in action()["runs"]["steps"])
