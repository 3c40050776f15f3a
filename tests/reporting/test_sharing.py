"""What a report that may leave the machine says, and what it does not."""

import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from builders import gap, write_corpus
from builders.page import read
from builders.reporting import publish
from vocabgap.errors import InvalidInputError
from vocabgap.files.parts import Parts
from vocabgap.listing.deciding import Decisions
from vocabgap.model.selection import Selection
from vocabgap.model.settings import ClusterSettings, DecisionSettings, RankSettings, Settings
from vocabgap.model.tables import GAPS, default_of
from vocabgap.pipeline import Run
from vocabgap.reporting import listed as listing
from vocabgap.reporting import sharing
from vocabgap.reporting.page import payload_of, render_page
from vocabgap.reporting.published_run import read_gaps, read_run
from vocabgap.reporting.sharing import NO_WORDING, shareable
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.writing import report

APART = Settings(cluster=ClusterSettings(threshold=0.0))
TOGETHER = Settings(cluster=ClusterSettings(threshold=1.0))


def shared_page(made: Run) -> str:
    return (made.published.folder / "share.html").read_text(encoding="utf-8")


def shared_summary(made: Run, fewest: int) -> Summary:
    gaps = read_gaps(made.published.folder)
    return shareable(made.published.summary, gaps, fewest)


def asked(
    tmp_path: Path, *wordings: str, settings: Settings = TOGETHER, share: int = 3, **fields: object
) -> Run:
    """Publishes a workspace of an image for each of several wordings, and of what else records say."""
    images = {
        f"image-{number}": [gap(wording, image_id=f"image-{number}", **fields)]
        for number, wording in enumerate(wordings)
    }
    return publish(tmp_path, write_corpus(tmp_path, images), settings=settings, share=share)


def test_a_wording_is_shown_where_enough_images_used_its_words(tmp_path: Path) -> None:
    made = asked(tmp_path, "sky mask", "Sky-Mask", "skyMasks", "mask for Anna's sky")
    (item,) = shared_summary(made, 3).everything
    assert [each.mentions for each in item.capability.variants] == [3]
    assert "nna" not in shared_page(made)


def test_a_wording_that_no_image_shares_to_the_letter_is_shown_in_plain_words(
    tmp_path: Path,
) -> None:
    made = asked(tmp_path, "sky mask (!)", "Sky-Mask ♥", "sky_mask:")
    (item,) = shared_summary(made, 3).everything
    assert [each.wording for each in item.capability.variants] == ["sky mask"]
    assert item.capability.label == "sky mask"


def test_a_wording_without_words_is_shown_where_enough_images_used_it(tmp_path: Path) -> None:
    (item,) = shared_summary(asked(tmp_path, "%%%", "%%%  ", " %%%"), 3).everything
    assert item.capability.label == "%%%"


def test_a_spelling_that_enough_images_share_is_shown_as_it_is(tmp_path: Path) -> None:
    (item,) = shared_summary(
        asked(tmp_path, "Sky-Mask", "Sky-Mask", "Sky-Mask", "sky mask"), 3
    ).everything
    assert [(each.wording, each.mentions) for each in item.capability.variants] == [("Sky-Mask", 4)]


def test_a_label_that_falls_away_gives_place_to_the_most_used_wording(tmp_path: Path) -> None:
    made = asked(
        tmp_path, "sky mask for Anna", "sky mask", "sky mask", "sky mask", settings=TOGETHER
    )
    summary = made.published.summary
    renamed = tuple(
        replace(each, capability=replace(each.capability, label="Anna's sky"))
        for each in summary.everything
    )
    gaps = read_gaps(made.published.folder)
    shared = shareable(replace(summary, everything=renamed), gaps, 3)
    assert [each.capability.label for each in shared.everything] == ["sky mask"]


def test_a_capability_without_a_common_wording_is_shown_by_its_numbers(tmp_path: Path) -> None:
    made = asked(tmp_path, "sky mask", "mask for clouds", "mask of hair")
    (item,) = shared_summary(made, 3).everything
    assert (item.capability.label, item.capability.variants) == (NO_WORDING, ())
    assert (item.capability.mentions, item.capability.images) == (3, 3)


