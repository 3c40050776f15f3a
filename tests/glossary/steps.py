"""Steps and glossaries for tests: small, in files, at a fixed moment."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vocabgap.glossary.events import Actor
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import Answer, Question
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.session import ExecutionContext

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
LIFT, STAIN = "Raise the tones of the shadows", "Take out, as of a stain"
TWO_LIFTS = [("lift", LIFT), ("lift", STAIN)]


def write_scope(folder: Path, terms: Iterable[tuple[str, str]], scope: str = "team_domain") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f'  - surface: "{surface}"\n    definition: "{meaning}"\n' for surface, meaning in terms
    ]
    (folder / f"{scope}.yaml").write_text("terms:\n" + "".join(lines), encoding="utf-8")


def runtime_in(folder: Path) -> GlossaryRuntime:
    return GlossaryRuntime(folder=folder, actor=Actor("user:ana"), now=lambda: NOW)


def step(
    description: str = "Please lift it.",
    *,
    critical: bool = True,
    **fields: Any,  # noqa: ANN401
) -> ExecutionContext:
    metadata = {"critical_step": critical, **fields.pop("metadata", {})}
    return ExecutionContext(
        "develop", "retouch", "run-1", {"description": description}, metadata, **fields
    )


def make_unwritable(log: Path) -> None:
    """Replace a log by a link, which can be read but not written."""
    log.parent.mkdir(exist_ok=True)
    log.touch()
    log.symlink_to(log.rename(log.with_suffix(".moved")))


def logged(runtime: GlossaryRuntime) -> list[str]:
    return [type(each.event).__name__ for each in read_events(runtime.logs).events]


def answering(*answers: Answer) -> tuple[Callable[[Question], Answer], list[Question]]:
    """Somebody who gives some answers in their order, and what that person is asked."""
    questions: list[Question] = []
    given = iter(answers)

    def ask(question: Question) -> Answer:
        questions.append(question)
        return next(given)

    return ask, questions
