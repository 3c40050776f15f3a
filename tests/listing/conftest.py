"""A workspace with what a review has to tell apart."""

from pathlib import Path

import pytest

from builders import gap, write_corpus

STATE = "ab" * 32


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two images, two sessions, every rating; one record without a time, and one that corrects another."""
    return write_corpus(
        tmp_path,
        {
            "fjord": [
                gap("sky mask", timestamp="2026-05-02T09:00:00+02:00", session_id="s-2", satisfaction=0),
                gap("dust removal", timestamp="yesterday", satisfaction=1),
            ],
            "heron": [
                gap(
                    "mask the sky", timestamp="2026-05-01T10:00:00Z", session_id="s-1", satisfaction=-1,
                    intent_category="mask", operations_involved=["toneequalizer"], workaround="painted it",
                ),
                gap(
                    "film grain", timestamp="2026-05-02T08:00:00Z", session_id="s-2",
                    intent_category="detail", operations_involved=["toneequal_extra"],
                ),
                gap("film grian", timestamp="2026-04-01T08:00:00Z", snapshot_hash=STATE),
                gap("film grain size", timestamp="2026-04-02T08:00:00Z", notes=f"corrects {STATE}"),
            ],
        },
    )  # fmt: skip