def test_no_identifier_is_made_from_words(tmp_path: Path) -> None:
    made = asked(tmp_path, "sky mask", "sky mask", "sky mask")
    (item,) = made.ranked["capability_id"]
    assert item in (made.published.folder / "report.html").read_text(encoding="utf-8")
    assert item.removeprefix("cap-") not in shared_page(made)
    assert '["cap-1",1,' in shared_page(made)


def test_the_main_category_is_the_most_frequent_one_that_is_common(tmp_path: Path) -> None:
    often = [
        gap("sky mask", intent_category="anna", session_id=f"s-{number}") for number in range(5)
    ]
    others = {name: [gap("sky mask", intent_category="tone")] for name in ("two", "three", "four")}
    made = publish(tmp_path, write_corpus(tmp_path, {"one": often, **others}), share=3)
    assert made.ranked["intent_category"].to_list() == ["anna"]
    (item,) = shared_summary(made, 3).everything
    assert item.capability.intent_category == "tone"
    assert [(each.name, each.mentions) for each in shared_summary(made, 3).categories] == [
        ("tone", 3)
    ]
    assert "anna" not in shared_page(made)


def test_what_a_report_was_narrowed_to_is_told_without_names(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {name: [gap("sky mask", session_id="anna")] for name in ("one", "two", "three")}
    )
    chosen = Selection(since=datetime(2026, 1, 1, tzinfo=UTC), sessions=("anna",))
    made = publish(tmp_path, root, selection=chosen, share=3)
    assert shared_summary(made, 3).selection == (
        ("since", "2026-01-01T00:00:00Z"),
        ("session", None),
    )
    message = re.sub("</?(bdi|time)>", "", shared_page(made))
    assert "Narrowed to since 2026-01-01T00:00:00Z, a choice by session." in message
    assert "anna" not in shared_page(made)


def test_a_run_without_share_has_no_such_page(tmp_path: Path) -> None:
    made = asked(tmp_path, "sky mask", "sky mask", "sky mask")
    assert "share.html" in made.published.files
    assert "share.html" in [output.name for output in made.published.manifest.outputs]
    again = publish(tmp_path, made.published.folder.parent / "photos")
    assert "share.html" not in again.published.files
    assert not (again.published.folder / "share.html").exists()


@pytest.mark.parametrize("fewest", [0, 1])
def test_a_report_from_single_images_is_refused(tmp_path: Path, fewest: int) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask")]})
    with pytest.raises(InvalidInputError, match="single image"):
        publish(tmp_path, root, share=fewest)
    assert not (tmp_path / "out").exists()


def test_a_ranking_without_its_records_is_not_shared(tmp_path: Path) -> None:
    made = asked(tmp_path, "sky mask", "sky mask", "sky mask")
    _, ranked = read_run(made.published.folder, option="--run")
    with pytest.raises(InvalidInputError, match="scan"):
        report(ranked, tmp_path / "other", share=3)


CAFES = [unicodedata.normalize(form, "Café 1") for form in ("NFC", "NFD")]
ONE_SOURCE = {
    "one image in dated folders": [(f"album/2026-05-0{day}", None) for day in (1, 2, 3)],
    "one image in folders of its own": [(f"{day}", "heron") for day in "abc"],
    "one name in Unicode forms and with a blank": [*zip("abc", (*CAFES, "Café 1 "), strict=True)],
    "one name in upper and lower case": [*zip("abc", ("Heron", "heron", "HERON"), strict=True)],
    "folders in upper and lower case": [(name, f"image {name}") for name in ("ab", "Ab", "AB")],
    "a mark that nobody sees": [*zip("abc", ("heron", "heron\u200b", "her\u034fon"), strict=True)],
    "a folder and an image of its name": [("heron/1", None), ("heron/2", None), ("x", "Heron")],
}


@pytest.mark.parametrize("places", ONE_SOURCE.values(), ids=ONE_SOURCE)
def test_one_source_with_several_names_is_not_shared(
    tmp_path: Path, places: list[tuple[str, str | None]]
) -> None:
    logs = [
        (folder, [gap("sky mask", timestamp=f"2026-05-0{day}", image_id=image)])
        for day, (folder, image) in enumerate(places, 1)
    ]
    made = publish(tmp_path, write_corpus(tmp_path, dict(logs)), share=3)

    assert made.ranked["mentions"].to_list() == [3]
    assert shared_summary(made, 3).everything == ()
    assert "mask" not in shared_page(made)


