"""What the demo's own page says of it is so."""

from pathlib import Path

import vocabgap as vg


def test_the_page_says_what_is_found_and_listed(demo: Path) -> None:
    page = (demo / "README.md").read_text(encoding="utf-8")
    scan = vg.scan(demo)
    vocabulary = vg.load_vocabulary(demo / "vocabulary.json")

    ranked = vg.covered(vg.rank(scan.records, vg.cluster(scan.records)), vocabulary)

    assert f"by words alone it finds {ranked.height}. With the model" in page
    assert {"star-shrinking", "keystone only fully or not at all"} < {*ranked["label"]}
    assert f"lists {len(vocabulary.entries)} existing entries" in page
    assert ranked.filter(vg.probably_covered()).height == 1
