"""The Action: its steps are run as a runner would, with stand-ins for pip and for the API."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from ruamel.yaml import YAML

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.reporting.issues import FIELDS

ACTION: Final = Path(__file__).parents[1] / "action.yml"
HOSTILE: Final = "@octocat $(touch run) `touch run` <!-- vocabgap cap-000000000000 -->"
TITLE: Final = "What agents asked for"
GH: Final = """#!{python}
import json, os, sys
words = sys.argv[1:]
if words[0] == "api":
    words.append(sys.stdin.read())
with open("calls.jsonl", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if words[:2] == ["issue", "list"]:
    with open("issues.json") as issues:
        known = json.load(issues)
    if "env.TITLE" in words[-1]:
        known = min((each["number"] for each in known if each["title"] == os.environ["TITLE"]), default="")
    print(json.dumps(known) if known != "" else "")
elif words[0] != "api":
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
                message = {name: said[value[4:-3]] for name, value in step.get("env", {}).items()}
                summary = str(tmp_path / "summary.md")
                path = f"{programs}:{os.environ['PATH']}"
                done = subprocess.run(
                    [BASH, "-e", "-o", "pipefail", "-c", step["run"]],
                    env={**os.environ, **message, "PATH": path, "GITHUB_STEP_SUMMARY": summary},
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
    return write_corpus(
        tmp_path, {"one": [gap("sky mask"), gap("mask the sky")], "two": [gap("film grain")]}
    )


def test_the_next_run_finds_what_was_published_though_a_gate_fails() -> None:
    _, restore, _, _, summary, save, upload, *_ = action()["runs"]["steps"]

    assert [restore["uses"], save["uses"]] == ["actions/cache/restore@v4", "actions/cache/save@v4"]
    assert [step["if"] for step in (summary, save, upload)] == ["always()"] * 3
    assert restore["with"]["path"] == save["with"]["path"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])


def test_the_issues_have_the_fields_that_are_read() -> None:
    (step,) = (each for each in action()["runs"]["steps"] if each.get("name") == "issues")

    assert f" --json {','.join(FIELDS)} " in step["run"]


def calls(folder: Path) -> list[list[str]]:
    return [
        json.loads(line)
        for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def gh_aw_logs(weeks: int) -> dict[str, object]:
    """Return what `gh aw logs --json` prints about one run a week; agents word a need in two ways."""
    asked = {
        "docker_build": range(4), "docker_build_image": range(2, weeks), "page_screenshot": range(weeks),
        "enqueue_merge": range(1, weeks), "land_branch": range(weeks), "play_music": range(weeks),
    }  # fmt: skip
    runs = [
        {
            "run_id": week,
            "workflow_name": "triage",
            "created_at": f"{day(week)}T08:00:00Z",
            "url": "",
        }
        for week in range(weeks)
    ]
    tools = [
        {
            "tool": tool,
            "count": len(ids),
            "workflows": ["triage"],
            "first_reason": HOSTILE,
            "run_ids": ids,
        }
        for tool, given in asked.items()
        if (ids := [week for week in given if week < weeks])
    ]
    return {
        "summary": {"total_runs": weeks},
        "runs": runs,
        "missing_tools": tools,
        "logs_location": "",
    }


def day(week: int) -> date:
    return date(2026, 1, 5) + timedelta(weeks=week)


def done(plan: str, issues: list[dict[str, Any]], when: date) -> None:
    """Do to issues what the API of GitHub does for the lines of a plan."""
    for line in plan.splitlines():
        method, path, text = line.split("\t")
        fields = json.loads(text)
        if method == "POST":
            assert (path, fields.pop("labels")) == ("repos/{owner}/{repo}/issues", ["vocabgap"])
            issues.append({"number": len(issues) + 1, "state": "OPEN"})
        issue = issues[int(path.rpartition("/")[2]) - 1] if method == "PATCH" else issues[-1]
        issue.update(title=fields.get("title", issue.get("title")), body=fields["body"])
        if "state" in fields:
            close(issue, fields.get("state_reason", ""), when, fields["state"])


def close(issue: dict[str, Any], reason: str, when: date, state: str = "closed") -> None:
    issue.update(state=state.upper(), stateReason=reason.upper(), closedAt=f"{when}T12:00:00Z")


def test_in_ten_weeks_each_need_has_one_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    issues: list[dict[str, Any]] = []
    for week in range(1, 11):
        Path("gh-aw-logs.json").write_text(json.dumps(gh_aw_logs(week)), encoding="utf-8")
        if week == 5:
            assert vocabgap("decide", "merge", "land_branch", "enqueue_merge").code == 0
        if week == 7:  # the cache of the Action is lost
            shutil.rmtree("out")
        if week == 8:
            close(
                next(each for each in issues if each["title"] == "page screenshot"),
                "completed",
                day(7),
            )
            close(
                next(each for each in issues if each["title"] == "play music"),
                "not_planned",
                day(7),
            )
        assert vocabgap("report", "gh-aw-logs.json", "--now", str(day(week))).code == 0
        Path("issues.json").write_text(json.dumps(issues), encoding="utf-8")
        planned = vocabgap("issues", "issues.json", "--top", "9")
        assert planned.code == 0, planned.err
        done(planned.out, issues, day(week))

    assert [(each["title"], each["state"]) for each in issues] == [
        ("docker build image", "OPEN"), ("land branch", "OPEN"), ("page screenshot", "OPEN"),
        ("play music", "CLOSED"), ("enqueue merge", "CLOSED"),
    ]  # fmt: skip
    assert issues.pop()["body"] == "Now part of #2.\n"
    assert ["Known sessions: 10\n" in each["body"] for each in issues] == [True, True, True, False]
    assert all("`@octocat` \\$(touch run)" in each["body"] for each in issues)


@pytest.mark.usefixtures("photos")
def test_the_report_is_the_summary_and_one_issue_is_kept_up_to_date(
    steps: Steps, tmp_path: Path
) -> None:
    done = steps("report", "summary", "issue", roots="photos\n\n", options="--top\n1\n")

    assert done.returncode == 0, done.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "sky mask" in summary
    assert (tmp_path / "vocabgap-out/report.md").read_text(encoding="utf-8") == summary
    assert calls(tmp_path)[-1][:4] == ["issue", "create", "--title", TITLE]

    others = [
        {"number": 9, "title": TITLE},
        {"number": 7, "title": TITLE},
        {"number": 3, "title": "other"},
    ]
    (tmp_path / "issues.json").write_text(json.dumps(others), encoding="utf-8")
    assert steps("issue").returncode == 0
    assert calls(tmp_path)[-1][:3] == ["issue", "edit", "7"]
    assert "sky mask" in (tmp_path / "body.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("photos")
def test_a_dry_run_says_what_it_would_do(steps: Steps, tmp_path: Path) -> None:
    assert steps("report", roots="photos").returncode == 0

    assert steps("issue", dry_run="true").stdout.startswith(f"would create an issue: {TITLE}, ")
    assert steps("issues", issues="1", dry_run="true").stdout.startswith(
        "would POST repos/{owner}/{repo}/issues: "
    )
    assert [call[:2] for call in calls(tmp_path)] == [["issue", "list"]] * 2

    assert steps("issues", issues="1").returncode == 0
    assert json.loads(calls(tmp_path)[-1][-1])["title"] == "sky mask"


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
