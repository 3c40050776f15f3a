"""How good the groups are, beside simpler ways, on records whose true groups are known.

    PYTHONPATH=tests python -m benchmarks.quality --gaps DIR --data DIR

measures the project's own gap logs and those of one folder (`*.jsonl`, a record a line with its need in
`label`), the sets of phrases of another (`*.tsv`: text, tab, label), and on pairs of wordings how often
contrasts are kept apart and paraphrases brought together. Without the second folder the phrases are drawn
from lists of words: that compares the ways, but how good they are where people write, only what people wrote
can say. No way of grouping sees a label.

B-cubed: Bagga & Baldwin 1998. ARI: the adjusted Rand index, Hubert & Arabie 1985.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

import vocabgap
from benchmarks import peers
from benchmarks.labelled import (
    OWN,
    Labelled,
    Pair,
    drawn,
    gap_shaped,
    numbered,
    read_gaps,
    read_pairs,
    read_phrases,
    said,
)
from vocabgap.clustering.wordings import clause_share, sentence_share
from vocabgap.errors import VocabgapError
from vocabgap.linkage import IntArray, Rows
from vocabgap.linkage.rows import cosine_distances
from vocabgap.text import content_words, ignored_stems, surface

Way = Callable[[Labelled], IntArray]
CutWay = Callable[..., IntArray]  # it takes `cut`, too

LIMIT: Final = 1_500  # lines of each set of phrases
PLAIN_CUT: Final = 0.70  # cosine distance, of the plain ways ...
CUTS: Final = tuple(
    round(0.30 + 0.05 * step, 2) for step in range(14)
)  # ... and those that see the labels
TOP: Final = 10
SCREENS: Final = (5, 10, 20)
WRONG: Final = {0.0: 1, 0.05: 3}  # shares of wrong ticks, each with the number of draws
BANDS: Final = (0.0, 0.25, 0.5, 0.75, 1.01)  # of likelihoods
SIZEABLE: Final = 5  # mentions of a group whose interval is judged
ONE_NEED: Final = 0.6  # share of the records of a group that ask for one need, if it is not mixed
# Logs that the intervals and marks were fitted on; the others were seen when rules were chosen.
# The least share of sentences of each kind of log is in KINDS.
FITTED_ON: Final = ("dev_tools", "banking77", "esco_skills", "dstc11_finance")
KINDS: Final = {"dialogue": 0.55, "sentences": 0.1, "short requests": 0.0}
SAMPLES: Final = 4  # gap-shaped ones of a set of phrases
FOUND_AGAIN: Final = 0.5  # Jaccard of the lines of two groups
MEANING: Final = f"""
Top {TOP} found again: share of the {TOP} largest true groups that match one of the {TOP} largest found, by a
Jaccard index over lines of {FOUND_AGAIN} or more. Top {TOP} count error: how far the size of the best match
of each of those is off, median, as a share of the true size. The best cut known is that with the highest mean
B-cubed F1 of these sets: it has seen the labels."""


class Scores(NamedTuple):
    """How near a partition comes to the true one.

    Attributes:
        precision: Of the lines in the group of a line, the share that ask for its need; mean over lines.
        recall: Of the lines that ask for the need of a line, the share in its group; mean over lines.
        bcubed: F1 of the two.
        ari: Adjusted Rand index.
        pairs: F1 over pairs of lines.
        top: Share of the largest true groups that match one of the largest found, by Jaccard index.
        count_error: How far the count of the best match of each of those is off, median, as a share.
    """

    precision: float
    recall: float
    bcubed: float
    ari: float
    pairs: float
    top: float
    count_error: float


TITLES: Final = {
    "precision": "B-cubed precision",
    "recall": "B-cubed recall",
    "bcubed": "B-cubed F1",
    "ari": "ARI",
    "pairs": "F1 of pairs",
    "top": f"top {TOP} found again",
    "count_error": f"top {TOP} count error",
}
AFTER_SCREENS: Final = ("bcubed", "top")


def alone(data: Labelled) -> IntArray:
    """No grouping at all."""
    return np.arange(len(data.texts))


def exact(data: Labelled) -> IntArray:
    """The same text, but for case."""
    return numbered(text.casefold() for text in data.texts)


def by_words(data: Labelled, cut: float = PLAIN_CUT) -> IntArray:
    """TF-IDF of words and pairs of words."""
    return plainly_linked(_words(contents(data.texts)), cut)


def by_half_and_half(data: Labelled, cut: float = PLAIN_CUT) -> IntArray:
    """Half words and pairs, half sequences of three to five characters."""
    stems = contents(data.texts)
    spelt = TfidfVectorizer(analyzer="char_wb", lowercase=False, ngram_range=(3, 5)).fit_transform(
        stems
    )
    both = sparse.hstack([_words(stems), spelt], format="csr") * np.sqrt(0.5)
    return plainly_linked(sparse.csr_array(both), cut)


def default(
    data: Labelled, embedder: vocabgap.Embedder | str = "none", cut: float | None = None
) -> IntArray:
    """What `vocabgap.cluster` gives by words alone, or with an embedder."""
    clusters = vocabgap.cluster(data.records, embedder=embedder, threshold=cut)
    return labels_of(clusters, data)


def labels_of(clusters: vocabgap.Clusters, data: Labelled) -> IntArray:
    """The group of each record."""
    number = dict(clusters.wordings.select("wording", "cluster").iter_rows())
    return np.array([number[text] for text in data.texts], np.int64)


def contents(texts: Sequence[str]) -> list[str]:
    """The stems of the words that are not function words."""
    ignored = ignored_stems()
    return [" ".join(content_words(surface(text), ignored)) for text in texts]


def _words(stems: list[str]) -> sparse.csr_array:
    vectorizer = TfidfVectorizer(
        tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2)
    )
    return sparse.csr_array(vectorizer.fit_transform(stems))


def plainly_linked(rows: sparse.csr_array, cut: float) -> IntArray:
    """scikit-learn's average linkage, cut at one distance."""
    distances = cosine_distances(Rows(rows))
    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="average", distance_threshold=cut
    )
    return np.asarray(model.fit_predict(distances), np.int64)


