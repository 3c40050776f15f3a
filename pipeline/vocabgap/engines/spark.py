"""The heavy steps on Spark, over Spark Connect: workers read the logs and search for neighbours.

Without a server, Sail runs them: an engine with the same protocol in this process. Each step is a function
over Arrow batches that knows no engine. A row is a piece of work, or one of its tables as an Arrow file in a
binary column. So the result equals that of a scan in this process, bit for bit.
"""

import io
import os
import pickle
import re
import signal
import sys
import threading
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import polars as pl

from vocabgap.errors import InvalidInputError, StateError, require_text
from vocabgap.files.parts import ROW, Collector
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import LogsRead
from vocabgap.ingest.scanning import read_here
from vocabgap.model.settings import ScanSettings
from vocabgap.model.tables import FILES, RECORDS, REJECTS
from vocabgap.text import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

    from vocabgap.clustering.vectorizing import FloatArray, IntArray, Rows
    from vocabgap.engines.index_shards import ShardedNeighbours

INSTALLING: Final = "pip install 'vocabgap[spark]'"
LOGS_READ: Final = "batch long, part long, name string, content binary"
"""Columns of logs that were read, as Spark names them."""
_LOGS_AT_ONCE: Final = 256  # at most, in a piece of work
_PIECES: Final = 4  # per parallel task, so that a slow piece holds up little
_MANY_NUMBERS: Final = 100_000  # more than any number of parallel tasks
_SENT: Final = {".py", ".toml", ".txt"}  # endings of the package's files that the steps need
_REPAIRS: Final = {"kind": pl.String, "times": pl.Int64}
_PORT: Final = 15_002  # the default of Spark Connect
_GREETING_SECONDS: Final = 5.0  # for the first words of the protocol
_STOP_SECONDS: Final = 2.0
_RETRIES: Final = 5  # of a request without an answer, some 17 seconds in all
_ADDRESS_HINT: Final = "expected sc://HOST:PORT; with a token, sc://HOST:PORT/;token=TOKEN"


