"""Files that a hurried choice would read slowly, or as what they are not."""

import time
from pathlib import Path

from vocabgap.ingest.scanning import scan


def test_rows_with_open_quotes_are_read_again_only_so_often(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text('description,tool\n"two\nlines",a\n' + 'x","y\n' * 8_000 + "last,b\n")

    begun = time.process_time()
    found = scan(table)

    assert found.gaps["description"].to_list() == ["two\nlines", "last"]
    assert found.rejects.height == 8_000
    assert time.process_time() - begun < 12  # 25 s if each row reads the rest
