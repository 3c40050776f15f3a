"""The heavy steps on Spark, over Spark Connect: workers read logs and keep records.

Without a server, Sail runs them: an engine with the same protocol in this process. Each step is a function
over Arrow batches that knows no engine. A row is a piece of work, or a frame (`parts`). So the results equal
those of this process, bit for bit.
"""

import errno
import os
import pickle
import re
import secrets
import signal
import sys
import threading
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import polars as pl
from msgspec import structs

from vocabgap.engines import stores
from vocabgap.engines.parts import (
    FILE,
    PART,
    ROWS,
    SharedFrame,
    SparkParts,
    closed_engine,
    collected,
    created,
    fetched,
    packed,
    portions,
    row_of,
    spread,
    stored,
    table_of,
)
from vocabgap.errors import InvalidInputError, StateError, installing, require_text, unusable
from vocabgap.files.opening import whole
from vocabgap.files.parts import MOST_BYTES, MOST_ROWS, KeptFolder, Parts, Shared, numbered, temporary_folder
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import LogsRead
from vocabgap.ingest.roots import MIRRORS, origin_of
from vocabgap.ingest.scanning import read_here
from vocabgap.model.settings import ScanSettings
from vocabgap.text import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

_LOGS_AT_ONCE: Final = 256  # at most, in a piece of work
_PIECES: Final = 4  # per parallel task, so that a slow piece holds up little
_MANY_NUMBERS: Final = 100_000  # more than any number of parallel tasks
_SENT: Final = {".py", ".toml", ".txt"}  # endings of the package's files that the steps need
_ROWS_OF_PART: Final = 1 << 13  # without a folder: the workers of Spark hold several copies of a part
_BYTES_OF_BUCKET: Final = 64 << 20  # in a folder: each bucket is a file per part
_MOST_PARTS: Final = 1 << 15  # of a piece of work
_SIZES: Final = {"part": pl.Int64, "rows": pl.Int64, "bytes": pl.Int64}
_REPAIRS: Final = {"kind": pl.String, "times": pl.Int64}
_PORT: Final = 15_002  # the default of Spark Connect
_CONNECT_SECONDS: Final = 5.0  # wait for a server
_STOP_SECONDS: Final = 2.0  # wait for a connection or a server that ends
_RETRIES: Final = 5  # of a request without an answer, some 17 seconds in all
_WORKERS_HINT: Final = (
    "its workers need vocabgap's dependencies with the same Polars, and logs and report under the same paths"
)
_STORES: Final = ("s3a", "gs", "abfss", "file")  # that reports are written to
_STORE_HINT: Final = "name a new address; the workers need the credentials in their environment"
_ADDRESS_HINT: Final = "expected sc://HOST:PORT; with a token, sc://HOST:PORT/;token=TOKEN"


