import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from builders.command import vocabgap
from glossary.steps import LIFT, STAIN, TWO_LIFTS, make_unwritable, write_scope

UNKNOWN = "5d2c3f3e-1111-4222-8333-444455556666"


@pytest.fixture
def two_lifts(tmp_path: Path) -> Path:
    """Write a glossary in which a term has two meanings, into the default folder; return it."""
    folder = tmp_path / ".vocabgap" / "glossary"
    write_scope(folder, TWO_LIFTS)
    return folder


def typing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stream = io.BytesIO(text.encode(errors="surrogateescape"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream, "utf-8", "surrogateescape"))


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["list"], 3, "not initialized"),
        (["list", "--scope", "bogus"], 2, "Invalid scope 'bogus'"),
        (["list", "--status", "bogus"], 2, "Invalid status 'bogus'"),
        (["check", "--text", "text"], 3, "not initialized"),
        (["check", "--text", "text", "--strictness", "hard"], 2, "hard"),
        (["check"], 2, "expected files and folders, or a text"),
        (["check", "docs", "--text", "lift"], 2, "expected files and folders, or a text"),
        (["check", "docs", "--critical"], 2, "files cannot have options for a step"),
        (["conflicts", "--strictness", "hard"], 2, "'hard' is not one of 'off', 'medium', 'max'"),
        (["resolve", "nope"], 3, "no conflict is called 'nope'"),
        (["resume", UNKNOWN], 3, "not initialized"),
        (["validate", "nowhere"], 3, "does not exist"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: list[str], code: int, message: str) -> None:
    result = vocabgap("glossary", *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


@pytest.mark.usefixtures("docs")
def test_a_text_needs_an_open_standard_input_of_at_most_8_mib(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typing(monkeypatch, "a lift\n" * (2 << 20))
    large = vocabgap("glossary", "check", "--text", "-")
    monkeypatch.setattr("sys.stdin", None)
    closed = vocabgap("glossary", "check", "--text", "-")

    assert (large.code, "larger than 8 MiB" in large.err) == (2, True)
    assert (closed.code, "standard input is closed" in closed.err) == (2, True)


@pytest.mark.usefixtures("two_lifts")
def test_bytes_that_are_no_text_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    typing(monkeypatch, "c\nBright\udcff\n")

    result = vocabgap("glossary", "check", "--text", "Please lift it.", "--critical", "--ask")

    assert result.code == 0
    assert "Resolved: lift = Bright?" in result.err


@pytest.mark.parametrize(("terminal", "high", "done"), [("xterm", "🔴", "✅ "), ("dumb", "!", "")])
def test_prompt_names_the_term_where_it_is_and_what_it_may_mean_the_likeliest_first(
    terminal: str, high: str, done: str, two_lifts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data model's own example."""
    monkeypatch.setenv("TERM", terminal)
    (two_lifts / "team_domain.yaml").write_text(
        "terms:\n"
        "  - {surface: workspace, definition: VS Code workspace configuration file, confidence: 0.7}\n"
        "  - {surface: workspace, definition: Git worktree directory for a work package, confidence: 0.9}\n",
        encoding="utf-8",
    )
    typing(monkeypatch, "1\n")

    result = vocabgap(
        "glossary", "check", "--text", "The workspace contains the implementation files", "--critical",
        "--ask",
    )  # fmt: skip

    assert result.code == 0
    assert result.err.splitlines() == [
        f'{high} High-severity conflict: "workspace"',
        "",
        "Term: workspace",
        'Context: "The workspace contains the implementation files"',
        "Scope: team_domain (2 matches)",
        "",
        "Candidate senses:",
        "1. [team_domain] Git worktree directory for a work package (confidence: 0.9)",
        "2. [team_domain] VS Code workspace configuration file (confidence: 0.7)",
        "",
        "Select: 1-2 (candidate), C (custom sense), D (defer to async), N (no term)",
        "> ",
        f"{done}Resolved: workspace = Git worktree directory for a work package",
        "",
    ]


def test_terminal_without_symbols_gets_plain_signs(
    two_lifts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    typing(monkeypatch, "2\n")
    arguments = ("--text", "Please lift it.", "--critical", "--ask", "--glossary", two_lifts)
    shown = vocabgap("glossary", "check", *arguments).err
    assert shown.startswith('! High-severity conflict: "lift"')
    assert shown.isascii()


def test_likeliest_candidate_comes_first(two_lifts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surenesses = {"Shadows": 0.2, "Elevator": 0.9, "Stain": 0.5}
    terms = [f"{{surface: lift, definition: {n}, confidence: {c}}}" for n, c in surenesses.items()]
    (two_lifts / "team_domain.yaml").write_text(f"terms: [{', '.join(terms)}]", encoding="utf-8")
    typing(monkeypatch, "1\n")
    shown = vocabgap("glossary", "check", "--text", "a lift", "--critical", "--ask").err
    assert re.findall(r"^\d\. \[team_domain\] (\w+)", shown, re.MULTILINE) == [
        "Elevator", "Stain", "Shadows",
    ]  # fmt: skip


def test_control_characters_are_escaped(two_lifts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = "\\e[31m[bold]red[/bold]"
    (two_lifts / "team_domain.yaml").write_text(
        f'terms:\n  - surface: lift\n    definition: "{bad}"\n  - surface: lift\n    definition: other\n',
        encoding="utf-8",
    )
    typing(monkeypatch, "1\n")

    message = [
        vocabgap("glossary", "check", "--text", "\x1b[2J lift", "--critical", "--ask"),
        vocabgap("glossary", "list"),
        vocabgap("glossary", "show", "lift"),
    ]

    assert "\x1b" not in "".join(each.out + each.err for each in message)
    assert all(r"\u001b[31m[bold]red[/bold]" in each.out + each.err for each in message)


@pytest.mark.usefixtures("two_lifts")
def test_text_that_has_changed_is_told_and_checked_only_with_a_yes() -> None:
    stopped = events(
        vocabgap("--json", "glossary", "check", "--text", "Please lift it.", "--critical").out
    )
    changed = ["glossary", "resume", stopped[-2]["retry_token"], "--text", "Please raise it."]

    no, yes = vocabgap(*changed), vocabgap(*changed, "--yes")

    assert (no.code, yes.code) == (4, 0)
    assert "description: Please lift it. -> Please raise it." in no.err
    assert "nobody confirmed it\n  give --yes to resume the changed step" in no.err


@pytest.mark.usefixtures("two_lifts")
def test_json_is_events_of_which_the_last_is_the_result() -> None:
    blocked = events(
        vocabgap("--json", "glossary", "check", "--text", "Please lift it.", "--critical").out
    )
    passed = events(vocabgap("--json", "glossary", "check", "--text", "Please lift it.").out)
    questions = events(vocabgap("--json", "glossary", "conflicts").out)

    names = ["term", "conflict", "question", "result", "error"]
    assert [event["event"] for event in blocked] == names
    assert (blocked[-1]["code"], len(blocked[-2]["retry_token"])) == (4, 36)
    assert passed[-1]["event"] == "result"
    assert not (passed[-1]["blocked"])
    assert passed[-1]["conflicts"] == 1
    assert (questions[0]["term"], questions[-1]["unresolved"]) == ("lift", 1)


@pytest.mark.usefixtures("two_lifts")
def test_conflicts_are_narrowed() -> None:
    vocabgap("glossary", "check", "--text", "Please lift it.", "--mission", "retouch")
    matching = vocabgap(
        "glossary", "conflicts", "--mission", "retouch", "--strictness", "medium", "--unresolved"
    )
    other = vocabgap("glossary", "conflicts", "--strictness", "max")
    assert matching.code == 0
    assert "Total: 1 conflict(s)" in matching.out
    assert "Unresolved: 1" in matching.out
    assert (other.code, "No conflicts found" in other.out) == (0, True)


@pytest.mark.usefixtures("two_lifts")
def test_resolving_again_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabgap("glossary", "check", "--text", "Please lift it.", "--step", "develop")
    conflict = events(vocabgap("--json", "glossary", "conflicts").out)[0]["conflict_id"]
    first = vocabgap("glossary", "resolve", conflict, "--define", "Brighten the eyes")
    typing(monkeypatch, "n\n")

    again = vocabgap("glossary", "resolve", conflict)
    other = vocabgap("glossary", "resolve", conflict, "--no-term")
    counted = events(vocabgap("--json", "glossary", "resolve", conflict, "--select", "1").out)

    assert (first.code, again.code, other.code) == (0, 0, 0)
    assert "already resolved. Resolve it again?" in again.err
    assert "stays resolved" in again.out
    assert "replaces" not in first.out
    assert "It replaces: Brighten the eyes" in other.out
    assert counted[-1]["replaces"] == "Not a term."


@pytest.mark.usefixtures("two_lifts")
def test_empty_definition_is_refused_and_leaves_the_question_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typing(monkeypatch, "c\n \n")
    checked = vocabgap("glossary", "check", "--text", "Lift it.", "--critical", "--ask")
    typing(monkeypatch, "c\n")
    resolved = vocabgap("glossary", "resolve", "lift")

    assert (checked.code, resolved.code) == (4, 2)
    assert "not accepted: 'lift': Definition cannot be empty" in checked.err
    assert "Definition cannot be empty" in resolved.err
    assert events(vocabgap("--json", "glossary", "conflicts").out)[-1]["unresolved"] == 1


@pytest.mark.usefixtures("two_lifts")
def test_interrupted_question_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr("sys.stdin.readline", interrupted)

    result = vocabgap("glossary", "check", "--text", "Please lift it.", "--critical", "--ask")

    assert result.code == 130
    assert "Nobody answered: an open question stays open." in result.err
    assert events(vocabgap("--json", "glossary", "conflicts").out)[-1]["unresolved"] == 1


def test_answer_that_is_not_stored_is_not_called_resolved(
    two_lifts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_without_a_folder(*_: object) -> str:
        make_unwritable(two_lifts / "events" / "check.events.jsonl")
        return "1\n"

    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr("sys.stdin.readline", answer_without_a_folder)

    result = vocabgap("glossary", "check", "--text", "Please lift it.", "--critical", "--ask")

    assert result.code == 4
    assert "not logged: " in result.err
    assert "Resolved" not in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "9"], "there is no such candidate\n  expected 1 to 2"),
        (["--select", "1", "--define", "x"], "there are several answers"),
    ],
)
@pytest.mark.usefixtures("two_lifts")
def test_answer_that_is_none_is_refused(arguments: list[str], message: str) -> None:
    vocabgap("glossary", "check", "--text", "Please lift it.", "--step", "develop")
    conflict = events(vocabgap("--json", "glossary", "conflicts").out)[0]["conflict_id"]
    result = vocabgap("glossary", "resolve", conflict, *arguments)
    assert (result.code, message in result.err) == (2, True)


def test_validate_names_file_line_and_field(two_lifts: Path) -> None:
    sound = vocabgap("glossary", "validate", two_lifts)
    write_scope(two_lifts, [("WP", "x")])
    for name in ("team_domain.yml", "team.yaml"):
        (two_lifts / name).write_text("terms: []\n", encoding="utf-8")
    broken = vocabgap("glossary", "validate", two_lifts)
    counted = events(vocabgap("--json", "glossary", "validate", two_lifts).out)[-1]

    assert (sound.code, broken.code) == (0, 2)
    assert "line 2: term[0] 'WP' -> surface: surface must be normalized" in broken.out
    assert "this file is not read; rename it to team_domain.yaml" in broken.err
    assert (
        "this file is not read; 'team' is not a scope; the scopes are mission_local" in broken.err
    )
    assert (counted["total_files"], counted["valid_files"], counted["invalid_files"]) == (3, 2, 1)


SEED = """
terms:
  - surface: work package
    definition: A part of a plan
    synonyms_to_avoid: [ticket]
  - {surface: lift, definition: Raise the shadows}
  - {surface: lift, definition: Take out a stain}
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A glossary, and a folder with a file that does not say what it asks for."""
    folder = tmp_path / ".vocabgap" / "glossary"
    folder.mkdir(parents=True)
    (folder / "team_domain.yaml").write_text(SEED, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "good.md").write_text("Each work package, lifted.\n", encoding="utf-8")
    (tmp_path / "docs" / "plan.md").write_text(
        "# Plan\n\nEach ticket has an owner.\n", encoding="utf-8"
    )
    return folder


def test_checking_files_or_a_text_of_no_step_is_no_event(docs: Path) -> None:
    for asked in (["docs"], ["--text", "lift it"]):
        vocabgap("glossary", "check", *asked)
    assert [path.name for path in docs.iterdir()] == ["team_domain.yaml"]

    stopped = vocabgap("glossary", "check", "--text", "lift it", "--strictness", "max")
    assert (stopped.code, "name the step with --step" in stopped.err) == (4, True)
    assert [path.name for path in docs.iterdir()] == ["team_domain.yaml"]

    assert vocabgap("glossary", "check", "--text", "lift it", "--step", "develop").code == 0
    assert (docs / "events" / "check.events.jsonl").is_file()


@pytest.mark.usefixtures("docs")
def test_text_without_a_term_is_not_called_settled() -> None:
    result = vocabgap("glossary", "check", "--text", "nothing of it", "--critical")
    assert result.code == 0
    assert result.out == "No term was found, so there was nothing to check (strictness medium)\n"


@pytest.mark.usefixtures("docs")
def test_text_on_stdin_is_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in (["-"], ["--text", "-"]):
        typing(monkeypatch, "Each workPackage and a lift")
        result = vocabgap("glossary", "check", *asked)
        assert result.code == 0
        assert "work package" in result.out
        assert "A part of a plan" in result.out


@pytest.mark.usefixtures("docs")
def test_findings_in_both_formats_say_the_same() -> None:
    github = vocabgap("glossary", "check", "docs", "--format", "github")
    finding, result = events(vocabgap("--json", "glossary", "check", "docs").out)

    assert (github.code, result["failing"]) == (5, 1)
    assert finding["finding"]["message"] == "use 'work package' instead of 'ticket'"
    assert github.out == (
        "::error file=docs/plan.md,line=3,endLine=3,col=6,endColumn=12,title=avoided-synonym"
        "::use 'work package' instead of 'ticket'\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("repo.yaml", SEED, "repo.yaml: 'repo' is not a scope"),
        (
            "spec_kitty_core.yaml",
            "terms:\n  - {surface: C#, definition: A language}\n",
            "line 2: term[0] 'C#'",
        ),
    ],
)
def test_unread_seed_stops_the_linter(docs: Path, name: str, content: str, message: str) -> None:
    (docs / name).write_text(content, encoding="utf-8")

    refused = vocabgap("glossary", "check", "docs")
    terms = vocabgap("glossary", "list")

    assert (refused.code, refused.out, terms.code) == (2, "", 0)
    assert message in refused.err
    assert message in terms.err


def test_show_and_resolve_take_a_term_in_any_spelling(docs: Path) -> None:
    (docs / "team_domain.yaml").write_text(
        "terms:\n  - {surface: work package, definition: A part of a plan}\n"
        "  - {surface: workpackage, definition: What is shipped}\n",
        encoding="utf-8",
    )
    stopped = vocabgap("glossary", "check", "--text", "a workPackage", "--critical")
    term = vocabgap("glossary", "show", "work-packages")
    resolved = vocabgap("glossary", "resolve", "workPackage", "--select", "1")

    assert (stopped.code, term.code, resolved.code) == (4, 0, 0)
    assert (term.out.count("A part of a plan"), term.out.count("What is shipped")) == (1, 1)
    assert vocabgap("glossary", "check", "--text", "the work_package", "--critical").code == 0


@pytest.mark.parametrize("content", ["terms: [\n", "terms: 3\n", "", "just text\n"])
def test_broken_seed_stops_list_and_check(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "team_domain.yaml").write_text(content, encoding="utf-8")

    for command in (["list"], ["check", "--text", "mask the sky"]):
        result = vocabgap("glossary", *command, "--glossary", folder)

        assert result.code == 2
        assert "team_domain.yaml" in result.err
        assert "vocabgap glossary validate" in result.err
    assert vocabgap("glossary", "conflicts", "--glossary", folder).code == 0


def test_a_step_that_has_gone_on_is_not_resumed_again() -> None:
    folder = Path("two")
    write_scope(folder, TWO_LIFTS)
    options: list[str | Path] = ["--glossary", folder, "--no-ask"]
    stopped = vocabgap("--json", "glossary", "check", "--text", "lift it", "--critical", *options)
    token = json.loads(stopped.out.splitlines()[-2])["retry_token"]
    vocabgap("glossary", "deprecate", "lift", "--definition", STAIN, "--glossary", folder)

    first = vocabgap("glossary", "resume", token, *options)
    second = vocabgap("glossary", "resume", token, *options)

    assert (first.code, second.code) == (0, 4)
    assert "the step is done, or its text is gone" in second.err


@pytest.mark.parametrize(
    ("file", "agreed"),
    [("other.toml", ("--config", "other.toml")), ("vocabgap.toml", ("--trust",))],
)
def test_hints_run_as_they_are_printed(
    photos: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    file: str,
    agreed: tuple[str, ...],
) -> None:
    write_scope(tmp_path / "our words", [("mask", LIFT), ("mask", STAIN)])
    elsewhere = tmp_path_factory.mktemp("answers")
    Path(file).write_text(f'[glossary]\nevents = "{elsewhere}"\n', encoding="utf-8")
    given = ("--glossary", "our words", *agreed)

    stopped = vocabgap("report", str(photos), *given)
    (hinted,) = [
        shlex.split(command)[1:] for command in re.findall(r"`(vocabgap [^`]*)`", stopped.err)
    ]
    answered = vocabgap(*hinted, "--select", "1")
    absent = vocabgap("glossary", "show", "nothing", *given)
    lists = re.findall(r"`vocabgap ([^`]*)`", absent.err)
    (tmp_path / "our words" / "spec_kitty_core.yaml").write_text("{{", encoding="utf-8")
    broken = vocabgap("glossary", "list", *given)
    validates = re.findall(r"`vocabgap ([^`]*)`", broken.err)

    assert (stopped.code, answered.code) == (4, 0)
    assert "mask" in vocabgap(*shlex.split(lists[0])).out or "validation" in broken.err
    assert vocabgap(*shlex.split(validates[0])).code == 2


@pytest.mark.usefixtures("two_lifts")
def test_question_of_another_mission_and_an_empty_name_are_refused() -> None:
    vocabgap("glossary", "check", "--text", "Please lift it.", "--step", "develop")

    other = vocabgap("glossary", "resolve", "lift", "--mission", "nope", "--select", "1")
    unnamed = vocabgap("glossary", "check", "--text", "Please lift it.", "--step", "")

    assert (other.code, "it was not found in this mission" in other.err) == (3, True)
    assert (unnamed.code, "step_id must not be empty" in unnamed.err) == (2, True)


@pytest.mark.usefixtures("two_lifts")
def test_no_term_at_the_prompt_of_a_check_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    typing(monkeypatch, "n\n")

    result = vocabgap("glossary", "check", "--text", "Lift it.", "--critical", "--ask")

    assert result.code == 0
    assert vocabgap("glossary", "check", "--text", "Lift it.", "--critical").code == 0
