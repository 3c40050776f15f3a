"""What `init` puts into an agent's settings."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from builders.command import vocabgap

AGENTS = {
    "claude-code": (".claude/settings.json", ".mcp.json"),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json"),
}
UNREADABLE = {
    "torn": "{",
    "list": "[]",
    "hooks are a list": '{"hooks": []}',
    "hooks of an event are a number": '{"hooks": {"Stop": 5}}',
    "deep": "[" * 100_000,
    "deep in an object": '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}",
    "half a character": r'{"a": "\ud800"}',
    "a key twice": '{"env": {"A": "1", "A": "2"}}',
    "no number of JSON": '{"a": 1e999}',
}


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_time_changes_nothing(tmp_path: Path, agent: str) -> None:
    result = vocabgap("init", tmp_path, "--agent", agent)
    made = files(tmp_path)

    assert (result.code, set(made)) == (0, {*AGENTS[agent], "vocabgap.toml"})
    assert f"vocabgap hook {agent}" in made[AGENTS[agent][0]]
    assert json.loads(made[AGENTS[agent][1]])["mcpServers"]["vocabgap"]["args"] == ["mcp", "."]
    for path, content in made.items():
        assert f"{path}\n{content}" in result.out
    assert vocabgap("init", tmp_path, "--agent", agent).out == "0 files changed\n"
    assert files(tmp_path) == made


def test_what_the_settings_name_and_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "mcp_types", None)

    assert vocabgap("init", tmp_path).err.splitlines() == [
        "vocabgap is not on the PATH, so the agent cannot start it: see `vocabgap manual logging`",
        "the MCP server needs the package mcp: pip install 'vocabgap[mcp]'",
    ]
    assert vocabgap("init", tmp_path).err == ""


@pytest.mark.parametrize("agent", AGENTS)
def test_what_others_have_put_there_stays(tmp_path: Path, agent: str) -> None:
    theirs: dict[str, Any] = {
        "hooks": {
            event: [{"command": "lint"}]
            for event in ("Stop", "SessionEnd", "postToolUseFailure", "other")
        },
        "mcpServers": {"files": {"command": "files"}},
        "version": 1,
        "größer": "ja",
    }
    for name in AGENTS[agent]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(theirs), encoding="utf-8")
    (tmp_path / "vocabgap.toml").write_text("[report]\ntop = 3\n", encoding="utf-8")

    assert vocabgap("init", tmp_path, "--agent", agent).code == 0

    settings, servers = (
        json.loads((tmp_path / name).read_text(encoding="utf-8")) for name in AGENTS[agent]
    )
    for event, hooks in theirs["hooks"].items():
        assert settings["hooks"].pop(event)[:1] == hooks
    del servers["mcpServers"]["vocabgap"]
    assert (settings, servers) == ({**theirs, "hooks": {}}, theirs)
    assert (tmp_path / "vocabgap.toml").read_text(encoding="utf-8") == "[report]\ntop = 3\n"


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    outcome = vocabgap("--json", "init", tmp_path, "--dry-run")
    *shown, result = map(json.loads, outcome.out.splitlines())

    assert [Path(each["path"]).name for each in shown] == [
        "settings.json",
        ".mcp.json",
        "vocabgap.toml",
    ]
    assert (result["changed"], files(tmp_path)) == (False, {})


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_settings_that_cannot_be_read_are_told_and_nothing_is_written(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(content, encoding="utf-8")

    result = vocabgap("init", tmp_path)

    assert result.code == 2
    assert ".claude/settings.json" in result.err
    assert files(tmp_path) == {".claude/settings.json": content}


@pytest.mark.parametrize("agent", AGENTS)
def test_secrets_of_other_servers_stay_in_the_file_where_they_are(
    tmp_path: Path, agent: str
) -> None:
    settings, servers = AGENTS[agent]
    secrets = {f"TOKEN_{number}": f"canary-{number}-" for number in range(200)}
    (tmp_path / servers).parent.mkdir(exist_ok=True)
    theirs = {"mcpServers": {"files": {"command": "files", "env": secrets}}, "last": "canary-"}
    (tmp_path / servers).write_text(json.dumps(theirs), encoding="utf-8")
    (tmp_path / servers).chmod(0o600)

    shown = vocabgap("init", tmp_path, "--agent", agent, "--dry-run")
    result = vocabgap("--json", "init", tmp_path, "--agent", agent)

    assert (shown.code, result.code, "canary-" in shown.out + result.out) == (0, 0, False)
    assert (tmp_path / servers).stat().st_mode & 0o777 == 0o600
    made = files(tmp_path)
    assert set(made) == {settings, servers, "vocabgap.toml"}
    assert [path for path, content in made.items() if "canary-" in content] == [servers]
    assert json.loads(made[servers])["mcpServers"]["files"] == {"command": "files", "env": secrets}


def test_a_link_stays_one_and_what_it_leads_to_is_changed(tmp_path: Path) -> None:
    (tmp_path / "shared.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".mcp.json").symlink_to("shared.json")

    assert vocabgap("init", tmp_path).code == 0
    assert "vocabgap" in (tmp_path / "shared.json").read_text(encoding="utf-8")
    assert (tmp_path / ".mcp.json").is_symlink()


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "precious.json").write_text("{}", encoding="utf-8")
    (tmp_path / "project" / ".mcp.json").symlink_to("../precious.json")

    result = vocabgap("init", tmp_path / "project")

    assert (result.code, (tmp_path / "precious.json").read_text(encoding="utf-8")) == (2, "{}")
    assert "is a link out of the folder" in result.err


def test_a_pipe_in_the_place_of_settings_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")

    result = vocabgap("init", tmp_path)

    assert (result.code, files(tmp_path)) == (2, {})
    assert "'.mcp.json' is a pipe" in result.err.replace(f"{tmp_path}/", "")


def test_a_file_that_the_system_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / ".claude").symlink_to("nowhere")

    result = vocabgap("init", tmp_path)

    assert (result.code, files(tmp_path)) == (4, {})
    assert f"'{tmp_path}/.claude/settings.json' cannot be changed: File exists" in result.err
