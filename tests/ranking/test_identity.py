from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from builders.ranking import records
from vocabgap.clustering.grouping import cluster
from vocabgap.model.tables import GROUPS, IDENTITIES, VERDICTS, Apart, Together
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.effect import OF_GROUPS
from vocabgap.ranking.identity import Identified, derived_id, identify, trace

NINE = datetime(2025, 5, 10, 9, tzinfo=UTC)


def identified(
    *phrases: str,
    constraints: Sequence[Together | Apart] = (),
    verdicts: Sequence[tuple[Any, ...]] = (),
    baseline: pl.DataFrame | None = None,
    threshold: float = 0.0,
    came_back: Sequence[tuple[str, datetime]] = (),
) -> Identified:
    """The identities of some phrases, each a group of its own surface, constraints aside."""
    frame = records([{"missing_capability": phrase} for phrase in phrases])
    found = cluster(frame, threshold=threshold)
    cluster_of = dict(found.wordings.select("wording", "cluster").iter_rows())
    effects = pl.DataFrame(
        [
            {"cluster": cluster_of[phrase], "decision_id": name, "decided": time}
            | {"came_back": dict(came_back).get(name)}
            for phrase, name, time, _, action, *_ in verdicts
            if action == "author"
        ],
        schema=OF_GROUPS,
    )
    whole = len(VERDICTS.columns)
    rows = [row if len(row) == whole else (*row, [row[0]]) for row in verdicts]
    table = pl.DataFrame(rows, schema=VERDICTS.schema, orient="row")
    made = identify(
        found, found.constrained(constraints), baseline=baseline, verdicts=table, effects=effects
    )
    IDENTITIES.require(made.identities)
    GROUPS.require(made.groups)
    return made


def ids(made: Identified) -> dict[str, str]:
    return dict(made.groups.select("surface", "capability_id").iter_rows())


def statuses(made: Identified) -> dict[str, str]:
    of = dict(made.identities.select("capability_id", "status").iter_rows())
    return {surface: of[name] for surface, name in ids(made).items()}


def test_an_identifier_is_carried_over_to_another_label() -> None:
    before = identified("sky mask", "sky mask", "sky mask tool", threshold=0.7)
    after = identified(
        "sky mask",
        "sky mask tool",
        "sky mask tool",
        "sky mask tool",
        threshold=0.7,
        baseline=before.groups,
    )

    assert before.groups["label"].unique().to_list() != after.groups["label"].unique().to_list()
    assert ids(after)["sky mask"] == ids(before)["sky mask"]


def test_of_a_group_that_came_apart_the_larger_part_goes_on() -> None:
    before = identified("sky mask", "sky mask tool", "sky mask tool", threshold=0.7)
    after = identified("sky mask", "sky mask tool", "sky mask tool", baseline=before.groups)

    assert ids(after)["sky mask tool"] == ids(before)["sky mask"]
    assert ids(after)["sky mask"] not in set(ids(before).values())


def test_a_new_group_takes_no_identifier_that_another_had() -> None:
    before = identified("sky mask").groups.with_columns(
        surface=pl.lit("tool"), mentions=pl.lit(1, pl.Int64)
    )
    after = identified("sky mask", "tool", baseline=before)

    assert ids(after)["tool"] == derived_id("sky mask")
    assert ids(after)["sky mask"] not in {derived_id("sky mask"), derived_id("tool")}


def test_what_is_decided_comes_on_top_of_the_identifiers_of_the_run_before() -> None:
    plain = identified("sky mask", "film grain")
    united = identified("sky mask", "film grain", constraints=[Together("film grain", "sky mask")])
    again = identified("sky mask", "film grain", baseline=united.groups)

    assert set(ids(united).values()) == {ids(plain)["film grain"]}
    assert ids(again) == ids(plain)


def test_what_was_split_off_has_an_identifier_from_the_decision() -> None:
    parted = identified(
        "sky mask",
        "sky mask tool",
        threshold=0.7,
        constraints=[Apart("sky mask", ("sky mask tool",), "dec-1")],
    )

    assert ids(parted)["sky mask tool"] == derived_id("dec-1")


def test_what_was_not_there_before_is_new() -> None:
    before = identified("sky mask")

    after = identified("sky mask", "film grain", baseline=before.groups)

    assert statuses(after) == {"sky mask": "open", "film grain": "new"}


@pytest.mark.parametrize(
    ("actions", "status"),
    [
        (["dismiss"], "dismissed"), (["author"], "authored"), (["dismiss", "reopen"], "open"),
        (["reopen", "author"], "authored"), (["rename", "pin"], "open"),
    ],
)  # fmt: skip
def test_the_last_word_is_the_status(actions: list[str], status: str) -> None:
    verdicts = [
        (
            "sky mask",
            f"dec-{number}",
            NINE.replace(minute=number),
            "ana",
            action,
            None,
            None,
            action,
        )
        for number, action in enumerate(actions)
    ]

    assert statuses(identified("sky mask", verdicts=verdicts)) == {"sky mask": status}


