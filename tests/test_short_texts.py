"""What a notebook or a REPL shows of an object is a line that counts, not all that it holds."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import vocabgap as vg
from vocabgap.pipeline import Run

NOW = datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run over the demo workspace."""
    return vg.run(demo, tmp_path_factory.mktemp("run") / "out", now=NOW)


def test_a_run_is_told_by_its_counts_and_its_folder(made: Run) -> None:
    message = f"36 capabilities, 334 mentions, in '{made.published.folder}'"

    assert repr(made) == str(made) == f"Run({message})"
    assert repr(made.published) == f"Published({message})"
    assert repr(made.published.summary) == "Summary(36 capabilities, 334 mentions, 10 shown)"


def test_what_a_run_holds_is_told_by_its_counts(made: Run) -> None:
    assert repr(made.scan) == (
        "Scan(353 lines in 27 logs: 334 records, 11 duplicates, 2 superseded, 6 rejects)"
    )
    assert (
        repr(made.clusters) == "Clusters(36 groups of 219 wordings, 334 mentions, cut by wording)"
    )
    assert repr(made.clusters.at(0.4)).endswith("334 mentions, cut at 0.4)")
    assert repr(made.decisions) == "EffectiveDecisions(0 active, 0 without effect)"


def test_a_scan_that_was_narrowed_says_what_counts(made: Run) -> None:
    narrowed = made.scan.select(vg.Selection(images=("kingfisher-0866",)))

    assert f": 334 records ({narrowed.records.height} counted), " in repr(narrowed)


def test_decisions_are_told_by_their_file_and_run(made: Run, tmp_path: Path) -> None:
    book = vg.Decisions(made.published.folder, tmp_path / "said.jsonl", actor="ana")
    pin = book.pin("skin hue lock")
    assert repr(pin) == f"Decision({pin.summary})"

    where = f"'{tmp_path / 'said.jsonl'}'; run '{made.published.folder}'"
    assert repr(book) == f"Decisions({where})"
