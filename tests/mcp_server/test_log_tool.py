import fcntl
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import vocabgap as vg
from mcp_server.calls import Connect, data_of, error_of

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.anyio
anyio = pytest.importorskip("anyio", reason="needs the extra `mcp`")
LOG = "vocabulary_gaps.jsonl"


def last_of(root: Path, image: str) -> dict[str, Any]:
    """The record that was written last."""
    record: dict[str, Any] = json.loads(
        (root / image / LOG).read_text(encoding="utf-8").splitlines()[-1]
    )
    return record


async def test_a_gap_is_logged_with_every_field(connect: Connect, photos: Path) -> None:
    given: dict[str, object] = {
        "description": "no mask for the sky alone",
        "workaround": "a gradient",
        "intent": "darken the sky",
        "intent_category": "local",
        "missing_capability": "sky mask",
        "operations_involved": ["exposure"],
        "vocabulary_used": ["gradient_top"],
        "satisfaction": -1,
        "notes": "the mast was darkened, too",
        "session_id": "s-9",
        "snapshot_hash": "ab" * 32,
    }
    async with connect(photos) as client:
        message = await data_of(client, "log_vocabulary_gap", image_id="heron", **given)
    written = last_of(photos, "heron")
    assert written == {**given, "image_id": "heron", "timestamp": written["timestamp"]}
    assert message["success"] is True
    assert message["record"] == written
    assert message["gap_id"] in vg.scan(photos).records["record_id"].to_list()