def test_what_outgrew_a_decision_is_open_though_the_run_before_had_none_of_it() -> None:
    verdicts = [("sky mask", "dec-1", NINE, "ana", "dismiss", None, None, "dismissed")]
    baseline = identified("film grain").groups

    made = identified(
        "sky mask", "cloud mask", "cloud mask", "moon", constraints=[Together("sky mask", "cloud mask")],
        verdicts=verdicts, baseline=baseline,
    )  # fmt: skip

    assert statuses(made) == {"sky mask": "open", "cloud mask": "open", "moon": "new"}


AUTHORED = ("sky mask", "dec-1", NINE, "ana", "author", None, "mask", "authored")
BACK = ("dec-1", NINE.replace(hour=11))


@pytest.mark.parametrize(
    ("later", "status", "kinds"),
    [
        ([], "regressed", ["authored", "came back"]),
        ([(10, "author")], "regressed", ["authored", "authored", "came back"]),
        ([(12, "author")], "authored", ["authored", "came back", "authored"]),
        ([(12, "reopen")], "open", ["authored", "came back", "reopened"]),
        ([(12, "claim")], "claimed", ["authored", "came back", "claimed"]),
    ],
)
def test_what_came_back_has_regressed_until_somebody_decides_again(
    later: list[tuple[int, str]], status: str, kinds: list[str]
) -> None:
    verdicts = [
        ("sky mask", f"dec-{hour}", NINE.replace(hour=hour), "ben", action, None, None, action)
        for hour, action in later
    ]

    made = identified("sky mask", verdicts=[AUTHORED, *verdicts], came_back=[BACK])

    assert statuses(made) == {"sky mask": status}
    assert made.events["kind"].to_list() == kinds


def test_an_event_says_who_decided_what_and_when() -> None:
    made = identified("sky mask", "lamp", verdicts=[AUTHORED], came_back=[BACK])

    assert made.events.drop("cluster").rows() == [
        ("authored", NINE, "ana", "mask", "dec-1"), ("came back", BACK[1], None, "mask", "dec-1"),
    ]  # fmt: skip
    assert made.identities["since"].drop_nulls().to_list() == [NINE]


def test_what_was_decided_is_told_once_and_in_order() -> None:
    verdicts = [
        ("film grain", "dec-2", NINE.replace(minute=2), "ana", "rename", "look", None, "second"),
        ("sky mask", "dec-1", NINE, "ana", "merge", None, None, "first"),
        ("film grain", "dec-1", NINE, "ana", "merge", None, None, "first"),
    ]

    made = identified(
        "sky mask",
        "film grain",
        verdicts=verdicts,
        constraints=[Together("sky mask", "film grain")],
    )

    (row,) = made.identities.to_dicts()
    assert (row["label"], row["pinned"], row["decisions"]) == ("look", False, ["first", "second"])


def ranked_by(*verdicts: tuple[Any, ...]) -> pl.DataFrame:
    """The ranking of three needs, asked for three times, twice and once, after some verdicts."""
    asked = ["sky mask"] * 3 + ["film grain"] * 2 + ["lamp"]
    frame = records([{"missing_capability": phrase} for phrase in asked])
    found = cluster(frame, threshold=0.0)
    table = pl.DataFrame(
        [(*row, [row[0]]) for row in verdicts], schema=VERDICTS.schema, orient="row"
    )
    known = identify(found, found.constrained([]), verdicts=table).identities
    return rank(frame, found, identities=known)


def test_the_ranking_takes_what_is_known() -> None:
    table = ranked_by(
        ("sky mask", "dec-1", NINE, "ana", "dismiss", None, None, "no"),
        ("lamp", "dec-2", NINE, "ana", "pin", None, None, "first"),
        ("lamp", "dec-3", NINE, "ana", "rename", "lamp glow", None, "named"),
    )

    assert table.select("rank", "label", "status", "pinned", "decisions").rows() == [
        (1, "lamp glow", "open", True, ["first", "named"]),
        (2, "film grain", "open", False, []),
        (3, "sky mask", "dismissed", False, ["no"]),
    ]


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("author", ["sky mask", "film grain", "lamp"]),
        ("dismiss", ["sky mask", "film grain", "lamp"]),
        ("reopen", ["lamp", "sky mask", "film grain"]),
    ],
)
def test_what_is_settled_comes_last_though_it_was_pinned(action: str, expected: list[str]) -> None:
    table = ranked_by(
        ("lamp", "dec-1", NINE, "ana", "pin", None, None, "first"),
        ("lamp", "dec-2", NINE.replace(minute=1), "ana", action, None, None, "then"),
    )

    assert table["label"].to_list() == expected
    assert table.filter(label="lamp")["pinned_by"].to_list() == ["ana"]


def test_there_is_nothing_to_tell_of_a_first_run() -> None:
    ranked = pl.DataFrame(
        {"capability_id": [derived_id("sky mask")], "rank": [1]},
        schema_overrides={"rank": pl.Int64},
    )

    found = trace(identified("sky mask").groups, ranked)

    assert found.relations.is_empty()
    assert found.groups.select("run", "surface", "rank").rows() == [("present", "sky mask", 1)]
