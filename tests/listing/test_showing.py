from datetime import UTC, datetime
from pathlib import Path

import pytest

import vocabgap as vg
from builders import gap, write_corpus
from vocabgap.errors import InvalidInputError, NotFoundError

NOW = datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture
def published(photos: Path) -> Path:
    """A run of `photos` where the settings expect one."""
    vg.run(photos, out="out", now=NOW)
    return Path("out")


def test_an_image_is_shown_with_its_records_and_what_does_not_count(photos: Path) -> None:
    shown = vg.show(photos, "heron")

    assert shown.kind == "image"
    assert shown.gaps["description"].to_list() == ["film grain", "mask the sky", "film grain size"]
    assert (shown.totals.unsatisfied, shown.totals.unrated, shown.totals.worked_around) == (1, 2, 1)
    assert shown.left_out == {"superseded": 1}


def test_a_session_is_shown_over_its_images(photos: Path) -> None:
    shown = vg.show(photos, "s-2")

    assert (shown.kind, shown.totals.images, shown.totals.records) == ("session", 2, 2)


@pytest.mark.usefixtures("published")
def test_a_capability_is_found_by_a_wording(photos: Path) -> None:
    shown = vg.show(photos, "mask the sky")

    assert shown.capability is not None
    assert (shown.kind, shown.name) == ("capability", shown.capability.capability_id)
    assert shown.gaps["description"].to_list() == ["sky mask", "mask the sky"]


def test_without_a_run_a_capability_is_not_found_and_the_way_to_one_is_told(photos: Path) -> None:
    with pytest.raises(NotFoundError, match="vocabgap report ROOTS"):
        vg.show(photos, "sky mask")


def test_an_identifier_that_was_merged_away_leads_to_the_capability_that_took_it_in(
    photos: Path, published: Path
) -> None:
    old = vg.show(photos, "dust removal").name
    vg.Decisions(published, actor="ana", now=NOW).merge("sky mask", "dust removal")
    vg.run(photos, out=published, now=datetime(2026, 7, 2, tzinfo=UTC))

    shown = vg.show(photos, old)

    assert shown.name != old
    assert shown.capability is not None
    assert "dust removal" in [each.wording for each in shown.capability.variants]
    assert any("Merged by decision with dust removal" in each for each in shown.lineage)


@pytest.mark.parametrize("digits", [64, 4])
def test_a_record_is_found_by_its_identity_or_the_beginning_of_it(
    photos: Path, digits: int
) -> None:
    listed = vg.list_gaps(photos)
    identity = listed["record_id"][0]

    shown = vg.show(photos, identity[:digits].upper())

    assert (shown.kind, shown.name) == ("record", identity)
    assert [(each.source_path, each.line, each.state) for each in shown.places] == [
        (listed["source_path"][0], listed["line"][0], "counted")
    ]


def test_a_correction_and_what_it_corrects_name_each_other(photos: Path) -> None:
    gaps = vg.scan(photos).gaps
    wrong = gaps.filter(why_not="superseded")["record_id"].item()
    right = gaps.filter(description="film grain size")["record_id"].item()

    assert vg.show(photos, wrong).superseded_by == (right,)
    assert vg.show(photos, wrong).places[0].state == "superseded"
    assert vg.show(photos, right).supersedes == (wrong,)


def test_of_several_corrections_of_one_snapshot_each_names_its_own(tmp_path: Path) -> None:
    state = "cd" * 32
    said = {"snapshot_hash": state, "notes": f"corrects {state}"}
    root = write_corpus(
        tmp_path,
        {
            "one": [
                gap("sky mask", snapshot_hash=state, workaround="first"),
                gap("film grain", snapshot_hash=state, workaround="second"),
                gap("sky mask", timestamp="2026-05-01T00:00:00Z", workaround="third", **said),
                gap("film grain", timestamp="2026-05-02T00:00:00Z", workaround="fourth", **said),
                gap("sky mask", timestamp="2026-05-03T00:00:00Z", workaround="fifth", **said),
            ]
        },
    )
    gaps = vg.scan(root).gaps
    names = dict(gaps.select("record_id", "workaround").iter_rows())

    def told(record: str) -> tuple[list[str], list[str]]:
        shown = vg.show(root, record)
        return [names[each] for each in shown.superseded_by], [
            names[each] for each in shown.supersedes
        ]

    assert {names[each]: told(each) for each in names} == {
        "first": (["third"], []), "second": (["fourth"], []), "third": (["fifth"], ["first"]),
        "fourth": ([], ["second"]), "fifth": ([], ["third"]),
    }  # fmt: skip


@pytest.mark.usefixtures("published")
def test_a_record_names_its_capability(photos: Path) -> None:
    shown = vg.show(photos, vg.list_gaps(photos, match="mask the sky")["record_id"][0])

    assert shown.capability is not None
    assert shown.capability.label == "sky mask"


def test_an_image_of_two_repositories_is_refused_and_both_are_told(tmp_path: Path) -> None:
    roots = [write_corpus(tmp_path, {"heron": [gap(name)]}, name) for name in ("here", "there")]

    with pytest.raises(InvalidInputError, match=r"heron in repository here.*repository there"):
        vg.show(roots, "heron")

    assert vg.show(roots, "heron", repositories="there").gaps["description"].to_list() == ["there"]


def test_a_beginning_of_two_records_is_refused_and_both_are_told(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap(f"need {number}") for number in range(1_500)]})
    starts = vg.list_gaps(root)["record_id"].str.slice(0, 4)
    twice = starts.filter(starts.is_duplicated())[0]

    with pytest.raises(InvalidInputError, match=f"record {twice}.*, record {twice}"):
        vg.show(root, twice, kind="record")


def test_what_a_narrowed_run_lacks_is_not_found_and_the_narrowing_is_told(photos: Path) -> None:
    vg.run(photos, out="out", now=NOW, selection=vg.Selection(images=("fjord",)))

    with pytest.raises(NotFoundError, match="narrowed to image fjord"):
        vg.show(photos, "film grain", kind="capability")


@pytest.mark.parametrize("asked", [{"kind": "photo"}, {"tenants": 3}], ids=str)
def test_what_cannot_be_meant_is_refused(photos: Path, asked: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(asked))):
        vg.show(photos, "heron", **asked)  # type: ignore[arg-type]
