from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_server.calls import found, refused
from vocabgap.model.settings import ClusterSettings, Settings

if TYPE_CHECKING:
    from mcp import Client

Connect = Callable[..., AbstractAsyncContextManager["Client"]]
pytestmark = pytest.mark.anyio


async def test_what_comes_near_is_listed_the_nearest_first(
    connect: Connect, photos: Path, vocabulary: Path
) -> None:
    async with connect(photos, vocabulary=vocabulary) as client:
        told = await found(client, "similar_gaps", text="mask of the sky")
    assert {each["kind"] for each in told["similar"]} == {"capability", "entry"}
    similarities = [each["similarity"] for each in told["similar"]]
    assert similarities == sorted(similarities, reverse=True)
    assert all(0 <= each <= 1 for each in similarities)


async def test_a_capability_is_named_by_the_identifier_that_shows_it(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        told = await found(client, "similar_gaps", text="sky mask", limit=1)
        shown = await found(client, "show_capability", capability=told["similar"][0]["name"])
    assert told["similar"][0]["label"] == shown["capability"]["label"]
    assert told["similar"][0]["wording"] in {each["wording"] for each in shown["wordings"]}


async def test_no_more_are_listed_than_asked_for(connect: Connect, photos: Path, vocabulary: Path) -> None:
    async with connect(photos, vocabulary=vocabulary) as client:
        told = await found(client, "similar_gaps", text="sky", limit=1)
    assert len(told["similar"]) == 1


async def test_needs_are_compared_by_the_synonyms_of_the_server(mcp_sdk: None, photos: Path) -> None:  # noqa: ARG001 - skips
    from vocabgap.doors.mcp.tools import similar_gaps  # noqa: PLC0415 - needs what the extra installs
    from vocabgap.doors.mcp.workspace import Workspace  # noqa: PLC0415

    settings = Settings(cluster=ClusterSettings(synonyms={"sky mask": ("vault cutout",)}))
    workspace = Workspace.at(photos, settings)
    told = similar_gaps.call(workspace, {"text": "vault cutout"}, lambda: None)
    assert [each["similarity"] for each in told["data"]["similar"]] == [1.0]


@pytest.mark.parametrize("arguments", [{}, {"text": ""}, {"text": "sky", "limit": 21}, {"text": ["sky"]}])
async def test_arguments_that_cannot_be_meant_are_refused(
    connect: Connect, photos: Path, arguments: dict[str, object]
) -> None:
    async with connect(photos) as client:
        error = await refused(client, "similar_gaps", **arguments)
    assert error["code"] == "invalid_input"
