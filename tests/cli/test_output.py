import io
import json
import os
import subprocess
import sys
import unicodedata
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.doors.cli.output import Output
from vocabgap.doors.views import comma_separated, table
from vocabgap.errors import ExitCode, VocabgapError

# Categories of what changes a terminal, or what a reader sees, without being seen.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
USAGE_ERRORS = [
    ("--json",), ("--json", "--colour"), ("--json", "rank"), ("--json", "report"),
    ("--json", "report", ".", "--top", "many"), ("--json", "report", ".", "--rank-by", "beauty"),
    ("--json", "report", ".", "--since", "someday"), ("--json", "schema", "nothing"),
    ("--json", "check", "nowhere"), ("--json", "status", "--config", "nowhere.toml"),
    ("report", ".", "--json"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", USAGE_ERRORS, ids=" ".join)
def test_json_ends_in_an_error_where_a_command_cannot_be_done(arguments: tuple[str, ...]) -> None:
    result = vocabgap(*arguments)
    events = [json.loads(line) for line in result.out.splitlines()]
    assert result.code in (ExitCode.INVALID_INPUT, ExitCode.NOT_FOUND)
    assert [event["event"] for event in events] == ["error"]
    assert events[0]["code"] == result.code
    assert events[0]["message"]
    assert result.err == ""


def test_an_error_is_printed_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    Output().error(VocabgapError("[/x] \x1b[31m\nred", hint="\u202e"))
    assert capsys.readouterr().err == "vocabgap: [/x] \\u001b[31m red\n  \\u202e\n"


@given(text=st.text(st.characters(exclude_categories=())))
@example("größe 木 🌲")
@example('\x7f\x9b31m\u202e\u2066\u200b\u200d\ufeff\u2028\u2029\U000e0041\ud800"\\')
def test_an_event_shows_what_is_unseen_and_is_read_back_as_it_was(text: str) -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        Output(as_json=True).event("reject", raw=text, detail=[text])

    line = printed.getvalue().removesuffix("\n")
    event = json.loads(line)
    assert (event["raw"], event["detail"]) == (text, [text])
    assert not any(unicodedata.category(character) in UNSEEN for character in line)


@pytest.mark.slow
def test_json_is_json_where_stdout_knows_only_ascii(installed: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("größe 木\n", encoding="utf-8")
    result = subprocess.run(
        [installed, "--json", "check", log],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert json.loads(result.stdout.splitlines()[0])["raw"] == "größe 木"


@given(text=st.text(st.characters(exclude_categories=())))
def test_a_cell_of_any_text_is_printable_and_leaves_the_table_standing(text: str) -> None:
    lines = table(("a", "b"), [(text, "end"), (None, 3)]).splitlines()
    assert lines[0].split() == ["a", "b"]
    assert lines[-1].split() == ["–", "3"]
    assert not any(
        ord(character) < 32 or 127 <= ord(character) < 160 for line in lines for character in line
    )


@pytest.mark.parametrize(
    ("width", "headings"), [(110, "id who seen why"), (88, "id seen why"), (70, "id why")]
)
def test_a_narrow_table_loses_whole_columns_and_no_part_of_a_word(
    width: int, headings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    row = ("x" * 30, "ana of the lab", "2026-07-01 10:00", "anchored black point " * 9)

    message = table(
        ("id", "who", "seen", "why"), [row], dates=("id", "seen"), spare=("who", "seen")
    )

    assert message.splitlines()[0].split() == headings.split()
    assert {*message.split("─\n")[1].split()} <= {*" ".join(row).split()}
    assert max(map(len, message.splitlines())) <= width


@given(cells=st.lists(st.text(), min_size=1, max_size=4))
def test_csv_reads_back_and_no_cell_begins_a_formula(cells: list[str]) -> None:
    import csv  # noqa: PLC0415

    text = comma_separated(["x"] * len(cells), [cells, cells])
    rows = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in rows[1:]} <= {len(cells), 0}
    assert not any(
        cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row
    )


@pytest.mark.slow
def test_a_reader_that_leaves_early_stops_neither_the_work_nor_in_a_traceback(
    installed: Path, tmp_path: Path
) -> None:
    write_corpus(tmp_path, {"image": [gap("sky mask")]}, name="one")
    with subprocess.Popen(
        [installed, "--json", "report", "one", "--top", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaints = process.stderr.read()
    assert (process.returncode, complaints) == (0, "")
    assert (tmp_path / "out" / "run.json").is_file()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", ["report one", "--json check one", "report --help"])
def test_a_full_disk_behind_stdout_is_told_in_a_sentence(
    words: str, installed: Path, tmp_path: Path
) -> None:
    write_corpus(tmp_path, {"image": [gap("sky mask")]}, name="one")
    with Path("/dev/full").open("w") as full:
        command = [str(installed), *words.split()]
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path
        )
    assert result.returncode == ExitCode.STATE
    assert "Traceback" not in result.stderr
    assert "No space left" in result.stderr or words.startswith("--json")
    assert (tmp_path / "out").exists() == (words == "report one")
    assert ("the command did its work, but" in result.stderr) == (words == "report one")


def test_a_reader_that_stops_early_is_no_error(installed: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [installed, "--help"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no device that is always full"
)
def test_an_exit_code_outlives_messages_that_cannot_be_written(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "from vocabgap.doors.cli.app import main; main()"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        process = subprocess.run(
            [*program, "check", str(tmp_path / "absent")], stderr=full, check=False
        )

    assert process.returncode == ExitCode.NOT_FOUND
