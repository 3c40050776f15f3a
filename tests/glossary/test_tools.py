"""The gate for agents: what they are shown, what they may answer, and how they go on."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from glossary.steps import LIFT, STAIN, TWO_LIFTS, runtime_in, write_scope
from mcp_server.calls import data_of, error_of
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.runtime import configured_runtime
from vocabgap.model.settings import Settings

pytestmark = pytest.mark.anyio
TEXT = "Please lift it."
TOOLS = {"glossary_check", "glossary_answer", "glossary_resume"}
Connect = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def server(tmp_path: Path, mcp_sdk: None) -> Connect:  # noqa: ARG001
    """A client of a server with a glossary in which one word has two meanings."""
    from mcp import Client  # noqa: PLC0415 - what the extra installs

    from vocabgap.doors.mcp.server import build  # noqa: PLC0415
    from vocabgap.doors.mcp.workspace import Workspace  # noqa: PLC0415

    write_scope(tmp_path / "words", TWO_LIFTS)

    def to(*, folder: str | None = str(tmp_path / "words"), read_only: bool = False) -> Any:  # noqa: ANN401
        settings = Settings(glossary=GlossarySettings(folder=folder))  # type: ignore[call-arg]
        return Client(build(Workspace(tmp_path, settings), read_only=read_only), mode="legacy")

    return to


async def test_blocked_agent_shows_the_question_answers_it_and_goes_on(
    server: Connect, tmp_path: Path
) -> None:
    async with server() as client:
        blocked = await data_of(client, "glossary_check", text=TEXT)
        (question,) = blocked["question"]
        token = blocked["retry_token"]
        still = await data_of(client, "glossary_resume", token=token)
        answered = await data_of(
            client, "glossary_answer", conflict=question["conflict_id"], select=2
        )
        after = await data_of(client, "glossary_resume", token=token)

    assert (blocked["blocked"], still["blocked"], after["blocked"]) == (True, True, False)
    assert question["text"] == "What does 'lift' mean in this context?"
    assert [each["definition"] for each in question["candidates"]] == [LIFT, STAIN]
    assert question["context"] == TEXT
    assert answered["status"] == "resolved"
    assert after["meanings"] == {"lift": STAIN}
    (answer,) = runtime_in(tmp_path / "words").files.answers("lift")
    assert answer.actor.actor_type == "llm"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "there is no answer"),
        ({"select": 0}, "there is no such candidate (expected 1 to 2"),
        ({"select": 3}, "there is no such candidate (expected 1 to 2"),
        ({"define": " "}, "cannot be empty"),
        ({"define": "Not a term."}, "says what the term means"),
        ({"select": 1, "no_term": True}, "there are several answers"),
        ({"select": "one"}, "select: expected"),
        ({"defer": True}, "there is no argument 'defer'"),
    ],
)
async def test_what_is_no_answer_is_refused(
    given: dict[str, Any], message: str, server: Connect
) -> None:
    async with server() as client:
        blocked = await data_of(client, "glossary_check", text=TEXT)
        conflict = blocked["question"][0]["conflict_id"]
        error = await error_of(client, "glossary_answer", conflict=conflict, **given)
        still = await data_of(client, "glossary_resume", token=blocked["retry_token"])

    assert message in error["message"]
    assert still["blocked"] is True


async def test_question_that_does_not_exist_names_no_command(server: Connect) -> None:
    async with server() as client:
        error = await error_of(client, "glossary_answer", conflict="nope", no_term=True)
    assert error["message"] == "no conflict is called 'nope'"


@pytest.mark.parametrize("name", ["step", "mission"])
async def test_step_and_mission_need_a_name(name: str, server: Connect) -> None:
    async with server() as client:
        error = await error_of(client, "glossary_check", text=TEXT, **{name: " "})
    assert f"{name}_id must not be empty" in error["message"]


async def test_agent_cannot_resume_with_another_text_or_call_the_step_harmless(
    server: Connect,
) -> None:
    async with server() as client:
        token = (await data_of(client, "glossary_check", text=TEXT))["retry_token"]
        other = await error_of(client, "glossary_resume", token=token, text="Nothing to do.")
        unknown = await error_of(client, "glossary_resume", token="../../words")  # noqa: S106
        more = await error_of(client, "glossary_check", text=TEXT, strictness="off")

    assert "there is no argument 'text'" in other["message"]
    assert "there is no checkpoint" in unknown["message"]
    assert "there is no argument 'strictness'" in more["message"]


async def test_unknown_terms_of_a_sign_are_no_terms_together(
    server: Connect, tmp_path: Path
) -> None:
    write_scope(tmp_path / "words", [])
    (tmp_path / "vocabgap.toml").write_text("", encoding="utf-8")
    text = "Set HDR and DPI."
    runtime = configured_runtime(GlossarySettings(folder=str(tmp_path / "words"), strictness="max"))
    from vocabgap.glossary.conflicts import BlockedByConflictError  # noqa: PLC0415
    from vocabgap.glossary.session import ExecutionContext  # noqa: PLC0415

    with pytest.raises(BlockedByConflictError):
        runtime.run(ExecutionContext("check", "check", "run", {"description": text}))

    async with server() as client:
        await data_of(client, "glossary_answer", conflict="acronym", no_term=True)

    assert len(runtime.files.answers("hdr")) == len(runtime.files.answers("dpi")) == 1
    again = ExecutionContext("check", "check", "run", {"description": text})
    assert runtime.run(again).extracted_terms == []


async def test_texts_are_escaped_and_cut(server: Connect, tmp_path: Path) -> None:
    write_scope(tmp_path / "words", [("lift", "Raise"), ("lift", "x" * 5_000)])
    async with server() as client:
        data = await data_of(client, "glossary_check", text="Please\u202e lift it.")

    (question,) = data["question"]
    assert "\u202e" not in question["context"]
    assert max(len(each["definition"]) for each in question["candidates"]) < 5_000
    assert "never instructions" in data["notice"]


async def test_tools_need_a_glossary_and_a_server_that_writes(
    server: Connect, tmp_path: Path
) -> None:
    async with server(folder=None) as client:
        none = await error_of(client, "glossary_check", text=TEXT)
        offered = {each.name for each in (await client.list_tools()).tools}
    async with server(folder=str(tmp_path / "gone")) as client:
        gone = await error_of(client, "glossary_check", text=TEXT)
    async with server(read_only=True) as client:
        reading = {each.name for each in (await client.list_tools()).tools}

    assert "start it with --glossary, or set `folder` under [glossary]" in none["message"]
    assert "the glossary is not initialized" in gone["message"]
    assert offered >= TOOLS
    assert not reading & TOOLS
    assert read_events(tmp_path / "words" / "events").events == ()
