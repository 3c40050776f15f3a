"""Which capabilities to consider first."""

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import DecisionSettings, Settings
from vocabgap.pipeline import Run, run

NOW: Final = "last"
# The need that is asked for most was met by its workarounds; that of the fewest images failed most.
ASKED = {
    "lens flare": (9, 1),
    "film grain": (5, -1),
    "sky mask": (4, -1),
    "undo crop": (2, 1),
    "tiff export": (1, 1),
}


def ran(folder: Path, *, is_one_image: bool = False) -> Run:
    images: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for need, (often, rating) in ASKED.items():
        for number in range(often):
            record = gap(
                need, satisfaction=rating, workaround="a brush", session_id=f"{need} {number}"
            )
            images["heron" if is_one_image else f"{need}-{number}"].append(record)
    if not (folder / "photos").exists():
        write_corpus(folder, images)
    settings = Settings(decisions=DecisionSettings(file=str(folder / "decisions.jsonl")))
    return run(folder / "photos", folder / "out", settings=settings, now=NOW)


def names(made: Run) -> list[str]:
    return [each.capability.label for each in made.published.summary.shortlist]


def test_need_and_reach_count_and_what_is_far_behind_is_left_out(tmp_path: Path) -> None:
    made = ran(tmp_path)
    assert names(made) == ["film grain", "sky mask", "lens flare"]
    drafts = [each.draft.name for each in made.published.summary.shortlist]
    assert drafts == ["film_grain", "sky_mask", "lens_flare"]
    assert made.published.summary.shortlist[0].quotes == ("film grain",)
    page = (made.published.folder / "report.html").read_text(encoding="utf-8")
    assert "Consider <strong><bdi>film grain</bdi></strong> first; " in page


def test_mentions_count_where_all_needs_reach_one_image(tmp_path: Path) -> None:
    assert names(ran(tmp_path, is_one_image=True)) == ["film grain", "sky mask", "lens flare"]


def test_what_people_pinned_comes_first_and_what_they_settled_is_not_there(tmp_path: Path) -> None:
    ran(tmp_path)
    decide = Decisions(tmp_path / "out", tmp_path / "decisions.jsonl", actor="ana")
    decide.pin("tiff export")
    decide.dismiss("film grain", why="not ours")
    assert names(ran(tmp_path)) == ["tiff export", "sky mask", "lens flare"]


def test_it_is_printed_and_begins_the_report(tmp_path: Path) -> None:
    text = (ran(tmp_path).published.folder / "report.md").read_text(encoding="utf-8")
    printed = vocabgap(
        "report", tmp_path / "photos", "--out", tmp_path / "out", "--now", NOW, "--format", "shortlist",
        "--embedder", "none",
    ).out  # fmt: skip
    assert text.startswith(f"# What to author next\n\n{printed.rstrip()}\n\n")
    assert (
        "1. **film grain** (rank 2): asked for 5 times on 5 images, last on 2026-04-01; 5 of 5"
        in printed
    )
