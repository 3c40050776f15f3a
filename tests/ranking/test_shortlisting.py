"""Which capabilities get a draft of their entry: the first of the list."""

from pathlib import Path

from builders.doors import NEEDS, decided_and_ranked
from vocabgap.pipeline import Run


def drafted(made: Run) -> dict[str, str]:
    labels = {each.capability_id: each.label for each in made.published.summary.capabilities}
    return {
        labels[each.capability_id]: each.draft.name for each in made.published.manifest.shortlist
    }


def test_the_first_five_of_the_list_have_drafts_but_not_what_probably_exists(
    tmp_path: Path,
) -> None:
    assert drafted(decided_and_ranked(tmp_path)) == {
        need: need.replace(" ", "_") for need in NEEDS[:5] if need != "sky mask"
    }


def test_a_summary_has_the_drafts_as_json_by_identifier(tmp_path: Path) -> None:
    summary = decided_and_ranked(tmp_path).published.summary
    first = summary.capabilities[0].capability_id
    assert '"name": "halo_repair"' in summary.drafts[first]
