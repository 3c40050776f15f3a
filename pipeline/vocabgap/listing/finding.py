"""Find the needs of a run that are nearest to a text, whatever their wording.

By meaning, the similarity of a need is a mean over wording, intent and description: the greatest cosine
similarity between the text and this field of its newest records. A report has embedded the wordings already.
So the wordings choose candidates, and only the other fields of candidates are embedded. A run without a model
is compared by words; each need is an entry of an index then.
"""

from typing import TYPE_CHECKING, Final

import msgspec
import polars as pl

from vocabgap.clutter import without_clutter
from vocabgap.errors import Hint, NotFoundError, VocabgapError, alike
from vocabgap.files.parts import Parts
from vocabgap.ingest.scanning import newest
from vocabgap.model.frames import need
from vocabgap.model.lookup import find_capability
from vocabgap.model.tables import counted, phrase
from vocabgap.reporting.published_run import PublishedRun, read_gaps
from vocabgap.text import excerpt, without_message

if TYPE_CHECKING:
    from vocabgap.clustering.blending import TextEmbedder

CANDIDATES: Final = 50  # needs whose records are compared; twenty questions need 20 at most
RECORDS: Final = 8  # newest records of a candidate
PROPOSED: Final = 3  # needs for an unknown name
_FIELDS: Final = ("missing_capability", "intent", "description")
_DIGITS: Final = 6  # of a similarity; further ones depend on the machine


class Near(msgspec.Struct, frozen=True):
    """A need that is near to a text, with its similarity: a cosine, or the share of words it explains."""

    capability_id: str
    rank: int
    label: str
    mentions: int
    similarity: float


def nearest_needs(
    text: str,
    ranked: pl.DataFrame,
    gaps: Parts,
    embedder: "TextEmbedder | None",
    most: int = PROPOSED,
) -> list[Near]:
    """Return the needs of table `capabilities` that are nearest to a text, at most `CANDIDATES`.

    Args:
        text: What is asked for, in any words.
        ranked: Table `capabilities`.
        gaps: Table `gaps`, with the capability of each record.
        embedder: The model that compares; None to compare words.
        most: The largest number of needs.
    """
    by = _by_words(text, gaps) if embedder is None else _by_meaning(text, ranked, gaps, embedder)
    found = ranked.select("capability_id", "rank", "label", "mentions").join(by, on="capability_id")
    ordered = found.sort("similarity", "rank", descending=[True, False]).head(most)
    return [Near(**row) for row in ordered.iter_rows(named=True)]


def named(published: PublishedRun, name: str) -> str:
    """Return the identifier of the capability that a person names; see `model.lookup`.

    Raises:
        NotFoundError: No capability has the name; the error proposes the nearest needs.
        InvalidInputError: Several capabilities have the name.
    """
    try:
        return str(find_capability(published.capabilities, name)["capability_id"].item())
    except NotFoundError as error:
        hint = proposals(published, name) or error.commands or error.hint
        raise NotFoundError(error.message, hint=hint) from error


def proposals(published: PublishedRun, name: str) -> Hint | None:
    """Return a hint with the need that is spelt like a name, and the needs nearest to it."""
    try:
        embedder = model_of(published)
        near = nearest_needs(name, published.capabilities, read_gaps(published.folder), embedder)
    except VocabgapError:  # the name has no vector, or the records cannot be read
        return None
    shares = {each.label: f" ({each.similarity:.2f})" for each in near}
    labels = dict.fromkeys([*alike(name, published.capabilities["label"], 1), *shares])
    needs = ", ".join(f"'{excerpt(label)}'{shares.get(label, '')}" for label in [*labels][:PROPOSED])
    nearest = f"nearest by {'words' if embedder is None else 'meaning'}: {needs}"
    return Hint(f"{nearest}; --run chooses another run", (), for_tools=nearest) if needs else None


def model_of(published: PublishedRun) -> "TextEmbedder | None":
    """Return the model that a run was made with; None if it had none, or if it is not here any more."""
    from vocabgap.clustering.embedder import load_embedder  # noqa: PLC0415 - loads a thread pool

    if published.manifest.model is None:
        return None
    try:
        return load_embedder(published.manifest.settings.cluster.embedder)
    except VocabgapError:
        return None


def _by_words(text: str, gaps: Parts) -> pl.DataFrame:
    """Return the needs whose records explain words of a text, and the share that they explain."""
    from vocabgap.ranking.coverage import EntryIndex  # noqa: PLC0415 - rarely needed
    from vocabgap.ranking.vocabulary import Entry  # noqa: PLC0415

    records = gaps.then(counted).then(lambda part: part.select("capability_id", *_FIELDS)).collect()
    texts = records.unpivot(index="capability_id").drop_nulls().unique(("capability_id", "value"))
    spoken = texts.group_by("capability_id").agg(pl.col("value").sort())
    entries = [Entry(name, ". ".join(values)) for name, values in spoken.iter_rows()]
    matches = EntryIndex(entries).covering(text, top=CANDIDATES)
    return pl.DataFrame(
        {
            "capability_id": [match.entry.name for match in matches],
            "similarity": [round(match.explained, _DIGITS) for match in matches],
        },
        schema={"capability_id": pl.String, "similarity": pl.Float64},
    )


def _by_meaning(text: str, ranked: pl.DataFrame, gaps: Parts, embedder: "TextEmbedder") -> pl.DataFrame:
    """Return the candidates and their similarities."""
    from vocabgap.clustering.blending import embedded  # noqa: PLC0415 - loads SciPy

    query, *_ = embedded(embedder, [text])
    wordings = pl.col("variants").list.eval(pl.element().struct["wording"])
    spoken = ranked.select("capability_id", text=wordings).explode("text")
    # The report has embedded a wording in this form.
    texts = [without_message(without_clutter(wording)) for wording in spoken["text"]]
    spoken = spoken.with_columns(similarity=embedded(embedder, texts) @ query)
    best = spoken.group_by("capability_id").agg(pl.col("similarity").max())
    likely = best.sort("similarity", "capability_id", descending=[True, False]).head(CANDIDATES)
    wanted = pl.col("capability_id").is_in(likely["capability_id"].implode())
    records = newest(gaps.then(counted).then(lambda part: part.filter(wanted)).collect())
    records = records.group_by("capability_id", maintain_order=True).head(RECORDS)
    needs = [need(wording) for wording in records.select(phrase()).to_series()]
    fields = {"wording": needs} | {
        name: [(text or "").strip() or wording for text, wording in zip(records[name], needs, strict=True)]
        for name in ("intent", "description")
    }
    cosines = [pl.Series(name, embedded(embedder, texts) @ query) for name, texts in fields.items()]
    greatest = records.select("capability_id", *cosines).group_by("capability_id").agg(pl.col(*fields).max())
    return greatest.select("capability_id", similarity=pl.mean_horizontal(*fields).round(_DIGITS))
