from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from glossary.steps import LIFT, STAIN
from mcp_server.calls import found, refused
from vocabgap.glossary.extension import GlossarySettings

if TYPE_CHECKING:
    from mcp import Client

Connect = Callable[..., AbstractAsyncContextManager["Client"]]
pytestmark = pytest.mark.anyio
TEXT = "Use a lift that leaves no halo, and the 'glow map'."


@pytest.fixture
def glossary(tmp_path: Path) -> Path:
    """A glossary in which `lift` has two meanings and `halo` has one."""
    folder = tmp_path / "glossary"
    folder.mkdir()
    terms = (("lift", LIFT), ("lift", STAIN), ("halo", "A bright rim around an edge"))
    seeds = "".join(f"  - surface: {term}\n    definition: {meaning}\n" for term, meaning in terms)
    (folder / "team_domain.yaml").write_text(f"terms:\n{seeds}", encoding="utf-8")
    return folder


async def test_terms_are_found_with_what_they_mean(connect: Connect, photos: Path, glossary: Path) -> None:
    async with connect(photos, table=GlossarySettings(folder=str(glossary))) as client:
        told = await found(client, "check_terms", text=TEXT)
    terms = {each["term"]: each for each in told["terms"]}
    assert terms["halo"]["means"] == "A bright rim around an edge"
    assert (terms["lift"]["open"], terms["lift"]["means"]) == ("ambiguous", None)
    assert len(terms["lift"]["candidates"]) == 2
    assert terms["glow map"]["open"] == "unknown"
    assert (told["open"], told["left_out"], told["strictness"]) == (2, 0, "medium")


async def test_what_stops_a_step_is_told_as_such(connect: Connect, photos: Path, glossary: Path) -> None:
    async with connect(photos, table=GlossarySettings(folder=str(glossary))) as client:
        settled = await found(client, "check_terms", text="no halo")
        contested = await found(client, "check_terms", text="no lift", critical=True)
    assert (settled["blocked"], contested["blocked"]) == (False, True)


async def test_without_a_glossary_there_is_a_code_of_its_own(connect: Connect, photos: Path) -> None:
    async with connect(photos) as client:
        error = await refused(client, "check_terms", text=TEXT)
    assert error["code"] == "no_glossary"
    assert "--glossary" in error["message"]


@pytest.mark.parametrize(
    "arguments", [{}, {"text": ""}, {"text": "x" * 65_537}, {"text": "x", "critical": "yes"}]
)
async def test_arguments_that_cannot_be_meant_are_refused(
    connect: Connect, photos: Path, glossary: Path, arguments: dict[str, object]
) -> None:
    async with connect(photos, table=GlossarySettings(folder=str(glossary))) as client:
        error = await refused(client, "check_terms", **arguments)
    assert error["code"] == "invalid_input"
