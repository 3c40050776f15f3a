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
import shutil
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, urlsplit

import polars as pl
from msgspec import structs

from vocabgap.errors import (
    InvalidInputError,
    NotFoundError,
    StateError,
    full_address,
    installing,
    require_text,
)
from vocabgap.extensions import reader_of
from vocabgap.files.parts import KeptFolder, Parts, temporary_folder, write_part
from vocabgap.files.refusals import refusing
from vocabgap.ingest.discovery import LogFile, undecided
from vocabgap.ingest.lines import LogsRead
from vocabgap.ingest.roots import MIRRORS, origin_of
from vocabgap.ingest.scanning import read_here
from vocabgap.model.settings import ScanSettings
from vocabgap.text import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
_RESULT: Final = "piece long, name string, parts long, repairs string"
"""Columns of a piece of work that is done, as Spark names them."""
_CONNECT_SECONDS: Final = 5.0  # wait for a server
_WORKERS_HINT: Final = (
    "its workers need vocabgap's dependencies with the same Polars, and logs and report under the same paths"
)
_STORE_HINT: Final = (
    "check the address, and the credentials in the environment of this machine and of the workers"
)
_ADDRESS_HINT: Final = "expected sc://HOST:PORT; with a token, sc://HOST:PORT/;token=TOKEN"


