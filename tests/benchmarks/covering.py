"""How well a vocabulary's entries are found for needs of which somebody has said what covers them.

    python tests/benchmarks/covering.py --data GAPS.jsonl VOCABULARY...

Each line of the data is an object with `phrase`, `status` (`open`, or `shipped_since` where an entry covers
it), `covered_by` (names of entries; those that begin with `tool:` are none) and `modules` (operations).
Beside ours stands TF-IDF of the word stems of each entry, with the lowest threshold that calls no more than
15 % of the open needs covered. No way sees what covers a need.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from vocabgap.model.settings import DEFAULT_COVERED
from vocabgap.ranking.coverage import EntryIndex
from vocabgap.ranking.vocabulary import Vocabulary, load_vocabulary
from vocabgap.text import content_words, ignored_stems, surface

TOP: Final = 3
OPEN_SHARE: Final = 0.15  # of the open needs, that a threshold may call covered
Found = tuple[list[str], float]  # the best entries, and how much the need is covered
Way = Callable[[str, Sequence[str]], Found]


@dataclass(frozen=True)
class Need:
    """A need, and the entries that are known to cover it; none where it is open."""

    phrase: str
    operations: tuple[str, ...]
    entries: frozenset[str]


class Figures(NamedTuple):
    """Shares, 0 to 1.

    Attributes:
        first: Needs with a right entry in first place, of those that an entry covers.
        among: The same among the first three.
        shipped: Needs called probably covered, of those that an entry covers.
        unmet: Needs called probably covered, of the open ones.
        fitted: As `shipped` at the threshold that calls `OPEN_SHARE` of the open needs covered.
        left_out: Open needs called covered where each is judged by the threshold fitted to all the others.
    """

    first: float
    among: float
    shipped: float
    unmet: float
    fitted: float
    left_out: float


def read_needs(path: Path) -> tuple[list[Need], list[Need]]:
    """The needs that an entry covers, and the open ones."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    needs = [
        (row["status"], Need(row["phrase"], tuple(row["modules"]), _entries(row["covered_by"])))
        for row in rows
    ]
    shipped = [need for status, need in needs if status == "shipped_since" and need.entries]
    return shipped, [need for status, need in needs if status == "open"]


def ours(vocabulary: Vocabulary) -> Way:
    """What `vocabgap.covered` does."""
    index = EntryIndex(vocabulary.entries)

    def find(phrase: str, operations: Sequence[str]) -> Found:
        matches = index.covering(phrase, dict.fromkeys(operations, 1.0), TOP)
        most = max((match.explained for match in matches), default=0.0)
        return [match.entry.name for match in matches], most

    return find


def plain(vocabulary: Vocabulary) -> Way:
    """TF-IDF of the same word stems over all that an entry says, and cosine similarity."""
    ignored = ignored_stems()

    def stems(*parts: str) -> str:
        return " ".join(content_words(surface(" ".join(parts)), ignored))

    names = [entry.name for entry in vocabulary.entries]
    texts = [
        stems(entry.name, entry.description, *entry.tags, *entry.operations)
        for entry in vocabulary.entries
    ]
    vectorizer = TfidfVectorizer(analyzer=str.split).fit(texts)
    entries = vectorizer.transform(texts)

    def find(phrase: str, operations: Sequence[str]) -> Found:
        similar = (vectorizer.transform([stems(phrase, *operations)]) @ entries.T).toarray()[0]
        best = np.argsort(-similar, kind="stable")[:TOP]
        return [names[each] for each in best], float(similar[best[0]])

    return find


def measure(
    way: Way,
    shipped: Sequence[Need],
    unmet: Sequence[Need],
    *,
    operations: bool,
    threshold: float | None,
) -> Figures:
    """The figures of one way; without a threshold it is the one fitted to the open needs."""

    def measured(need: Need) -> Found:
        return way(need.phrase, need.operations if operations else ())

    found = [(need.entries, *measured(need)) for need in shipped]
    shares = np.array([share for _, _, share in found])
    others = np.array([measured(need)[1] for need in unmet])
    fitted = _fitted(others)
    cut = fitted if threshold is None else threshold
    return Figures(
        first=_share(bool(best) and best[0] in right for right, best, _ in found),
        among=_share(not right.isdisjoint(best) for right, best, _ in found),
        shipped=float(np.mean(shares >= cut)),
        unmet=float(np.mean(others >= cut)),
        fitted=float(np.mean(shares >= fitted)),
        left_out=_share(share >= _fitted(np.delete(others, at)) for at, share in enumerate(others)),
    )


def _entries(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith("tool:"))


def _share(hits: Any) -> float:  # noqa: ANN401 - any iterable of what is true or false
    return float(np.mean(list(hits)))


def _fitted(unmet: Any) -> float:  # noqa: ANN401 - an array
    """The lowest threshold that calls no more than the allowed share of the open needs covered."""
    allowed = int(OPEN_SHARE * len(unmet))
    return float(np.nextafter(np.sort(unmet)[::-1][allowed], np.inf))


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("vocabulary", nargs="+", type=Path, help="files or folders of entries")
    arguments.add_argument("--data", required=True, type=Path, help="needs, one a line")
    given = arguments.parse_args()
    vocabulary = load_vocabulary(given.vocabulary)
    shipped, unmet = read_needs(given.data)
    print(
        f"{len(vocabulary.entries)} entries; {len(shipped)} covered needs, {len(unmet)} open ones"
    )
    fitted = f"TF-IDF where {OPEN_SHARE:.0%} of the open ones are"
    print(f"called covered: ours from {DEFAULT_COVERED}, {fitted}\n")
    titles = [
        "way",
        "asked by",
        "first",
        "first three",
        "covered",
        "open",
        "fitted",
        "open, left out",
    ]
    print("{:8}{:20}".format(*titles[:2]) + "".join(f"{title:>15}" for title in titles[2:]))
    for name, way, threshold in (
        ("ours", ours(vocabulary), DEFAULT_COVERED),
        ("TF-IDF", plain(vocabulary), None),
    ):
        for operations in (False, True):
            figures = measure(way, shipped, unmet, operations=operations, threshold=threshold)
            asked = "phrase, operations" if operations else "phrase"
            print(f"{name:8}{asked:20}" + "".join(f"{figure:>15.0%}" for figure in figures))
    find = ours(vocabulary)
    start = time.process_time()
    for need in (*shipped, *unmet):
        find(need.phrase, need.operations)
    spent = (time.process_time() - start) / (len(shipped) + len(unmet))
    print(f"\n{spent * 1_000:.2f} ms of CPU a need")


if __name__ == "__main__":
    main()
