"""A need that somebody claims: who may claim it, what ends a claim, and where a report shows it."""

import json

import polars as pl
import pytest

from builders.decisions import Studio
from vocabgap.errors import InvalidInputError
from vocabgap.listing.deciding import Decisions
from vocabgap.reporting.markdown import render_shortlist

CLAIMED = "claimed by ana since 2026-07-01"
Steps = tuple[tuple[str, ...], ...]


def by(studio: Studio, actor: str) -> Decisions:
    return Decisions(studio.folder / "out", studio.decide.file, actor=actor, now=studio.clock)


def events(studio: Studio, label: str = "sky mask") -> list[tuple[str, str | None]]:
    """The events of a capability in the published run: kind and person."""
    table = pl.read_parquet(studio.folder / "out" / "events.parquet").filter(label=label)
    return list(table.select("kind", "by").iter_rows())


@pytest.mark.parametrize("reports_between", [False, True])
def test_a_claimed_need_is_refused_to_others_until_it_is_released(
    studio: Studio, reports_between: bool
) -> None:
    studio.decide.claim("sky mask")
    if reports_between:
        studio.report()

    with pytest.raises(
        InvalidInputError, match="'sky mask' is already claimed by ana since 2026-07-01"
    ):
        by(studio, "ben").claim("sky mask")
    studio.decide.reopen("sky mask")
    if reports_between:
        studio.report()
    _ = studio.decide  # a minute later
    by(studio, "ben").claim("sky mask")

    row = studio.rows()["sky mask"]
    assert (row["status"], row["status_by"]) == ("claimed", "ben")
    assert events(studio) == [
        ("opened", None), ("claimed", "ana"), ("reopened", "ana"), ("claimed", "ben"),
    ]  # fmt: skip


def test_a_claim_holds_for_the_group_whatever_its_identifier_is_now(studio: Studio) -> None:
    studio.decide.claim("sky mask")
    studio.decide.merge("lens flare", "sky mask")
    assert studio.rows()["sky mask"]["status"] == "claimed"

    with pytest.raises(InvalidInputError, match="is already claimed by ana since 2026-07-01"):
        by(studio, "ben").claim("lens flare")


@pytest.mark.parametrize(
    ("later", "status"),
    [
        (("author", "sky"), "authored"),
        (("dismiss", "not ours"), "dismissed"),
        (("reopen",), "open"),
        (("undo",), "open"),
        (("pin",), "claimed"),
        (("rename", "a mask"), "claimed"),
    ],
)
def test_a_claim_ends_by_another_status_alone(
    studio: Studio, later: tuple[str, ...], status: str
) -> None:
    claim = studio.decide.claim("sky mask")
    verb, *arguments = later

    about = claim.decision_id if verb == "undo" else "sky mask"
    getattr(studio.decide, verb)(about, *arguments)

    assert studio.rows()["sky mask"]["status"] == status


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ((("author", "sky"),), "'sky mask' is authored; reopen it first: 2026-07-01 ana authored"),
        ((("dismiss", "no"),), "'sky mask' is dismissed; reopen it first"),
        ((("dismiss", "no"), ("reopen",)), ""),
    ],
)
@pytest.mark.parametrize("reports_between", [False, True])
def test_only_an_open_need_can_be_claimed(
    studio: Studio, before: Steps, message: str, reports_between: bool
) -> None:
    for verb, *arguments in before:
        getattr(studio.decide, verb)("sky mask", *arguments)
        if reports_between:
            studio.report()

    if message:
        with pytest.raises(InvalidInputError, match=message):
            studio.decide.claim("sky mask")
    else:
        assert studio.decide.claim("sky mask").action == "claim"


def test_a_need_that_outgrew_its_dismissal_can_be_claimed_and_dismissed_again(
    studio: Studio,
) -> None:
    studio.decide.dismiss("lens flare", "a matter of taste")
    studio.decide.merge("lens flare", "sky mask")
    assert studio.rows()["sky mask"]["status"] == "open"

    studio.decide.claim("lens flare")
    studio.decide.dismiss("lens flare", "a matter of taste")

    assert studio.rows()["sky mask"]["status"] == "dismissed"


def test_a_claimed_need_keeps_its_rank_and_every_format_marks_it(studio: Studio) -> None:
    before = studio.report().published.summary
    studio.decide.claim("sky mask", "mine")

    made = studio.report()

    summary = made.published.summary
    first = summary.capabilities[0]
    assert [each.label for each in summary.capabilities] == [
        each.label for each in before.capabilities
    ]
    assert (first.label, first.status, first.status_by) == ("sky mask", "claimed", "ana")
    assert CLAIMED in (studio.folder / "out" / "report.md").read_text(encoding="utf-8")
    assert CLAIMED in (studio.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert f", {CLAIMED}" in render_shortlist(summary)
    assert first.capability_id in summary.drafts


def test_a_page_may_claim(studio: Studio) -> None:
    row = studio.rows()["sky mask"]
    named = {"capability_id": row["capability_id"], "label": row["label"]}
    line = {"run": "2026-07-01T00:00:00Z", "action": "claim", "capability": named}

    (made,) = studio.decide.apply([json.dumps(line)])

    assert made.what == "claimed 'sky mask'"
    assert studio.rows()["sky mask"]["status"] == "claimed"


OLD = """\
{"decision_id":"dec-4b1d21d7e0a1","time":"2026-05-01T09:00:00Z","actor":"ana","action":"author",\
"entry":"sky","capability":{"capability_id":"cap-1","label":"sky mask","wordings":["sky mask"]}}
{"decision_id":"dec-aa00cc11ee22","time":"2026-05-02T09:00:00Z","actor":"ben","action":"dismiss",\
"reason":"not ours","capability":{"capability_id":"cap-2","label":"lens flare","wordings":["lens flare"]}}
{"decision_id":"dec-000000000abc","time":"2026-05-03T09:00:00Z","actor":"ana","action":"reopen",\
"capability":{"capability_id":"cap-2","label":"lens flare","wordings":["lens flare"]}}
"""


def test_decisions_of_an_older_version_are_followed_and_their_lines_stay(studio: Studio) -> None:
    file = studio.decide.file
    file.write_text(OLD, encoding="utf-8")
    assert studio.rows()["sky mask"]["status"] == "authored"
    assert events(studio) == [("opened", None), ("authored", "ana")]

    studio.decide.claim("lens flare")
    studio.report()

    assert file.read_bytes().startswith(OLD.encode())
    assert len(file.read_bytes().splitlines()) == 4
    assert events(studio, "lens flare")[1:] == [
        ("dismissed", "ben"), ("reopened", "ana"), ("claimed", "ana"),
    ]  # fmt: skip
