"""Deciding and adding records come out the same, whichever is done first."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from builders.decisions import Studio
from vocabgap.errors import VocabgapError
from vocabgap.model.settings import ClusterSettings

KNOWN = (
    "sky mask", "mask the sky", "sky mask tool", "cloud mask", "film grain", "film grain look",
    "grain of film", "lens flare", "moon glow", "night glow",
)  # fmt: skip
LATER = (
    *KNOWN,
    "sky mask brush",
    "film look",
    "flare of a lens",
    "glow of the moon",
    "cloud brush",
)
Said = tuple[str, tuple[Any, ...]]
"""What somebody decides: the command, and what comes after it."""


def ways_to_decide(wordings: Sequence[str]) -> st.SearchStrategy[Said]:
    """Any decision about capabilities that are named by some wordings."""
    one = st.sampled_from(wordings)
    return st.one_of(
        st.tuples(st.just("merge"), st.tuples(one, one)),
        st.tuples(st.just("split"), st.tuples(one, st.tuples(one))),
        st.tuples(st.just("rename"), one.map(lambda name: (name, f"{name}, as people call it"))),
        st.tuples(st.just("dismiss"), one.map(lambda name: (name, "not ours"))),
        st.tuples(st.just("author"), one.map(lambda name: (name, "an_entry"))),
        st.tuples(st.sampled_from(["pin", "reopen"]), st.tuples(one)),
    )


def wordings_of(said: Said) -> set[str]:
    """The wordings that a decision names."""
    verb, (name, *more) = said
    return {name, *(more if verb == "merge" else more[0] if verb == "split" else ())}


def taken(studio: Studio, sayings: Sequence[Said]) -> list[Said]:
    """Decide one after the other, with a report after each; gives those that were not refused."""
    found = []
    for verb, arguments in sayings:
        try:
            getattr(studio.decide, verb)(*arguments)
        except VocabgapError:
            continue
        studio.report()
        found.append((verb, arguments))
    return found


def as_clustered(studio: Studio, surfaces: Sequence[str] | None = None) -> set[frozenset[str]]:
    """The groups of some surfaces as the clustering has them, whatever was decided."""
    groups = pl.read_parquet(studio.folder / "out" / "groups.parquet").filter(run="present")
    if surfaces is not None:
        groups = groups.filter(pl.col("surface").is_in(surfaces))
    return {frozenset(each) for each in groups.group_by("group_id").agg("surface")["surface"]}


def outcome(rows: dict[str, dict[str, Any]], named: set[str]) -> dict[str, dict[str, Any]]:
    """Of each wording what is claimed: who is with it, what it is called, and whether it is wanted first."""
    found = {}
    for wording in named:
        row = rows[wording]
        found[wording] = {
            "together": {
                each for each in named if rows[each]["capability_id"] == row["capability_id"]
            },
            "called": row["label"] if row["label"].endswith("as people call it") else None,
            "pinned": row["pinned"],
        }
    return found


@pytest.mark.slow
@given(
    st.data(),
    st.lists(st.sampled_from(KNOWN), min_size=4, max_size=12),
    st.lists(st.sampled_from(LATER), min_size=1, max_size=8),
    st.sampled_from(["by wording", 0.6, 0.8, 0.95]),
)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_deciding_and_adding_records_commute(
    studio_of: Callable[..., Studio],
    data: st.DataObject,
    before: list[str],
    later: list[str],
    threshold: Any,  # noqa: ANN401 - a number or `by wording`
) -> None:
    """Decide and then add records, or add the records and then decide the same by the same wordings.

    Claimed, of all wordings that the decisions name: the same ones are together in a capability; it has the
    same label, if people gave it one; it is pinned or not; and it has the same status, unless it has outgrown
    a decision. That is claimed for decisions that are accepted in both orders, and where the clustering by
    itself has the wordings of before in the same groups after.

    Not claimed: that a status holds for a group whose other wordings have come to be most of it; it was given
    to less in the first order than in the second. Where wordings go that nobody named. Labels that nobody
    gave, and identifiers of what was split off, which are those of the decision. Where the clustering itself
    regroups what was there: a decision then stays with the label of the group that it was made about.
    """
    first, second = studio_of(*before), studio_of(*before)
    for studio in (first, second):
        studio.cluster = ClusterSettings(threshold=threshold)
    second.ask(*later)
    first.report()
    second.report()
    grouped = as_clustered(first)
    assume(as_clustered(second, [surface for group in grouped for surface in group]) == grouped)
    sayings = taken(first, data.draw(st.lists(ways_to_decide(before), min_size=1, max_size=3)))
    named = set[str]().union(*map(wordings_of, sayings))
    assume(named)
    assume(taken(second, sayings) == sayings)

    first.ask(*later)
    rows, others = first.rows(), second.rows()

    assert outcome(rows, named) == outcome(others, named)
    for wording in named:
        decided = (*rows[wording]["decisions"], *others[wording]["decisions"])
        if not any("outgrown" in sentence for sentence in decided):
            assert rows[wording]["status"] == others[wording]["status"]
