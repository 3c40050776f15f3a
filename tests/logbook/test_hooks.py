"""What hooks tell of gaps, what they keep to themselves, and what becomes of them where they cannot work."""

import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from builders.command import vocabgap
from vocabgap.doors.cli.app import run
from vocabgap.errors import VocabgapError
from vocabgap.ingest.scanning import scan
from vocabgap.logbook.hooks import changes, log_calls, note_failure, write
from vocabgap.logbook.log import log_gap
from vocabgap.model.record import LOG_NAME

CANARY = "canary-7f3a"


def result(tool: str, call: str, **other: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    content = f"<tool_use_error>Error: No such tool available: {tool}</tool_use_error>"
    part = {
        "type": "tool_result",
        "tool_use_id": call,
        "is_error": True,
        "content": content,
        **other,
    }
    return {"type": "user", "timestamp": "2026-06-02T10:00:00.000Z", "message": {"content": [part]}}


def typed(text: object) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}}


def called(tool: str) -> dict[str, Any]:
    part = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"path": CANARY}}
    return {"type": "assistant", "message": {"content": [part]}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def ended(project: Path, *lines: dict[str, Any] | str, event: str = "Stop") -> bytes:
    transcript = project.parent / "transcript.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    transcript.write_text("\n".join(texts), encoding="utf-8")
    given = {"session_id": "s-1", "cwd": str(project), "hook_event_name": event}
    return json.dumps({**given, "transcript_path": str(transcript)}).encode()


def failed(project: Path, **other: object) -> bytes:
    given = {
        "hook_event_name": "postToolUseFailure",
        "conversation_id": "c-1",
        "workspace_roots": [str(project)],
        "tool_name": "render_video",
        "tool_use_id": "t-9",
        "tool_input": {"path": CANARY},
        "error_message": "Tool render_video does not exist",
        "failure_type": "error",
        "is_interrupt": False,
    }
    return json.dumps({**given, **other}).encode()


def test_a_call_of_an_unknown_tool_is_a_gap_once(project: Path) -> None:
    session = ended(
        project,
        typed(f"please, {CANARY}"),
        called("mask_sky"),
        result("mask_sky", "toolu_1"),
        result("mcp__photos__mask", "toolu_2"),
    )
    log_calls("claude-code", session, None)
    log_calls("claude-code", session, None)
    log_calls("claude-code", session.replace(b"Stop", b"SessionEnd"), None)
    records = scan(project).records

    assert records.select("missing_capability", "session_id", "intent").rows() == [
        ("mask_sky", "s-1", None),
        ("mcp__photos__mask", "s-1", None),
    ]
    assert records["timestamp"][0].isoformat() == "2026-06-02T10:00:00+00:00"


def test_a_call_of_a_tool_that_is_not_granted_is_logged_as_such(project: Path) -> None:
    off = "Rake exists but is not enabled in this context. Use one of the available tools instead."
    unset = "<tool_use_error>Error: No such tool available: Rake."
    call = result("Rake", "toolu_1", content=f"{unset} {off}")
    log_calls("claude-code", ended(project, call), None)
    gaps = scan(project).gaps

    assert gaps.select("missing_capability", "notes").rows() == [
        ("Rake", "call toolu_1 of a tool that is not granted: not_enabled")
    ]


def test_cursor_tells_of_a_call_when_it_fails(project: Path) -> None:
    log_calls("cursor", failed(project), None)
    records = scan(project).records

    assert records.select("missing_capability", "session_id").rows() == [("render_video", "c-1")]


@pytest.mark.parametrize(
    "other",
    [
        {"failure_type": "permission_denied"},
        {"failure_type": "timeout"},
        {"is_interrupt": True},
        {"error_message": "Tool render does not exist"},
        {"hook_event_name": "stop"},
        {"tool_name": "a b; rm", "error_message": "Tool a b; rm does not exist"},
    ],
)
def test_a_failure_of_another_kind_is_no_gap(project: Path, other: dict[str, object]) -> None:
    assert log_calls("cursor", failed(project, **other), None) == []
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "{torn, No such tool available: x",
        json.dumps(result("x", "toolu_1", is_error=False)),
        json.dumps(typed("No such tool available: x")),
        json.dumps({**result("x", "y"), "message": "No such tool available: x"}),
    ],
)
def test_what_only_looks_like_a_refused_call_is_none(project: Path, line: str) -> None:
    assert log_calls("claude-code", ended(project, line), None) == []


