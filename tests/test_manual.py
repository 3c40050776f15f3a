"""The sessions of the manual are what the commands print, and what it has others run is understood."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import vocabgap as package
from builders.command import vocabgap
from faults import soak
from faults.verbs import VERBS
from vocabgap.clustering.embedding.model_files import find_minilm
from vocabgap.model.loading import load_settings

MANUAL = Path(package.__file__).parent / "manual"
WEEKLY, CORPUS, TUTORIAL, HOOKS = "weekly-job", "corpus", "tutorial", "hooks"
UPGRADING, OWN_MODEL, SHARING, GAP_LOGS = "upgrading", "own-model", "sharing", "gap-logs"
TESTS = Path(__file__).parent
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def page(name: str) -> str:
    return (MANUAL / f"{name}.md").read_text(encoding="utf-8")


def blocks(kind: str, name: str = WEEKLY) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page(name), flags=re.DOTALL)


def typed(name: str) -> Iterator[tuple[str, str]]:
    """Each command of the sessions, in order, with what it is said to print."""
    for block in blocks("console", name):
        yield from COMMAND.findall(block)


def session(name: str, folder: Path) -> int:
    """Type the commands of a page, and compare what each prints; gives how many there were."""
    code, commands = 0, list(typed(name))
    for command, printed in commands:
        if command == "echo $?":
            told = f"{code}\n"
        elif command.startswith("vocabgap "):
            own, _, last = command.partition(" | tail -1")
            code, out, err = vocabgap(*shlex.split(own)[1:])
            told = out + err if not last and own == command else f"{out.splitlines()[-1]}\n"
        else:
            programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PATH": programs},
            )
            told = done.stdout
        assert (command, told.replace(str(folder), "/srv/gaps")) == (command, printed)
    return len(commands)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("COLUMNS", "VOCABGAP_CORPUS"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def test_session_of_the_weekly_job_is_what_the_commands_print(there: Path) -> None:
    Path("vocabgap.toml").write_text(blocks("toml")[0], encoding="utf-8")

    assert session(WEEKLY, there) > 15


def test_session_about_hooks_is_what_the_commands_print(there: Path) -> None:
    assert session(HOOKS, there) > 8


def test_tutorial_is_what_the_commands_print(there: Path) -> None:
    assert session(TUTORIAL, there) > 8


@pytest.mark.parametrize("name", [GAP_LOGS, SHARING, UPGRADING])
def test_session_of_a_how_to_is_what_the_commands_print(name: str, there: Path) -> None:
    assert session(name, there) > 5


def test_session_about_a_model_of_ones_own_is_what_the_commands_print(there: Path) -> None:
    files = find_minilm()
    if files is None:
        pytest.skip("the known model is not installed, and no other one lies here")
    folder = there / "models" / "mine"
    folder.mkdir(parents=True)
    for path in (files.model, files.tokenizer):
        (folder / path.name).symlink_to(path)

    assert session(OWN_MODEL, there) > 6


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pyspark"])
def test_queries_of_other_tools_are_what_they_print(
    there: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    needed = {"pyspark": "py4j"}.get(engine, engine)  # the thin client of Spark has no engine in it
    pytest.importorskip(needed, reason=f"{engine} is not installed, so its query of the manual is not run")
    assert session(CORPUS, there) > 10
    capsys.readouterr()

    exec("\n".join(blocks("python", CORPUS) + blocks(f"python {engine}", CORPUS)), {})  # noqa: S102

    assert capsys.readouterr().out == blocks("text", CORPUS)[0]


@pytest.mark.parametrize("name", [CORPUS])
def test_every_test_that_a_table_of_requirements_names_is_there(name: str) -> None:
    named = re.findall(r"\| `(\S+\.py)::(\w+)` \|", page(name))

    for file, test in named:
        assert f"\ndef {test}(" in (TESTS / file).read_text(encoding="utf-8"), (file, test)

    assert len(named) == sum(line.startswith("| ") and ".py" in line for line in page(name).splitlines()) > 20


def test_jobs_of_the_manual_are_commands_that_there_are() -> None:
    jobs = re.findall(
        r"vocabgap ((?:report|check) [^\n]*)", "\n".join(map("\n".join, map(blocks, ("cron", "ini", "yaml"))))
    )

    for job in jobs:
        verb, *options = shlex.split(job)
        told = vocabgap(verb, "--help").out
        assert {option for option in options if option.startswith("--")} <= set(
            re.findall(r"--[a-z-]+", told)
        )

    assert len(jobs) == 4


def test_job_in_ci_keeps_what_was_published_though_a_gate_fails() -> None:
    (job,) = YAML(typ="safe").load(blocks("yaml")[0])["jobs"].values()
    commands = [step.get("run", "").startswith("vocabgap report") for step in job["steps"]]
    before, after = job["steps"][: commands.index(True)], job["steps"][commands.index(True) + 1 :]
    (restored,) = (step["with"] for step in before if "cache/restore" in step.get("uses", ""))
    (saved,) = (step["with"] for step in after if "cache/save" in step.get("uses", ""))

    assert not any("vocabgap check" in step.get("run", "") for step in before)  # a bad line costs no report
    assert {step.get("if") for step in after} == {"always()"}
    assert restored["path"] == saved["path"] == "out"
    assert saved["key"].startswith(restored["restore-keys"])


def test_table_of_attacks_is_one_that_the_soak_prints() -> None:
    heading, _, *rows = re.findall(
        r"^\| (.*) \|$", page("safety").split("## What it was attacked with")[1], re.MULTILINE
    )
    told = [dict(zip(soak.HEADINGS, row.split(" | "), strict=True)) for row in rows]

    assert heading == " | ".join(soak.HEADINGS)
    assert {each["on"] for each in told} >= {f"{len(VERBS)} verbs that write", "seeds", "settings"}
    assert {each["broken"] for each in told} == {"0"}


def test_settings_of_the_manual_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text(blocks("toml")[0], encoding="utf-8")

    settings = load_settings(tmp_path / "vocabgap.toml")

    assert settings.check.baseline == "known-bad-lines.jsonl"
