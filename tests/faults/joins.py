"""Decisions of two people on two branches, joined by version control: each is followed, or said not to be.

Clocks go backwards, and a later report may have other labels.
"""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.decisions import decided
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.decisions.record import Action, Decision
from vocabgap.decisions.replay import agreeing, followed
from vocabgap.errors import VocabgapError
from vocabgap.ingest.scanning import scan
from vocabgap.model.settings import NO_EMBEDDER, ClusterSettings
from vocabgap.reporting.published_run import read_run

SEQUENCES: Final = 1_000
_NEEDS: Final = (
    "sky mask", "mask the sky", "sky mask tool", "sky mask brush", "film grain", "film grain look",
    "grain of film", "lens flare", "moon glow", "night glow",
)  # fmt: skip
_REPORT: Final = ("report", "photos", "--now", "2026-07-08", "--embedder", "none", "--quiet")
_RECORD: Final = Path("decisions.jsonl")
_UNFOLLOWED: Final = "not followed"


def joined(sequences: int = SEQUENCES, seed: int = 0) -> Iterator[str | None]:
    """Join random decisions, and report; yield what is wrong with each result, or None."""
    moments = [f"2026-04-01T10:00:{second:02}Z" for second in range(len(_NEEDS))]
    records = [gap(need, timestamp=moment) for need, moment in zip(_NEEDS, moments, strict=True)]
    write_corpus(Path(), {"heron": records})
    found = cluster(scan("photos").records, ClusterSettings(embedder=NO_EMBEDDER))
    for number in range(seed, seed + sequences):
        chance = random.Random(number)  # noqa: S311 - the same each time
        base = _more(chance, found, [], chance.randint(0, 2))
        ours, theirs = (_more(chance, found, base, chance.randint(1, 3)) for _ in range(2))
        problem = _problem(chance, found, [*ours, *theirs[len(base) :]])
        yield problem and f"joined decisions {number}: {problem}"


def _more(
    chance: random.Random, found: Clusters, base: Sequence[Decision], count: int
) -> list[Decision]:
    """Return decisions of one branch: each is made about the groups as they are, and is accepted."""
    made = [*base]
    minute = len(base) * 3
    for _ in range(count):
        _, now = followed(found, made)
        groups = [sorted(group) for group in _by_group(now)]
        minute += chance.choice((-2, 1, 2, 3))
        shuffled = [
            chance.sample(group, len(group)) for group in chance.sample(groups, len(groups))
        ]
        one, other = shuffled[0], shuffled[-1]
        if one is not other and (chance.random() < 0.6 or len(one) == 1):
            decision = decided("merge", one, other=other, minute=minute, actor=str(chance.random()))
        elif len(one) > 1:
            place = chance.randint(1, len(one) - 1)
            staying = one[:place] if chance.random() < 0.5 else ()
            decision = decided(
                "split", one[:place], wordings=one[place:], staying=tuple(staying),
                minute=minute, actor=str(chance.random()),
            )  # fmt: skip
        else:
            continue
        try:
            agreeing([decision], dict(_tables(now)))((*made, decision))
            followed(found, (*made, decision))
        except VocabgapError:
            continue
        made.append(decision)
    return made


def _tables(clusters: Clusters) -> Iterator[tuple[str, str]]:
    """Yield the surface and the group of each wording."""
    for word, group in clusters.wordings.select("surface", "cluster").iter_rows():
        yield word, str(group)


def _by_group(clusters: Clusters) -> list[list[str]]:
    groups = clusters.wordings.group_by("cluster", maintain_order=True).agg("wording")
    return groups["wording"].to_list()


def _problem(chance: random.Random, found: Clusters, decisions: list[Decision]) -> str | None:
    lines = [msgspec.json.encode(each) + b"\n" for each in chance.sample(decisions, len(decisions))]
    _RECORD.write_bytes(b"".join(lines))
    result = vocabgap(*_REPORT)
    try:
        effective, groups = followed(found, decisions)
    except VocabgapError as error:
        is_told = result.code == error.exit_code and error.message in result.err
        return None if is_told else f"{error} is refused, but: {result.code}: {result.err}"
    if result.code:
        return f"{result.code}: {result.err}"
    place = dict(groups.wordings.select("wording", "cluster").iter_rows())
    unfollowed = {each.decision_id for each in getattr(effective, "unfollowed", ())}
    silent = [
        each.decision_id
        for each in effective.active
        if each.decision_id not in unfollowed and not _holds(each, place, decisions)
    ]
    if silent:
        return f"not followed, and nobody is told: {silent}"
    kept = [each for each in decisions if each.decision_id not in unfollowed]
    if unfollowed and _by_group(followed(found, kept)[1]) != _by_group(groups):
        return f"decisions that are not followed move somebody: {unfollowed}"
    rows = read_run(Path("out"), option="--out")[1].height
    if rows != len(_by_group(groups)):
        return f"{rows} capabilities of {len(_by_group(groups))} groups"
    told = {
        each["decision"]["decision_id"] for each in _listed() if each["standing"] == _UNFOLLOWED
    }
    return None if told == unfollowed else f"told: {told}, not followed: {unfollowed}"


def _holds(decision: Decision, place: dict[str, int], others: list[Decision]) -> bool:
    """Tell whether groups follow a merge or a split; later merges may move what stayed."""
    if decision.capability is None:
        return True
    anchor = decision.capability.wordings[0]
    if decision.other is not None:
        return place[anchor] == place[decision.other.wordings[0]]
    if decision.action is not Action.SPLIT:
        return True
    is_last = all(other.place <= decision.place for other in others if other.other is not None)
    staying = {place[each] for each in (anchor, *decision.staying * is_last)}
    return staying.isdisjoint(place[each] for each in decision.wordings)


def _listed() -> Iterator[dict[str, Any]]:
    for line in vocabgap("--json", "decisions", "list").out.splitlines():
        event = json.loads(line)
        if event["event"] == "decision":
            yield event
