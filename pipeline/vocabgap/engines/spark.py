"""The reading of logs on Spark, over Spark Connect: workers decode logs, and write the records to files.

The files lie in a folder, or at an address, that this machine and all workers share. From then on, a report
reads them like the files of a scan in this process. So the results are equal, bit for bit. Without a server,
Sail runs the work: an engine with the same protocol in this process.
"""

import errno
import json
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import polars as pl
from msgspec import structs

from vocabgap.errors import InvalidInputError, StateError, full_address, installing, require_text, unusable
from vocabgap.files.parts import KeptFolder, Parts, temporary_folder, write_part
from vocabgap.ingest.discovery import LogFile
from vocabgap.ingest.lines import LogsRead
from vocabgap.ingest.roots import MIRRORS, origin_of
from vocabgap.ingest.scanning import read_here
from vocabgap.model.settings import ScanSettings
from vocabgap.text import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

_RESULT: Final = "piece long, name string, parts long, repairs string"
"""Columns of a piece of work that is done, as Spark names them."""
_LOGS_AT_ONCE: Final = 256  # at most, in a piece of work
_PIECES: Final = 4  # per parallel task, so that a slow piece holds up little
_PARTS: Final = ".vocabgap-parts-"
_PORT: Final = 15_002  # the default of Spark Connect
_CONNECT_SECONDS: Final = 5.0  # wait for a server
_STOP_SECONDS: Final = 2.0  # wait for a connection or a server that ends
_RETRIES: Final = 5  # of a request without an answer, some 17 seconds in all
_WORKERS_HINT: Final = (
    "its workers need vocabgap's dependencies with the same Polars, and logs and report under the same paths"
)
_STORES: Final = ("s3a", "gs", "abfss", "file")  # that reports are written to
_ADDRESS_HINT: Final = "expected sc://HOST:PORT; with a token, sc://HOST:PORT/;token=TOKEN"


