"""What the ranking gives: one row a capability, with its evidence."""

from typing import Final

import polars as pl

from vocabgap.schema.logs import RECORDS
from vocabgap.schema.table import NAMES, UTC_MICROSECONDS, Column, Table

_TALLY: Final = pl.List(pl.Struct({"name": pl.String, "mentions": pl.Int64}))
_VARIANTS: Final = pl.List(pl.Struct({"wording": pl.String, "mentions": pl.Int64, "similarity": pl.Float64}))
_COMBINATIONS: Final = pl.List(pl.Struct({"operations": pl.List(pl.String), "mentions": pl.Int64}))
_WORKAROUNDS: Final = pl.List(pl.Struct({"workaround": pl.String, "mentions": pl.Int64}))
_ASKERS: Final = pl.List(pl.Struct({"tenant_id": pl.String, "repo_slug": pl.String, "mentions": pl.Int64}))
# `explained` is how far the words of the need and of the entry's name explain each other, 0 to 1; the score,
# which orders the entries, holds shared operations, too; `terms` are the words and operations that matched.
_COVERS: Final = pl.List(
    pl.Struct(
        {"entry": pl.String, "pack": pl.String, "score": pl.Float64, "explained": pl.Float64, "terms": NAMES}
    )
)
EXAMPLE_FIELDS: Final = (
    "wording", "timestamp", "image_id", "session_id", "snapshot_hash", "description", "intent", "workaround",
    "satisfaction", "notes", "tenant_id", "repo_slug", "source_path", "line",
)  # fmt: skip

CAPABILITIES: Final = Table(
    "capabilities",
    "one missing capability, ranked",
    (
        Column("rank", pl.Int64, "place in the ranking, counted from 1"),
        Column("capability_id", pl.String, "identifier, carried over from run to run"),
        Column("label", pl.String, "one of its wordings, or the name people gave it, whatever is selected"),
        Column("mentions", pl.Int64, "records that ask for it"),
        Column("images", pl.Int64, "distinct images among them"),
        Column("sessions", pl.Int64, "distinct known sessions among them"),
        Column("tenants", pl.Int64, "distinct tenants among them"),
        Column("first_seen", UTC_MICROSECONDS, "earliest timestamp, whatever is selected; null if none"),
        Column("last_seen", UTC_MICROSECONDS, "latest readable timestamp among the mentions; null if none"),
        Column("unsatisfied", pl.Int64, "records with satisfaction -1"),
        Column("neutral", pl.Int64, "records with satisfaction 0"),
        Column("satisfied", pl.Int64, "records with satisfaction 1"),
        Column("unrated", pl.Int64, "records without satisfaction"),
        Column("intent_category", pl.String, "the most frequent category; `uncategorized` comes last"),
        Column("categories", _TALLY, "all categories, aliases folded, most frequent first"),
        Column("operations", _TALLY, "operations involved, aliases folded, most frequent first"),
        Column("vocabulary_used", _TALLY, "vocabulary entries used, most frequent first"),
        Column("variants", _VARIANTS, "every wording, most frequent first, with its similarity to the label"),
        Column(
            "examples",
            pl.List(pl.Struct({name: RECORDS.schema.get(name, pl.String) for name in EXAMPLE_FIELDS})),
            "up to three records to look at, from different images where possible, newest first",
        ),
        Column("cohesion", pl.Float64, "mean cosine similarity of surfaces in pairs, 0 to 1; 1 for one"),
        Column("rank_low", pl.Int64, "best end of the 90 % interval of the rank"),
        Column("rank_high", pl.Int64, "worst end of the 90 % interval of the rank"),
        Column(
            "trend",
            pl.String,
            "`rising`, `steady`, `fading` or `new`, whatever is selected; null if unknown or too early",
        ),
        Column("priority", pl.Float64, "weighted product of `reach`, `need` and `recency`, 0 to 1"),
        Column(
            "covered_by",
            _COVERS,
            "entries of the vocabulary, the nearest first, and that which explains most; empty without one",
        ),
        Column(
            "status",
            pl.String,
            "`new`, `open`, `dismissed`, `authored` or `regressed`, whatever is selected",
        ),
        Column("tie_group", pl.Int64, "those with one number are not told apart from their first; from 1 on"),
        Column("reach", pl.Float64, "images on a logarithmic scale; 1 for the capability with the most"),
        Column("need", pl.Float64, "share unsatisfied, smoothed towards that of the corpus, 0 to 1"),
        Column("recency", pl.Float64, "1 for a last mention now, half of it for each half-life before"),
        Column("weekly", pl.List(pl.Int64), "mentions in each week, newest last, whatever is selected"),
        Column("combinations", _COMBINATIONS, "sets of operations that recur together, most frequent first"),
        Column("workarounds", _WORKAROUNDS, "what was done instead, most frequent first, five at most"),
        Column("repeats", pl.Int64, "mentions that look like verbatim repeats by automation"),
        Column("decisions", NAMES, "what people decided, as far as nobody undid it, in order"),
        Column("established", pl.Boolean, "whether it is on as many images and sessions as were asked for"),
        Column("pinned", pl.Boolean, "whether people want it first; then it is listed whatever covers it"),
        Column("outgrown", NAMES, "identifiers of decisions that hold no longer, being outgrown"),
        Column(
            "next_ahead",
            pl.Float64,
            "share of the draws in which the next one was level or ahead, 0 to 1; null where none tells",
        ),
        Column("asked_by", _ASKERS, "whose records ask for it: tenant and repository, most mentions first"),
    ),
)  # fmt: skip
