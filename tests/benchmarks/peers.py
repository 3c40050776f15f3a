"""Other ways to bring wordings together, as each is set by default, for `quality.py`.

Those of other packages are left out where these are not installed:
`pip install string_grouper dedupe 'BTrees<6' bertopic`; dedupe 3.0.3 needs a method that BTrees 6 took away.
BERTopic needs no `sentence-transformers` here: it is handed the vectors of the same model that it would load.
"""

import random
import string
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from typing import Final

import numpy as np

import vocabgap
from benchmarks.labelled import Labelled, numbered
from vocabgap.linkage import IntArray

ALIKE: Final = 0.80  # cosine similarity of two strings, the default of string_grouper
ANSWERED: Final = 20  # pairs that somebody who knows the true groups judges for dedupe
GRAM: Final = 2  # characters of OpenRefine's n-grams
PACKAGES: Final = ("string_grouper", "dedupe", "bertopic")
_MARKS: Final = dict.fromkeys(map(ord, string.punctuation))


def fingerprint(data: Labelled) -> IntArray:
    """OpenRefine's key collision: the words of a text, each once, sorted."""
    return numbered(" ".join(sorted(set(_plain(text).split()))) for text in data.texts)


def ngram_fingerprint(data: Labelled) -> IntArray:
    """OpenRefine's key collision: the sequences of two characters of a text, each once, sorted."""
    return numbered("".join(sorted(_grams("".join(_plain(text).split())))) for text in data.texts)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.strip().casefold().translate(_MARKS))
    return folded.encode("ascii", "ignore").decode()


def _grams(text: str) -> set[str]:
    return {text[start : start + GRAM] for start in range(max(len(text) - GRAM + 1, 1))}


def string_grouper(data: Labelled) -> IntArray:
    """What the package of that name gives."""
    series = import_module("pandas").Series(data.texts)
    grouped = import_module("string_grouper").group_similar_strings(series, min_similarity=ALIKE)
    return numbered(grouped["group_rep_index"])


def dedupe(data: Labelled) -> IntArray:
    """What the package of that name gives once it has learnt from pairs: it knows nothing without.

    The pairs are those that it asks about itself.
    """
    random.seed(0)
    np.random.seed(0)
    package, variables = import_module("dedupe"), import_module("dedupe.variables")
    model = package.Dedupe(
        [variables.String("text"), variables.Text("text", corpus=data.texts)], num_cores=1
    )
    rows = {row: {"text": text, "row": row} for row, text in enumerate(data.texts)}
    model.prepare_training(rows)
    for _ in range(ANSWERED):
        (pair,) = model.uncertain_pairs()
        one, other = (data.truth[each["row"]] for each in pair)
        model.mark_pairs(
            {"match": [pair], "distinct": []} if one == other else {"match": [], "distinct": [pair]}
        )
    model.train()
    labels = np.empty(len(data.texts), np.int64)
    for number, (members, _) in enumerate(model.partition(rows)):
        labels[[*members]] = number
    return labels


def bertopic(data: Labelled, embedder: vocabgap.Embedder, smallest: int = 10) -> IntArray:
    """What the package of that name gives; a text that it puts into no topic stays alone.

    Args:
        data: The texts.
        embedder: Gives their vectors.
        smallest: Texts that make a topic; 10 is the package's own default.
    """
    umap = import_module("umap").UMAP(  # as it has it, but for the seed
        n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0
    )
    model = import_module("bertopic").BERTopic(umap_model=umap, min_topic_size=smallest)
    topics, _ = model.fit_transform(data.texts, np.asarray(embedder.embed(data.texts)))
    alone = count(-1, -1)
    return numbered(next(alone) if topic < 0 else topic for topic in topics)


def ways(
    embedder: vocabgap.Embedder | None,
) -> Iterator[tuple[str, Callable[[Labelled], IntArray]]]:
    """Those that can be measured here, with their names."""
    yield "OpenRefine, fingerprint", fingerprint
    yield "OpenRefine, n-gram fingerprint", ngram_fingerprint
    if find_spec("string_grouper"):
        yield "string_grouper", string_grouper
    if find_spec("dedupe"):
        yield f"dedupe, after {ANSWERED} answers", dedupe
    if find_spec("bertopic") and embedder is not None:
        yield "BERTopic", partial(bertopic, embedder=embedder)
        yield "BERTopic, topics of 2 or more", partial(bertopic, embedder=embedder, smallest=2)
