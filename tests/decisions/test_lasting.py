"""No later data undo a decision: what people united stays together, and what they separated stays apart."""

import random
from collections.abc import Sequence

import polars as pl
import pytest

from benchmarks.labelled import OWN, read_gaps
from builders import outside
from builders.decisions import any_decision
from vocabgap.clustering.grouping import cluster
from vocabgap.decisions.record import Action, Decision
from vocabgap.decisions.replay import followed
from vocabgap.errors import StateError
from vocabgap.ranking.identity import identify

LOGS = ("office", "agent_gaps/dev_tools", "agent_gaps/studio")
DECISIONS = 120
SHARES = (0.4, 0.6, 0.8, 1.0)  # of the records, from run to run
CUTS = (None, 0.2, 0.9)
CHECKS = 1_500  # for each log


def decisions_on(rng: random.Random, records: pl.DataFrame) -> list[Decision]:
    """Decisions on groups of some records that do not contradict each other."""
    found = cluster(records)
    made: list[Decision] = []
    now = found
    while len(made) < DECISIONS:
        groups = (
            now.wordings.group_by("cluster", maintain_order=True)
            .agg("wording")["wording"]
            .to_list()
        )
        new = any_decision(rng, [sorted(group) for group in groups], made)
        try:
            _, now = followed(found, [*made, new])
        except StateError:
            continue
        made.append(new)
    return made


def checked(
    made: Sequence[Decision],
    cut: float | None,
    records: pl.DataFrame,
    baseline: pl.DataFrame | None,
) -> tuple[int, pl.DataFrame]:
    """Check all decisions on the groups of some records; return the number of checks, and table `groups`."""
    found = cluster(records, threshold=cut)
    effective, now = followed(found, made)
    identified = identify(found, now, baseline=baseline, verdicts=effective.verdicts)
    cluster_of = dict(now.wordings.select("wording", "cluster").iter_rows())
    of = {row["cluster"]: row for row in identified.identities.to_dicts()}
    checks = 0
    for decision in effective.active:
        about = decision.capability
        assert about is not None
        anchor = about.wordings[0]
        if anchor not in cluster_of:
            continue
        if decision.action is Action.SPLIT:
            apart = [wording for wording in decision.wordings if wording in cluster_of]
            assert all(cluster_of[wording] != cluster_of[anchor] for wording in apart)
            checks += len(apart)
        elif decision.other is not None and decision.other.wordings[0] in cluster_of:
            assert cluster_of[decision.other.wordings[0]] == cluster_of[anchor]
            checks += 1
        elif decision.action is Action.PIN:
            assert of[cluster_of[anchor]]["pinned"]
            checks += 1
        elif decision.action is Action.RENAME:
            assert (of[cluster_of[anchor]]["label"] or "").startswith("need ")
            checks += 1
    return checks, identified.groups


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS)
def test_no_later_data_undo_a_decision(pytestconfig: pytest.Config, log: str) -> None:
    path = OWN / "office_gaps.jsonl" if log == "office" else outside(pytestconfig, f"{log}.jsonl")
    records = read_gaps(path).records
    checks, seed = 0, 0
    while checks < CHECKS:
        rng = random.Random(f"{log} {seed}")  # noqa: S311
        order = rng.sample(range(records.height), records.height)
        made = decisions_on(rng, records[order[: int(SHARES[0] * records.height)]])
        baseline: pl.DataFrame | None = None
        for share in SHARES:
            for cut in CUTS:
                some = records[order[: int(share * records.height)]]
                number, baseline = checked(made, cut, some, baseline)
                checks += number
        seed += 1
