"""A session of Spark Connect: with a server whose address is given, or with Sail within this process."""

import os
import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from vocabgap.errors import InvalidInputError, StateError
from vocabgap.text import visible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.core import DefaultChannelBuilder

_PORT: Final = 15_002  # where Spark Connect listens by default
_LONGEST_KNOCK: Final = 5.0  # seconds
_LONGEST_GREETING: Final = 10.0  # seconds, in which a server has to speak the protocol
_LONGEST_STOP: Final = 2.0  # seconds
_RETRIES: Final = 5  # of a request that a server did not answer, some 17 seconds in all
_ELSEWHERE: Final = ("spark.remote", "spark.master")  # settings that would name another server
_ADDRESS_HINT: Final = (
    "expected sc://HOST:PORT, and what the server asks for, as in sc://HOST:PORT/;token=TOKEN"
)


@contextmanager
def within(conf: Mapping[str, str]) -> Iterator["SparkSession"]:
    """A session with Sail, in this process.

    Raises:
        InvalidInputError: The environment, or a setting, cannot be used.
    """
    from pysail.spark import SparkConnectServer  # noqa: PLC0415 - an extra

    os.environ.setdefault("RUST_LOG", "error")  # else it tells what it does
    try:
        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
    except RuntimeError as error:
        raise InvalidInputError(
            f"Sail cannot be started: {visible(str(error))}", hint="unset the variables SAIL_..."
        ) from error
    try:
        _keep_ctrl_c()
        # Not by way of a proxy, which would see the logs, and cannot lead here.
        options = [("grpc.enable_http_proxy", 0)]
        session = _session("sc://{}:{}".format(*server.listening_address), conf, options)
        _keep_ctrl_c()
        try:
            yield session
        finally:
            session.client.close()
    finally:
        # It waits for whoever holds a connection.
        stopping = threading.Thread(target=server.stop, daemon=True)
        stopping.start()
        stopping.join(_LONGEST_STOP)


@contextmanager
def elsewhere(remote: str, conf: Mapping[str, str]) -> Iterator["SparkSession"]:
    """A session with a server.

    Raises:
        InvalidInputError: The address is none, or a setting cannot be used.
        StateError: No server of Spark Connect answers there.
    """
    host, port = host_and_port(remote)
    try:
        socket.create_connection((host, port), timeout=_LONGEST_KNOCK).close()
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise StateError(
            f"no Spark Connect server answers at '{place(remote)}': {why}",
            hint="start one (`vocabgap manual scale`), or leave out --remote for an engine in this process",
        ) from error
    _require_greeting(remote)
    session = _session(remote, conf)
    try:
        yield session
    finally:
        with suppress(Exception):  # the work is done, or has failed for a reason of its own
            session.stop()


def host_and_port(remote: str) -> tuple[str, int]:
    """What an address names; it may hold a token, and is never told whole."""
    try:
        address = urlsplit(remote)
        host, port = address.hostname, _PORT if address.port is None else address.port
    except ValueError:
        host, port = None, 0
    if not remote.startswith("sc://") or re.search(r"\s", remote) or not host:
        shown = re.split(r"(?<![:/])[/;?]", remote)[0]
        raise InvalidInputError(
            f"'{visible(shown)}' is no address of a Spark Connect server", hint=_ADDRESS_HINT
        )
    return host, port


def place(remote: str) -> str:
    """Host and port of an address."""
    host, port = host_and_port(remote)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _keep_ctrl_c() -> None:
    """Take Ctrl-C back from Sail, which would only end the server at it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


def _require_greeting(remote: str) -> None:
    """See whether what listens speaks the protocol: the client would go on asking for a minute."""
    import grpc  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    channel = _builder(remote).toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=_LONGEST_GREETING)
    except grpc.FutureTimeoutError as error:
        raise StateError(
            f"what listens at '{place(remote)}' does not speak Spark Connect, or not with this encryption",
            hint="name the port of a Spark Connect server; a token or use_ssl=true asks for TLS",
        ) from error
    finally:
        channel.close()


def _builder(address: str, options: list[tuple[str, int]] | None = None) -> "DefaultChannelBuilder":
    with loading():
        from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra
        from pyspark.sql.connect.client.core import DefaultChannelBuilder  # noqa: PLC0415

    try:
        return DefaultChannelBuilder(address, options)
    except PySparkException as error:
        raise InvalidInputError(
            f"the address of '{place(address)}' cannot be used: what follows the port is not understood",
            hint=_ADDRESS_HINT,
        ) from error


def _session(
    address: str, conf: Mapping[str, str], options: list[tuple[str, int]] | None = None
) -> "SparkSession":
    for key in _ELSEWHERE:
        if key in conf:
            raise InvalidInputError(f"--spark-conf {key} names a server", hint="name it with --remote")
    builder = _builder(address, options)
    with loading():
        from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
        from pyspark.sql.connect.session import SparkSession as Session  # noqa: PLC0415

        session: Any = Session(connection=builder)
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    for key, value in conf.items():
        try:
            session.conf.set(key, value)
        except PySparkException as error:
            raise InvalidInputError(
                f"--spark-conf {visible(key)}: {visible(str(error).splitlines()[0])}",
                hint="expected a setting of the session that Spark knows, as KEY=VALUE",
            ) from error
    return cast("SparkSession", session)


@contextmanager
def loading() -> Iterator[None]:
    """Load the client in silence, under `python -c`, too, which it takes for its doctests, and ends."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    main = sys.modules["__main__"]
    lacks = not hasattr(main, "__file__")
    if lacks:
        main.__file__ = os.devnull
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions that were not tried with it
            yield
    finally:
        if lacks:
            del main.__file__
