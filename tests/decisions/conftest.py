"""A workspace of which reports are made, and about which people decide."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from vocabgap.decisions.deciding import Decisions
from vocabgap.model.settings import ClusterSettings, DecisionSettings, Settings
from vocabgap.pipeline import Run, run

DECIDED_FROM = datetime(2026, 7, 1, tzinfo=UTC)
FRAMES = ("capabilities.parquet", "gaps.parquet", "groups.parquet", "lineage.parquet", "report.md")


class Studio:
    """A workspace, the reports that are made of it, and decisions about the last of these."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = folder, root
        self.clock = DECIDED_FROM
        self.cluster = ClusterSettings()

    def ask(self, *needs: str, image: str = "later") -> None:
        """Log some needs of an image, by default of another one than at the beginning."""
        log = self.root / image / "vocabulary_gaps.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        shared = {"timestamp": "2026-04-01T10:00:00Z", "image_id": image, "workaround": ""}
        lines = [{**shared, "description": need, "notes": str(number)} for number, need in enumerate(needs)]
        log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def report(self, out: str = "out", **given: Any) -> Run:  # noqa: ANN401 - passed on to run
        settings = Settings(
            decisions=DecisionSettings(file=str(self.folder / "decisions.jsonl")), cluster=self.cluster
        )
        return run(self.root, self.folder / out, **{"settings": settings, "now": DECIDED_FROM, **given})

    def rows(self, **given: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - passed on to run
        """The capabilities of a report that is made now, each under all of its wordings."""
        return {
            variant["wording"]: row
            for row in self.report(**given).ranked.to_dicts()
            for variant in row["variants"]
        }

    @property
    def decide(self) -> Decisions:
        self.clock += timedelta(minutes=1)
        return Decisions(self.folder / "out", self.folder / "decisions.jsonl", actor="ana", now=self.clock)

    def files(self, out: str = "out") -> dict[str, bytes]:
        return {name: (self.folder / out / name).read_bytes() for name in FRAMES}


@pytest.fixture(scope="session")
def studio_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Studio]:
    """Makes a workspace in a folder of its own, in which some needs were asked for."""

    def make(*needs: str) -> Studio:
        folder = tmp_path_factory.mktemp("studio")
        made = Studio(folder, folder / "photos")
        made.ask(*needs, image="one")
        return made

    return make


@pytest.fixture(scope="session")
def reported(
    studio_of: Callable[..., Studio], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Studio, Path]:
    """Three needs in five wordings, reported on once, and a copy of all the files."""
    made = studio_of("sky mask", "sky mask", "mask the sky", "film grain", "film grain look", "lens flare")
    made.report()
    kept = tmp_path_factory.mktemp("kept") / "studio"
    return made, shutil.copytree(made.folder, kept)


@pytest.fixture
def studio(reported: tuple[Studio, Path]) -> Studio:
    """The same as it was after that report, whatever the test before has made of it."""
    made, kept = reported
    shutil.rmtree(made.folder)
    shutil.copytree(kept, made.folder)
    return Studio(made.folder, made.root)
