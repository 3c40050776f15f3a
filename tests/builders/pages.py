"""Pages of several sizes, and a real browser to open them in, which is watched while it does."""

from pathlib import Path
from typing import Any

from builders.page import read


def listed(file: Path) -> list[dict[str, Any]]:
    """Reads the capabilities of a page, with names where it has positions."""
    run = read(file.read_text(encoding="utf-8")).data
    found = [dict(zip(run["columns"], row, strict=True)) for row in run["rows"]]
    for each in found:
        for column, names in (
            ("categories", run["categories"]),
            ("operations", run["operations"]),
            ("image_counts", run["images"]),
        ):
            each[column] = [names[place] for place in each[column][::2]]
    return found