class SparkEngine:
    """A session of Spark with a number of parallel tasks, and the steps that run on it.

    Attributes:
        name: Its name in `run.json`, with its version and the place of a server.
    """

    def __init__(self, session: "SparkSession", name: str, tasks: int) -> None:
        self.name = name
        self._session = session
        self._pieces = _PIECES * tasks

    def read_logs(self, logs: list[LogFile], settings: ScanSettings) -> LogsRead:
        """Read logs as a scan in this process does; the workers must see them under the same paths."""
        at_once = min(_LOGS_AT_ONCE, -(-len(logs) // self._pieces))
        starts = range(0, len(logs), at_once)
        packed = [pickle.dumps((logs[start : start + at_once], settings)) for start in starts]
        work = self._spread({"batch": list(range(len(packed))), "logs": packed})
        return _unpacked(_collected(work.mapInArrow(read_packed_logs, LOGS_READ)))

    def space(
        self, rows: "Rows", chosen: "IntArray", weights: "FloatArray", floor: float
    ) -> "ShardedNeighbours":
        """Return the clusters of a round; the workers search for their neighbours."""
        from vocabgap.engines import index_shards as steps  # noqa: PLC0415 - loads Numba

        sharding = steps.Sharding(self._pieces, self._search_packed)
        return steps.ShardedNeighbours(sharding, rows, chosen, weights, floor)

    def _search_packed(self, asked: list[bytes], floors: list[bytes], shards: list[bytes]) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - part of the extra

        from vocabgap.engines import index_shards as steps  # noqa: PLC0415 - loads Numba

        held = self._session.createDataFrame(pa.table({"shard": shards}))
        results = []
        for part in steps.requests(asked):
            numbers = list(range(part.start, part.stop))
            blocks = self._spread({"block": numbers, "asked": asked[part], "floors": floors[part]})
            results.append(_collected(blocks.crossJoin(held).mapInArrow(steps.search_batches, steps.FOUND)))
        return pa.concat_tables(results)

    def _spread(self, columns: Mapping[str, list[Any]]) -> "DataFrame":
        """Spread rows over the workers; each row is a piece of work."""
        import pyarrow as pa  # noqa: PLC0415 - part of the extra

        rows = pa.table(columns)
        return self._session.createDataFrame(rows).repartition(max(1, min(rows.num_rows, self._pieces)))


@contextmanager
def spark_engine(remote: str | None = None) -> Iterator[SparkEngine]:
    """Open an engine for as long as the block lasts.

    Args:
        remote: Address of a Spark Connect server, `sc://HOST:PORT`; Sail in this process by default.

    Raises:
        InvalidInputError: The extra is not installed, or an argument cannot be used.
        StateError: No server answers, or the work failed there.
    """
    if remote is not None:
        require_text("remote", remote)
    where = None if remote is None else _place(remote)
    try:
        with _loading():
            from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra

            if remote is None:
                import pysail.spark  # noqa: F401, PLC0415
    except ImportError as error:
        raise InvalidInputError(
            f"the engine 'spark' is not installed: {error}", hint=f"install it: {INSTALLING}"
        ) from error
    try:
        with _sail() if remote is None else _server(remote) as session:
            if where is None:
                yield SparkEngine(session, f"sail {session.version}", os.cpu_count() or 1)
            else:
                _send_package(session)
                yield SparkEngine(session, f"spark {session.version} at {where}", _parallel_tasks(session))
    except PySparkException as error:
        raise StateError(
            f"{where or 'the engine'} failed: {_error_line(str(error))}",
            hint="its workers need Python with vocabgap's dependencies, and the logs under the same paths",
        ) from error


def read_packed_logs(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Read the logs of each row; yield rows of `LOGS_READ`, one per table, or per part of a large one."""
    import pyarrow as pa  # noqa: PLC0415 - part of the extra

    for batch in batches:
        for number, packed in zip(batch["batch"].to_pylist(), batch["logs"].to_pylist(), strict=True):
            read = read_here(*pickle.loads(packed))  # noqa: S301 - the driver packed it
            repairs = pl.DataFrame(list(read.repairs.items()), schema=_REPAIRS, orient="row")
            tables = [("rejects", read.rejects), ("files", read.files), ("repairs", repairs)]
            tables += [("records", frame) for frame in read.records.frames()]
            for part, (name, frame) in enumerate(tables):
                file = io.BytesIO()
                frame.write_ipc(file, compression="lz4")
                row = {"batch": [number], "part": [part], "name": [name], "content": [file.getvalue()]}
                yield pa.RecordBatch.from_pydict(row)


def _unpacked(rows: "pa.Table") -> LogsRead:
    tables: dict[str, list[pl.DataFrame]] = {"records": [], "rejects": [], "files": [], "repairs": []}
    # Sorted as numbers: Arrow would join the contents to sort them, and cannot beyond 2 GiB.
    numbers = zip(rows["batch"].to_pylist(), rows["part"].to_pylist(), strict=True)
    for _, place in sorted((number, place) for place, number in enumerate(numbers)):
        tables[rows["name"][place].as_py()].append(pl.read_ipc(rows["content"][place].as_py()))
    repairs: Counter[str] = Counter()
    for frame in tables["repairs"]:
        repairs.update(dict(frame.iter_rows()))
    collected = Collector()
    for frame in tables["records"]:
        collected.add(frame.drop(ROW))
    return LogsRead(
        collected.parts(RECORDS.empty()),
        pl.concat([REJECTS.empty(), *tables["rejects"]]),
        pl.concat([FILES.empty(), *tables["files"]]),
        repairs,
    )


def _collected(frame: "DataFrame") -> "pa.Table":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frame.toArrow()


def _parallel_tasks(session: "SparkSession") -> int:
    """Count the parallel tasks of a cluster: Connect splits a range of numbers into one part for each."""
    from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415 - an extra

    parts = session.range(_MANY_NUMBERS).select(spark_partition_id()).distinct()
    return max(1, parts.count())


def _send_package(session: "SparkSession") -> None:
    """Send the workers this version of vocabgap; they must have its dependencies."""
    with TemporaryDirectory() as folder:
        archive = Path(folder, "vocabgap.zip")
        package = Path(str(resources.files("vocabgap")))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(package.rglob("*")):
                if path.suffix in _SENT and path.is_file():
                    packed.write(path, path.relative_to(package.parent))
        session.addArtifact(str(archive), pyfile=True)


def _error_line(text: str) -> str:
    """Return the line with the error, in a worker's traceback or the text of a failed request."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    matches = (re.match(r"([\w.]+(?:Error|Exception): .*)|details = \"(.*)\"", line) for line in lines)
    return visible(next((match[1] or match[2] for match in matches if match), lines[0]))


@contextmanager
def _sail() -> Iterator["SparkSession"]:
    from pysail.spark import SparkConnectServer  # noqa: PLC0415 - an extra

    os.environ.setdefault("RUST_LOG", "error")  # else it logs every step
    try:
        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
    except RuntimeError as error:
        raise InvalidInputError(
            f"Sail cannot be started: {visible(str(error))}", hint="unset the variables SAIL_..."
        ) from error
    try:
        _keep_ctrl_c()
        # A proxy would see the logs, and cannot reach this process.
        options = [("grpc.enable_http_proxy", 0)]
        session = _session("sc://{}:{}".format(*server.listening_address), options)
        _keep_ctrl_c()
        try:
            yield session
        finally:
            session.client.close()
    finally:
        # `stop` waits for all open connections.
        stopping = threading.Thread(target=server.stop, daemon=True)
        stopping.start()
        stopping.join(_STOP_SECONDS)


def _keep_ctrl_c() -> None:
    """Take Ctrl-C back from Sail, which would only end its server."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


@contextmanager
def _server(remote: str) -> Iterator["SparkSession"]:
    _require_greeting(remote)
    session = _session(remote)
    try:
        yield session
    finally:
        with suppress(Exception):  # the work is done, or has failed for its own reason
            session.stop()


def _host_and_port(remote: str) -> tuple[str, int]:
    """Return the host and port of an address. It may hold a token, so no message shows it whole."""
    try:
        address = urlsplit(remote)
        host, port = address.hostname, _PORT if address.port is None else address.port
    except ValueError:
        host, port = None, 0
    if not remote.startswith("sc://") or re.search(r"\s", remote) or not host:
        shown = re.split(r"(?<![:/])[/;?]", remote)[0]
        raise InvalidInputError(
            f"'{visible(shown)}' is not the address of a Spark Connect server", hint=_ADDRESS_HINT
        )
    return host, port


def _place(remote: str) -> str:
    host, port = _host_and_port(remote)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _require_greeting(remote: str) -> None:
    """Check that a server speaks the protocol: the client would retry for a minute."""
    import grpc  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    channel = _builder(remote).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_GREETING_SECONDS)
    except grpc.FutureTimeoutError as error:
        raise StateError(
            f"no Spark Connect server answers at '{_place(remote)}', or not with this encryption",
            hint="start one (`vocabgap manual scale`), or leave out --remote for an engine in this process;"
            " a token or use_ssl=true needs TLS",
        ) from error
    finally:
        channel.close()


def _builder(address: str, options: list[tuple[str, int]] | None = None) -> "DefaultChannelBuilder":
    with _loading():
        from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra
        from pyspark.sql.connect.client.core import DefaultChannelBuilder  # noqa: PLC0415

    try:
        return DefaultChannelBuilder(address, options)
    except PySparkException as error:
        message = f"in the address of '{_place(address)}', the part after the port is not valid"
        raise InvalidInputError(message, hint=_ADDRESS_HINT) from error


def _session(address: str, options: list[tuple[str, int]] | None = None) -> "SparkSession":
    builder = _builder(address, options)
    with _loading():
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
        from pyspark.sql.connect.session import SparkSession as Session  # noqa: PLC0415

        session: Any = Session(connection=builder)
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    return cast("SparkSession", session)


@contextmanager
def _loading() -> Iterator[None]:
    """Load the client without warnings; keep it from taking `python -c` for its doctests."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    main = sys.modules["__main__"]
    lacks = not hasattr(main, "__file__")
    if lacks:
        main.__file__ = os.devnull
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about untested versions
            yield
    finally:
        if lacks:
            del main.__file__