class SparkEngine:
    """A session of Spark whose workers read logs.

    Attributes:
        name: Its name in `run.json`, with its version and the place of a server.
    """

    def __init__(self, session: "SparkSession", name: str, tasks: int, *, is_here: bool) -> None:
        """Use a session with a number of parallel tasks, on a server or in this process."""
        self.name = name
        self._session: Any = session
        self._pieces = _PIECES * tasks
        self._is_here = is_here
        self._mirrors = KeptFolder(MIRRORS)
        self._addresses: dict[str, str] = {}  # by their paths in mirrors

    def read_logs(self, logs: list[LogFile], settings: ScanSettings, near: Path | None = None) -> LogsRead:
        """Read logs as a scan in this process does; the workers must see them under the same paths.

        The workers write the tables to a temporary folder beside `near`, which they share with this machine.
        If that is the local folder of an address, they write to the address, and the tables come here.
        """
        if self._session.is_stopped:
            hint = "use it inside the block of `with vocabgap.spark_engine()`"
            raise StateError("the engine is closed", hint=hint)
        address = "" if near is None else origin_of(near)
        is_shared = near is not None and not address and not self._is_here
        kept = KeptFolder(_PARTS, next(filter(Path.is_dir, near.parents)) if near and is_shared else None)
        place = f"{address}/{Path(kept.name).name}" if address else kept.name
        logs = [structs.replace(log, path=self._addresses.get(log.path, log.path)) for log in logs]
        size = min(_LOGS_AT_ONCE, -(-len(logs) // self._pieces))
        pieces = [logs[first : first + size] for first in range(0, len(logs), size)]
        work = [pickle.dumps((pl.__version__, piece, settings, place)) for piece in pieces]
        with _fetching(place, Path(kept.name)) if address else nullcontext():
            results = sorted(self._results(work), key=lambda result: int(result["piece"]))
        repairs: Counter[str] = Counter()
        for result in results:
            repairs.update(json.loads(result["repairs"]))
        names = [f"{kept.name}/{result['name']}" for result in results]
        parts = [
            Path(f"{name}.{part}")
            for name, result in zip(names, results, strict=True)
            for part in range(result["parts"])
        ]
        rejects, files = (
            pl.concat([pl.read_parquet(f"{name}.{table}") for name in names])
            for table in ("rejects", "files")
        )
        return LogsRead(Parts(parts, kept), rejects, files, repairs)

    def mirror(self, address: str, settings: ScanSettings) -> Path:
        """Return a folder or file here for an address, with the names of the files there."""
        from vocabgap.engines import stores  # noqa: PLC0415 - part of the extra

        root = self._mirrored(address)
        self._addresses |= stores.mirror(address, root, settings)
        return root

    def reserve(self, address: str) -> Path:
        """Return a folder here for the report at an address, which must have no files."""
        from vocabgap.engines import stores  # noqa: PLC0415 - part of the extra

        if address.partition(":")[0] not in _STORES:
            expected = f"an address that begins with {' or '.join(f'{name}:' for name in _STORES)}"
            raise unusable("--out", expected, address.rpartition("@")[2])
        stores.require_new(address)
        return self._mirrored(address)

    def publish(self, folder: Path, names: Sequence[str]) -> None:
        """Copy the files of a reserved folder to its address, the last one when all others are there."""
        from vocabgap.engines import stores  # noqa: PLC0415 - part of the extra

        address = origin_of(folder)
        with stores.reaching(f"--out: '{address}'"):
            for name in names:
                stores.upload(folder / name, f"{address}/{name}")

    def _mirrored(self, address: str) -> Path:
        return Path(self._mirrors.name).resolve() / address.replace(":", "", 1)

    def _results(self, work: list[bytes]) -> list[dict[str, Any]]:
        """Run pieces of work on the workers; return the rows of `_RESULT`."""
        import pyarrow as pa  # noqa: PLC0415 - part of the extra

        rows = self._session.createDataFrame(pa.table({"piece": range(len(work)), "content": work}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spread = rows.repartition(min(len(work), self._pieces))
            results = spread.mapInArrow(read_packed_logs, _RESULT).toArrow()
        return cast("list[dict[str, Any]]", results.to_pylist())


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
        with _sail() if remote is None else _server(remote) as session:
            if where is None:
                name, tasks = f"sail {session.version}", os.cpu_count() or 1
            else:
                _send_package(session)
                name, tasks = f"spark {session.version} at {where}", _parallel_tasks(session)
            yield SparkEngine(session, name, tasks, is_here=where is None)
    except PySparkException as error:
        line = _error_line(str(error))
        is_full = any(os.strerror(code) in line for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
        hint = "free some space there, and repeat the command" if is_full else _WORKERS_HINT
        raise StateError(f"{where or 'the engine'} failed: {line}", hint=hint) from error


def read_packed_logs(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Read the logs of each row, write their tables to files, and yield rows of `_RESULT`.

    The files of each attempt have other names. So a task may be repeated.
    """
    import pyarrow as pa  # noqa: PLC0415 - part of the extra

    for batch in batches:
        for row in batch.to_pylist():
            version, logs, settings, place = pickle.loads(row["content"])  # noqa: S301 - the driver pickled it
            if version != pl.__version__:
                message = f"a worker has Polars {pl.__version__}, and the driver {version}"
                raise StateError(message, hint=_WORKERS_HINT)
            name = f"{row['piece']}-{secrets.token_hex(4)}"
            parts, repairs = _read_piece(logs, settings, place, name)
            result = {"piece": row["piece"], "name": name, "parts": parts, "repairs": json.dumps(repairs)}
            yield pa.RecordBatch.from_pylist([result])


def _read_piece(
    logs: list[LogFile], settings: ScanSettings, place: str, name: str
) -> tuple[int, Counter[str]]:
    """Read logs, and write their tables to a folder or an address; return the parts and the repairs."""
    with temporary_folder() as copies, temporary_folder() as written:
        folder = written if full_address(place) else place
        read = read_here([_here(log, Path(copies, str(number))) for number, log in enumerate(logs)], settings)
        parts = 0
        for parts, frame in enumerate(read.records.frames(), 1):
            write_part(frame, Path(folder, f"{name}.{parts - 1}"))
        write_part(read.rejects, Path(folder, f"{name}.rejects"))
        write_part(read.files, Path(folder, f"{name}.files"))
        if full_address(place):
            from vocabgap.engines import stores  # noqa: PLC0415 - part of the extra

            stores.upload(Path(written), place)
    return parts, read.repairs


def _here(log: LogFile, copy: Path) -> LogFile:
    """Return a log that this machine sees: a stored one becomes a copy."""
    if not full_address(log.path) or log.problem is not None or log.repeats:
        return log
    from vocabgap.engines import stores  # noqa: PLC0415 - part of the extra

    stores.download(log.path, copy)
    return structs.replace(log, path=str(copy))


@contextmanager
def _fetching(address: str, folder: Path) -> Iterator[None]:
    """Create a temporary folder in an object store for a block; then copy its files here, and remove it."""
    from vocabgap.engines import stores  # noqa: PLC0415 - part of the extra

    with stores.reaching(f"'{address}'"):
        store, path = stores.opened(address)
        store.create_dir(path)
    try:
        yield
        with stores.reaching(f"'{address}'"):
            stores.download(address, folder)
    finally:
        with suppress(OSError):
            store.delete_dir(path)


def _parallel_tasks(session: "SparkSession") -> int:
    """Count the parallel tasks of a cluster: Connect splits a range of numbers into one part for each."""
    from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415 - an extra

    more_than_tasks = 100_000
    return max(1, session.range(more_than_tasks).select(spark_partition_id()).distinct().count())


def _send_package(session: "SparkSession") -> None:
    """Send the workers this version of vocabgap; they must have its dependencies."""
    with TemporaryDirectory() as folder:
        archive = Path(folder, "vocabgap.zip")
        package = Path(str(resources.files("vocabgap")))
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(package.rglob("*")):
                if path.suffix in {".py", ".toml", ".txt"} and path.is_file():
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
