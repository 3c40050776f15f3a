"""How good the groups are, beside simpler ways, on phrases whose true groups are known.

    python tests/benchmarks/quality.py --data DIR

reads every `*.tsv` in a folder: text, tab, label. Without a folder a corpus is drawn from lists of words,
which compares the ways; how good they are where people write, only what people wrote can say. No way of
grouping sees a label.

B-cubed: Bagga & Baldwin 1998. ARI: the adjusted Rand index, Hubert & Arabie 1985.
"""

import argparse
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

import vocabgap
from vocabgap.clustering.linkage import cosine_distances
from vocabgap.clustering.vectorizing import IntArray
from vocabgap.records.record import PHRASE_FIELDS
from vocabgap.text import content_words, ignored_stems, surface

if TYPE_CHECKING:
    from benchmarks.wordings import draw
else:
    from wordings import draw

Way = Callable[[Sequence[str]], IntArray]

LIMIT: Final = 1_500  # lines of each set
PLAIN_CUT: Final = 0.70  # cosine distance, of the plain ways ...
PLAIN_CUTS: Final = tuple(
    round(0.55 + 0.05 * step, 2) for step in range(9)
)  # ... which see the labels for this
ALIKE: Final = 0.80  # cosine similarity of two strings, for string_grouper
TOP: Final = 10
FOUND_AGAIN: Final = 0.5  # Jaccard of the lines of two groups
DRAWN_NEEDS: Final = 200
MEANING: Final = f"""
Top {TOP} found again: share of the {TOP} largest true groups that match one of the {TOP} largest found, by a
Jaccard index over lines of {FOUND_AGAIN} or more. Top {TOP} count error: how far the size of the best match
of each of those is off, median, as a share of the true size. The best cut known is that with the highest mean
B-cubed F1 of these sets: it has seen the labels."""


class Phrases(NamedTuple):
    """Texts, one a line, and the number of the true group of each."""

    texts: list[str]
    truth: IntArray


class Scores(NamedTuple):
    """How near a partition comes to the true one.

    Attributes:
        bcubed: F1 of the mean precision and the mean recall over lines.
        ari: Adjusted Rand index.
        pairs: F1 over pairs of lines.
        top: Share of the largest true groups that match one of the largest found, by Jaccard index.
        count_error: How far the count of the best match of each of those is off, median, as a share.
    """

    bcubed: float
    ari: float
    pairs: float
    top: float
    count_error: float


TITLES: Final = (
    "B-cubed F1",
    "ARI",
    "F1 of pairs",
    f"top {TOP} found again",
    f"top {TOP} count error",
)


def exact(texts: Sequence[str]) -> IntArray:
    """The same text, but for case."""
    return numbered(text.casefold() for text in texts)


def string_grouper(texts: Sequence[str]) -> IntArray:
    """What the package of that name gives, at the similarity it is set to by default."""
    series = import_module("pandas").Series(list(texts))
    found = import_module("string_grouper").group_similar_strings(series, min_similarity=ALIKE)
    return numbered(found["group_rep_index"])


def by_words(texts: Sequence[str], cut: float = PLAIN_CUT) -> IntArray:
    """TF-IDF of words and pairs of words."""
    return plainly_linked(_words(contents(texts)), cut)


def by_half_and_half(texts: Sequence[str], cut: float = PLAIN_CUT) -> IntArray:
    """Half words and pairs, half sequences of three to five characters."""
    said = contents(texts)
    spelt = TfidfVectorizer(analyzer="char_wb", lowercase=False, ngram_range=(3, 5)).fit_transform(said)
    both = sparse.hstack([_words(said), spelt], format="csr") * np.sqrt(0.5)
    return plainly_linked(sparse.csr_array(both), cut)


def default(texts: Sequence[str], embedder: vocabgap.Embedder | str = "none") -> IntArray:
    """What `vocabgap.cluster` gives by words alone, or with an embedder."""
    asked = pl.DataFrame({PHRASE_FIELDS[0]: list(texts)})
    found = vocabgap.cluster(
        asked.with_columns(pl.lit(None, pl.String).alias(name) for name in PHRASE_FIELDS[1:]),
        embedder=embedder,
    )
    cluster = dict(found.wordings.select("wording", "cluster").iter_rows())
    return np.array([cluster[text] for text in texts], np.int64)


def contents(texts: Sequence[str]) -> list[str]:
    """The stems of the words that are not function words."""
    ignored = ignored_stems()
    return [" ".join(content_words(surface(text), ignored)) for text in texts]


def _words(said: list[str]) -> sparse.csr_array:
    vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2))
    return sparse.csr_array(vectorizer.fit_transform(said))


def plainly_linked(rows: sparse.csr_array, cut: float) -> IntArray:
    """scikit-learn's average linkage, cut at one distance."""
    distances = cosine_distances(rows)
    np.fill_diagonal(distances, 0.0)
    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="average", distance_threshold=cut
    )
    return np.asarray(model.fit_predict(distances), np.int64)


WAYS: Final[dict[str, Way]] = {
    "exact match": exact,
    f"string_grouper {ALIKE:.2f}": string_grouper,
    f"word(1,2) {PLAIN_CUT:.2f}": by_words,
    f"half word(1,2), half char_wb(3,5) {PLAIN_CUT:.2f}": by_half_and_half,
    "default": default,
}


