from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec import structs

from builders.reporting import compared_in_words
from vocabgap.model.selection import Selection
from vocabgap.model.settings import Settings
from vocabgap.model.tables import CAPABILITIES, EFFECTS, EVENTS, GROUPS, LINEAGE
from vocabgap.reporting.comparison import Comparison, Kind, compare
from vocabgap.reporting.manifest import Parameters, Rendering, new_manifest
from vocabgap.reporting.published_run import PublishedRun

BEFORE, AFTER = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
Row = tuple[str, str, int]


def ranked(rows: Sequence[Row], **message: dict[str, Any]) -> pl.DataFrame:
    """Capabilities of one wording each, in order of rank; further columns by label."""
    made = [
        {
            "rank": rank,
            "capability_id": name,
            "label": label,
            "mentions": mentions,
            "status": "open",
            "variants": [{"wording": label, "mentions": mentions, "similarity": 1.0}],
            **message.get(label.replace(" ", "_"), {}),
        }
        for rank, (name, label, mentions) in enumerate(rows, start=1)
    ]
    return pl.DataFrame(made, schema=CAPABILITIES.schema)


def published(
    now: datetime, capabilities: pl.DataFrame, events: pl.DataFrame | None = None
) -> PublishedRun:
    manifest = new_manifest(now, capabilities.height, Rendering(0, "mentions", ""))
    happened = EVENTS.empty() if events is None else events
    groups = grouped(capabilities)
    rest = (LINEAGE.empty(), happened, EFFECTS.empty())
    return PublishedRun(Path("out"), manifest, capabilities, groups, *rest)


def compared(before: pl.DataFrame, after: pl.DataFrame) -> Comparison:
    return compare(published(BEFORE, before), published(AFTER, after))


def grouped(capabilities: pl.DataFrame) -> pl.DataFrame:
    """Table `groups` of a run of these capabilities."""
    wordings = capabilities.drop("mentions").explode("variants").unnest("variants")
    rows = wordings.select(
        pl.lit("present").alias("run"), pl.col("wording").alias("surface"), "mentions",
        pl.col("capability_id").alias("group_id"), pl.col("label").alias("group_surface"), "capability_id",
        "label", "rank",
    )  # fmt: skip
    return rows.cast(GROUPS.schema)


def shown(run: PublishedRun, *labels: str, **selection: Any) -> PublishedRun:  # noqa: ANN401 - to Selection
    """The same run, narrowed to some of its capabilities."""
    return replace(
        run,
        manifest=structs.replace(
            run.manifest, parameters=Parameters(Settings(), Selection(**selection))
        ),
        capabilities=run.capabilities.filter(pl.col("label").is_in(labels)),
        groups=run.groups.with_columns(pl.when(pl.col("label").is_in(labels)).then("rank")),
    )


def kinds(found: Comparison) -> list[tuple[str, str | None]]:
    return [(change.kind.value, change.label or change.previous_label) for change in found.changes]


MASK, GRAIN, FLARE = (
    ("cap-1", "sky mask", 5),
    ("cap-2", "film grain", 4),
    ("cap-3", "lens flare", 3),
)


ANEW = ("cap-9", "sky mask", 6), ("cap-8", "film grain", 2)


@pytest.mark.parametrize(
    ("before", "after", "message", "unchanged"),
    [
        ((MASK, GRAIN), (MASK, GRAIN), [], 2),
        ((MASK, GRAIN), (MASK, FLARE), [("new", "lens flare"), ("resolved", "film grain")], 1),
        ((MASK, GRAIN), (GRAIN, MASK), [("risen", "film grain"), ("fallen", "sky mask")], 0),
        ((MASK, GRAIN), (FLARE, MASK, GRAIN), [("new", "lens flare")], 2),
        ((MASK, GRAIN), ANEW, [], 2),
    ],
    ids=[
        "itself",
        "new and gone",
        "risen and fallen",
        "new at the top",
        "matched by what they share",
    ],
)
def test_what_changed_is_told(
    before: tuple[Row, ...], after: tuple[Row, ...], message: list[tuple[str, str]], unchanged: int
) -> None:
    found = compared(ranked(before), ranked(after))

    assert (kinds(found), found.unchanged) == (message, unchanged)


@pytest.mark.parametrize("status", ["dismissed", "authored"])
def test_what_was_settled_is_named_so_and_lets_nobody_rise(status: str) -> None:
    found = compared(
        ranked([MASK, GRAIN, FLARE]), ranked([GRAIN, FLARE, MASK], sky_mask={"status": status})
    )

    assert kinds(found) == [(status, "sky mask")]
    assert found.changes[0].status == status


PIN = {"pinned": True, "pinned_by": "a|na", "rank_low": 2, "rank_high": 3}


def test_what_is_pinned_is_told_as_that_and_lets_nobody_fall() -> None:
    found = compared(ranked([MASK, GRAIN, FLARE]), ranked([FLARE, MASK, GRAIN], lens_flare=PIN))

    assert kinds(found) == [("pinned", "lens flare")]
    assert found.unchanged == 2
    assert compared_in_words(found, top=0).splitlines()[2:] == [
        "Pinned: first because people decided so (1)",
        "",
        "  lens flare: rank 3 to 1, pinned by a|na; by mentions rank 2–3; 3 mentions",
    ]


def test_what_came_back_has_regressed() -> None:
    before = ranked([GRAIN, MASK], sky_mask={"status": "authored"})

    assert kinds(compared(before, ranked([MASK, GRAIN], sky_mask={"status": "regressed"}))) == [
        ("regressed", "sky mask")
    ]


