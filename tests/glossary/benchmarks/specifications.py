"""What the gate does to real specifications, of which none is part of the project.

    PYTHONPATH=tests python -m glossary.benchmarks.specifications FOLDER [--labels LABELS.jsonl]

Each Markdown or text file of the folder is the description of one critical step. The glossary has one term
that no specification uses, and the labelled words with two meanings of the file, each with both. A label is
a line of JSON: `path` (the name of the file), `term`, and `senses` (two, or none if the word is undefined).
"""

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from glossary.steps import runtime_in, step, write_scope
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.linting import files_within
from vocabgap.glossary.normal_form import term_key
from vocabgap.glossary.senses import Severity, Strictness

UNUSED: Final = ("quoll", "A small marsupial")
MOST_FALSE: Final = 1.0  # severe conflicts of a specification that nobody labelled, on average
LEAST_RECALL: Final = 0.8
MOST_QUESTIONS: Final = 10  # of a specification at `medium`
MOST_MILLISECONDS: Final = 50  # of CPU for 1,000 words
Labels = Sequence[Mapping[str, Any]]


class Outcome(NamedTuple):
    """What one specification comes to."""

    severe: set[str]
    labelled: set[str]
    questions: Mapping[Strictness, int]
    rate: float  # milliseconds of CPU for 1,000 words


def checked(text: str, labels: Labels) -> Outcome:
    terms = [UNUSED, *((label["term"], sense) for label in labels for sense in label["senses"])]
    severe, questions, rates = set[str](), dict[Strictness, int](), list[float]()
    for strictness in (Strictness.MEDIUM, Strictness.MAX):
        with tempfile.TemporaryDirectory() as name:
            write_scope(Path(name), terms)
            runtime, context = runtime_in(Path(name)), step(text)
            start = time.process_time()
            with suppress(BlockedByConflictError):
                runtime.run(context, strictness=strictness)
            rates.append(1e6 * (time.process_time() - start) / max(1, len(text.split())))
        questions[strictness] = len(context.questions)
        severe = {
            term_key(each.term.surface_text)
            for each in context.conflicts
            if each.severity is Severity.HIGH
        }
    return Outcome(severe, {term_key(label["term"]) for label in labels}, questions, rates[0])


def main() -> None:
    """Prints a row for each specification and the sums; fails if a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--labels", type=Path)
    asked = parser.parse_args()
    if asked.folder is None:
        print("not measured: name a folder of specifications")
        return
    labels: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in asked.labels.read_text(encoding="utf-8").splitlines() if asked.labels else ():
        label = json.loads(line)
        labels[label["path"]].append(label)
    checked("It is the Foozle of ours.", [])  # loads what is loaded once
    outcomes = []
    print(
        "| specification | severe | labelled | both | asks at medium | at max | ms / 1,000 words |"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|")
    for path in files_within(asked.folder, {}):
        outcome = checked(path.read_text(encoding="utf-8"), labels[path.name])
        outcomes.append(outcome)
        both = len(outcome.severe & outcome.labelled)
        asks = " | ".join(str(number) for number in outcome.questions.values())
        print(
            f"| {path.name[-60:]} | {len(outcome.severe)} | {len(outcome.labelled)} | {both}"
            f" | {asks} | {outcome.rate:.0f} |"
        )
    hits = sum(len(each.severe & each.labelled) for each in outcomes)
    severe, labelled = (sum(map(len, sets)) for sets in list(zip(*outcomes, strict=True))[:2])
    false, recall = (severe - hits) / len(outcomes), hits / labelled if labelled else 1.0
    rates = [each.rate for each in outcomes]
    most = max(each.questions[Strictness.MEDIUM] for each in outcomes)
    print(
        f"\n{len(outcomes)} specifications: {false:.2f} severe ones each that nobody labelled,"
        f" recall {recall:.2f} ({hits} of {labelled}), at most {most} questions at medium,"
        f" median {median(rates):.0f} ms for 1,000 words, worst {max(rates):.0f}"
    )
    assert false <= MOST_FALSE
    assert recall >= LEAST_RECALL
    assert most <= MOST_QUESTIONS
    assert max(rates) <= MOST_MILLISECONDS


if __name__ == "__main__":
    main()
