"""Settings declare their options once: the command line, its repetition and comparisons read them there."""

import pytest
from msgspec.structs import replace

from vocabgap.model.moments import parse_now
from vocabgap.model.selection import Selection, filter_fields
from vocabgap.model.settings import RankSettings, known_flags
from vocabgap.reporting.manifest import Narrowing, differences

RANKING = {name: flag for name, flag in known_flags().items() if flag.table == "rank"}


@pytest.mark.parametrize("name", RANKING)
def test_a_setting_with_a_flag_is_named_as_a_difference(name: str) -> None:
    flag = RANKING[name]
    other = "images" if name == "--rank-by" else 7
    rank = replace(RankSettings(), **{flag.key: type(flag.default)(other)})
    now = parse_now("2026-07-01")

    earlier, later = (Narrowing.of(Selection(), each) for each in (RankSettings(), rank))
    (difference,) = differences(earlier, later, between=now - now)

    assert (difference.filter, difference.later) == (name.removeprefix("--"), str(other))


@pytest.mark.parametrize("no_shared", [False, True])
def test_a_selection_says_whose_records_are_read(no_shared: bool) -> None:
    selection = Selection(tenants=("ours",), repositories=("photos",), no_shared=no_shared)

    assert selection.owners == {
        "tenants": ("ours",),
        "repositories": ("photos",),
        "shared": not no_shared,
    }


def test_a_door_offers_its_filters_under_its_names() -> None:
    command, tool = ([name for name, _, _ in filter_fields(door)] for door in ("cli", "mcp"))

    assert command[:3] == ["since", "until", "image"]
    assert tool[:3] == ["since", "until", "image_id"]