ALL = ("sky mask", "film grain", "lens flare")
ONE = ("one",)
Event = tuple[str, str, int, str | None]  # label, kind, day of June, and the decision


def events(*rows: Event) -> pl.DataFrame:
    """Table `events`, each decision by ana."""
    made = [
        {
            "capability_id": name,
            "label": label,
            "kind": kind,
            "moment": datetime(2026, 6, day, tzinfo=UTC),
            "by": "ana" if decision else None,
            "entry": "mask" if kind == "authored" else None,
            "decision_id": decision,
        }
        for label, kind, day, decision in rows
        for name in [{MASK[1]: MASK[0], GRAIN[1]: GRAIN[0], FLARE[1]: FLARE[0]}[label]]
    ]
    return pl.DataFrame(made, schema=EVENTS.schema)


OPENED = [(label, "opened", 1, None) for _, label, _ in (MASK, GRAIN, FLARE)]
DISMISSED = ("sky mask", "dismissed", 2, "dec-1")
REOPENED = ("sky mask", "reopened", 9, "dec-2")


def test_the_last_event_that_only_the_later_run_has_is_a_change() -> None:
    rows = ranked([MASK, GRAIN, FLARE])
    earlier = published(BEFORE, rows, events(*OPENED, DISMISSED))
    claimed, authored = (
        ("film grain", "claimed", 4, "dec-3"),
        ("film grain", "authored", 5, "dec-4"),
    )

    found = compare(
        earlier, published(AFTER, rows, events(*OPENED, DISMISSED, REOPENED, claimed, authored))
    )

    assert kinds(found) == [
        ("reopened", "sky mask"),
        ("authored", "film grain"),
    ]
    assert [(each.moment, each.by, each.entry) for each in found.changes[1:]] == [
        (datetime(2026, 6, 5, tzinfo=UTC), "ana", "mask"),
    ]
    assert found.unchanged == 1
    assert "\n  film grain: 2026-06-05 authored as mask by ana; 4 mentions, rank 2\n" in (
        compared_in_words(found, top=0) + "\n"
    )


def test_an_event_that_a_filter_hid_in_the_earlier_run_is_no_news() -> None:
    rows = ranked([MASK, GRAIN])
    earlier = shown(published(BEFORE, rows, events(OPENED[1])), "film grain", images=ONE)

    found = compare(earlier, shown(published(AFTER, rows, events(*OPENED[:2], DISMISSED)), *ALL))

    assert (found.changes, found.unchanged) == ((), 2)


def test_merged_and_split_are_told() -> None:
    both = {
        "variants": [
            {"wording": label, "mentions": 4, "similarity": 1.0} for label in (MASK[1], GRAIN[1])
        ]
    }
    one, two = ranked([MASK], sky_mask=both), ranked([MASK, GRAIN])

    assert [change.kind for change in compared(two, one).changes] == [Kind.MERGED]
    assert [change.kind for change in compared(one, two).changes] == [Kind.SPLIT]


def test_what_is_beyond_the_top_is_counted() -> None:
    found = compared(ranked([]), ranked([MASK, GRAIN, FLARE]))

    message = compared_in_words(found, top=1)

    assert "New (3)\n\n  sky mask: 5 mentions, rank 1\n  and 2 more; `--top 0` shows all" in message


def test_every_kind_has_its_heading() -> None:
    before = ranked(
        [FLARE, MASK, GRAIN, ("cap-4", "old lamp", 1)], lens_flare={"status": "authored"}
    )
    after = ranked([FLARE, GRAIN, MASK, ("cap-5", "moon", 1)], lens_flare={"status": "regressed"})
    found = compared(before, after)

    text = compared_in_words(found, top=0)

    regressed = "Regressed: authored, and asked for again"
    resolved = "Resolved: no mention in the logs that the later run read"
    for heading in ("New", regressed, "Risen", "Fallen", resolved):
        assert f"\n{heading} (1)\n" in text


def test_what_a_filter_hides_is_neither_gone_nor_new() -> None:
    runs = published(BEFORE, ranked([MASK, GRAIN])), published(AFTER, ranked([MASK, GRAIN]))

    for labels in ((ALL, ("sky mask",)), (("sky mask",), ALL)):
        earlier, later = (
            shown(run, *each, images=() if each is ALL else ONE)
            for run, each in zip(runs, labels, strict=True)
        )
        found = compare(earlier, later)
        assert (found.changes, found.unchanged) == ((), 2)


def test_what_was_decided_is_told_however_runs_are_narrowed() -> None:
    earlier = ranked([MASK, GRAIN], film_grain={"status": "authored"})
    later = ranked(
        [MASK, GRAIN], sky_mask={"status": "dismissed"}, film_grain={"status": "regressed"}
    )

    found = compare(
        shown(published(BEFORE, earlier), *ALL), shown(published(AFTER, later), *ALL, images=ONE)
    )

    assert kinds(found) == [("regressed", "film grain"), ("dismissed", "sky mask")]


def test_windows_of_the_same_length_are_compared_in_full() -> None:
    month = AFTER - BEFORE
    earlier = shown(published(BEFORE, ranked([MASK, GRAIN])), *ALL, since=BEFORE - month)
    later = shown(published(AFTER, ranked([GRAIN, MASK])), *ALL, since=AFTER - month)

    assert kinds(compare(earlier, later)) == [("risen", "film grain"), ("fallen", "sky mask")]
