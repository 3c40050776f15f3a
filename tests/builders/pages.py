"""Pages of several sizes, and a real browser to open them in, which is watched while it does."""

import json
import re
from pathlib import Path
from typing import Any

_DATA = re.compile(r'<script type="application/json" id="run-data">(.*?)</script>', re.DOTALL)


def listed(file: Path) -> list[dict[str, Any]]:
    """Reads the capabilities of a page, with names where it has positions."""
    block = _DATA.search(file.read_text(encoding="utf-8"))
    assert block is not None
    run = json.loads(block[1])
    found = [dict(zip(run["columns"], row, strict=True)) for row in run["rows"]]
    for each in found:
        each["category"] = run["categories"][each["category"]]
        for column, names in (
            ("categories", run["categories"]),
            ("operations", run["operations"]),
            ("image_counts", run["images"]),
        ):
            each[column] = [names[place] for place in each[column][::2]]
    return found
