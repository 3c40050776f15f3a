"""What comes nearest to a need in somebody's words: known capabilities, and entries of a vocabulary."""

from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.arguments import require_kind, whole_number
from vocabgap.clustering.points import points_of
from vocabgap.clustering.vectorizing import vectorize
from vocabgap.errors import InvalidInputError
from vocabgap.ranking.coverage import entry_index
from vocabgap.schema import CAPABILITIES
from vocabgap.settings import Settings
from vocabgap.text import surface
from vocabgap.vocabulary import Vocabulary

LEAST: Final = 0.25
"""The similarity, 0 to 1, from which on something is told."""
MOST: Final = 5
_DIGITS: Final = 3
_PHRASE: Final = {"missing_capability": pl.String, "description": pl.String, "intent": pl.String}


class SimilarGap(msgspec.Struct, frozen=True):
    """Something that comes near to a need.

    Attributes:
        kind: `capability`, or `entry` of a vocabulary.
        name: The capability's identifier, or the entry's name.
        label: The wording that is nearest, or what the entry is said to do.
        similarity: Of a capability the cosine of the two wordings as they are clustered without an embedder,
            of an entry the share of the need that it explains; 0 to 1.
        mentions: How often the capability was asked for; null of an entry.
        status: Of the capability, as the report has it; null of an entry.
    """

    kind: str
    name: str
    label: str
    similarity: float
    mentions: int | None = None
    status: str | None = None


def similar_gaps(
    text: str,
    *,
    capabilities: pl.DataFrame | None = None,
    vocabulary: Vocabulary | None = None,
    limit: int = MOST,
    settings: Settings | None = None,
) -> list[SimilarGap]:
    """The known capabilities and the entries that come nearest to a need, the nearest first.

    Args:
        text: The need, as somebody words it.
        capabilities: Table `capabilities` of a run; none are known by default.
        vocabulary: What agents can already ask for; nothing by default.
        limit: How many to name at most, of the two kinds together.
        settings: The settings in force: the words to ignore, the synonyms and the aliases of operations are
            those of a run. The defaults by default.

    Returns:
        Those that are at least `LEAST` similar.

    Raises:
        InvalidInputError: An argument cannot be used.
    """
    require_kind("text", text, str, "text")
    if not text.strip():
        raise InvalidInputError("text: expected text that is not blank", hint="say what is missing")
    most = whole_number("limit", limit)
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    found: list[SimilarGap] = []
    if capabilities is not None:
        CAPABILITIES.require(capabilities, ("capability_id", "label", "variants", "mentions", "status"))
        found += _capabilities(text, capabilities, settings)
    if vocabulary is not None:
        require_kind("vocabulary", vocabulary, Vocabulary, "what vocabgap.load_vocabulary returned")
        found += [
            SimilarGap("entry", match.entry.name, match.entry.description, round(match.explained, _DIGITS))
            for match in entry_index(
                vocabulary,
                stop_words=settings.cluster.stop_words,
                operation_aliases=settings.operation_aliases,
            ).covering(text)
        ]
    near = [each for each in found if each.similarity >= LEAST]
    return sorted(near, key=lambda each: (-each.similarity, each.kind, each.name))[:most]


def _capabilities(text: str, known: pl.DataFrame, settings: Settings) -> list[SimilarGap]:
    wordings = (
        known.select(
            pl.int_range(pl.len()).alias("place"),
            pl.col("variants").list.eval(pl.element().struct["wording"]),
        )
        .explode("variants")
        .rename({"variants": "wording"})
        .drop_nulls()
    )
    if wordings.is_empty():
        return []
    said = [text, *wordings["wording"]]
    points = points_of(
        pl.DataFrame({"missing_capability": said, "description": said, "intent": said}, schema=_PHRASE),
        settings.cluster.stop_words,
        settings.cluster.synonyms,
    )
    places = {each: place for place, each in enumerate(points.surfaces["surface"])}
    asked = places.get(surface(text))
    if asked is None:
        return []
    rows = vectorize(points.contents, points.weights, points.shares).plain()
    cosines = (rows @ rows[[asked]].T).toarray().ravel()
    nearest: dict[int, tuple[float, str]] = {}
    for place, wording in wordings.iter_rows():
        point = places.get(surface(wording))
        cosine = 0.0 if point is None else min(1.0, round(float(cosines[point]), _DIGITS))
        if cosine > nearest.get(place, (0.0, ""))[0]:
            nearest[place] = (cosine, wording)
    return [_told(known.row(place, named=True), *best) for place, best in nearest.items()]


def _told(row: dict[str, Any], cosine: float, wording: str) -> SimilarGap:
    return SimilarGap(
        "capability", row["capability_id"], wording, cosine, mentions=row["mentions"], status=row["status"]
    )
