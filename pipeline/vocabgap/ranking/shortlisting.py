"""Choose the few capabilities to consider first: by priority."""

from functools import partial
from typing import Final

import msgspec
import polars as pl

from vocabgap.model.settings import Settings
from vocabgap.ranking.coverage import is_to_author
from vocabgap.ranking.drafting import DraftEntry, draft
from vocabgap.ranking.vocabulary import Vocabulary

FEWEST: Final = 3
MOST: Final = 5
LEAST_SHARE: Final = 0.5  # of the greatest priority, for those after `FEWEST`


class Candidate(msgspec.Struct, frozen=True):
    """A capability of the shortlist, with a draft of its entry."""

    capability_id: str
    draft: DraftEntry


def shortlist_of(ranked: pl.DataFrame, vocabulary: Vocabulary, settings: Settings) -> tuple[Candidate, ...]:
    """Return the shortlist: pinned capabilities, then the greatest priorities; at most `MOST`.

    If no need is on two images, mentions count in place of images. Each draft uses the examples of its
    capability alone, so no records are read.
    """
    open_ = ranked.filter(is_to_author(settings.vocabulary.threshold))
    reach = pl.when(pl.col("images").max() > 1).then(1.0).otherwise(pl.col("mentions").log1p())
    scored = open_.with_columns(score=reach * pl.col("priority"))
    first = scored.sort("pinned", "score", "rank", descending=[True, True, False]).head(MOST)
    is_near = pl.col("score") >= LEAST_SHARE * pl.col("score").max()
    chosen = first.with_row_index().filter((pl.col("index") < FEWEST) | pl.col("pinned") | is_near)
    drafted = partial(
        draft,
        ranked=ranked,
        vocabulary=vocabulary if settings.vocabulary.paths else None,
        stop_words=settings.cluster.stop_words,
        operation_aliases=settings.operation_aliases,
    )
    return tuple(Candidate(name, drafted(name).entry) for name in chosen["capability_id"])
