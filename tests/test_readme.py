"""What the README says must be what the commands do."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.core import TyperGroup

from builders import write_config
from builders.command import vocabgap
from builders.manual import blocks
from slices import absent
from vocabgap import cluster, draft, scan
from vocabgap.doors.cli.app import Parsers, run
from vocabgap.errors import ExitCode
from vocabgap.model.loading import load_settings

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
PAGES = {
    page.stem: page.read_text(encoding="utf-8")
    for page in sorted((PROJECT / "pipeline/vocabgap").glob("**/manual/*.md"))
}
# What somebody wrote, which the lists of all that there is are not.
MANUAL = "".join(text for name, text in PAGES.items() if not name.startswith("reference-"))
# What is typed on the demo logs, line by line.
TYPED = README + PAGES["commands"] + PAGES["deciding"]
DEMO = str(PROJECT / "data" / "demo")
AS_MADE = "vocabgap report data/demo --now last"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder to type in that has the demo."""
    shutil.copytree(PROJECT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def transcripts() -> Iterator[tuple[str, str]]:
    """Each single command of the README's transcripts, with what it is said to print."""
    for block in re.findall(r"```console\n\$ ([^\n]*)\n(.*?)```", TYPED, flags=re.DOTALL):
        if block[1] and not block[1].startswith("$") and "\n$ " not in block[1]:
            yield block


@pytest.mark.usefixtures("minilm", "here")
@pytest.mark.parametrize(("command", "printed"), list(transcripts()))
def test_transcript_is_what_the_command_prints(command: str, printed: str) -> None:
    command, _, first = command.partition(" | head -")

    assert (
        vocabgap(*shlex.split(command)[1:]).out.splitlines()[: int(first or 99)]
        == printed.splitlines()
    )


def typed(text: str) -> list[list[str]]:
    """The commands on the demo logs that are typed one after the other, without what they print."""
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks if "\n$ " in block for line in block.splitlines()]
    commands = [
        shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ vocabgap ")
    ]
    return [command[1:] for command in commands]


@pytest.mark.parametrize(
    "text", [README, PAGES["commands"] + PAGES["deciding"]], ids=["readme", "manual"]
)
def test_what_is_typed_on_the_demo_works_line_by_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, here: Path, text: str
) -> None:
    monkeypatch.setenv("HOME", str(here / "home"))
    commands = typed(text)

    codes = {" ".join(command): run(command) for command in commands}

    assert codes == dict.fromkeys(codes, ExitCode.DONE) | {
        "check data/demo": ExitCode.INVALID_INPUT
    }
    assert {command[0] for command in commands} >= {"report", "check", "decide", "diff", "draft"}
    assert "skin hue lock" in capsys.readouterr().out


def test_python_of_the_readme_works_as_it_stands(here: Path) -> None:
    blocks = re.findall(
        r"```python\n(.*?)```",
        README + PAGES["reference-python"] + PAGES["deciding"],
        flags=re.DOTALL,
    )
    names: dict[str, Any] = {}

    for block in blocks:
        exec(block, names)  # noqa: S102 - it is what the README says

    assert len(blocks) > 2
    assert names["made"].ranked["label"].to_list() == names["ranked"]["label"].to_list()
    assert (here / "run" / "report.md").is_file()


@pytest.mark.usefixtures("here")
def test_merge_of_the_readme_unites_what_a_draft_then_names() -> None:
    """The draft is of the one need that the two have become."""
    merge = next(command for command in typed(TYPED) if command[:2] == ["decide", "merge"])
    report = ["report", DEMO, "-q"]

    made = [
        run(command)
        for command in (report, merge, [*report, "--vocabulary", f"{DEMO}/vocabulary.json"])
    ]

    ranked = pl.read_parquet("out/capabilities.parquet")
    assert made == [ExitCode.DONE] * 3
    assert draft(merge[2], ranked).entry.name == "_".join(merge[2].split())
    united = ranked.row(by_predicate=pl.col("label") == merge[2], named=True)["variants"]
    assert set(merge[2:4]) <= {variant["wording"] for variant in united}


def test_make_report_runs_at_the_moment_of_the_transcript() -> None:
    moment = AS_MADE.rsplit(maxsplit=1)[-1]
    assert AS_MADE in [command for command, _ in transcripts()]
    assert re.search(
        rf"^NOW\s+:= {moment}$", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )


def every_command(commands: Mapping[str, Any], name: str = "vocabgap") -> Iterator[str]:
    """Every command as it is typed, those of groups included."""
    for verb, command in commands.items():
        if isinstance(command, TyperGroup):
            yield from every_command(command.commands, f"{name} {verb}")
        elif not command.hidden:
            yield f"{name} {verb}"


def test_every_command_is_in_the_readme_or_the_manual() -> None:
    commands = every_command(Parsers())
    assert [
        each for each in commands if not re.search(rf"\b{re.escape(each)}\b", README + MANUAL)
    ] == []


def test_every_exit_code_is_in_the_manual() -> None:
    assert [code for code in ExitCode if f"| {code.value} |" not in PAGES["commands"]] == []


def test_three_wordings_of_the_readme_are_one_need(tmp_path: Path) -> None:
    story = README[README.index("One says\n") : README.index("A counter over exact strings")]
    wordings = re.findall(r'[`"]([^`"]+)[`"]', story)
    log = tmp_path / "vocabulary_gaps.jsonl"
    log.write_text("".join(json.dumps({"description": wording}) + "\n" for wording in wordings))

    found = cluster(scan(log).records)

    assert (len(wordings), found.clusters.height) == (3, 1)


def test_record_in_the_manual_is_read_as_it_stands(tmp_path: Path) -> None:
    example = re.search(r'```json\n(\{"timestamp".*?)```', PAGES["gap-logs"], flags=re.DOTALL)
    assert example is not None
    log = tmp_path / "pier-0412" / "vocabulary_gaps.jsonl"
    log.parent.mkdir()
    log.write_text(example[1].replace("\n", "") + "\n")

    summary = scan(log).summary

    assert (summary.records, summary.repairs) == (1, {})


def test_settings_in_the_manual_are_accepted(tmp_path: Path) -> None:
    for page, baseline in (("settings", None), ("weekly-job", "known-bad-lines.jsonl")):
        settings = load_settings(write_config(tmp_path, blocks("toml", page)[0]))

        assert baseline in (None, settings.check.baseline)


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    assert len(README.splitlines()) <= 200
    assert {name for name in PAGES if f"/manual/{name}.md)" in README} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name: str) -> None:
    folder = PROJECT / "pipeline/vocabgap/manual"
    for target in re.findall(r"\]\((?!https?://)([^)]+)\)", PAGES[name]):
        place, _, heading = target.partition("#")
        page = (folder / place).resolve() if place else folder / f"{name}.md"
        if {*page.parts} & absent():
            continue
        assert page.exists(), target
        headings = re.findall(
            r"^#+ (.*)$", page.read_text(encoding="utf-8") if heading else "", re.MULTILINE
        )
        anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
        assert not heading or heading in anchors, target


def test_every_path_that_is_named_exists() -> None:
    named = re.findall(r"`([\w.-]+(?:/[\w.-]*)+|\w+\.pyi?)`|\]\(([\w./-]+)", README)
    paths = {
        path or link for path, link in named if not path.startswith("out/")
    }  # `make report` writes there
    homes = (PROJECT, PROJECT / "pipeline/vocabgap")
    missing = {path for path in paths if not any((home / path).exists() for home in homes)}
    assert {path for path in missing if not {*path.split("/")} & absent()} == set()
