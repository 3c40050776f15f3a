"""The heavy steps on Spark, over Spark Connect: its workers read the logs and search for neighbours.

Without the address of a server it is Sail, an engine of the same protocol, within this process.
"""

import os
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from vocabgap.clustering.linkage import Neighbours
from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
from vocabgap.engines.connecting import elsewhere, loading, place, within
from vocabgap.errors import InvalidInputError, StateError, converted, require_text
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import LogsRead
from vocabgap.model.settings import ScanSettings
from vocabgap.text import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

INSTALLING: Final = "pip install 'vocabgap[spark]'"
_LOGS_AT_ONCE: Final = 256  # logs of a piece of work, at most
_PIECES: Final = 4  # pieces of work for each task at once, so that a slow one holds up little
_MANY_NUMBERS: Final = 100_000  # more than there are tasks at once
_SENT: Final = {".py", ".toml", ".txt"}  # endings of what the steps need of the package


class SparkEngine:
    """A session of Spark, and the steps that run on it.

    Attributes:
        name: What it is called in `run.json`, with its version and, of a server, its place.
        is_over: Whether its session has ended.
    """

    def __init__(self, session: "SparkSession", name: str, tasks: int) -> None:
        """A session that does so many tasks at once."""
        self.name = name
        self.is_over = False
        self._session = session
        self._pieces = _PIECES * tasks

    def read_logs(self, logs: list[LogFile], settings: ScanSettings) -> LogsRead:
        """Read logs as a scan here does; the workers have to see them under the same paths."""
        from vocabgap.engines import log_batches as steps  # noqa: PLC0415 - loads Arrow

        at_once = min(_LOGS_AT_ONCE, -(-len(logs) // self._pieces))
        batches = [logs[start : start + at_once] for start in range(0, len(logs), at_once)]
        packed = [steps.pack_logs(batch, settings) for batch in batches]
        work = self._spread({"batch": list(range(len(batches))), "logs": packed})
        return steps.unpack_read(_collected(work.mapInArrow(steps.read_packed_logs, steps.LOGS_READ)))

    def space(self, rows: Rows, chosen: IntArray, weights: FloatArray, floor: float) -> Neighbours:
        """The clusters of a round, whose neighbours the workers search for."""
        from vocabgap.engines import index_shards as steps  # noqa: PLC0415 - loads Numba

        sharding = steps.Sharding(self._pieces, self._search_packed)
        return steps.ShardedNeighbours(sharding, rows, chosen, weights, floor)

    def _search_packed(self, asked: list[bytes], floors: list[bytes], shards: list[bytes]) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - part of the extra

        from vocabgap.engines import index_shards as steps  # noqa: PLC0415 - loads Numba

        held = self._session.createDataFrame(_table({"shard": shards}))
        found = []
        for part in steps.requests(asked):
            numbers = list(range(part.start, part.stop))
            blocks = self._spread({"block": numbers, "asked": asked[part], "floors": floors[part]})
            found.append(_collected(blocks.crossJoin(held).mapInArrow(steps.search_batches, steps.FOUND)))
        return pa.concat_tables(found)

    def _spread(self, columns: Mapping[str, list[Any]]) -> "DataFrame":
        """Rows that each are a piece of work, so spread that all workers have some."""
        if self.is_over:
            raise StateError(f"the engine '{self.name}' is over", hint="use it within `with spark_engine()`")
        rows = _table(columns)
        return self._session.createDataFrame(rows).repartition(max(1, min(rows.num_rows, self._pieces)))


@contextmanager
def spark_engine(remote: str | None = None, conf: Mapping[str, str] | None = None) -> Iterator[SparkEngine]:
    """An engine for as long as it is needed.

    Args:
        remote: Address of a Spark Connect server, `sc://HOST:PORT`; Sail in this process by default.
        conf: Settings of the session.

    Raises:
        InvalidInputError: The extra is not installed, or an argument cannot be used.
        StateError: Nothing answers there, or what was sent there failed.
    """
    if remote is not None:
        require_text("remote", remote)
    where = None if remote is None else place(remote)
    conf = converted({} if conf is None else conf, dict[str, str], "conf")
    try:
        with loading():
            from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra

            if remote is None:
                import pysail.spark  # noqa: F401, PLC0415
    except ImportError as error:
        raise InvalidInputError(
            f"the engine 'spark' is not installed: {error}", hint=f"install it: {INSTALLING}"
        ) from error
    engine = None
    try:
        with within(conf) if remote is None else elsewhere(remote, conf) as session:
            if where is None:
                engine = SparkEngine(session, f"sail {session.version}", os.cpu_count() or 1)
            else:
                _send_package(session)
                name = f"spark {session.version} at {where}"
                engine = SparkEngine(session, name, _tasks_at_once(session))
            yield engine
    except PySparkException as error:
        raise StateError(
            f"{where or 'the engine'} failed: {_last_line(str(error))}",
            hint="its workers need Python with vocabgap's packages, and the logs under the same paths",
        ) from error
    finally:
        if engine is not None:
            engine.is_over = True


def _tasks_at_once(session: "SparkSession") -> int:
    """How many tasks the cluster does at once: Connect does not tell, but parts a range of numbers so."""
    from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415 - an extra

    parted = session.range(_MANY_NUMBERS).select(spark_partition_id()).distinct()
    return max(1, parted.count())


def _send_package(session: "SparkSession") -> None:
    """Give the workers this very version of vocabgap; what it depends on they have to have."""
    with TemporaryDirectory() as folder:
        archive = Path(folder, "vocabgap.zip")
        package = Path(str(resources.files("vocabgap")))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(package.rglob("*")):
                if path.suffix in _SENT and path.is_file():
                    packed.write(path, path.relative_to(package.parent))
        session.addArtifact(str(archive), pyfile=True)


def _table(columns: Mapping[str, list[Any]]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - part of the extra

    return pa.table(columns)


def _collected(frame: "DataFrame") -> "pa.Table":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.toArrow()


def _last_line(text: str) -> str:
    """Of a traceback of a worker, or of a failed request, what it says."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = (re.match(r"([\w.]+(?:Error|Exception): .*)|details = \"(.*)\"", line) for line in lines)
    return visible(next((found[1] or found[2] for found in told if found), lines[0]))
