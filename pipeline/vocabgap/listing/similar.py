"""Find the known capabilities and the entries of a vocabulary that are nearest to a need."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec
import numpy as np
import polars as pl

from vocabgap.clustering.vectorizing import vectorize
from vocabgap.clustering.wordings import Points, points_of
from vocabgap.errors import InvalidInputError, require_kind, require_text, whole_number
from vocabgap.model.settings import Settings
from vocabgap.model.tables import CAPABILITIES
from vocabgap.ranking.coverage import SHOWN, EntryIndex, with_folded_operations
from vocabgap.ranking.vocabulary import Vocabulary
from vocabgap.text import surface

LEAST: Final = 0.25
"""The least similarity, 0 to 1, of what is named."""
MOST: Final = 5
_DIGITS: Final = 3
_COLUMNS: Final = ("capability_id", "label", "variants", "mentions", "status")
_PHRASE: Final = {"missing_capability": pl.String, "description": pl.String, "intent": pl.String}


class SimilarGap(msgspec.Struct, frozen=True):
    """A capability or an entry that is near to a need.

    Attributes:
        kind: `capability`, or `entry` of a vocabulary.
        name: The identifier of the capability, or the name of the entry.
        label: The label of the capability, or the description of the entry.
        similarity: The cosine of the need and the nearest wording of the capability, without an embedder; or
            the share of the need that the entry explains; 0 to 1.
        mentions: The mentions of the capability; here and below, null for an entry.
        status: Its status.
        wording: Its nearest wording.
    """

    kind: str
    name: str
    label: str
    similarity: float
    mentions: int | None = None
    status: str | None = None
    wording: str | None = None


def similar_gaps(
    text: str,
    *,
    capabilities: pl.DataFrame | None = None,
    vocabulary: Vocabulary | None = None,
    limit: int = MOST,
    settings: Settings | None = None,
) -> list[SimilarGap]:
    """Return the known capabilities and the entries that are nearest to a need, the nearest first.

    Args:
        text: The need in anybody's words.
        capabilities: Table `capabilities` of a run; none by default.
        vocabulary: What agents can already ask for; nothing by default.
        limit: The largest number of both kinds together.
        settings: The settings with stop words, synonyms and aliases; the defaults by default.

    Returns:
        Those that are at least `LEAST` similar.

    Raises:
        InvalidInputError: An argument cannot be used.
    """
    settings = Settings() if settings is None else settings
    require_kind("settings", settings, Settings, "a Settings", hint="vocabgap.load_settings reads one")
    if capabilities is not None:
        CAPABILITIES.require(capabilities, _COLUMNS)
    if vocabulary is not None:
        require_kind("vocabulary", vocabulary, Vocabulary, "what vocabgap.load_vocabulary returned")
    return SimilarIndex(capabilities, vocabulary, settings).nearest(text, limit)


class SimilarIndex:
    """An index of capabilities and entries for many needs, safe for several threads."""

    def __init__(
        self, capabilities: pl.DataFrame | None, vocabulary: Vocabulary | None, settings: Settings
    ) -> None:
        cluster = settings.cluster
        self._points_of = partial(points_of, stop_words=cluster.stop_words, synonyms=cluster.synonyms)
        self._known = CAPABILITIES.empty() if capabilities is None else capabilities
        wordings = [
            (place, variant["wording"])
            for place, variants in enumerate(self._known["variants"])
            for variant in variants
        ]
        self._points = self._points_of(_phrases([wording for _, wording in wordings]))
        self._places = {surface: place for place, surface in enumerate(self._points.surfaces["surface"])}
        self._wordings = [
            (place, wording, self._places[surface(wording)])
            for place, wording in wordings
            if surface(wording) in self._places
        ]
        self._entries = None
        if vocabulary is not None:
            entries = with_folded_operations(vocabulary.entries, settings.operation_aliases)
            self._entries = EntryIndex(entries, cluster.stop_words)

    def nearest(self, text: str, limit: int = MOST) -> list[SimilarGap]:
        """Return what is nearest to a need, the nearest first."""
        require_text("text", text)
        if not text.strip():
            raise InvalidInputError("text: expected text that is not blank", hint="say what is missing")
        most = whole_number("limit", limit)
        entries = (entry for entry in self.entries(text, SHOWN) if entry.similarity >= LEAST)
        similar = [*self._capabilities(text), *entries]
        return sorted(similar, key=lambda gap: (-gap.similarity, gap.kind, gap.name))[:most]

    def entries(self, text: str, limit: int) -> list[SimilarGap]:
        """Return the entries that are nearest to a need, however far, in the order of a report."""
        matches = [] if self._entries is None else self._entries.covering(text, top=limit)
        return [
            SimilarGap("entry", match.entry.name, match.entry.description, round(match.explained, _DIGITS))
            for match in matches
        ]

    def _capabilities(self, text: str) -> Iterator[SimilarGap]:
        need = self._points_of(_phrases([text]))
        if not need.contents or not self._wordings:
            return
        cosines = self._cosines(need)
        nearest: dict[int, tuple[float, str]] = {}
        for place, wording, point in self._wordings:
            if cosines[point] >= LEAST and cosines[point] > nearest.get(place, (0.0, ""))[0]:
                nearest[place] = (cosines[point], wording)
        for place, (cosine, wording) in nearest.items():
            row = self._known.row(place, named=True)
            identifier, label = row["capability_id"], row["label"]
            yield SimilarGap("capability", identifier, label, cosine, row["mentions"], row["status"], wording)

    def _cosines(self, need: Points) -> list[float]:
        """Return the cosine of a need with each known surface, weighted as one corpus."""
        known = self._points
        place = self._places.get(need.surfaces["surface"][0])
        if place is None:
            rows = vectorize(
                [*known.contents, *need.contents],
                np.append(known.weights, 1.0),
                np.append(known.clause_shares, need.clause_shares),
            )
            place = len(known.contents)
        else:
            weights = known.weights.copy()
            weights[place] += 1.0
            rows = vectorize(known.contents, weights, known.clause_shares)
        plain = rows.plain_terms()
        cosines = (plain @ plain[[place]].T).toarray().ravel()
        return [min(1.0, cosine) for cosine in cosines.round(_DIGITS).tolist()]


def _phrases(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame(dict.fromkeys(_PHRASE, texts), schema=_PHRASE)
