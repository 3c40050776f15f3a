"""Decisions about groups, which are named by their wordings."""

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from builders.clustering import grouped_wordings
from vocabgap.clustering.grouping import Clusters
from vocabgap.decisions.record import Action, Decision, decide, subject
from vocabgap.decisions.replay import agreeing, followed
from vocabgap.errors import StateError
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import ClusterSettings, DecisionSettings, Settings
from vocabgap.pipeline import Run, run

START = datetime(2026, 7, 1, 9, tzinfo=UTC)
ACTIONS = ("merge", "merge", "split", "split", "rename", "pin", "dismiss", "author", "undo")


def decided(
    action: Action | str,
    about: Sequence[str] = (),
    *,
    minute: int = 0,
    other: Sequence[str] = (),
    **said: Any,  # noqa: ANN401 - passed on to decide
) -> Decision:
    """Makes a decision about capabilities that are named by their wordings, so many minutes after nine."""
    return decide(
        Action(action),
        subject("cap-1", about[0], about) if about else None,
        actor=said.pop("actor", "ana"),
        time=START + timedelta(minutes=minute),
        other=subject("cap-2", other[0], other) if other else None,
        **said,
    )


def any_decision(rng: random.Random, groups: list[list[str]], made: list[Decision]) -> Decision:
    """A decision about some of the groups, each given by its wordings."""
    action, (one, other) = rng.choice(ACTIONS), rng.sample(groups, 2)
    rng.shuffle(one)
    minute = len(made)
    if action == "undo" and made:
        return decided("undo", minute=minute, undoes=rng.choice(made).decision_id)
    if action == "merge":
        return decided("merge", one, other=other, minute=minute)
    if action == "split" and len(one) > 1:
        leaving = one[-rng.randint(1, len(one) - 1) :]
        return decided("split", one[: -len(leaving)], wordings=leaving, minute=minute)
    details = {"rename": {"label": f"need {minute}"}, "author": {"entry": "an_entry"}}
    return decided(
        "pin" if action in {"split", "undo"} else action,
        one,
        minute=minute,
        **details.get(action, {}),
    )


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
        lines = [
            {**shared, "description": need, "notes": str(number)}
            for number, need in enumerate(needs)
        ]
        log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def report(self, out: str = "out", **given: Any) -> Run:  # noqa: ANN401 - passed on to run
        settings = Settings(
            decisions=DecisionSettings(file=str(self.folder / "decisions.jsonl")),
            cluster=self.cluster,
        )
        return run(
            self.root, self.folder / out, **{"settings": settings, "now": DECIDED_FROM, **given}
        )

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
        return Decisions(
            self.folder / "out", self.folder / "decisions.jsonl", actor="ana", now=self.clock
        )

    def files(self, out: str = "out") -> dict[str, bytes]:
        return {name: (self.folder / out / name).read_bytes() for name in FRAMES}


def branch(
    rng: random.Random, found: Clusters, made: Sequence[Decision], actor: str
) -> list[Decision]:
    """Decisions that a person adds to others in a branch: merges and splits that `decide` accepts.

    The clock of the person may go backwards.
    """
    together = list(made)
    for _ in range(rng.randint(1, 5)):
        try:
            now = followed(found, together)[1]
        except StateError:
            break
        groups = [sorted(group) for group in grouped_wordings(now)]
        one, *others = (
            rng.sample(each, len(each)) for each in rng.sample(sorted(groups), len(groups))
        )
        shared: dict[str, Any] = {"minute": rng.randrange(60), "actor": actor}
        if others and (rng.random() < 0.7 or len(one) == 1):
            new = decided("merge", one, other=others[0], **shared)
        else:
            leaving = rng.randint(1, min(2, len(one) - 1))
            staying = tuple(one[leaving:]) if rng.random() < 0.8 else ()
            new = decided(
                "split", one[leaving:], wordings=tuple(one[:leaving]), staying=staying, **shared
            )
        try:
            agreeing([new], {name: str(group) for name, group in now.group_of.items()})(
                (*together, new)
            )
        except StateError:
            continue
        together.append(new)
    return together[len(made) :]


def joined(rng: random.Random, found: Clusters) -> list[Decision]:
    """The lines of two branches from one base, in any order."""
    base = branch(rng, found, (), "ana")
    lines = [*base, *branch(rng, found, base, "bo"), *branch(rng, found, base, "cleo")]
    rng.shuffle(lines)
    return lines