WAYS: Final[dict[str, Way]] = {
    "no grouping at all": alone,
    "exact strings, as `gh aw logs` counts": exact,
    f"word(1,2) {PLAIN_CUT:.2f}": by_words,
    f"half word(1,2), half char_wb(3,5) {PLAIN_CUT:.2f}": by_half_and_half,
}


def scores(truth: IntArray, labels: IntArray) -> Scores:
    """How near the groups that were found come to the true ones."""
    shared = sparse.coo_array((np.ones(len(truth)), (truth, labels))).tocsr().tocoo()
    wanted, given = np.bincount(truth), np.bincount(labels)
    whole, part = wanted[shared.row], given[shared.col]
    squares = shared.data**2
    precision, recall = (float((squares / size).sum() / len(truth)) for size in (part, whole))
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
        precision,
        recall,
        harmonic(precision, recall),
        float(adjusted_rand_score(truth, labels)),
        harmonic(right / max(_pairs(given), 1.0), right / max(_pairs(wanted), 1.0)),
        float(np.isin(top_wanted, shared.row[met]).mean()),
        float(np.median(errors)),
    )


def _pairs(sizes: IntArray) -> float:
    return float((sizes * (sizes - 1) / 2).sum())


def harmonic(precision: float, recall: float) -> float:
    """F1 of a precision and a recall."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def scored(way: Way, sets: Iterable[Labelled]) -> list[Scores]:
    """What a way of grouping reaches on each set."""
    return [scores(data.truth, way(data)) for data in sets]


def print_scores(
    sets: Mapping[str, Labelled], ways: Mapping[str, Way], cut_ways: Mapping[str, CutWay]
) -> None:
    """A table for each measure: one row a way of grouping, one column a set."""
    table = {name: scored(way, sets.values()) for name, way in ways.items()}
    for name, way in cut_ways.items():
        tried = {cut: scored(partial(way, cut=cut), sets.values()) for cut in CUTS}
        best = max(tried, key=lambda cut: fmean(row.bcubed for row in tried[cut]))
        table[f"{name} {best:.2f}, the best cut known"] = tried[best]
    sizes = ", ".join(
        f"{name} {len(data.texts):,} ({data.truth.max() + 1:,} needs)"
        for name, data in sets.items()
    )
    print(f"\nLines: {sizes}.")
    for measure, title in TITLES.items():
        print(f"\n| {title} | {' | '.join(sets)} | mean |\n|:--|{'--:|' * (len(sets) + 1)}")
        for name, rows in table.items():
            values = [getattr(row, measure) for row in rows]
            print(
                f"| {name} | {' | '.join(f'{value:.3f}' for value in [*values, fmean(values)])} |"
            )


def together(pairs: Sequence[Pair], number: Mapping[str, int], part: str) -> float:
    """The share of the pairs of one part whose two wordings are in one group."""
    return fmean(number[pair.left] == number[pair.right] for pair in pairs if pair.part == part)


def print_pairs(ways: Mapping[str, Way]) -> None:
    """How often contrasts are kept apart and paraphrases brought together, all wordings being one corpus."""
    contrasts, paraphrases = read_pairs(OWN / "contrasts.tsv"), read_pairs(OWN / "paraphrases.tsv")
    texts = sorted(
        {text for pair in (*contrasts, *paraphrases) for text in (pair.left, pair.right)}
    )
    data = said(texts, texts)
    parts = sorted({pair.part for pair in contrasts}, reverse=True)
    titles = [
        f"{what}, {part}" for what in ("contrasts apart", "paraphrases together") for part in parts
    ]
    print(
        f"\nPairs: {len(contrasts)} contrasts, {len(paraphrases)} paraphrases, {len(texts)} wordings."
    )
    print(f"\n| pairs | {' | '.join(titles)} |\n|:--|{'--:|' * len(titles)}")
    for name, way in ways.items():
        number = dict(zip(texts, way(data).tolist(), strict=True))
        rates = [1.0 - together(contrasts, number, part) for part in parts]
        rates += [together(paraphrases, number, part) for part in parts]
        print(f"| {name} | {' | '.join(f'{rate:.3f}' for rate in rates)} |")


def oracle(
    data: Labelled, wrong: float = 0.0, seed: int = 0
) -> Callable[[vocabgap.Screen], vocabgap.Answer]:
    """Somebody who knows the true groups: a group asks for what most of its records ask for.

    A share `wrong` of the ticks is drawn to be wrong, given and left out ones alike.
    """
    asked_for: dict[str, Counter[int]] = defaultdict(Counter)
    for text, need in zip(data.texts, data.truth.tolist(), strict=True):
        asked_for[text][need] += 1
    draw = random.Random(seed)

    def most(wordings: Sequence[str]) -> int:
        needs = sum((asked_for[wording] for wording in wordings), Counter[int]())
        return min(needs, key=lambda need: (-needs[need], need))

    def ticked(is_right: Iterable[bool]) -> list[int]:
        return [place for place, right in enumerate(is_right) if right != (draw.random() < wrong)]

    def ask(screen: vocabgap.Screen) -> vocabgap.Answer:
        need = most(screen.wordings)
        return vocabgap.Answer(
            same=ticked(most(each.wordings) == need for each in screen.neighbours),
            apart=ticked(most([wording]) != need for wording in screen.doubtful),
        )

    return ask


def answered(
    data: Labelled, embedder: vocabgap.Embedder | str, wrong: float, seeds: int
) -> list[Scores]:
    """Return scores before any screen and after each number of `SCREENS`: the means over `seeds`."""
    found = vocabgap.cluster(data.records, embedder=embedder)
    drawn = []
    for seed in range(seeds):
        ask = oracle(data, wrong, seed)
        decisions: list[vocabgap.Decision] = []
        reached = [scores(data.truth, labels_of(found, data))]
        for before, after in pairwise((0, *SCREENS)):
            reviewed = vocabgap.review(
                found, ask, after - before, TOP, decisions=decisions, actor="oracle"
            )
            decisions += reviewed.decisions
            reached.append(scores(data.truth, labels_of(reviewed.clusters, data)))
        drawn.append(reached)
    return [
        Scores(*(fmean(values) for values in zip(*step, strict=True)))
        for step in zip(*drawn, strict=True)
    ]


def print_answers(
    sets: Mapping[str, Labelled], embedders: Mapping[str, vocabgap.Embedder | str]
) -> None:
    """Print a table for each measure: one row per way of grouping and number of screens."""
    for wrong, seeds in WRONG.items():
        rows = {
            name: [answered(data, embedder, wrong, seeds) for data in sets.values()]
            for name, embedder in embedders.items()
        }
        for measure in AFTER_SCREENS:
            title = f"{TITLES[measure]}, {wrong:.0%} of ticks wrong"
            print(f"\n| {title} | {' | '.join(sets)} | mean |\n|:--|{'--:|' * (len(sets) + 1)}")
            for name, reached in rows.items():
                for step, screens in enumerate((0, *SCREENS)):
                    values = [getattr(each[step], measure) for each in reached]
                    shown = " | ".join(f"{value:.3f}" for value in [*values, fmean(values)])
                    print(f"| {name}, {screens} screens | {shown} |")


def shown_ticks(data: Labelled, embedder: vocabgap.Embedder | str) -> list[tuple[str, float, bool]]:
    """Return each tick that a review shows: its heading, its likelihood, and whether it is right."""
    ask, ticks = oracle(data), list[tuple[str, float, bool]]()

    def asked(screen: vocabgap.Screen) -> vocabgap.Answer:
        answer = ask(screen)
        near = [(each.probability, at in answer.same) for at, each in enumerate(screen.neighbours)]
        parts = [(each.probability, at in answer.apart) for at, each in enumerate(screen.parts)]
        ticks.extend(("the same need", *tick) for tick in near)
        ticks.extend(("another need", *tick) for tick in parts)
        return answer

    found = vocabgap.cluster(data.records, embedder=embedder)
    vocabgap.review(found, asked, SCREENS[-1], TOP, actor="oracle")
    return ticks


def print_calibration(
    sets: Mapping[str, Labelled], embedders: Mapping[str, vocabgap.Embedder | str]
) -> None:
    """Print a table: one row per way of grouping, heading and band of likelihoods."""
    print("\n| ticks of a review | band | ticks | shown | right |\n|:--|:--|--:|--:|--:|")
    for name, embedder in embedders.items():
        ticks = [tick for data in sets.values() for tick in shown_ticks(data, embedder)]
        for heading in ("the same need", "another need"):
            for low, high in pairwise(BANDS):
                own = [tick for tick in ticks if tick[0] == heading and low <= tick[1] < high]
                if own:
                    shown, right = fmean(tick[1] for tick in own), fmean(tick[2] for tick in own)
                    figures = f"{low:.2f} to {high:.2f} | {len(own)} | {shown:.2f} | {right:.2f}"
                    print(f"| {name}, {heading} | {figures} |")


def kind_of(data: Labelled) -> str:
    """The kind of a log, by the mean degree to which its wordings are sentences."""
    shares = np.array([clause_share(surface(text)) for text in data.texts])
    mean = float(sentence_share(shares).mean())
    return next(kind for kind, least in KINDS.items() if mean >= least)


def certainty(data: Labelled, embedder: vocabgap.Embedder | str) -> pl.DataFrame:
    """Compare the interval and the mark of each default group with the truth; one row a group.

    The need of a group is the one most of its records ask for; its true size is how many do, in all.
    """
    clusters = vocabgap.cluster(data.records, embedder=embedder)
    labels = labels_of(clusters, data)
    shared = np.zeros((labels.max() + 1, data.truth.max() + 1), np.int64)
    np.add.at(shared, (labels, data.truth), 1)
    true_size = pl.Series(shared.sum(axis=0)[shared.argmax(axis=1)])
    said = clusters.clusters.sort("cluster")
    return said.select(
        "mentions",
        holds=true_size.is_between(said["mentions_low"], said["mentions_high"]),
        width=pl.col("mentions_high") / pl.col("mentions_low"),
        marked="mixed",
        several=pl.Series(shared.max(axis=1)) < ONE_NEED * pl.col("mentions"),
        two=pl.col("surfaces") > 1,
        top=pl.col("mentions").rank("ordinal", descending=True) <= TOP,
    )


def print_certainty(
    logs: Iterable[tuple[str, str, Labelled]], embedders: Mapping[str, vocabgap.Embedder | str]
) -> None:
    """A table for each way of grouping: one row a kind and shape of logs, those fitted on apart."""
    size, marked, several = pl.col("mentions"), pl.col("marked"), pl.col("several")
    sizes = {
        "1 mention": size == 1,
        "2 to 4": size.is_between(2, SIZEABLE - 1),
        f"{SIZEABLE} or more": size >= SIZEABLE,
        f"{TOP} largest": pl.col("top"),
    }
    columns = {
        **{f"holds, {name}": pl.col("holds").filter(which).mean() for name, which in sizes.items()},
        "wide": pl.col("width").median(),
        f"wide, {TOP} largest": pl.col("width").filter("top").median(),
        "several needs": several.filter("two").mean(),
        "marks right": several.filter(marked).mean(),
        "marked": marked.filter(several).mean(),
        f"marked, {TOP} largest": marked.filter(several & pl.col("top")).mean(),
    }
    names = list(columns)
    for way, embedder in embedders.items():
        print(f"\n| {way} | groups | {' | '.join(names)} |\n|:--|{'--:|' * (len(names) + 1)}")
        groups = pl.concat(
            certainty(data, embedder).with_columns(
                logs=pl.lit(f"{kind_of(data)}, {shape}" + ", fitted on" * (name in FITTED_ON))
            )
            for name, shape, data in logs
        )
        table = groups.group_by("logs").agg(groups=pl.len(), **columns).sort("logs")
        for kind, count, *values in table.iter_rows():
            shown = ("–" if value is None else f"{value:.2f}" for value in values)
            print(f"| {kind} | {count} | {' | '.join(shown)} |")


def read_folder(
    folder: Path, pattern: str, read: Callable[[Path], Labelled]
) -> dict[str, Labelled]:
    """The sets of a folder, by name.

    Raises:
        SystemExit: There are none.
    """
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise SystemExit(f"{folder}: no {pattern} file there")
    return {path.stem: read(path) for path in paths}


def samples(folder: Path) -> list[tuple[str, str, Labelled]]:
    """Gap-shaped samples of the sets of phrases of a folder."""
    whole = read_folder(folder, "*.tsv", partial(read_phrases, limit=0))
    return [
        (name, "gap-shaped", gap_shaped(data, seed))
        for name, data in whole.items()
        for seed in range(SAMPLES)
    ]


def print_reviews(
    gaps: Mapping[str, Labelled],
    data: Path | None,
    embedders: Mapping[str, vocabgap.Embedder | str],
) -> None:
    """Print the tables on reviews, for gap logs and for gap-shaped samples of phrases."""
    drawn_logs = samples(data) if data else []
    shaped = {f"{name} {place}": log for place, (name, _, log) in enumerate(drawn_logs)}
    for sets in filter(None, (gaps, shaped)):
        print_answers(sets, embedders)
        print_calibration(sets, embedders)


def main() -> None:  # noqa: C901 - one table after the other
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--gaps", type=Path, help="folder of *.jsonl files: records with a label")
    parser.add_argument("--data", type=Path, help="folder of *.tsv files: text, tab, label")
    parser.add_argument(
        "--limit", type=int, default=LIMIT, help="lines of each *.tsv file; 0 for all"
    )
    parser.add_argument("--embedder", default="minilm", help="a model's folder, minilm, or none")
    parser.add_argument("--cache", type=Path, help="folder that keeps its embeddings")
    parser.add_argument(
        "--certainty", action="store_true", help="only the tables on the certainty of groups"
    )
    parser.add_argument("--screens", action="store_true", help="only the tables on reviews")
    options = parser.parse_args()
    gaps = read_folder(OWN, "*_gaps.jsonl", read_gaps)
    if options.gaps:
        gaps |= read_folder(options.gaps, "*.jsonl", read_gaps)
    phrases = {"drawn": drawn(options.limit or LIMIT)}
    if options.data:
        phrases = read_folder(options.data, "*.tsv", partial(read_phrases, limit=options.limit))
    left_out = [f"{name} is not installed" for name in peers.PACKAGES if not find_spec(name)]
    plain: dict[str, CutWay] = {
        "word(1,2)": by_words,
        "half word(1,2), half char_wb(3,5)": by_half_and_half,
    }
    embedders: dict[str, vocabgap.Embedder | str] = {"default": "none"}
    embedder: vocabgap.Embedder | None = None
    if options.embedder != "none":
        try:
            embedder = vocabgap.Embedder.load(options.embedder, options.cache)
        except VocabgapError as error:
            left_out.append(str(error))
        else:
            embedders[f"default, {embedder.name}"] = embedder
    ways = WAYS | dict(peers.ways(embedder))
    ours: dict[str, CutWay] = {
        name: partial(default, embedder=each) for name, each in embedders.items()
    }
    if options.screens:
        print_reviews(gaps, options.data, embedders)
        return
    logs = [(name, "as it is", data) for name, data in (gaps | phrases).items()]
    if options.data:
        logs += samples(options.data)
    print_certainty(logs, embedders)
    if options.certainty:
        return
    for sets, cut_ways in ((gaps, plain | ours), (phrases, plain)):
        print_scores(sets, ways | ours, cut_ways)
        print_answers(sets, embedders)
        print_calibration(sets, embedders)
    print(MEANING)
    print_pairs({"no grouping at all": alone} | ours)
    for why in left_out:
        print(f"\nLeft out: {why}.")


if __name__ == "__main__":
    main()
