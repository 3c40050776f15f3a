"""Categories for records without one, learned from the categorised records and from operations."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import polars as pl

from vocabgap.files.parts import ROW, Parts
from vocabgap.model.categories import OPERATION_CATEGORIES, by_operations
from vocabgap.model.record import (
    CATEGORY_ALIASES,
    OPERATION_ALIASES,
    PHRASE_FIELDS,
    UNCATEGORIZED,
    fold_category,
    fold_operation,
    operation_key,
)
from vocabgap.model.tables import GAPS, counted
from vocabgap.ranking.evidence import folded
from vocabgap.text import ignored_stems, stem, words

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

_DIGITS: Final = 9  # of a weight, on which different processors agree
# At this probability more than nine in ten judged records get the category of the agent. Cross-validated:
# 0.96 (38 % of the records are judged) if nobody asked for the same need before, else 0.99 (89 %).
SURE: Final = 0.8
_TEXTS: Final = (*PHRASE_FIELDS, "intent")  # columns that are read


class CategoryBy(StrEnum):
    """The source of a category."""

    AGENT = "agent"
    OPERATIONS = "operations"
    CLASSIFIER = "classifier"
    GUESS = "guess"


class Classifier(NamedTuple):
    """A multinomial logistic regression over TF-IDF of terms, as plain numbers."""

    categories: tuple[str, ...]  # sorted
    intercepts: tuple[float, ...]
    terms: dict[str, tuple[float, tuple[float, ...]]]  # inverse document frequency; a weight per category
    uncategorized: frozenset[str] = frozenset()  # terms of records without a category only

    def judge(self, wanted: Collection[str]) -> tuple[str, float]:
        """Return the likeliest category of distinct terms, and its probability; 0 if no term is known."""
        matching = [self.terms[term] for term in wanted if term in self.terms]
        if not matching:
            return UNCATEGORIZED, 0.0
        length = math.sqrt(math.fsum(idf * idf for idf, _ in matching))
        scores = [
            intercept + math.fsum(idf * weights[place] for idf, weights in matching) / length
            for place, intercept in enumerate(self.intercepts)
        ]
        highest = max(scores)
        place = scores.index(highest)
        return self.categories[place], 1.0 / math.fsum(math.exp(score - highest) for score in scores)


Verdict = tuple[str | None, CategoryBy | None, float | None]
"""A category, its source, and the probability of the classifier's likeliest category, 0 to 1."""


