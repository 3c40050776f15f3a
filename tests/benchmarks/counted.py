"""Runs vocabgap, and writes what came to this process from an engine: rows of tables, and bytes.

    python tests/benchmarks/counted.py FILE report ...

Tables come packed, so their rows are counted where they are unpacked. Sail unpacks for its workers in this
process, too, but in threads of its own.
"""

import json
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
from pyspark.sql.connect.client.core import SparkConnectClient

from vocabgap.__main__ import main

came: Counter[str] = Counter()
fetch, unpack = SparkConnectClient.to_table, pl.read_ipc


def fetched(*given: Any) -> Any:  # noqa: ANN401 - as it is in the client
    """Fetch a table, and count its bytes."""
    table, *others = fetch(*given)
    came["bytes"] += table.nbytes
    return table, *others


def unpacked(*given: Any, **named: Any) -> pl.DataFrame:  # noqa: ANN401 - as it is in Polars
    """Unpack a table, and count its rows if it is for this process."""
    frame = unpack(*given, **named)
    if threading.current_thread() is threading.main_thread():
        came["rows"] += frame.height
    return frame


SparkConnectClient.to_table = fetched  # type: ignore[method-assign, assignment]
pl.read_ipc = unpacked
place = Path(sys.argv.pop(1))
try:
    main()
finally:
    place.write_text(json.dumps(came), encoding="utf-8")
