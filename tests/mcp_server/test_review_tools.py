"""An agent prepares the questions of a review, and writes down what a person says."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from builders import gap, write_corpus
from mcp_server.calls import found, refused
from vocabgap.decisions.record import read_decisions
from vocabgap.doors.mcp import workspace
from vocabgap.pipeline import Analysis, analyse

if TYPE_CHECKING:
    from mcp import Client

Connect = Callable[..., AbstractAsyncContextManager["Client"]]
pytestmark = pytest.mark.anyio


@pytest.fixture
def asked_for(tmp_path: Path) -> Path:
    needs = ("sky mask", "mask for the sky", "cloud mask", "cloud mask tool", "film grain", "film grain look")
    return write_corpus(tmp_path, {image: [gap(need) for need in needs] for image in ("heron", "crane")})


async def test_an_answer_is_a_decision_after_which_another_question_comes_first(
    connect: Connect, asked_for: Path, tmp_path: Path
) -> None:
    async with connect(asked_for) as client:
        first = await found(client, "next_review_question")
        same = await found(client, "next_review_question")
        told = await found(
            client, "answer_review_question", question_id=first["question_id"], answer="different"
        )
        again = await found(client, "next_review_question")

    assert first == same
    assert first["left"]["wordings"]
    assert told["decision_id"] in (tmp_path / "decisions.jsonl").read_text(encoding="utf-8")
    assert again["question_id"] not in {None, first["question_id"]}


async def test_what_is_left_open_stays_so_after_an_answer_and_nothing_is_analysed_anew(
    connect: Connect, asked_for: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed: list[Path] = []

    def counting(root: Path, **named: Any) -> Analysis:  # noqa: ANN401 - handed on
        analysed.append(root)
        return analyse(root, **named)

    monkeypatch.setattr(workspace, "analyse", counting)
    async with connect(asked_for) as client:
        left_open = await found(client, "next_review_question")
        wanted = {"top": 1_000, "skip": [left_open["question_id"]]}
        asked = [await found(client, "next_review_question", **wanted)]
        while asked[-1]["question_id"] is not None:
            answer = {"question_id": asked[-1]["question_id"], "answer": "same"}
            await found(client, "answer_review_question", **answer)
            asked.append(await found(client, "next_review_question", **wanted))
        ranked = await found(client, "report_gaps")

    assert len(asked) > 2
    assert left_open["question_id"] not in {each["question_id"] for each in asked}
    assert len(analysed) == 2  # once for all questions, once for the report that follows the answers
    assert ranked


async def test_a_question_may_be_left_open(connect: Connect, asked_for: Path) -> None:
    async with connect(asked_for) as client:
        first = await found(client, "next_review_question")
        other = await found(client, "next_review_question", skip=[first["question_id"]])

    assert other["question_id"] not in {None, first["question_id"]}


async def test_where_nothing_is_to_be_asked_it_says_so(connect: Connect, tmp_path: Path) -> None:
    async with connect(write_corpus(tmp_path, {"heron": [gap("sky mask")]})) as client:
        told = await found(client, "next_review_question")

    assert (told["question_id"], told["left"]) == (None, None)


async def test_what_is_not_open_is_not_answered(connect: Connect, asked_for: Path, tmp_path: Path) -> None:
    async with connect(asked_for) as client:
        error = await refused(client, "answer_review_question", question_id="ask-0", answer="same")

    assert error["code"] == "state"
    assert not (tmp_path / "decisions.jsonl").exists()


async def test_of_four_who_answer_one_question_at_once_nobody_is_overruled_unseen(
    connect: Connect, asked_for: Path, tmp_path: Path
) -> None:
    told: list[dict[str, Any]] = []

    async def answered(client: "Client", answer: str) -> None:
        given = {"question_id": question, "answer": answer}
        result = await client.call_tool("answer_review_question", given)
        told.append(result.structured_content or {})

    async with connect(asked_for) as client:
        question = (await found(client, "next_review_question"))["question_id"]
        async with anyio.create_task_group() as group:
            for answer in ("same", "different", "same", "different"):
                group.start_soon(answered, client, answer)

    (decision,) = read_decisions(tmp_path / "decisions.jsonl")
    done = [each["data"]["decision_id"] for each in told if each["success"]]
    refusals = [each["error"]["message"] for each in told if not each["success"]]
    assert done == [decision.decision_id]
    assert [f"question '{question}' is not open: it was answered" in each for each in refusals] == [True] * 3
