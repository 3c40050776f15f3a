import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from corpus.builders import chunks
from vocabgap.corpus.store import Store
from vocabgap.errors import ExitCode, StateError
from vocabgap.files import locking

HOLD = """
import sys, time
from pathlib import Path
from vocabgap.corpus.store import Store
with Store(Path(sys.argv[1])).changing("push of 3 files"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "SILENT_WAIT", 0.0)
    monkeypatch.setattr(locking, "LONGEST_WAIT", 0.1)


def holder(folder: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


@pytest.mark.usefixtures("impatient")
def test_a_second_writer_reads_who_holds_the_corpus(store: Store) -> None:
    waits: list[str] = []
    with store.changing("make") as change:
        change.add(chunks("a"))
    with holder(store.folder) as process:
        with pytest.raises(StateError) as caught, Store(store.folder, waits.append).changing("x"):
            pytest.fail("two writers at once")
        assert store.version().measures.rows == 1, "readers take no lock"
        process.kill()

    assert f"is held by process {process.pid} of " in caught.value.message
    assert ": push of 3 files" in caught.value.message
    assert "nothing was changed" in caught.value.hint
    assert caught.value.exit_code is ExitCode.STATE
    assert waits == [caught.value.message.partition("is held by ")[2]]


@pytest.mark.usefixtures("impatient")
def test_a_dead_holder_does_not_block(store: Store) -> None:
    with holder(store.folder) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert b"push of 3 files" in (store.folder / "writer.lock").read_bytes()

    with store.changing("go on") as change:
        change.add(chunks("a"))

    assert store.version().measures.rows == 1
    assert (store.folder / "writer.lock").read_bytes() == b""


def test_writers_that_come_together_go_one_after_the_other(store: Store) -> None:
    def write(name: str) -> None:
        for number in range(5):
            with store.changing(name) as change:
                change.add(chunks(f"{name}{number}"))
                change.configure("ada")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.version().measures.rows == 15
    assert store.version().config_versions == {"ada": 15}
