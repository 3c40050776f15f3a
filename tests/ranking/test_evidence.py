"""What is counted of a capability: images, sessions, ratings, times and names."""

import polars as pl
import pytest

from builders.ranking import ranked


def tally_of(table: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    """The tally of the only capability."""
    return [(entry["name"], entry["mentions"]) for entry in table[column].item().to_list()]


@pytest.mark.parametrize("unknown", [None, "", "  ", "\x1c"])
def test_unknown_session_is_not_counted(unknown: str | None) -> None:
    table = ranked([{"session_id": unknown}, {"session_id": "s1"}, {"session_id": "s1"}])

    assert table.select("sessions", "largest_session").row(0) == (1, 2)


def test_sessions_of_two_tenants_are_not_one() -> None:
    table = ranked([{"session_id": "s1", "tenant_id": tenant} for tenant in "aaabb"])

    assert table.select("sessions", "largest_session").row(0) == (2, 3)


def test_given_aliases_are_used() -> None:
    aliases = {"category_aliases": {"hue": "color"}, "operation_aliases": {"burn": "exposure"}}

    table = ranked([{"intent_category": "Hue", "operations_involved": ["Burn"]}], **aliases)

    assert tally_of(table, "categories") == [("color", 1)]
    assert tally_of(table, "operations") == [("exposure", 1)]


def test_askers_are_tenants_with_repositories_those_with_most_mentions_first() -> None:
    whose = [("reeve", "town"), ("pilot", "coast"), ("reeve", "coast"), ("reeve", "town")]

    table = ranked([{"tenant_id": tenant, "repo_slug": repository} for tenant, repository in whose])

    assert [tuple(each.values()) for each in table["asked_by"][0]] == [
        ("reeve", "town", 2), ("pilot", "coast", 1), ("reeve", "coast", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("blank", ["", "  ", "\x1c"])
def test_categories_account_for_every_mention(blank: str) -> None:
    table = ranked([{"intent_category": blank}, {"intent_category": "tone"}])

    assert tally_of(table, "categories") == [("tone", 1), ("uncategorized", 1)]


@pytest.mark.parametrize("column", ["operations_involved", "vocabulary_used"])
@pytest.mark.parametrize("blank", ["", " ", "\x1c", "\x1f\n"])
def test_blank_names_are_not_tallied(column: str, blank: str) -> None:
    table = ranked([{column: [blank, "crop"]}])

    assert tally_of(table, column.replace("operations_involved", "operations")) == [("crop", 1)]


def test_variants_are_every_wording_most_frequent_first() -> None:
    wordings = ["lamp glow", "Lamp Glow", "lamp_glow", "lamp_glow"]

    table = ranked([{"missing_capability": wording} for wording in wordings])

    unexplained = {"similarity": 1.0, "entry": None, "explained": None}
    assert table["variants"].item().to_list() == [
        {"wording": "lamp_glow", "mentions": 2, **unexplained},
        {"wording": "Lamp Glow", "mentions": 1, **unexplained},
        {"wording": "lamp glow", "mentions": 1, **unexplained},
    ]