def test_records_without_images_in_several_top_folders_are_shared(tmp_path: Path) -> None:
    logs = {name: [gap("sky mask", image_id=None, notes=name)] for name in ("a/x", "b/x", "c/x")}
    made = publish(tmp_path, write_corpus(tmp_path, logs), share=3)

    assert [each.capability.label for each in shared_summary(made, 3).everything] == ["sky mask"]


SPELLINGS = (
    str,
    str.upper,
    lambda name: f" {name}\u200b ",
    lambda name: unicodedata.normalize("NFD", name),
)
TENANTS = ("local", "north", "south", "west")
RESPELT = st.tuples(*(st.integers(0, 3) for _ in range(6)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(copies=st.lists(RESPELT, max_size=12))
@example(copies=[(0, tenant, 0, 0, 0, 0) for tenant in (1, 2, 3)])  # one record, three tenants
@example(copies=[(0, tenant, 0, 0, 0, tenant) for tenant in (1, 2, 3)])  # one image, three tenants
def test_no_copying_renaming_or_nesting_makes_a_need_common(
    tmp_path_factory: pytest.TempPathFactory, copies: list[tuple[int, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("copied")
    sources = {name: [gap("sky mask", notes=name)] for name in ("café", "fjord")}
    made = publish(folder, write_corpus(folder, sources))
    rows = read_gaps(made.published.folder).collect().sort("image_id").to_dicts()
    for source, tenant, repository, image, depth, record in copies:
        row = rows[source % 2]
        rows.append(
            row
            | {
                "tenant_id": TENANTS[tenant],
                "repo_slug": SPELLINGS[repository](row["repo_slug"]),
                "image_id": SPELLINGS[image](row["image_id"]),
                "source_path": f"{row['image_id']}/{'day/' * depth}vocabulary_gaps.jsonl",
                "record_id": f"{record}" if record else row["record_id"],
                "named": depth == 0,
            }
        )
    gaps = pl.DataFrame(rows, schema=GAPS.schema)

    assert shareable(made.published.summary, Parts.of(gaps), 3).everything == ()


def test_moments_are_shared_as_the_monday_of_their_week(tmp_path: Path) -> None:
    made = asked(tmp_path, *["sky mask"] * 3, timestamp="2026-05-07T13:45:00Z")
    shared = shared_summary(made, 3)
    (item,) = shared.everything

    monday = datetime(2026, 5, 4, tzinfo=UTC)
    moments = (shared.first_seen, shared.last_seen, item.capability.first_seen)
    assert moments == (monday, monday, monday)
    assert (shared.now.weekday(), shared.now.hour) == (0, 0)
    assert "2026-05-07" not in shared_page(made)


def test_settings_say_how_many_images_are_enough() -> None:
    assert RankSettings().shared_from == 3
    assert RankSettings(min_images=2).shared_from == 2
    with pytest.raises(InvalidInputError, match="single image"):
        assert RankSettings(min_images=0).shared_from


@pytest.fixture
def decided(tmp_path: Path) -> Run:
    """A run over four needs: one pinned before what is asked for more, one dismissed, one authored."""
    needs = ["sky mask"] * 3 + ["film grain"] * 4 + ["lens flare"] * 4 + ["color wheel"] * 5
    chosen = Settings(
        cluster=ClusterSettings(threshold=0.0),
        decisions=DecisionSettings(file=str(tmp_path / "d.jsonl")),
    )
    first = asked(tmp_path, *needs, settings=chosen)
    decide = Decisions(first.published.folder, chosen.decisions.file, actor="ada")
    decide.pin("sky mask")
    decide.dismiss("film grain", "rare")
    decide.author("lens flare", "flare")
    return publish(tmp_path, tmp_path / "photos", settings=chosen, share=3)


def test_nothing_that_was_decided_is_in_the_page(decided: Run) -> None:
    whole, page = decided.published.summary, shared_page(decided)
    assert {each.capability.status for each in whole.everything} >= {"dismissed", "authored"}
    shared = shared_summary(decided, 3)
    made = payload_of(shared)
    assert [(row["label"], row["status"], row["pinned"]) for row in made["rows"]] == [
        ("color wheel", None, False),
        ("sky mask", None, False),
    ]
    assert [row["rank"] for row in made["rows"]] == [1, 2]
    assert made["deciding"] is None
    assert (shared.changes, shared.before) == (None, None)
    assert not any((*row["neighbours"], *row["parts"]) for row in made["rows"])
    assert 'id="basket"' not in page
    assert "film grain" not in page
    assert "lens flare" not in page
    assert 'id="decided"' not in page
    assert "2 others that people have authored or dismissed" in page


def test_a_pin_moves_nothing_on_the_shared_page(decided: Run) -> None:
    report = (decided.published.folder / "report.html").read_text(encoding="utf-8")
    assert "pinned by ada" in read(report).text
    assert "pinned by" not in shared_page(decided)


def test_single_days_are_not_in_the_page(tmp_path: Path) -> None:
    made = asked(tmp_path, "sky mask", "sky mask", "sky mask")
    assert made.published.summary.everything[0].on_days
    payload = payload_of(shared_summary(made, 3))
    assert [row["days"] for row in payload["rows"]] == [()]
    assert payload["first_day"] is None


def test_only_allowed_fields_leave_and_others_have_their_default(decided: Run) -> None:
    shared = shared_summary(decided, 3)
    account, listed = shared.account, shared.everything[0]
    assert account is not None
    assert left_by(account) <= {*sharing.ACCOUNT_AS_IT_IS}
    assert left_by(listed) == {"capability", "group"}
    assert left_by(listed.capability) <= {
        *sharing.CAPABILITY_AS_IT_IS,
        *(
            "capability_id",
            "label",
            "intent_category",
            "categories",
            "operations",
            "vocabulary_used",
        ),
        *("variants", "rank_low", "rank_high"),
    }
    assert left_by(shared) <= {
        *sharing.SUMMARY_AS_IT_IS,
        *(
            "capabilities",
            "open_total",
            "categories",
            "account",
            "selection",
            "covered",
            "covered_total",
        ),
        *("ties", "everything", "deciding", "withheld"),
    }


def left_by(struct: msgspec.Struct) -> set[str]:
    """The fields that differ from their default."""
    fields = structs.fields(struct)
    return {field.name for field in fields if getattr(struct, field.name) != default_of(field)}


def test_what_is_beyond_the_list_is_not_said_to_be_rare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_LISTED", 1)
    monkeypatch.setattr(listing, "SHOWN", 1)
    made = asked(tmp_path, *["sky mask"] * 4, *["film grain"] * 3, "lens flare", settings=APART)
    withheld = shared_summary(made, 3).withheld
    assert withheld is not None
    assert (withheld.capabilities, withheld.mentions, withheld.unlisted) == (1, 1, 1)
    assert "1 other beyond the first 1" in shared_page(made)


def test_a_form_of_a_word_that_too_few_images_used_is_not_shown(tmp_path: Path) -> None:
    made = asked(tmp_path, "organize layers", "organization: layers", "organized Layers (all)")
    (item,) = shared_summary(made, 2).everything
    assert [each.wording for each in item.capability.variants] == ["organiz layer"]
    page = render_page(shared_summary(made, 2))
    assert "organize" not in page
    assert "organization" not in page


def test_operations_that_are_withheld_are_not_said_to_be_none(tmp_path: Path) -> None:
    both = [gap("sky mask", operations_involved=["crop", "blur"])]
    images = {"one": both, "two": both, "three": [gap("sky mask")]}
    page = shared_page(publish(tmp_path, write_corpus(tmp_path, images), share=3))
    assert "No record of these names an operation" not in page
    assert "No two records name" not in page
    assert '"id":"operations"' not in page


def test_the_shared_page_does_not_count_what_people_settled(decided: Run) -> None:
    shared = shared_summary(decided, 3)

    assert decided.published.summary.settled_total > 0
    assert (shared.settled_total, shared.hidden) == (0, 0)
