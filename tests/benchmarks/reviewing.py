"""The CPU time of a screen of a review: the first one, and the next one after an answer was saved.

Beside it stands the grouping from the start, for which nobody wants to wait between two screens.
"""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import vocabgap
from benchmarks.clustering import asking
from benchmarks.measuring import Row, Work, cost_of
from benchmarks.wordings import CORPORA
from vocabgap.clustering.grouping import Clusters
from vocabgap.clustering.screens import Answer
from vocabgap.decisions.reviewing import Review
from vocabgap.text import surface

Case = tuple[int, int, str]  # wordings, needs, corpus

SIZES: Final = {"small": (14_000, 9_000), "large": (40_000, 25_000)}  # wordings and needs
CUT: Final = 0.4  # gives more groups than needs
ANSWERS: Final = 9
MOST: Final = 0.3  # CPU seconds of a screen


def grouped(case: Case) -> Clusters:
    """Groups by words alone."""
    wordings, needs, corpus = case
    drawn = CORPORA[corpus](wordings, needs, form=surface)
    return vocabgap.cluster(asking(drawn.texts), embedder="none", threshold=CUT)


def grouping(case: Case) -> int:
    """Groups the corpus; tells the number of groups."""
    return grouped(case).clusters.height


def beginning(case: Case) -> Work:
    """Shows the first screen."""
    found = grouped(case)

    def work() -> None:
        assert Review(found).next_screen([]) is not None

    grouped((100, 50, "easy")).screens()  # loads what is not measured
    return work


def going_on(folder: Path, case: Case) -> Work:
    """Saves an answer with a tick of each kind, says what it changed, and shows the next screen."""
    under_review = Review(grouped(case))
    screen = under_review.next_screen([])
    assert screen is not None
    shown = [screen]

    def work() -> None:
        here = shown[-1]
        answer = Answer(same=[0] if here.neighbours else [], apart=[0] if here.parts else [])
        before = under_review.clusters
        under_review.saved(lambda: under_review.decisions(here, answer), folder / "decisions.jsonl")
        for clusters in (before, under_review.clusters):
            clusters.standing(here.wordings[0])
        following = under_review.next_screen(shown)
        assert following is not None
        shown.append(following)

    return work


def rows(size: str) -> Iterator[Row]:
    """One row a corpus for the first screen, and one for each further one."""
    for corpus in CORPORA:
        case = *SIZES[size], corpus
        whole = cost_of(partial(partial, grouping), case)
        first = cost_of(beginning, case)
        of = f"{case[0]:,} wordings, {whole.outcome:,} groups, {corpus}"
        with tempfile.TemporaryDirectory() as folder:
            further = cost_of(going_on, Path(folder), case, times=ANSWERS)
        yield Row("first screen of a review", of, first, "grouping", whole)
        yield Row("next screen of a review", of, further, "grouping", whole, limit=MOST)
