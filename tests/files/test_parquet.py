import errno
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from vocabgap.files.atomic import write_parquet

FULL = Path("/dev/full")
FRAME = pl.DataFrame({"need": ["sky mask", None]})


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    write_parquet(FRAME, tmp_path / "gaps.parquet", compression_level=1)

    assert_frame_equal(pl.read_parquet(tmp_path / "gaps.parquet"), FRAME)


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is full")
def test_a_full_disk_is_told_as_the_system_tells_it() -> None:
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_parquet(FRAME, FULL)

    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(FULL))