def reclassify(
    gaps: Parts,
    *,
    corpus: Parts | None = None,
    operations: Mapping[str, str] = OPERATION_CATEGORIES,
    category_aliases: Mapping[str, str] = CATEGORY_ALIASES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> Parts:
    """Fill in the columns of table `gaps` about the category, and judge records without one from their agent.

    A classifier of words, trained on the categorised records, assigns a category if it is sure. Else the most
    frequent category of the record's operations is assigned, unless agents leave needs with such words
    uncategorised. A guess stays if neither decides. Both learn from the corpus: table `gaps` or `records`, by
    default the counted rows of `gaps`, without guesses. They count a record once, whatever its mentions.
    `operations` maps keys of operations to categories, and overrides what the corpus shows.
    """
    corpus = gaps.then(counted) if corpus is None else corpus
    category = partial(fold_category, aliases=category_aliases)
    classifier = train(corpus, category)
    learned = operations_of(corpus, category, partial(fold_operation, aliases=operation_aliases))
    by_agents = with_agents_categories(gaps, category_aliases=category_aliases)
    judge = partial(
        verdict,
        classifier=classifier,
        table={**learned, **operations},
        operation_aliases={**operation_aliases},
    )
    assigned = by_agents.each(partial(_judged, judge=judge))
    names = {name: f"{name}_assigned" for name in ("category", "category_by", "category_probability")}
    columns = [pl.coalesce(pl.col(names[name]).cast(GAPS.schema[name]), name).alias(name) for name in names]

    def with_assigned(part: pl.LazyFrame) -> pl.LazyFrame:
        # Both are sorted by row, so that the join needs no table of all assigned categories.
        joined = part.join_asof(assigned.lazy(), on=ROW, tolerance=0, suffix="_assigned")
        return joined.with_columns(columns).drop(names.values())

    return by_agents.then(with_assigned)


def _judged(part: pl.LazyFrame, judge: Callable[..., Verdict]) -> pl.LazyFrame:
    """Return `ROW` and the columns about the category of the records without one."""
    lacking = part.filter(pl.col("category_by").is_null() | (pl.col("category_by") == CategoryBy.GUESS))
    read = lacking.select(ROW, *_TEXTS, "operations_involved").collect()
    judged = cache(judge)
    rows = [(row, *judged(tuple(texts), tuple(involved))) for row, *texts, involved in read.iter_rows()]
    columns = {ROW: pl.Int64, "category": pl.Categorical, "category_by": pl.Categorical}
    return pl.LazyFrame(rows, {**columns, "category_probability": pl.Float64}, orient="row")


def verdict(
    texts: Iterable[str | None],
    involved: Iterable[str],
    *,
    classifier: Classifier | None = None,
    table: Mapping[str, str] = OPERATION_CATEGORIES,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> Verdict:
    """Judge the category of a record without one, from its words if they are clear, else its operations.

    A word that occurs only in records without a category leaves it open.
    """
    probability = None
    if classifier is not None:
        stems = terms(texts)
        likeliest, probability = classifier.judge(stems)
        if probability >= SURE:
            return likeliest, CategoryBy.CLASSIFIER, probability
        if not classifier.uncategorized.isdisjoint(stems):
            return None, None, probability
    category = by_operations(involved, table, operation_aliases)
    return (None, None, probability) if category is None else (category, CategoryBy.OPERATIONS, None)


def terms(texts: Iterable[str | None]) -> tuple[str, ...]:
    """Return the terms of a record for a classifier: the stems of its content words, distinct and sorted."""
    return tuple(sorted({stem(word) for text in texts if text for word in words(text)} - ignored_stems()))


def with_agents_categories(gaps: Parts, *, category_aliases: Mapping[str, str] = CATEGORY_ALIASES) -> Parts:
    """Add the category that the agent gave to each record; keep categories that were assigned before."""
    given = pl.col("intent_category").unique()
    spellings = gaps.each(lambda part: part.select(given))["intent_category"].unique()
    categories = folded(spellings, partial(fold_category, aliases=category_aliases))
    category = pl.col("intent_category").replace_strict(spellings, categories)
    by_agent = pl.col("category_by").is_null() & (category != UNCATEGORIZED)
    source = pl.when("category_guessed").then(pl.lit(CategoryBy.GUESS)).otherwise(pl.lit(CategoryBy.AGENT))
    columns = (
        pl.when(by_agent).then(category).otherwise("category").alias("category"),
        pl.when(by_agent).then(source).otherwise("category_by").alias("category_by"),
    )
    return gaps.then(lambda part: part.with_columns(columns))


def with_assigned_categories(records: pl.LazyFrame) -> pl.LazyFrame:
    """Use the assigned category of each record whose agent gave none."""
    given = pl.col("category_by").is_in([CategoryBy.OPERATIONS.value, CategoryBy.CLASSIFIER.value])
    return records.with_columns(
        pl.when(given).then("category").otherwise("intent_category").alias("intent_category")
    )


def train(corpus: Parts, category: Callable[[str], str] = fold_category) -> Classifier | None:
    """Learn categories from the records that have one; return None if they are too few."""
    records = pl.col("records")
    of_parts = corpus.each(partial(_counted_terms, category=category))
    counts = of_parts.group_by("terms", "category").agg(records.sum())
    has_category = pl.col("category") != UNCATEGORIZED
    fewest_of_category, fewest, by_chance = 5, 50, 0.001
    is_frequent = records.sum().over("category") >= fewest_of_category
    examples = counts.filter(has_category, pl.col("terms") != "").filter(is_frequent)
    # Repeated wordings are one example with a greater weight, in an order that records do not change.
    distinct = examples.sort("records", "terms", "category", descending=[True, False, False]).head(20_000)
    if distinct["records"].sum() < fewest or distinct["category"].n_unique() == 1:
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    vectorizer = TfidfVectorizer(analyzer=list)
    rows = vectorizer.fit_transform(distinct["terms"].str.split("\n").to_list())
    model = LogisticRegression(C=10.0, max_iter=1_000)  # 1 or 100 gives less calibrated probabilities
    model.fit(rows, distinct["category"].to_list(), sample_weight=distinct["records"].to_numpy())
    lacking = float(counts.select(records.filter(~has_category).sum() / records.sum()).item())
    uncategorized = (
        counts.with_columns(pl.col("terms").str.split("\n"))
        .explode("terms")
        .filter(pl.col("terms") != "")
        .group_by("terms")
        .agg(has_category.any(), records.sum())
        .filter(~pl.col("category"), lacking**records <= by_chance)
    )
    return _plain(vectorizer, model, uncategorized["terms"])


def _counted_terms(part: pl.LazyFrame, category: Callable[[str], str]) -> pl.LazyFrame:
    """Count the records with the same category and terms, one term per line; leave out guesses."""
    by_agent = part.filter(~pl.col("category_guessed"))
    read = by_agent.select(*_TEXTS, "intent_category").collect()
    joined = ["\n".join(terms(texts)) for texts in read.select(_TEXTS).iter_rows()]
    named = folded(read["intent_category"], category).alias("category")
    records = pl.LazyFrame({"terms": pl.Series(joined, dtype=pl.String), "category": named})
    return records.group_by("terms", "category").agg(pl.len().cast(pl.Int64).alias("records"))


def operations_of(
    corpus: Parts,
    category: Callable[[str], str] = fold_category,
    operation: Callable[[str], str] = fold_operation,
) -> dict[str, str]:
    """Learn the category of each operation from the categorised records of a corpus."""
    involved = corpus.each(_involved).with_row_index("kind").explode("operations_involved")
    keys = folded(involved["operations_involved"], lambda name: operation_key(operation(name)))
    categories = folded(involved["intent_category"], category)
    seen = (
        involved.select("kind", "records", operation=keys, category=categories)
        .filter((pl.col("category") != UNCATEGORIZED) & (pl.col("operation") != ""))
        .unique(["kind", "operation"])
        .group_by("operation", "category")
        .agg(pl.col("records").sum())
    )
    fewest, all_of_operation = 10, pl.col("records").sum().over("operation")
    is_clear = (pl.col("records") >= 0.9 * all_of_operation) & (all_of_operation >= fewest)
    clear = seen.filter(is_clear).sort("operation")
    return dict(clear.select("operation", "category").iter_rows())


def _involved(part: pl.LazyFrame) -> pl.LazyFrame:
    """Count the records with the same category and operations."""
    alike = part.filter(pl.col("operations_involved").list.len() > 0, ~pl.col("category_guessed"))
    kinds = alike.group_by("operations_involved", "intent_category")
    return kinds.agg(pl.len().cast(pl.Int64).alias("records"))


def _plain(
    vectorizer: "TfidfVectorizer", model: "LogisticRegression", uncategorized: Iterable[str]
) -> Classifier:
    """Return the model as plain numbers; scikit-learn keeps one row of weights for two categories."""
    weights, intercepts = model.coef_, model.intercept_
    if len(weights) == 1:
        weights, intercepts = np.vstack([0 * weights, weights]), np.append(0 * intercepts, intercepts)
    of_terms = np.round(weights.T, _DIGITS).tolist()
    idf = np.round(vectorizer.idf_, _DIGITS).tolist()
    places = sorted(vectorizer.vocabulary_.items())
    terms_known = {term: (idf[place], tuple(of_terms[place])) for term, place in places}
    rounded = tuple(np.round(intercepts, _DIGITS).tolist())
    return Classifier(tuple(map(str, model.classes_)), rounded, terms_known, frozenset(uncategorized))