class SparkEngine:
    """A session of Spark whose workers read logs.

    Attributes:
        name: Its name in `run.json`, with its version and the place of a server.
    """

    def __init__(self, session: "SparkSession", name: str, tasks: int) -> None:
        """Use a session with a number of parallel tasks."""
        self.name = name
        self._session: Any = session
        self._pieces = 4 * tasks  # so that a slow piece holds up little
        self._mirrors = KeptFolder(MIRRORS)
        self._addresses: dict[str, str] = {}  # by their paths in mirrors

    def read_logs(self, logs: list[LogFile], settings: ScanSettings, near: Path | None = None) -> LogsRead:
        """Read logs as a scan in this process does; the workers must see them under the same paths.

        The workers write the tables to a temporary folder beside `near`, which they share with this machine.
        If `near` is the local folder of an address, they write to the address, and the tables come here.
        """
        if self._session.is_stopped:
            hint = "use it inside the block of `with vocabgap.spark_engine()`"
            raise StateError("the engine is closed", hint=hint)
        address = "" if near is None else origin_of(near)
        beside = None if near is None or address else next(filter(Path.is_dir, near.parents))
        kept = KeptFolder(".vocabgap-parts-", beside)
        place = f"{address}/{Path(kept.name).name}" if address else kept.name
        logs = [structs.replace(log, path=self._addresses.get(log.path, log.path)) for log in logs]
        size = min(256, -(-len(logs) // self._pieces))
        pieces = [logs[first : first + size] for first in range(0, len(logs), size)]
        work = [pickle.dumps((pl.__version__, piece, settings, place)) for piece in pieces]
        try:
            with _fetching(place, kept.name) if address else nullcontext():
                results = sorted(self._results(work), key=lambda result: int(result["piece"]))
        except BaseException:
            kept.remove()
            raise
        names = [Path(kept.name, result["name"]) for result in results]
        parts = [
            Path(kept.name, f"{result['name']}.{part}")
            for result in results
            for part in range(result["parts"])
        ]
        rejects = pl.read_parquet([f"{name}.rejects" for name in names])
        files = pl.read_parquet([f"{name}.files" for name in names])
        repairs = sum((Counter(json.loads(result["repairs"])) for result in results), Counter[str]())
        return LogsRead(Parts(parts, kept), rejects, files, repairs)

    def mirror(self, address: str, settings: ScanSettings) -> Path:
        """Return a folder or file here for an address, with the names of the files there."""
        root = self._mirrored(address)
        self._addresses |= _mirror_names(address, root, settings)
        return root

    def reserve(self, address: str) -> Path:
        """Return a folder here for the report at an address, which must have no files."""
        with _reaching("--out:", address):
            if _files_at(address):
                raise StateError(f"--out: '{address}' has files already", hint="name a new address")
        return self._mirrored(address)

    def publish(self, folder: Path, names: Sequence[str]) -> None:
        """Copy the files of a reserved folder to its address, the last one when all others are there."""
        address = origin_of(folder)
        with _reaching("--out:", address):
            for name in names:
                _copy(folder / name, f"{address}/{name}")

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
            yield SparkEngine(session, name, tasks)
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
            yield pa.RecordBatch.from_pylist([_read_piece(row["piece"], logs, settings, place)])


def _read_piece(piece: int, logs: list[LogFile], settings: ScanSettings, place: str) -> dict[str, int | str]:
    """Read logs, and write their tables to a folder or an address; return a row of `_RESULT`."""
    name = f"{piece}-{secrets.token_hex(4)}"
    with temporary_folder() as copies, temporary_folder() as written:
        folder = written if full_address(place) else place
        for number, log in enumerate(logs):
            if full_address(log.path):
                _copy(log.path, f"{copies}/{number}")
                logs[number] = structs.replace(log, path=f"{copies}/{number}")
        read, parts = read_here(logs, settings), 0
        for parts, frame in enumerate(read.records.frames(), 1):
            write_part(frame, Path(folder, f"{name}.{parts - 1}"))
        write_part(read.rejects, Path(folder, f"{name}.rejects"))
        write_part(read.files, Path(folder, f"{name}.files"))
        if full_address(place):
            _copy(written, place)
    return {"piece": piece, "name": name, "parts": parts, "repairs": json.dumps(read.repairs)}


def _parallel_tasks(session: "SparkSession") -> int:
    """Count the parallel tasks of a cluster: Connect splits a range of numbers into one part for each."""
    from pyspark.sql.functions import spark_partition_id  # noqa: PLC0415 - an extra

    more_than_tasks = 100_000
    return max(1, session.range(more_than_tasks).select(spark_partition_id()).distinct().count())


def _send_package(session: "SparkSession") -> None:
    """Send the workers this version of vocabgap; they must have its dependencies."""
    with TemporaryDirectory() as folder:
        package = Path(str(resources.files("vocabgap")))
        archive = shutil.make_archive(f"{folder}/vocabgap", "zip", package.parent, package.name)
        session.addArtifact(archive, pyfile=True)


def _error_line(text: str) -> str:
    """Return the last error of a worker's traceback, or of the text of a failed request."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    matches = (
        re.match(r"([\w.]+(?:Error|Exception): .*)|details = \"(.*)\"", line) for line in reversed(lines)
    )
    line = next((match[1] or match[2] for match in matches if match), lines[0])
    return visible(re.sub(r"\Avocabgap\.errors\.\w+: ", "", line))


@contextmanager
def _sail() -> Iterator[Any]:
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
    ending.join(2.0)


@contextmanager
def _server(remote: str) -> Iterator[Any]:
    session = _session(remote)
    try:
        yield session
    finally:
        _end(session.stop)


def _place(remote: str) -> str:
    """Return HOST:PORT of an address. It may hold a token, so no message shows it whole."""
    require_text("remote", remote)
    try:
        address = urlsplit(remote)
        host, port = address.hostname, 15_002 if address.port is None else address.port
    except ValueError:
        host, port = None, 0
    if not remote.startswith("sc://") or re.search(r"\s", remote) or not host:
        shown = re.split(r"(?<![:/])[/;?]", remote)[0]
        raise InvalidInputError(
            f"'{visible(shown)}' is not the address of a Spark Connect server", hint=_ADDRESS_HINT
        )
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _session(address: str, options: list[tuple[str, int]] | None = None) -> Any:  # noqa: ANN401
    """Return a session of a server that answers: the client would retry for a minute."""
    with _loading():
        import grpc  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
        from pyspark.errors import PySparkException  # noqa: PLC0415
        from pyspark.sql.connect.client.core import DefaultChannelBuilder  # noqa: PLC0415
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
        from pyspark.sql.connect.session import SparkSession as Session  # noqa: PLC0415

    try:
        builder = DefaultChannelBuilder(address, options)
    except PySparkException as error:
        message = f"in the address of '{_place(address)}', the part after the port is not valid"
        raise InvalidInputError(message, hint=_ADDRESS_HINT) from error
    channel = builder.toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_CONNECT_SECONDS)
    except grpc.FutureTimeoutError as error:
        raise StateError(
            f"no Spark Connect server answers at '{_place(address)}', or not with this encryption",
            hint="start one (`vocabgap manual scale`), or leave out --remote for an engine in this process;"
            " a token or use_ssl=true needs TLS",
        ) from error
    finally:
        channel.close()
    with _loading():
        session = Session(connection=builder)
    session.client.set_retry_policies([DefaultPolicy(max_retries=5)])  # some 17 seconds in all
    return session


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


# Files in object stores, reached with pyarrow and the credentials in the environment of each machine.


def _store_at(address: str | Path) -> tuple[Any, str]:
    """Return the file system of an address or a local path, and the path there."""
    from pyarrow.fs import FileSystem  # noqa: PLC0415 - part of the extra

    uri = quote(str(address).replace("s3a:", "s3:", 1), safe=":/@") if full_address(address) else str(address)
    store, path = FileSystem.from_uri(uri)
    return store, path


def _copy(source: str | Path, target: str | Path) -> None:
    """Copy a file, or the files of a folder, to an address or a local path."""
    from pyarrow.fs import copy_files  # noqa: PLC0415 - part of the extra

    (from_store, from_path), (to_store, to_path) = _store_at(source), _store_at(target)
    if to_store.type_name == "local":
        to_store.create_dir(to_path.rpartition("/")[0])
    copy_files(from_path, to_path, source_filesystem=from_store, destination_filesystem=to_store)


def _files_at(address: str) -> list[str]:
    """Return the addresses of a file, or of all files below an address."""
    from pyarrow.fs import FileSelector, FileType  # noqa: PLC0415 - part of the extra

    store, base = _store_at(address)
    only = store.get_file_info(base)
    below = FileSelector(base, allow_not_found=True, recursive=True)
    entries = [only] if only.type == FileType.File else store.get_file_info(below)
    return [address + entry.path.removeprefix(base) for entry in entries if entry.type == FileType.File]


def _mirror_names(root: str, folder: Path, settings: ScanSettings) -> dict[str, str]:
    """Mirror the names at or below an address in a folder; return the addresses by their local paths.

    So logs are found as in any other folder. Only files whose content decides how they are read come here.
    """
    with _reaching("root", root), refusing("the names in an object store cannot be mirrored"):
        inside = [address for address in _files_at(root) if "/../" not in f"{address}/"]
        files = {Path(f"{folder}{address.removeprefix(root)}"): address for address in inside}
        if not files:
            raise NotFoundError(f"root '{root}' does not exist, or has no files", hint=_STORE_HINT)
        for path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for path in undecided(folder, files, settings):
            _copy(files[path], path)
    if reader_of(folder) is not None:
        raise InvalidInputError(f"root '{root}' is a shared corpus", hint="name a local copy")
    return {str(path): address for path, address in files.items()}


@contextmanager
def _fetching(address: str, folder: str) -> Iterator[None]:
    """Create a temporary folder in an object store for a block; then copy its files here, and remove it."""
    with _reaching("", address):
        store, path = _store_at(address)
        store.create_dir(path)
        try:
            yield
            _copy(address, folder)
        finally:
            store.delete_dir(path)


@contextmanager
def _reaching(name: str, address: str) -> Iterator[None]:
    """Raise an error if an address is unsafe, or its object store cannot be reached."""
    from pyarrow import ArrowException  # noqa: PLC0415 - part of the extra

    shown = f"{name} '{visible(address.rpartition('@')[2])}'".strip()
    if re.search(r"/\.\.(/|\Z)|://[^/]*:[^/]*@", address):  # ways out of the folder, and passwords
        raise InvalidInputError(f"{shown}: expected an address without `..` and a password", hint=_STORE_HINT)
    try:
        yield
    except (OSError, ArrowException) as error:
        line = visible(str(error).strip().partition("\n")[0])
        raise StateError(f"{shown} cannot be reached: {line}", hint=_STORE_HINT) from error
