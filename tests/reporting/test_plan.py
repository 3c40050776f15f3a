"""The plan: how many sessions have no gap any more, compared with a count by hand."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.doors import decided_and_ranked
from builders.ranking import Row, by_surface, records
from builders.reporting import publish, text_of
from vocabgap.files.parts import Parts
from vocabgap.ranking.capabilities import rank
from vocabgap.reporting.overviews import Plan, plan_of

Sessions = dict[tuple[str, str], set[str]]  # needs by tenant and session
NEEDS = ("lamp glow", "tilt shift", "ice ring brush", "film grain")
rows = st.fixed_dictionaries(
    {
        "missing_capability": st.sampled_from(NEEDS),
        "session_id": st.sampled_from([None, "", " ", "s1", "s2", " s2", "s3", "s4"]),
        "tenant_id": st.sampled_from(["ana", "bo"]),
    }
)
row_lists = st.lists(rows, max_size=20)


def planned(asked: Iterable[Row]) -> Plan:
    frame = records([*asked])
    groups = by_surface(frame)
    table = rank(frame, groups, min_images=1)
    names = dict(groups.wordings.select("wording", "cluster").iter_rows())
    labels = {
        names[each["variants"][0]["wording"]]: each["capability_id"] for each in table.to_dicts()
    }
    own = [labels[names[row["missing_capability"]]] for row in frame.to_dicts()]
    gaps = frame.with_columns(
        pl.Series("capability_id", own, pl.String), counted=pl.lit(value=True)
    )
    return plan_of(table, Parts.of(gaps), 0.28)


def needs_by_session(asked: Iterable[Row], need: str) -> Sessions:
    """Return the needs of each known session, counted by hand."""
    needs: Sessions = defaultdict(set)
    for row in asked:
        if session := (row["session_id"] or "").strip():
            needs[row["tenant_id"], session].add(row[need])
    return needs


def freed_by_hand(needs: Sessions, authored: Iterable[str]) -> int:
    return sum(1 for own in needs.values() if own <= {*authored})


def test_the_sums_of_the_demo_equal_a_count_by_hand(demo: Path, tmp_path: Path) -> None:
    published = publish(tmp_path, demo).published
    tables = published.folder
    ranked = (
        pl.read_parquet(tables / "capabilities.parquet").sort("rank")["capability_id"].to_list()
    )
    counted = [row for row in pl.read_parquet(tables / "gaps.parquet").to_dicts() if row["counted"]]
    needs = needs_by_session(counted, "capability_id")

    found = published.summary.plan

    assert found is not None
    assert (found.sessions, found.unknown) == (len(needs), 25)
    for steps in (found.by_rank, found.by_sessions):
        authored = [ranked[step.rank - 1] for step in steps]
        assert len({*authored}) == 20
        assert [step.freed for step in steps] == [
            freed_by_hand(needs, authored[:first]) for first in range(1, 21)
        ]
    assert [step.rank for step in found.by_rank] == [*range(1, 21)]
    assert [step.freed for step in found.by_rank][:4] == [1, 1, 2, 3]
    assert [step.freed for step in found.by_sessions][:3] == [1, 3, 4]


@given(row_lists)
def test_sums_of_any_records_equal_a_count_by_hand(asked: list[Row]) -> None:
    found = planned(asked)
    needs = needs_by_session(asked, "missing_capability")

    assert found.sessions == len(needs)
    assert found.unknown == sum(1 for row in asked if not (row["session_id"] or "").strip())
    for steps in (found.by_rank, found.by_sessions):
        labels = [step.label for step in steps]
        sums = [freed_by_hand(needs, labels[: first + 1]) for first in range(len(labels))]
        assert [step.freed for step in steps] == sums == sorted(sums)
    if needs:
        first = max(freed_by_hand(needs, [need]) for need in NEEDS)
        assert found.by_sessions[0].freed == first


@given(row_lists, st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(asked: list[Row], chance: random.Random) -> None:
    shuffled = chance.sample(asked, len(asked))
    assert planned(shuffled) == planned(asked)


def test_what_is_settled_or_exists_is_no_step_and_only_open_needs_hold_a_session(
    tmp_path: Path,
) -> None:
    # Each record has a session of its own; `sky mask` exists, and `undo crop` is on one image.
    found = decided_and_ranked(tmp_path).published.summary.plan

    assert found is not None
    assert (found.sessions, found.unknown) == (2 + 6 + 5 + 4 + 3 + 3 + 1, 0)
    assert [(step.label, step.freed) for step in found.by_rank] == [
        ("halo repair", 2), ("film grain", 7), ("lens flare", 11), ("noise reduction", 14),
        ("perspective warp", 17),
    ]  # fmt: skip
    assert [(step.label, step.freed) for step in found.by_sessions] == [
        ("film grain", 5), ("lens flare", 9), ("noise reduction", 12), ("perspective warp", 15),
        ("halo repair", 17),
    ]  # fmt: skip


def test_the_plan_is_a_sentence_of_the_report_and_a_table_of_its_own(tmp_path: Path) -> None:
    asked = {
        "lamp glow": "123", "tilt shift": "12", "film grain": "4", "sky mask": "5", "halo": " "
    }  # fmt: skip
    gaps = [gap(need, session_id=each.strip()) for need, own in asked.items() for each in own]
    root = write_corpus(tmp_path, {"one": gaps})
    sentence = (
        "Authoring ranks 1, 2 and 3 frees 4 of 5 sessions from gaps. 1 record names no session."
    )

    assert f" {sentence}\n" in text_of(publish(tmp_path, root))
    assert f"\n{sentence}\n" in vocabgap("report", root).out
    table = vocabgap("report", root, "--format", "plan").out
    assert [line.split()[:5] for line in table.splitlines()[2:5]] == [
        ["1", "1", "lamp", "glow", "1"],
        ["2", "2", "tilt", "shift", "3"],
        ["3", "3", "film", "grain", "4"],
    ]
    assert "\n1 record names no session and is left out.\n" in table


def test_without_sessions_there_is_no_sentence(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [*map(gap, NEEDS)]})
    assert "Authoring" not in vocabgap("report", root).out
    sentence = "No record of an open need names a session, so the plan counts nothing."
    planned = vocabgap("report", root, "--format", "plan").out
    assert " ".join(planned.split()) == sentence


def test_top_limits_the_steps(demo: Path) -> None:
    plans = [vocabgap("report", demo, "--format", "plan", "--top", top).out for top in "30"]

    numbers = [re.findall(r"^ +(\d+) ", plan, re.MULTILINE) for plan in plans]
    assert numbers == [[str(1 + step) for step in range(each)] for each in (3, 20)]


def test_a_shareable_page_has_no_plan(tmp_path: Path) -> None:
    gaps = {
        f"image-{number}": [
            gap(need, image_id=f"image-{number}", session_id=f"{need} {number}") for need in NEEDS
        ]
        for number in range(9)
    }
    made = publish(tmp_path, write_corpus(tmp_path, gaps), share=3)

    assert "Authoring ranks 1, 2 and 3 frees 27 of 36 sessions from gaps." in text_of(made)
    assert "Authoring" not in (made.published.folder / "share.html").read_text(encoding="utf-8")
