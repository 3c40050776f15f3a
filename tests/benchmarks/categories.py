"""How often a category that `--reclassify` gives is that of the agent.

Of records whose agent gave a category each is left out in turn: a tenth of the records, or all that ask for
some needs.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from vocabgap.clustering.grouping import cluster
from vocabgap.files.parts import Parts
from vocabgap.ingest.scanning import scan
from vocabgap.model.tables import GAPS, RECORDS, phrase
from vocabgap.ranking.classifying import reclassify, with_agents_categories

DEMO: Final = Path(__file__).parents[2] / "data" / "demo"
FOLDS: Final = 10


def given_to(left_out: pl.DataFrame, rest: pl.DataFrame) -> Sequence[str | None]:
    """The category of each record, as `--reclassify` gives it."""
    given = reclassify(Parts.of(left_out), corpus=Parts.of(rest)).collect()
    return given["category"].to_list()


def print_categories(roots: Sequence[Path]) -> None:
    """How many of the categories that are given are the agent's, and how many records stay without one."""
    headings = ("corpus", "left out", "records", "given", "right of these", "undecided")
    print(f"| {' | '.join(headings)} |\n|{':--|' * 2}{'--:|' * 4}")
    rng = np.random.default_rng(0)
    for root in roots:
        gaps = with_agents_categories(Parts.of(scan(root).gaps.filter("counted"))).collect()
        found = cluster(gaps.select(RECORDS.names), embedder="none").wordings
        needs = gaps.select(phrase().alias("wording")).join(
            found, on="wording", how="left", maintain_order="left"
        )
        of_records = rng.permutation(gaps.height) % FOLDS
        of_needs = rng.permutation(found["cluster"].n_unique()) % FOLDS
        turns = {"records": of_records, "needs": of_needs[needs["cluster"].to_numpy()]}
        known = (gaps["category_by"] == "agent").fill_null(value=False).to_numpy()
        blank = gaps.with_columns(
            pl.lit("").alias("intent_category"),
            pl.lit(None, pl.String).alias("category"),
            pl.lit(None, pl.String).alias("category_by"),
        )
        for what, turn in turns.items():
            given: dict[int, str | None] = {}
            for fold in range(FOLDS):
                left_out = blank.filter((turn == fold) & known)
                categories = given_to(
                    left_out.select(GAPS.names), gaps.filter(turn != fold).select(GAPS.names)
                )
                given.update(zip(left_out["row"].to_list(), categories, strict=True))
            true = gaps["category"].to_list()
            decided = [row for row, category in given.items() if category is not None]
            right = sum(given[row] == true[row] for row in decided) / max(len(decided), 1)
            undecided = 1 - len(decided) / max(len(given), 1)
            cells = (f"{len(given):,}", f"{len(decided):,}", f"{right:.3f}", f"{undecided:.3f}")
            print(f"| {' | '.join((root.name, what, *cells))} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "roots", type=Path, nargs="*", default=[DEMO], help="gap logs with categories"
    )
    print_categories(parser.parse_args().roots)


if __name__ == "__main__":
    main()