class SparkEngine:
    """A session of Spark with a number of parallel tasks, and the steps that run on it.

    Attributes:
        name: Its name in `run.json`, with its version and the place of a server.
    """

    def __init__(self, session: "SparkSession", name: str, tasks: int, folder: str | None = None) -> None:
        """Use a session; with a folder of this machine, tables are kept there, not by the session."""
        self.name = name
        self._session = session
        self._pieces = _PIECES * tasks
        self._folder = folder
        self._stored: list[DataFrame] = []
        self._closed = False
        self._mirrors = KeptFolder(MIRRORS)
        self._files: dict[str, stores.StoredFile] = {}  # by their paths in mirrors
        session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")  # of rows with whole tables

    def read_logs(self, logs: list[LogFile], settings: ScanSettings) -> LogsRead:
        """Read logs as a scan in this process does; the workers must see them under the same paths.

        The records stay on the cluster.
        """
        if self._closed:
            raise closed_engine()
        at_once = min(_LOGS_AT_ONCE, -(-len(logs) // self._pieces))
        files = [self._files.get(log.path) if log.problem is None else None for log in logs]
        pieces = [*portions([0 if file is None else file.size for file in files], MOST_BYTES, at_once)]
        folder = None if self._folder is None else mkdtemp(dir=self._folder)
        pickled = [pickle.dumps((pl.__version__, logs[piece], settings, folder)) for piece in pieces]
        work = self._spread(
            {"piece": list(range(len(pickled))), "place": [-1] * len(pickled), "content": pickled}
        )
        if not any(files):
            rows = self._kept(work.mapInArrow(read_packed_logs, ROWS))
        else:
            contents = self._contents([files[piece] for piece in pieces])
            rows = self._kept(work.union(contents).groupBy("piece").applyInArrow(read_stored_logs, ROWS))
        is_part = rows["name"].isin(PART, FILE)
        tables = collected(rows.filter(~is_part))
        repairs: Counter[str] = Counter()
        for frame in tables["repairs"]:
            repairs.update(dict(frame.iter_rows()))
        records = self._table(rows.filter(is_part), pl.concat(tables["sizes"]), tables["empty"][0])
        return LogsRead(records, pl.concat(tables["rejects"]), pl.concat(tables["files"]), repairs)

    def mirror(self, address: str, settings: ScanSettings) -> Path:
        """Return a folder or file here for an address, with the names of the files there."""
        root = self._mirrored(address)
        files = stores.mirror(self._session, address, root, settings)
        self._files |= {str(path): file for path, file in files.items()}
        return root

    def reserve(self, address: str) -> Path:
        """Return a folder here for the small files of a report at an address, which must have no files."""
        if address.partition(":")[0] not in _STORES:
            expected = f"an address that begins with {' or '.join(f'{name}:' for name in _STORES)}"
            raise unusable("--out", expected, address.rpartition("@")[2])
        if problem := self._on_a_worker(lambda: stores.problem_at(address)):
            raise StateError(visible(f"--out: '{address.rpartition('@')[2]}' {problem}"), hint=_STORE_HINT)
        return self._mirrored(address)

    def publish(self, folder: Path, names: Sequence[str]) -> None:
        """Copy the files of a reserved folder to its address, the last one when all others are there."""
        address, contents = origin_of(folder), [whole(folder / name) for name in names]
        files = self.share(pl.DataFrame({"name": names, "content": contents}))

        def upload() -> None:
            for name, content in files.lazy().collect().iter_rows():
                with created(f"{address}/{name}") as file:
                    file.write(content)

        self._on_a_worker(upload)

    def _on_a_worker(self, work: Callable[[], str | None]) -> str:
        def run(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            for _ in batches:
                yield row_of(0, 0, work() or "", b"")

        return str(fetched(self._spread({"piece": [0]}).mapInArrow(run, ROWS))["name"][0])

    def _mirrored(self, address: str) -> Path:
        return Path(self._mirrors.name).resolve() / address.replace(":", "", 1)

    def _contents(self, pieces: list[list[stores.StoredFile | None]]) -> "DataFrame":
        """Return rows with the number of a piece, the place of a log there, and its content."""
        import pyarrow as pa  # noqa: PLC0415 - part of the extra

        logs = ((number, *each) for number, piece in enumerate(pieces) for each in enumerate(piece))
        wanted = [(number, place, file) for number, place, file in logs if file is not None]
        numbers, places, files = zip(*wanted, strict=True)
        if len({file.listed for file in files}) < len(files):  # Sail lists paths without their bucket
            raise StateError("two roots have files of the same path", hint="read them on a Spark server")
        table = pa.table({"piece": numbers, "place": places, "path": [file.listed for file in files]})
        read = stores.contents(self._session, [file.address for file in files]).select("path", "content")
        named = self._session.createDataFrame(table).hint("broadcast")
        return read.join(named, "path").select("piece", "place", "content")

    def share(self, frame: pl.DataFrame) -> Shared:
        """Send a frame to the workers as a file that each process reads once."""
        name = f"{secrets.token_hex(8)}.arrow"
        with TemporaryDirectory() if self._folder is None else nullcontext(self._folder) as folder:
            path = Path(folder, name)
            path.write_bytes(packed(frame))
            if self._folder is None:
                self._session.addArtifacts(str(path), file=True)
        return SharedFrame(name if self._folder is None else str(path), frame)

    def close(self) -> None:
        """Delete the records that the workers keep; refuse later calls of `read_logs`."""
        self._closed = True
        with suppress(Exception):  # the work is done, or has failed for its own reason
            for rows in self._stored:
                rows.unpersist()

    def _kept(self, rows: "DataFrame") -> "DataFrame":
        """Keep rows on the cluster, so that no later query makes them again."""
        from pyspark import StorageLevel  # noqa: PLC0415 - an extra

        if self._folder is not None:
            return spread(self._session, fetched(rows), self._pieces)
        rows = rows.repartition(self._pieces)  # a large log has many parts
        self._stored.append(rows.persist(StorageLevel.DISK_ONLY))
        return rows

    def _table(self, rows: "DataFrame", sizes: pl.DataFrame, empty: pl.DataFrame) -> Parts:
        """Return a table whose parts are rows, given their numbers and sizes, and an empty part."""
        if sizes.is_empty():
            return Parts.of(empty)
        heights = dict(sizes.sort("part").select("part", "rows").iter_rows())
        most = MOST_BYTES if self._folder is None else _BYTES_OF_BUCKET
        buckets = min(len(heights), max(self._pieces, 1 + int(sizes["bytes"].sum()) // most))
        return SparkParts(
            sources=[empty],
            kept=rows,
            folder=self._folder,
            rows=rows,
            heights=heights,
            buckets=buckets,
            share=self.share,
            tasks=self._pieces,
        )

    def _spread(self, columns: Mapping[str, list[Any]]) -> "DataFrame":
        """Spread rows over the workers; each row is a piece of work."""
        import pyarrow as pa  # noqa: PLC0415 - part of the extra

        return spread(self._session, pa.table(columns), self._pieces)


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
            f"the engine 'spark' is not installed: {error}", hint=f"install it: {installing('spark')}"
        ) from error
    try:
        with temporary_folder() as folder, _sail() if remote is None else _server(remote) as session:
            if where is None:
                engine = SparkEngine(session, f"sail {session.version}", os.cpu_count() or 1, folder)
            else:
                _send_package(session)
                engine = SparkEngine(session, f"spark {session.version} at {where}", _parallel_tasks(session))
            with closing(engine):
                yield engine
    except PySparkException as error:
        line = _error_line(str(error))
        is_full = any(os.strerror(code) in line for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
        hint = "free some space there, and repeat the command" if is_full else _WORKERS_HINT
        raise StateError(f"{where or 'the engine'} failed: {line}", hint=hint) from error


def read_packed_logs(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Read the logs of each row; yield rows of `ROWS` with the parts of the records and with small tables."""
    for batch in batches:
        for piece, pickled in zip(batch["piece"].to_pylist(), batch["content"].to_pylist(), strict=True):
            yield from _read_piece(piece, *_unpickled(pickled))


def read_stored_logs(rows: "pa.Table") -> "pa.Table":
    """Read the logs of a piece, as `read_packed_logs` does, with the contents of stored ones in more rows."""
    contents = dict(zip(rows["place"].to_pylist(), rows["content"].to_pylist(), strict=True))
    logs, settings, folder = _unpickled(contents.pop(-1))
    with temporary_folder() as copies:
        for place, content in contents.items():
            Path(copies, str(place)).write_bytes(content)
        logs = [
            structs.replace(log, path=f"{copies}/{place}") if origin_of(Path(log.path)) else log
            for place, log in enumerate(logs)
        ]
        return table_of(_read_piece(rows["piece"][0].as_py(), logs, settings, folder))


def _unpickled(piece: bytes) -> tuple[list[LogFile], ScanSettings, str | None]:
    """Return what `_read_piece` needs. Workers compare hashes, which depend on the version of Polars."""
    version, logs, settings, folder = pickle.loads(piece)  # noqa: S301 - the driver pickled it
    if version != pl.__version__:
        raise StateError(
            f"a worker has Polars {pl.__version__}, and the driver {version}", hint=_WORKERS_HINT
        )
    return logs, settings, folder


def _read_piece(
    piece: int, logs: list[LogFile], settings: ScanSettings, folder: str | None
) -> "Iterator[pa.RecordBatch]":
    read = read_here(logs, settings)
    sizes: list[tuple[int, int, float]] = []
    first = piece * _MOST_PARTS
    for frame in read.records.frames():
        for rows in frame.iter_slices(_ROWS_OF_PART if folder is None else MOST_ROWS):
            number = first + len(sizes)
            part = numbered(rows, number)
            sizes.append((number, len(part), part.estimated_size()))
            yield stored(part, number, folder)
    tables = {
        "sizes": pl.DataFrame(sizes, schema=_SIZES, orient="row"),
        "empty": frame.clear(),
        "rejects": read.rejects,
        "files": read.files,
        "repairs": pl.DataFrame(list(read.repairs.items()), schema=_REPAIRS, orient="row"),
    }
    yield from (row_of(first, 0, name, table) for name, table in tables.items())


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
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(package.rglob("*")):
                if path.suffix in _SENT and path.is_file():
                    file.write(path, path.relative_to(package.parent))
        session.addArtifact(str(archive), pyfile=True)


def _error_line(text: str) -> str:
    """Return the last error of a worker's traceback, or of the text of a failed request."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    matches = (
        re.match(r"([\w.]+(?:Error|Exception): .*)|details = \"(.*)\"", line) for line in reversed(lines)
    )
    line = next((match[1] or match[2] for match in matches if match), lines[0])
    return visible(re.sub(r"\Avocabgap\.errors\.\w+: ", "", line))


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
            _end(session.client.close)
    finally:
        _end(server.stop)


def _keep_ctrl_c() -> None:
    """Take Ctrl-C back from Sail, which would only end its server."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


def _end(stop: Callable[[], object]) -> None:
    """Close a connection or a server. It may wait for work that was interrupted, so do not wait for it long.

    Ignore its errors: the work is done, or has failed for its own reason.
    """

    def quietly() -> None:
        with suppress(Exception):
            stop()

    ending = threading.Thread(target=quietly, daemon=True)
    ending.start()
    ending.join(_STOP_SECONDS)


@contextmanager
def _server(remote: str) -> Iterator["SparkSession"]:
    _require_server(remote)
    session = _session(remote)
    try:
        yield session
    finally:
        _end(session.stop)


def _place(remote: str) -> str:
    """Return HOST:PORT of an address. It may hold a token, so no message shows it whole."""
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
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _require_server(remote: str) -> None:
    """Check that a server answers: the client would retry for a minute."""
    import grpc  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    channel = _builder(remote).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_CONNECT_SECONDS)
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
