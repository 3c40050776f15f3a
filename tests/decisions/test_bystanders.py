"""A decision changes the groups that it names, and no other."""

import random
from collections.abc import Iterable
from typing import NamedTuple

import polars as pl
import pytest

from benchmarks.labelled import OWN, read_gaps
from builders import outside
from builders.decisions import any_decision
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.decisions.record import Decision
from vocabgap.decisions.replay import replay
from vocabgap.errors import StateError
from vocabgap.ranking.identity import identify

LOGS = ("office", "agent_gaps/dev_tools", "agent_gaps/studio")
DECISIONS = 400
CHECKED_EVERY = 50


class Group(NamedTuple):
    """A group as people see it."""

    members: frozenset[str]
    label: str
    capability_id: str


def as_seen(
    proposed: Clusters, decisions: Iterable[Decision], baseline: pl.DataFrame | None
) -> set[Group]:
    """The groups after some decisions, with their labels and identifiers."""
    effective = replay(decisions, proposed.wordings["surface"].unique())
    clusters = proposed.constrained(effective.constraints)
    identified = identify(proposed, clusters, baseline=baseline, verdicts=effective.verdicts)
    members = clusters.wordings.group_by("cluster").agg("wording")
    labels = clusters.clusters.select("cluster", own="label")
    rows = members.join(labels, on="cluster").join(identified.identities, on="cluster")
    shown = rows.select("wording", pl.coalesce("label", "own"), "capability_id")
    return {Group(frozenset(wordings), *names) for wordings, *names in shown.iter_rows()}


def named_by(
    decisions: Iterable[Decision], groups: set[Group], surface_of: dict[str, str]
) -> set[Group]:
    """The groups that have a surface of a decision."""
    parts = [
        part
        for decision in decisions
        for part in (decision.capability, decision.other, decision)
        if part is not None
    ]
    named = {surface_of[wording] for part in parts for wording in part.wordings}
    return {
        group
        for group in groups
        if not named.isdisjoint(map(surface_of.__getitem__, group.members))
    }


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("is_first", [True, False], ids=["first run", "later run"])
def test_groups_that_no_decision_names_stay_as_they_are(
    pytestconfig: pytest.Config, log: str, is_first: bool
) -> None:
    path = OWN / "office_gaps.jsonl" if log == "office" else outside(pytestconfig, f"{log}.jsonl")
    proposed = cluster(read_gaps(path).records)
    surface_of = dict(proposed.wordings.select("wording", "surface").iter_rows())
    baseline = None if is_first else identify(proposed, proposed).groups
    before = as_seen(proposed, (), baseline)
    rng = random.Random(f"{log} {is_first}")  # noqa: S311
    ordered = sorted(before, key=lambda group: group.label)
    meddled = frozenset().union(
        *(group.members for group in rng.sample(ordered, len(ordered) // 2))
    )
    decisions: list[Decision] = []
    groups = [sorted(group.members) for group in ordered if group.members <= meddled]
    while len(decisions) < DECISIONS:
        new = any_decision(rng, groups, decisions)
        try:
            effective = replay((*decisions, new), surface_of.values())
        except StateError:  # it contradicts an earlier one
            continue
        decisions.append(new)
        if len(decisions) % CHECKED_EVERY == 0:
            seen = as_seen(proposed, decisions, baseline)
            bystanders = before - named_by(effective.active, before, surface_of)
            assert len(bystanders) >= len(before) // 2
            assert bystanders <= seen
            groups = sorted(sorted(group.members) for group in seen if group.members <= meddled)
            assert frozenset().union(*(group.members for group in seen)) == {*surface_of}
