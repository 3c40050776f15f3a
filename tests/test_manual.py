"""The sessions of the manual are what the commands print, and what it has others run is understood."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import vocabgap as package
from builders.command import vocabgap
from faults import soak
from faults.verbs import VERBS
from vocabgap.clustering.embedding.model import find_minilm
from vocabgap.model.loading import load_settings

MANUAL = Path(package.__file__).parent / "manual"
WEEKLY, CORPUS = "weekly-job", "corpus"
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def page(name: str) -> str:
    (path,) = MANUAL.parent.glob(f"**/manual/{name}.md")
    return path.read_text(encoding="utf-8")


def blocks(kind: str, name: str = WEEKLY) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page(name), flags=re.DOTALL)


def session(name: str, folder: Path, after: str = "# ", before: str = "") -> int:
    """Type the commands of a part of a page, compare what each prints, and return how many there were."""
    start = page(name).index(after)
    part = page(name)[start : page(name).index(before, start) if before else None]
    consoles = re.findall(r"```console\n(.*?)```", part, flags=re.DOTALL)
    code, commands = 0, COMMAND.findall("".join(consoles))
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


@pytest.mark.parametrize(
    ("name", "after", "before", "fewest"),
    [
        ("tutorial", "# ", "", 9),
        ("installing", "## A new version", "", 6),
        ("your-own-file", "## The shortest way", "", 6),
        ("logging", "## Hooks", "", 9),
        (WEEKLY, "# ", "## Hand a report on", 16),
        (WEEKLY, "## Hand a report on", "", 6),
        ("settings", "### A model of your own", "", 7),
    ],
)
def test_session_is_what_the_commands_print(
    name: str, after: str, before: str, fewest: int, there: Path
) -> None:
    if (name, after) == (WEEKLY, "# "):
        Path("vocabgap.toml").write_text(blocks("toml")[0], encoding="utf-8")
    if name == "settings":
        _lay_out_model(there / "models" / "mine")

    assert session(name, there, after, before) >= fewest


def _lay_out_model(folder: Path) -> None:
    files = find_minilm()
    if files is None:
        pytest.skip("the known model is not installed")
    folder.mkdir(parents=True)
    for path in (files.model, files.tokenizer):
        (folder / path.name).symlink_to(path)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_queries_of_other_tools_are_what_they_print(
    there: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(engine, reason=f"{engine} is not installed, so its query of the manual is not run")
    assert session(CORPUS, there) > 10
    capsys.readouterr()

    exec("\n".join(blocks("python", CORPUS) + blocks(f"python {engine}", CORPUS)), {})  # noqa: S102

    assert capsys.readouterr().out == blocks("text", CORPUS)[0]


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
