"""Which capability a wording belongs to, as far as a published run or an analysis says so."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

import polars as pl

from vocabgap.analysing import Analysis
from vocabgap.errors import NotFoundError, StateError
from vocabgap.ranking import PRESENT
from vocabgap.reporting import read_run, resolve_target
from vocabgap.reporting.manifest import GROUPS_NAME, LINEAGE_NAME, read_manifest
from vocabgap.reporting.reading import read_groups, read_table
from vocabgap.schema import GROUPS, LINEAGE, LISTED, phrase
from vocabgap.text import surface

RUN_OPTION = "--run"


@dataclass(frozen=True, repr=False)
class Known:
    """The capabilities of a run.

    Attributes:
        ranked: Table `capabilities`.
        groups: Table `groups`, this run's own surfaces alone.
        relations: Table `lineage`.
        folder: Where the run is published; null for one that is not.
        now: The moment that it counts as its present; null where nothing was published.
        narrowed_to: What it was narrowed to, in words; empty for everything.
    """

    ranked: pl.DataFrame
    groups: pl.DataFrame
    relations: pl.DataFrame
    folder: Path | None = None
    now: datetime | None = None
    narrowed_to: str = ""

    @classmethod
    def of_run(cls, folder: str | Path) -> Self:
        """What a published run says.

        Raises:
            NotFoundError: There is none.
            StateError: It is damaged, or of another version.
            AccessDeniedError: It may not be read.
        """
        place = resolve_target(folder, option=RUN_OPTION)
        manifest, ranked = read_run(folder, option=RUN_OPTION)
        groups = read_groups(folder) if (place / GROUPS_NAME).exists() else _groups_of(ranked)
        known = (place / LINEAGE_NAME).exists()
        relations = read_table(place, LINEAGE_NAME, LINEAGE) if known else LINEAGE.empty()
        return cls(ranked, groups, relations, place, manifest.now, manifest.narrowed_to)

    @classmethod
    def of_analysis(cls, made: Analysis) -> Self:
        """What an analysis found."""
        groups = made.lineage.groups.filter(run=PRESENT)
        return cls(made.ranked, groups, made.lineage.relations)

    def belonging(self, records: pl.DataFrame) -> pl.DataFrame:
        """The records with `capability_id` and `capability`.

        Args:
            records: Columns of table `records`.
        """
        named = records.with_columns(phrase().alias("phrase"))
        spoken = named.select("phrase").unique().drop_nulls()
        surfaces = pl.Series("surface", [surface(text) for text in spoken["phrase"]], dtype=pl.String)
        groups = self.groups.select("surface", "capability_id", capability="label")
        by_phrase = spoken.with_columns(surfaces).join(groups, on="surface", how="left").drop("surface")
        return named.join(by_phrase, on="phrase", how="left", maintain_order="left").drop("phrase")


def known_in(out: str | Path | None, default: str) -> tuple[Known | None, str]:
    """What the run in a folder says, if there is one.

    Args:
        out: The folder that was asked for; null for the default one, which may hold none.
        default: The default one.

    Returns:
        The capabilities, and why there are none though a run is there.

    Raises:
        NotFoundError: A folder was asked for that holds no run.
        StateError: It was asked for, and is damaged or of another version.
        AccessDeniedError: It may not be read.
    """
    if out is not None:
        return Known.of_run(out), ""
    try:
        if read_manifest(resolve_target(default, option=RUN_OPTION)) is None:
            return None, ""
        return Known.of_run(default), ""
    except NotFoundError:
        return None, ""
    except StateError as error:
        return None, f"no capability is named: {error.message}"


def listed(records: pl.DataFrame, known: Known | None) -> pl.DataFrame:
    """Table `listed` of records and their column `category`."""
    if known is None:
        nothing = pl.lit(None, pl.String)
        return records.with_columns(nothing.alias("capability_id"), nothing.alias("capability")).select(
            LISTED.names
        )
    return known.belonging(records).select(LISTED.names)


def _groups_of(ranked: pl.DataFrame) -> pl.DataFrame:
    """Table `groups` as far as the wordings of the capabilities tell; other columns are null."""
    rows = {
        surface(variant["wording"]): (identifier, label)
        for identifier, label, variants in ranked.select("capability_id", "label", "variants").iter_rows()
        for variant in variants
    }
    told = [
        {"run": PRESENT, "surface": spoken, "capability_id": identifier, "label": label}
        for spoken, (identifier, label) in rows.items()
    ]
    return pl.DataFrame(told, schema=GROUPS.schema)
