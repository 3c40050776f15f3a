"""How often a category that `--reclassify` gives is that of the agent.

Of records whose agent gave a category each is left out in turn: a tenth of the records, or all that ask for
some needs. Beside it stands the former way, which asked operations first.
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
from vocabgap.model.categories import OPERATION_CATEGORIES
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.tables import GAPS, RECORDS, phrase
from vocabgap.ranking.classifying import operations_of, reclassify, train, verdict, with_agents_categories

DEMO: Final = Path(__file__).parents[2] / "data" / "demo"
FOLDS: Final = 10


def words_first(left_out: pl.DataFrame, rest: pl.DataFrame) -> Sequence[str | None]:
    """The category of each record, as `--reclassify` gives it."""
    given = reclassify(Parts.of(left_out), corpus=Parts.of(rest)).collect()
    return given["category"].to_list()


def operations_first(left_out: pl.DataFrame, rest: pl.DataFrame) -> Sequence[str | None]:
    """As it was given before: words are asked only where operations tell nothing."""
    classifier = train(Parts.of(rest))
    table = {**operations_of(Parts.of(rest)), **OPERATION_CATEGORIES}
    given = []
    for *texts, involved in left_out.select(*PHRASE_FIELDS, "operations_involved").iter_rows():
        category, *_ = verdict((), involved, table=table)
        given.append(category or verdict(texts, (), classifier=classifier)[0])
    return given


def print_categories(roots: Sequence[Path]) -> None:
    """How many of the categories that are given are the agent's, and how many records stay without one."""
    headings = ("corpus", "left out", "way", "records", "given", "right of these", "undecided")
    print(f"| {' | '.join(headings)} |\n|{':--|' * 3}{'--:|' * 4}")
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
            for way in (operations_first, words_first):
                given: dict[int, str | None] = {}
                for fold in range(FOLDS):
                    left_out = blank.filter((turn == fold) & known)
                    rest = gaps.filter(turn != fold)
                    categories = way(left_out.select(GAPS.names), rest.select(GAPS.names))
                    given.update(zip(left_out["row"].to_list(), categories, strict=True))
                true = gaps["category"].to_list()
                decided = [row for row, category in given.items() if category is not None]
                right = sum(given[row] == true[row] for row in decided) / max(len(decided), 1)
                cells = (
                    *(
                        root.name,
                        what,
                        way.__name__.replace("_", " "),
                        f"{len(given):,}",
                        f"{len(decided):,}",
                    ),
                    *(f"{right:.3f}", f"{1 - len(decided) / max(len(given), 1):.3f}"),
                )
                print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", type=Path, nargs="*", default=[DEMO], help="gap logs with categories")
    print_categories(parser.parse_args().roots)


if __name__ == "__main__":
    main()
