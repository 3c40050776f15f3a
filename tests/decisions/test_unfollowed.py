"""A decision that others contradict is not followed: a report names it, and it moves nobody."""

import json
import random
import time
from collections.abc import Callable
from functools import cache

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.clustering import asking, grouped_wordings
from builders.decisions import Studio, decided, joined
from vocabgap.clustering.grouping import Clusters, cluster
from vocabgap.decisions.effects import PublishedGroups
from vocabgap.decisions.record import Action, Decision
from vocabgap.decisions.replay import followed, in_force
from vocabgap.errors import StateError
from vocabgap.reporting.published_run import read_gaps, read_published

SKIES = ("sky mask", "mask the sky", "sky mask tool", "cloud mask")
GRAINS = ("film grain", "film grain look", "grain of film")
NEEDS = (*SKIES, *GRAINS, "lens flare", "moon glow", "night glow")


@cache
def found() -> Clusters:
    return cluster(asking(*NEEDS))


SPLIT_AFTER_MERGES = (  # `night glow` may not leave: ana tied it to `sky mask`, which is to stay
    decided("merge", ["grain of film"], other=["moon glow"], minute=3),
    decided("merge", ["night glow"], other=["lens flare"], minute=4),
    decided("merge", ["night glow"], other=["sky mask"], minute=6),
    decided("merge", ["sky mask tool"], other=["moon glow"], minute=7, actor="bo"),
    decided(
        "split",
        ["film grain", *SKIES, "moon glow"],
        wordings=("night glow",),
        staying=("film grain", *SKIES, "moon glow"),
        minute=9,
        actor="bo",
    ),
)
MERGE_AFTER_SPLIT = (  # bo splits off what cleo later merges with a wording that stays
    decided("merge", ["moon glow"], other=["sky mask"], minute=5),
    decided("merge", ["grain of film"], other=["sky mask"], minute=7),
    decided(
        "split",
        ["film grain", "grain of film", "sky mask"],
        wordings=("mask the sky",),
        staying=("film grain", "grain of film", "sky mask"),
        minute=8,
        actor="bo",
    ),
    decided("merge", ["grain of film"], other=["mask the sky"], minute=9, actor="cleo"),
)
JOINED = pytest.mark.parametrize("lines", [SPLIT_AFTER_MERGES, MERGE_AFTER_SPLIT])


def split_of(lines: tuple[Decision, ...]) -> Decision:
    return next(line for line in lines if line.action is Action.SPLIT)


@JOINED
def test_a_split_that_merges_contradict_moves_nobody(lines: tuple[Decision, ...]) -> None:
    split = split_of(lines)

    effective, now = followed(found(), lines)

    assert effective.unfollowed == (split,)
    assert split in effective.active
    others = [line for line in lines if line is not split]
    assert grouped_wordings(now) == grouped_wordings(followed(found(), others)[1])


@JOINED
def test_it_is_told_with_who_and_when(
    studio_of: Callable[..., Studio], lines: tuple[Decision, ...]
) -> None:
    studio, split = studio_of(*NEEDS), split_of(lines)
    file = studio.folder / "decisions.jsonl"
    file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    rows = studio.rows()

    texts = [(studio.folder / "out" / name).read_text() for name in ("report.md", "report.html")]
    assert split.summary.startswith("2026-07-01 bo split")
    for text in texts:
        assert "Not followed, because other decisions contradict it: 2026-07-01 bo split" in text
    about = {text for row in rows.values() for text in row["decisions"]}
    assert {text for text in about if "not followed" in text} == {f"{split.summary} – not followed"}
    written = json.loads((studio.folder / "out" / "run.json").read_text())
    assert written["decisions"]["unfollowed"] == {split.decision_id: split.summary}
    assert studio.decide.unfollowed() == {split.decision_id}


@JOINED
def test_a_trial_leaves_it_out_like_the_report(
    studio_of: Callable[..., Studio], lines: tuple[Decision, ...]
) -> None:
    studio = studio_of(*NEEDS)
    studio.report()
    run = read_published(studio.folder / "out")
    published = PublishedGroups(
        read_gaps(run.folder),
        run.groups,
        run.manifest.settings,
        run.manifest.now,
        by_meaning=run.manifest.model is not None,
    )
    others = [line for line in lines if line is not split_of(lines)]

    assert published.effects((), lines) == published.effects((), others)


def test_hundreds_of_them_take_no_minutes() -> None:
    words = [f"need{number} of{number}" for number in range(1_200)]
    lines = []
    for minute in range(0, 1_200, 3):
        stays, leaves, tied = words[minute : minute + 3]
        lines.append(decided("merge", [tied], other=[leaves], minute=minute))
        sides = {"wordings": (leaves,), "staying": (tied,)}
        lines.append(decided("split", [stays, tied], minute=minute + 1, **sides))
    begin = time.process_time()

    effective, _ = followed(cluster(asking(*words), threshold=0.0), lines)

    assert len(effective.unfollowed) == 400
    assert time.process_time() - begin < 8


def keeps(decision: Decision, groups: Clusters, staying: tuple[str, ...] = ()) -> bool:
    """Whether groups are as a merge or a split says."""
    assert decision.capability is not None
    group_of: dict[str, int] = dict(groups.wordings.select("wording", "cluster").iter_rows())
    anchor = decision.capability.wordings[0]
    if decision.other is not None:
        return group_of[anchor] == group_of[decision.other.wordings[0]]
    remaining = {group_of[wording] for wording in (anchor, *staying)}
    return not any(group_of[wording] in remaining for wording in decision.wordings)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 1_000_000))
def test_joined_decisions_are_followed_or_named(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    lines = joined(rng, found())
    try:
        effective, now = followed(found(), lines)
    except StateError:  # a chain of merges contradicts a split
        return

    standing = [each for each in effective.active if each not in effective.unfollowed]
    assert all(keeps(each, now) for each in standing)
    for number, each in enumerate(standing, 1):  # later decisions may move what was to stay
        assert keeps(each, followed(found(), standing[:number])[1], each.staying)
    assert effective.active == in_force(lines)
    again, same = followed(found(), standing)
    assert not again.unfollowed
    assert grouped_wordings(same) == grouped_wordings(now)
    shuffled, equal = followed(found(), rng.sample(lines, len(lines)))
    assert shuffled.unfollowed == effective.unfollowed
    assert grouped_wordings(equal) == grouped_wordings(now)
