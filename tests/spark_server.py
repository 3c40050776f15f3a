"""Starts a Spark server with two workers, with the command of the manual. SPARK_HOME names the Spark."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Final

HOME: Final = os.environ.get("SPARK_HOME")
STARTED_WITHIN: Final = 240.0  # seconds


@contextmanager
def spark_server(folder: Path) -> Iterator[tuple[str, int]]:
    """Give the address of a server and the number of its process; its log is in the folder.

    Raises:
        TimeoutError: It did not start.
    """
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    program, *words = documented_command()
    words = ["local-cluster[2,1,1024]" if word == "spark://HOST:7077" else word for word in words]
    local = (
        ("spark.connect.grpc.binding.port", port),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.ui.enabled", "false"),
    )
    confs = [word for name, value in local for word in ("--conf", f"{name}={value}")]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [f"{HOME}/bin/{program}", *words[:-1], *confs, words[-1]],
            stdout=output,
            stderr=output,
            cwd=folder,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
            start_new_session=True,
        )
    try:
        until = time.monotonic() + STARTED_WITHIN
        while not answers(port):
            if time.monotonic() > until or process.poll() is not None:
                raise TimeoutError(log.read_text(encoding="utf-8")[-2_000:])
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}", process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def documented_command() -> list[str]:
    """Return the command with which the manual starts a server."""
    page = resources.files("vocabgap").joinpath("manual/scale.md").read_text(encoding="utf-8")
    found = re.search(r"```sh\n(spark-submit .*?)\n```", page, re.DOTALL)
    assert found is not None
    return shlex.split(found[1].replace("\\\n", " "))


def answers(port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
    except OSError:
        return False
    return True
