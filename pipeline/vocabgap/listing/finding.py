"""Find the needs of a run that are nearest to a text, whatever their wording.

By meaning, the similarity of a need is a mean over wording, intent and description: the greatest cosine
similarity of the text and this field of its newest records. Wordings choose candidates, because a report has
embedded them; other texts are embedded only for candidates. By words, it is the share that records explain.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import polars as pl

from vocabgap.clutter import without_clutter
from vocabgap.errors import Hint, NotFoundError, VocabgapError, alike, unusable
from vocabgap.ingest.scanning import newest
from vocabgap.model.frames import need
from vocabgap.model.lookup import find_capability, some_of
from vocabgap.model.tables import counted, phrase, stripped
from vocabgap.ranking.coverage import EntryIndex
from vocabgap.ranking.vocabulary import Entry
from vocabgap.reporting.published_run import PublishedRun, read_gaps
from vocabgap.text import excerpt, without_message

CANDIDATES: Final = 20  # needs whose records are compared
PROPOSED: Final = 3  # needs that are shown
_RECORDS: Final = 8  # newest records of a candidate
_ID: Final = "capability_id"


def nearest_needs(text: str, run: PublishedRun) -> pl.DataFrame:
    """Return the needs of a run that are nearest to a text, with their similarity, at most `CANDIDATES`."""
    if not text.strip():
        raise unusable("like", "words that describe a need", text)
    from vocabgap.clustering.embedder import load_embedder  # noqa: PLC0415 - loads a thread pool

    embedder = load_embedder(run.manifest.settings.cluster.embedder) if run.manifest.model else None
    similar = _by_words(text, run) if embedder is None else _by_meaning(text, run, embedder.embed)
    near = similar.select(_ID, pl.col("similarity").round(4))
    needs = run.capabilities.select(_ID, "rank", "label", "mentions").join(near, on=_ID)
    return needs.sort("similarity", "rank", descending=[True, False])


def named(run: PublishedRun, name: str) -> str:
    """Return the identifier of the capability that a person names, as `find_capability` does."""
    try:
        return str(find_capability(run.capabilities, name)[_ID].item())
    except NotFoundError as error:
        raise NotFoundError(error.message, hint=proposed(run, name)) from error


def proposed(run: PublishedRun, name: str) -> Hint:
    """Return a hint with the needs nearest to a name, or else with one that is spelt like it."""
    labels, shares = run.capabilities["label"].to_list(), dict[str, str]()
    with suppress(VocabgapError):  # the model has no vector, or is not here any more
        for label, share in nearest_needs(name, run).select("label", "similarity").iter_rows():
            shares[label] = f" ({share:.2f})"
    near = list(dict.fromkeys([*shares, *alike(name, labels, 1)]))[:PROPOSED]
    needs = ", ".join(f"'{excerpt(label)}'{shares.get(label, '')}" for label in near)
    needs = f"nearest needs: {needs}" if needs else some_of([f"'{label}'" for label in labels])
    narrowed = f"the run was narrowed to {run.manifest.narrowed_to}; " if run.manifest.narrowed_to else ""
    return Hint(f"{needs}; {narrowed}--run chooses another run", (), for_tools=needs)


def _by_words(text: str, run: PublishedRun) -> pl.DataFrame:
    """Return the share of the words of a text that a need explains, for the needs that explain most."""
    fields = pl.concat_list("missing_capability", "intent", "description").explode()
    records = read_gaps(run.folder).then(counted).collect().drop_nulls(_ID).group_by(_ID)
    entries = records.agg(fields.drop_nulls().unique().sort().str.join(". ")).rows()
    matches = EntryIndex([Entry(*entry) for entry in entries]).covering(text, top=CANDIDATES)
    rows = [(match.entry.name, match.explained) for match in matches]
    return pl.DataFrame(rows, {_ID: pl.String, "similarity": pl.Float64}, orient="row")


def _by_meaning(text: str, run: PublishedRun, embed: Callable[[Sequence[str]], Any]) -> pl.DataFrame:
    """Return the similarities of the candidates."""
    query = embed([text])[0].astype(float)

    def greatest(texts: pl.DataFrame) -> pl.DataFrame:
        cosines = (embed(column.to_list()) @ query for column in texts.drop(_ID))
        return texts.select(_ID, *map(pl.Series, texts.columns[1:], cosines)).group_by(_ID).max()

    wordings = pl.col("variants").list.eval(pl.element().struct["wording"])
    spoken = run.capabilities.select(_ID, wording=wordings).explode("wording")
    plain = [without_message(without_clutter(wording)) for wording in spoken["wording"]]  # as in a report
    ordered = greatest(spoken.select(_ID, pl.Series("wording", plain))).sort("wording", _ID)
    candidate = pl.col(_ID).is_in(ordered.tail(CANDIDATES)[_ID].implode())
    records = read_gaps(run.folder).then(counted).then(lambda part: part.filter(candidate)).collect()
    records = newest(records).group_by(_ID, maintain_order=True).head(_RECORDS)
    needs = pl.Series("wording", [need(wording) for wording in records.select(phrase()).to_series()])
    said = (pl.when(stripped(pl.col(name)) != "").then(name) for name in ("intent", "description"))
    similar = greatest(records.select(_ID, needs, *(pl.coalesce(each, needs) for each in said)))
    return similar.select(_ID, similarity=pl.mean_horizontal(pl.exclude(_ID)))