def test_nothing_of_a_prompt_an_argument_or_a_result_is_logged(project: Path) -> None:
    for number in range(20):
        canary = f"{CANARY}-{number}"
        output = ended(
            project,
            typed(f"use {canary}"),
            typed([{"type": "text", "text": canary}]),
            {**called("mask_sky"), "cwd": canary},
            result("mask_sky", f"toolu_{number}", secret=canary, input=canary),
            {**result("cut", f"toolu_b{number}"), "toolUseResult": canary},
        )
        assert len(log_calls("claude-code", output, None)) == 2
        secret = {
            "tool_input": {"token": canary},
            "tool_use_id": f"t-{number}",
            "user_email": canary,
        }
        message = f"Tool render_video does not exist: {canary}"
        log_calls("cursor", failed(project, **secret, error_message=message), None)

    log = (project / "vocabulary_gaps.jsonl").read_text(encoding="utf-8")
    assert (log.count("\n"), log.count(CANARY)) == (60, 0)
    assert vocabgap("report", project, "--out", project.parent / "out").code == 0
    published = [
        path.read_bytes() for path in (project.parent / "out").rglob("*") if path.is_file()
    ]
    assert sum(CANARY.encode() in content for content in published) == 0


def test_nothing_of_what_a_hook_was_given_is_in_the_log_of_what_went_wrong(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(project))
    typed_in = {"prompt": CANARY, "tool_input": {"token": CANARY}}
    wrong: list[bytes] = [
        f'{{"prompt": "{CANARY}'.encode(),
        json.dumps([typed_in]).encode(),
        json.dumps(
            {**typed_in, "hook_event_name": "Stop", "transcript_path": f"/nowhere/{CANARY}"}
        ).encode(),
        json.dumps({**typed_in, CANARY: CANARY}).encode() + b"\xff",
    ]
    for content in wrong * 5:
        with pytest.raises(VocabgapError) as raised:
            log_calls("claude-code", content, None)
        note_failure(raised.value)

    log = (project / "vocabgap" / "hook.log").read_text(encoding="utf-8")
    assert (log.count("\n"), log.count(CANARY)) == (20, 0)


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (("claude-code",), b"no json"),
        (("emacs",), b"{}"),
        (("cursor",), b"[]"),
        (("cursor", "nowhere"), b""),
        (("claude-code",), b'{"hook_event_name": "Stop", "transcript_path": "/nowhere"}'),
        (("claude-code",), b'{"hook_event_name": "Stop", "transcript_path": "a\\u0000b"}'),
    ],
)
def test_a_hook_that_cannot_work_ends_well_and_says_why_in_a_log(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    arguments: tuple[str, ...],
    content: bytes,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    assert run(["hook", *arguments]) == 0

    assert capfdbinary.readouterr() == (b"", b"")
    assert len((tmp_path / "state/vocabgap/hook.log").read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize(("more", "logged"), [(0, ["mask_sky", "dodge"]), (1, ["dodge"])])
def test_the_last_64_mib_of_a_long_transcript_are_read(
    project: Path, more: int, logged: list[str]
) -> None:
    session = ended(project, result("mask_sky", "c-1"), "")
    late = b"\n" + json.dumps(result("dodge", "c-2")).encode()
    with (project.parent / "transcript.jsonl").open("r+b") as transcript:
        transcript.seek((64 << 20) - len(late) + more)
        transcript.write(late)

    log_calls("claude-code", session, None)

    assert scan(project).records["missing_capability"].to_list() == logged


@pytest.mark.parametrize(("more", "logged"), [(0, ["mask_sky", "dodge"]), (1, ["dodge"])])
def test_a_line_of_a_transcript_is_read_up_to_4_mib(
    project: Path, more: int, logged: list[str]
) -> None:
    line = json.dumps(result("mask_sky", "c-1"))
    line = line.replace(" ", " " * ((4 << 20) + 1 + more - len(line)), 1)
    log_calls("claude-code", ended(project, line, result("dodge", "c-2")), None)

    assert scan(project).records["missing_capability"].to_list() == logged


def test_a_pipe_in_the_place_of_a_transcript_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "pipe")
    content = json.dumps(
        {"hook_event_name": "Stop", "transcript_path": str(project / "pipe")}
    ).encode()

    with pytest.raises(VocabgapError, match="the transcript is a pipe"):
        log_calls("claude-code", content, project)


def test_a_call_that_no_record_can_hold_costs_no_other(project: Path) -> None:
    calls = [result("first", "c-1"), {**result("second", "c-2"), "timestamp": "9999-99-99"}]
    content = ended(project, *calls, result("third", "c-3"))

    with pytest.raises(VocabgapError, match="timestamp: expected a date"):
        log_calls("claude-code", content, None)

    assert scan(project).records["missing_capability"].to_list() == ["first", "third"]


@pytest.mark.parametrize("arguments", [(), ("cursor", "--with-prompts"), ("cursor", ".", "more")])
def test_a_hook_that_is_set_up_wrongly_is_told_and_vetoes_nothing(
    arguments: tuple[str, ...],
) -> None:
    result = vocabgap("hook", *arguments)

    assert (result.code, result.out) == (0, "")
    assert "vocabgap hook --help" in result.err


@contextmanager
def held(log: Path) -> Iterator[None]:
    """Hold a log as another writer does."""
    with log.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_gap_that_cannot_be_written_now_is_written_by_the_next_call(project: Path) -> None:
    log = project / LOG_NAME
    with held(log):
        log_calls("claude-code", ended(project, result("mask_sky", "toolu_1")), None)
        log_calls("claude-code", ended(project, result("mask_sky", "toolu_1")), None)
        assert log.read_bytes() == b""
    (spooled,) = (path for path in project.iterdir() if path != log)
    line = spooled.read_bytes()

    log_calls("cursor", failed(project), None)
    assert log.read_bytes().splitlines(keepends=True)[0] == line
    spooled.write_bytes(line)  # as if the call had been killed before it removed the file
    log_gap(project, "moon glow")
    log_calls("claude-code", ended(project, result("mask_sky", "toolu_1")), None)

    assert scan(project).gaps["missing_capability"].to_list() == ["mask_sky", "render_video", None]
    assert list(project.iterdir()) == [log]


def test_a_hook_reads_only_the_end_of_a_log(project: Path) -> None:
    with (project / LOG_NAME).open("wb") as log:
        log.truncate(1 << 40)  # a file with holes
    session = ended(project, result("mask_sky", "toolu_1"))

    assert [len(log_calls("claude-code", session, None)) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_a_hook_ends_with_0_and_without_text_at_a_signal_or_when_it_waits(
    number: int | None,
) -> None:
    words = [sys.executable, "-m", "vocabgap", "hook", "claude-code"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        while number is not None and not _handles(run.pid, number):
            time.sleep(0.01)
        if number is not None:
            run.send_signal(number)
        assert run.stdout.read() == b""
        assert run.wait() == 0


def _handles(pid: int, number: int) -> bool:
    """Check whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    mask = int(status.partition("SigCgt:\t")[2][:16], 16)
    return bool(mask >> (signal.SIGALRM - 1) & 1 and mask >> (number - 1) & 1)


def test_new_settings_name_the_project_as_the_unit_unless_there_are_logs(project: Path) -> None:
    (change,) = (each for each in changes(project, "claude-code") if each.path.suffix == ".toml")
    assert 'unit = "project"' in change.content

    (project / "photo").mkdir()
    log_gap(project / "photo", description="no mask")
    (change,) = (each for each in changes(project, "claude-code") if each.path.suffix == ".toml")
    assert "unit" not in change.content


def test_only_missing_entries_are_added_to_the_settings_of_an_agent(project: Path) -> None:
    file = project / ".claude" / "settings.json"
    file.parent.mkdir()
    other = {"hooks": [{"type": "command", "command": "make"}]}
    file.write_text(json.dumps({"hooks": {"Stop": [other]}, "model": "x"}), encoding="utf-8")

    write(changes(project, "claude-code"))

    settings = json.loads(file.read_text(encoding="utf-8"))
    (own,) = settings["hooks"]["SessionEnd"]
    assert settings == {"hooks": {"Stop": [other, own], "SessionEnd": [own]}, "model": "x"}
    assert changes(project, "claude-code") == []