def numbered(names: Iterable[object]) -> IntArray:
    """Names to numbers, in the order in which they first come."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def scores(truth: IntArray, found: IntArray) -> Scores:
    """How near the groups that were found come to the true ones."""
    shared = sparse.coo_array((np.ones(len(truth)), (truth, found))).tocsr().tocoo()
    wanted, given = np.bincount(truth), np.bincount(found)
    whole, part = wanted[shared.row], given[shared.col]
    squares = shared.data**2
    bcubed = harmonic((squares / part).sum() / len(truth), (squares / whole).sum() / len(truth))
    right = _pairs(shared.data)
    jaccard = shared.data / (whole + part - shared.data)
    # Of equally large groups the one that comes first in the file.
    top_wanted, top_given = (np.argsort(-sizes, kind="stable")[:TOP] for sizes in (wanted, given))
    met = np.isin(shared.col, top_given) & (jaccard >= FOUND_AGAIN)
    errors = []
    for group in top_wanted.tolist():
        candidates = np.flatnonzero(shared.row == group)
        best = given[shared.col[candidates[jaccard[candidates].argmax()]]]
        errors.append(abs(best - wanted[group]) / wanted[group])
    return Scores(
        float(bcubed),
        float(adjusted_rand_score(truth, found)),
        harmonic(right / max(_pairs(given), 1.0), right / max(_pairs(wanted), 1.0)),
        float(np.isin(top_wanted, shared.row[met]).mean()),
        float(np.median(errors)),
    )


def _pairs(sizes: IntArray) -> float:
    return float((sizes * (sizes - 1) / 2).sum())


def harmonic(precision: float, recall: float) -> float:
    """F1 of a precision and a recall."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def read_phrases(path: Path, limit: int) -> Phrases:
    """The first lines of a labelled file; blank ones are left out.

    Raises:
        SystemExit: A line is not text, tab, label.
    """
    texts, labels = [], []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(islice(lines, limit or None), start=1):
            text, tab, label = line.strip().rpartition("\t")
            if line.strip() and not (tab and text.strip()):
                raise SystemExit(f"{path}, line {number}: expected text, tab, label")
            if tab:
                texts.append(text.strip())
                labels.append(label)
    return Phrases(texts, numbered(labels))


def drawn(limit: int) -> Phrases:
    """A drawn corpus, each wording as often as it came up."""
    corpus = draw(limit, DRAWN_NEEDS)
    asked = [(text, concept) for text, count, concept in zip(*corpus, strict=True) for _ in range(count)]
    random.Random(0).shuffle(asked)
    texts, concepts = zip(*asked[:limit], strict=True)
    return Phrases(list(texts), numbered(concepts))


def scored(way: Way, sets: Iterable[Phrases]) -> list[Scores]:
    """What a way of grouping reaches on each set."""
    return [scores(phrases.truth, way(phrases.texts)) for phrases in sets]


def main() -> None:
    """Print a table for each measure: one row a way of grouping, one column a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of *.tsv files: text, tab, label")
    parser.add_argument("--limit", type=int, default=LIMIT, help="lines of each set; 0 for all")
    parser.add_argument("--embedder", help="a model's folder, or minilm: a further row")
    parser.add_argument("--cache", type=Path, help="folder that keeps its embeddings")
    asked = parser.parse_args()
    paths = sorted(asked.data.glob("*.tsv")) if asked.data else []
    if asked.data and not paths:
        raise SystemExit(f"{asked.data}: no *.tsv file there")
    sets = {path.stem: read_phrases(path, asked.limit) for path in paths}
    if not sets:
        sets["drawn"] = drawn(asked.limit or LIMIT)
    ways = dict(WAYS)
    if not (find_spec("string_grouper") and find_spec("pandas")):
        ways = {name: way for name, way in ways.items() if way is not string_grouper}
    if asked.embedder:
        embedder = vocabgap.Embedder.load(asked.embedder, asked.cache)
        ways[f"default, {embedder.name}"] = partial(default, embedder=embedder)
    table = {name: scored(way, sets.values()) for name, way in ways.items()}
    for name, way in {"word(1,2)": by_words, "half word(1,2), half char_wb(3,5)": by_half_and_half}.items():
        tried = {cut: scored(partial(way, cut=cut), sets.values()) for cut in PLAIN_CUTS}
        best = max(tried, key=lambda cut: fmean(row.bcubed for row in tried[cut]))
        table[f"{name} {best:.2f}, the best cut known"] = tried[best]
    sizes = ", ".join(f"{name} {len(phrases.texts):,}" for name, phrases in sets.items())
    print(f"Lines: {sizes}.")
    for place, title in enumerate(TITLES):
        print(f"\n| {title} | {' | '.join(sets)} | mean |\n|:--|{'--:|' * (len(sets) + 1)}")
        for name, rows in table.items():
            values = [row[place] for row in rows]
            print(f"| {name} | {' | '.join(f'{value:.3f}' for value in [*values, fmean(values)])} |")
    print(MEANING)
    if string_grouper not in ways.values():
        print("\nstring_grouper is not installed: its row is left out.")


if __name__ == "__main__":
    main()
