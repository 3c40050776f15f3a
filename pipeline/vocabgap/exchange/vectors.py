"""The vectors that a backup gets of chunks that were pushed, and so have none."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import polars as pl

from vocabgap.clustering import METHOD, SEED, WordingVectors
from vocabgap.corpus.store import Version
from vocabgap.exchange.scanning import readable
from vocabgap.ingest import scan_stored
from vocabgap.schema import PHRASE_FIELDS, phrase
from vocabgap.settings.sources import Source

EMBEDDED_BY: Final = "embeddedBy"
_NEEDED: Final = (
    "id", "tenant_id", "repo_slug", "root_kind", "source_path", "kind", "line", "content", "metadata",
)  # fmt: skip
_PHRASES: Final = dict.fromkeys(PHRASE_FIELDS, pl.String)


class ChunkVectors:
    """The vectors of the chunks of a corpus that were not restored with one.

    That of a gap record is its row in the clustering of all gap records of the corpus; any other text is
    compared with the other texts in the same way. A text without a word has zeros.

    Args:
        version: The corpus.
        dimension: Length of a vector.
        stop_words: Words to ignore beside the function words.
        synonyms: A word or phrase to the others that stand for it.
        sources: What gap logs are called and how they are read.
    """

    def __init__(
        self,
        version: Version,
        dimension: int,
        *,
        stop_words: Iterable[str] = (),
        synonyms: Mapping[str, Iterable[str]],
        sources: Mapping[str, Source] | None = None,
    ) -> None:
        self.dimension = dimension
        chunks = version.rows(_NEEDED, pl.col("content").is_not_null())
        phrases = _phrases(chunks, sources)
        gaps = chunks.join(phrases, on="id", how="inner")
        others = chunks.join(phrases, on="id", how="anti").select("id", pl.col("content").alias("phrase"))
        self._phrases = dict(phrases.iter_rows())
        self._gaps = WordingVectors(_asking(gaps), dimension, stop_words=stop_words, synonyms=synonyms)
        self._others = WordingVectors(_asking(others), dimension, stop_words=stop_words, synonyms=synonyms)

    @property
    def told(self) -> bytes:
        """What is said in the metadata of a chunk of how its vector came about: a field and its value."""
        value = {"by": METHOD, "dimension": self.dimension, "seed": SEED}
        return b",%b:%b" % tuple(map(msgspec.json.encode, (EMBEDDED_BY, value)))

    def of(self, ids: Sequence[str], contents: Sequence[str | None]) -> list[list[float]]:
        """The vectors of some chunks.

        Args:
            ids: Their ids.
            contents: Their texts.
        """
        gaps = self._gaps.of([self._phrases.get(each) for each in ids])
        texts = pl.DataFrame({"phrase": contents}, schema={"phrase": pl.String})
        wordings = _asking(texts).select(phrase()).to_series()
        others = self._others.of(
            None if each in self._phrases else wording for each, wording in zip(ids, wordings, strict=True)
        )
        summed: list[list[float]] = (gaps + others).tolist()
        return summed


def _phrases(chunks: pl.DataFrame, sources: Mapping[str, Source] | None) -> pl.DataFrame:
    """What each readable gap record asks for: columns `id` and `phrase`."""
    # Each line gets a number of its own, by which its record is found again.
    lines = readable(chunks).with_columns(line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
    records = scan_stored(lines, sources=sources).gaps.select("line", phrase().alias("phrase"))
    return lines.select("id", "line").join(records, on="line", how="inner").select("id", "phrase")


def _asking(texts: pl.DataFrame) -> pl.DataFrame:
    """Texts as records that ask for them."""
    missing: dict[str, Any] = dict.fromkeys(PHRASE_FIELDS[1:])
    asked = texts.select(pl.col("phrase").alias(PHRASE_FIELDS[0]))
    return asked.with_columns(pl.lit(None, pl.String).alias(name) for name in missing).cast(_PHRASES)  # type: ignore[arg-type]