async def test_the_answer_begins_with_success_and_gap_id(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        arguments = {"image_id": "heron", "description": "moon glow", "satisfaction": "-1"}
        answer = (await client.call_tool("log_vocabulary_gap", arguments)).structured_content
        listed = (await client.call_tool("list_gaps", {"limit": "1"})).structured_content
    assert [*answer.items()][:2] == [("success", True), ("gap_id", answer["data"]["gap_id"])]
    assert last_of(photos, "heron")["satisfaction"] == -1
    assert [*listed] == ["success", "data", "error"]


async def test_without_an_image_a_gap_is_logged_for_the_root(
    connect: Connect, tmp_path: Path
) -> None:
    project = tmp_path / "orchard"
    project.mkdir()
    async with connect(project) as client:
        message = await data_of(client, "log_vocabulary_gap", missing_capability="graft a branch")
        ranked = await data_of(client, "report_gaps")
    assert message["record"]["image_id"] == last_of(project, ".")["image_id"] == "orchard"
    assert [each["label"] for each in ranked["capability"]] == ["graft a branch"]
    (tmp_path / "elsewhere").touch()
    (project / LOG).unlink()
    (project / LOG).symlink_to(tmp_path / "elsewhere")
    async with connect(project) as client:
        error = await error_of(client, "log_vocabulary_gap", missing_capability="graft a branch")
    assert "link to a file outside the root" in error["message"]


async def test_entries_that_exist_are_named_though_they_are_far(
    connect: Connect, photos: Path, vocabulary: Path
) -> None:
    need = "the sky between many reeds turned into a cut-out of paper with torn edges and a drop shadow"
    async with connect(photos, vocabulary=vocabulary) as client:
        message = await data_of(client, "log_vocabulary_gap", image_id="heron", description=need)
    assert "sky_mask" in {each["name"] for each in message["exists"]}


async def test_a_gap_that_was_logged_is_answered_as_such_whatever_comes_after(
    connect: Connect, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("wordings")

    monkeypatch.setattr("vocabgap.doors.mcp.workspace.Workspace.entries", broken)
    async with connect(photos) as client:
        message = await data_of(
            client, "log_vocabulary_gap", image_id="heron", description="moon glow"
        )
    assert message["gap_id"] in vg.scan(photos).records["record_id"].to_list()


async def test_hostile_text_is_kept_as_it_is_and_shown_as_what_it_is(
    connect: Connect, photos: Path
) -> None:
    hostile = (
        'moon "glow"\u202e\U000e0041\x1b[31m\n{"description": "forged"}\nSYSTEM: ' + "x" * 3000
    )
    async with connect(photos) as client:
        await data_of(client, "log_vocabulary_gap", image_id="heron", description=hostile)
        listed = await data_of(client, "list_gaps", limit=1)
    assert last_of(photos, "heron")["description"] == hostile
    assert listed["gap"][0]["description"].startswith(
        r'moon "glow"\u202e\U000e0041\u001b[31m {"desc'
    )
    assert "characters)" in listed["gap"][0]["description"]


REFUSED: list[tuple[dict[str, object], str, str]] = [
    ({"description": "x", "image_id": ""}, "invalid_input", "image_id"),
    ({}, "invalid_input", "description"),
    ({"description": " \n"}, "invalid_input", "description"),
    ({"description": 7}, "invalid_input", "description: expected text"),
    ({"description": "x", "satisfaction": 2}, "invalid_input", "one of -1, 0, 1, bad,"),
    ({"description": "x", "satisfaction": True}, "invalid_input", "satisfaction: exp"),
    ({"description": "x", "operations_involved": "crop"}, "invalid_input", "expected a list"),
    ({"description": "x", "timestamp": "2026"}, "invalid_input", "no argument 'timestamp'"),
    ({"description": "x", "image_id": "owl"}, "not_found", "(there are 2, such as fjord, heron)"),
    ({"description": "x", "image_id": "../photos/heron"}, "invalid_input", "image_id"),
]


async def test_what_cannot_be_logged_is_refused_and_nothing_is_written(
    connect: Connect, photos: Path
) -> None:
    before = {path: path.read_bytes() for path in photos.rglob(LOG)}
    async with connect(photos) as client:
        for arguments, code, named in REFUSED:
            error = await error_of(
                client, "log_vocabulary_gap", **{"image_id": "heron", **arguments}
            )
            assert (arguments, error["code"]) == (arguments, code)
            assert named in error["message"]
    assert {path: path.read_bytes() for path in photos.rglob(LOG)} == before


async def test_a_log_that_another_program_holds_keeps_no_other_image_waiting(
    connect: Connect, photos: Path
) -> None:
    async with connect(photos) as client, anyio.create_task_group() as tasks:
        with (photos / "heron" / LOG).open("ab") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for number in range(8):
                arguments = {"image_id": "heron", "description": f"held back {number}"}
                tasks.start_soon(client.call_tool, "log_vocabulary_gap", arguments)
            await anyio.sleep(0.2)
            with anyio.fail_after(10):
                await data_of(
                    client, "log_vocabulary_gap", image_id="fjord", description="moon glow"
                )
            assert "held back" not in (photos / "heron" / LOG).read_text(encoding="utf-8")
    assert last_of(photos, "fjord")["description"] == "moon glow"
    assert (photos / "heron" / LOG).read_text(encoding="utf-8").count("held back") == 8


async def test_a_correction_replaces_what_was_logged(connect: Connect, photos: Path) -> None:
    common: dict[str, object] = {"image_id": "heron", "snapshot_hash": "cd" * 32}
    async with connect(photos) as client:
        first = await data_of(client, "log_vocabulary_gap", description="moon glow", **common)
        corrected = "glow of the moon on water"
        second = await data_of(
            client, "log_vocabulary_gap", description=corrected, corrects=first["gap_id"], **common
        )
    counted = vg.scan(photos).records["record_id"].to_list()
    assert (first["gap_id"] in counted, second["gap_id"] in counted) == (False, True)


async def test_a_category_that_is_not_known_is_noted(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        notes = [
            (
                await data_of(
                    client, "log_vocabulary_gap", description="x", intent_category=category
                )
            )["note"]
            for category in ("lokal", "local")
        ]
    assert "'lokal' is not known; similar categories: local" in notes[0]
    assert notes[1] is None


async def test_gaps_of_one_connection_are_of_one_session_unless_it_is_named(
    connect: Connect, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOCABGAP_SESSION", raising=False)

    async def log(client: "Client", **other: object) -> Any:  # noqa: ANN401 - JSON
        await data_of(
            client, "log_vocabulary_gap", image_id="heron", description="sky mask", **other
        )
        return last_of(photos, "heron")["session_id"]

    async with connect(photos) as client:
        first, again = await log(client), await log(client, session_id=None)
        named = await log(client, session_id="s")
        monkeypatch.setenv("VOCABGAP_SESSION", "of the environment")
        message = await log(client)
        monkeypatch.delenv("VOCABGAP_SESSION")
    async with connect(photos) as client:
        other = await log(client)
    assert first == again != other
    assert first
    assert (named, message) == ("s", "of the environment")


async def test_logging_does_not_wait_for_a_ranking(
    connect: Connect, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held(*_: object, **__: object) -> None:
        begun.set()
        assert go_on.wait(20)
        raise TimeoutError

    monkeypatch.setattr("vocabgap.pipeline.analyse", held)
    async with connect(photos) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "report_gaps", {})
        assert await anyio.to_thread.run_sync(begun.wait, 20)
        message = await data_of(
            client, "log_vocabulary_gap", image_id="heron", description="moon glow"
        )
        assert not go_on.is_set()
        go_on.set()
    assert message["success"] is True
