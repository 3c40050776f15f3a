"""What is known of capabilities beyond one run: what people decided, and what they were before."""

from typing import Final

import polars as pl

from vocabgap.schema.table import NAMES, UTC_MICROSECONDS, Column, Table

VERDICTS: Final = Table(
    "verdicts",
    "one surface that a decision is about",
    (
        Column("surface", pl.String, "the surface; the decision is about the group that holds it"),
        Column("decision_id", pl.String, "the decision"),
        Column("time", UTC_MICROSECONDS, "when it was decided"),
        Column("action", pl.String, "what was decided, see `vocabgap.decisions.Action`"),
        Column("label", pl.String, "the name that a `rename` gives; null otherwise"),
        Column("told", pl.String, "the decision in words"),
        Column("about", NAMES, "the surfaces of the capability as far as the decision keeps them"),
    ),
)

IDENTITIES: Final = Table(
    "identities",
    "one group of surfaces, with what is known of it from earlier runs and decisions",
    (
        Column("cluster", pl.Int64, "number of the cluster in this run, counted from 0"),
        Column("capability_id", pl.String, "identifier, carried over from run to run"),
        Column("label", pl.String, "the name that people gave it; null where nobody did"),
        Column("status", pl.String, "`new`, `open`, `dismissed`, `authored` or `regressed`"),
        Column("pinned", pl.Boolean, "whether people want it first"),
        Column("decisions", NAMES, "what people decided, as far as nobody undid it, in order"),
        Column("outgrown", NAMES, "identifiers of decisions that hold no longer, being outgrown"),
    ),
)

GROUPS: Final = Table(
    "groups",
    "one surface of a run: what the next run recognises the capabilities by",
    (
        Column("run", pl.String, "`present`, or `previous` for the run that this one was compared with"),
        Column("surface", pl.String, "a wording in normal form"),
        Column("mentions", pl.Int64, "records with it, whatever the report was narrowed to"),
        Column("group_id", pl.String, "the group that the clustering put it in, before any decision"),
        Column("group_surface", pl.String, "the surface of that group's label"),
        Column("capability_id", pl.String, "the capability that it belongs to, after all decisions"),
        Column("label", pl.String, "the capability's label"),
        Column("rank", pl.Int64, "the capability's rank; null where the report was narrowed to others"),
    ),
)

LINEAGE: Final = Table(
    "lineage",
    "what became of a capability since the run before, or where one comes from",
    (
        Column("relation", pl.String, "`continued`, `split`, `merged`, `new` or `gone`"),
        Column("capability_id", pl.String, "the capability in this run; null if gone"),
        Column("previous_id", pl.String, "the capability in the run before; null if new"),
        Column("shared_mentions", pl.Int64, "mentions, on the smaller side, of the surfaces in both"),
        Column("label", pl.String, "its label in this run"),
        Column("previous_label", pl.String, "the label in the run before"),
        Column("rank", pl.Int64, "its rank in this run; null where the report was narrowed to others"),
        Column("previous_rank", pl.Int64, "the rank in the run before; null where that was narrowed"),
        Column("mentions", pl.Int64, "its mentions in this run, whatever the report was narrowed to"),
        Column("previous_mentions", pl.Int64, "the same in the run before"),
    ),
)
