"""The report on an engine: the same as here, bit by bit; and what is told where there is none."""

import errno
import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.engines import spark
from vocabgap.engines.spark import SparkEngine, read_packed_logs, spark_engine
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files import parts
from vocabgap.files.parts import ROW, Parts
from vocabgap.ingest.roots import resolve_roots
from vocabgap.ingest.scanning import scan
from vocabgap.model.settings import ScanSettings
from vocabgap.pipeline import analyse, run

pytest.importorskip("pysail", reason="pysail is not installed, so no engine is tried")
TABLES = ("capabilities", "gaps", "rejects", "lineage", "groups", "combinations", "history")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_corpus(tmp_path, {"one": [gap("sky mask")]})


@pytest.fixture(scope="module")
def engine() -> Iterator[SparkEngine]:
    with spark_engine() as made:
        yield made


def test_a_scan_is_that_of_one_here(engine: SparkEngine, demo: Path, tmp_path: Path) -> None:
    hostile = write_corpus(
        tmp_path,
        {
            "one": [gap("sky mask"), "{broken", gap("a\x1fb", satisfaction="bad")],
            "two": [gap("sky mask", plan="pro", lens={"mm": 35})],
        },
    )
    (tmp_path / "empty").mkdir()
    for roots in ([demo], [hostile], [demo, hostile], [tmp_path / "empty"]):
        here, there = scan(roots), scan(roots, read_logs=engine.read_logs)

        assert there.summary == here.summary
        for table in ("gaps", "rejects", "files"):
            assert_frame_equal(getattr(there, table), getattr(here, table))


def test_rows_come_as_files_and_not_through_the_connection(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_work, sent = SparkEngine._results, dict[int, int]()

    def counted(engine: SparkEngine, work: list[bytes]) -> list[dict[str, Any]]:
        results = run_work(engine, work)
        sent[records] = len(json.dumps(results))
        return results

    monkeypatch.setattr(SparkEngine, "_results", counted)
    for records in (1, 400):
        needs = [gap(f"need {number}") for number in range(records)]
        lines = scan(
            write_corpus(tmp_path / str(records), {"image-1": needs, "image-2": needs}),
            read_logs=engine.read_logs,
        ).lines

        assert type(lines) is Parts
        assert all(isinstance(source, Path) for source in lines.sources)
    assert sent[400] == sent[1]


def test_a_repeated_task_changes_nothing_and_parts_are_removed(
    engine: SparkEngine, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_work, parts = SparkEngine._results, list[Path]()

    def twice(engine: SparkEngine, work: list[bytes]) -> list[dict[str, Any]]:
        run_work(engine, work)
        results = run_work(engine, work)
        parts.extend(tmp_path.glob(".vocabgap-parts-*/*"))
        return results

    monkeypatch.setattr(SparkEngine, "_results", twice)
    there = analyse(demo, out=tmp_path / "none" / "out", engine=engine).scan

    assert_frame_equal(there.gaps, analyse(demo).scan.gaps)
    assert len(parts) == 2 * (len(there.lines.sources) + 2 * len(there.lines.sources))
    del there
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_report_is_that_of_one_here(scheme: str, demo: Path, tmp_path: Path) -> None:
    here, there, root = tmp_path / "here", tmp_path / "there", f"{scheme}{demo}"
    common = ("--now", "last", "--embedder", "none", "--out")
    assert vocabgap("report", demo, *common, here).code == 0
    result = vocabgap("report", root, *common, f"{scheme}{there}", "--engine", "spark")
    assert (result.code, f"{scheme}{there}" in result.out) == (0, True)
    assert vocabgap("render", there, "--out", tmp_path / "again").code == 0

    for name in ("report.md", "report.html"):
        page, alone = ((run / name).read_text(encoding="utf-8") for run in (there, here))
        assert re.sub(" --engine spark| ?--run there", "", page) == re.sub(
            " ?--run here", "", alone
        )
    for table in TABLES:
        assert_frame_equal(*(pl.read_parquet(each / f"{table}.parquet") for each in (there, here)))
    engines = [json.loads((run / "run.json").read_bytes())["engine"] for run in (here, there)]
    assert [engine and engine.partition(" ")[0] for engine in engines] == [None, "sail"]


def test_a_store_with_any_names_gives_the_scan_of_a_folder(
    engine: SparkEngine, tmp_path: Path
) -> None:
    root = write_corpus(
        tmp_path / "photos", {f"{sign} {sign}": [gap("sky mask")] for sign in "[]?*{}%#é"}
    )
    (root / "manifest.json").write_text("{}", encoding="utf-8")
    (root / "wishes.csv").write_text("need,when\nwarm fur,2026-04-01\n", encoding="utf-8")
    mapped = ScanSettings(map={"description": "need", "timestamp": "when"})
    for place, settings in ((root, ScanSettings()), (root, mapped), (root / "wishes.csv", mapped)):
        mirrored = resolve_roots(f"file://{place}", partial(engine.mirror, settings=settings))
        here = scan(place, settings=settings)
        there = scan(mirrored, settings=settings, read_logs=engine.read_logs)

        for table in ("gaps", "rejects", "files"):
            assert_frame_equal(getattr(there, table), getattr(here, table))


@pytest.mark.parametrize(
    ("root", "code", "message"),
    [
        ("file:///none/such", 3, "root 'file:///none/such' does not exist, or has no files"),
        ("zzz://bucket/photos", 4, "root 'zzz://bucket/photos' cannot be reached: "),
        ("s3a://key:secret@bucket/photos", 2, "root 'bucket/photos': expected an address without"),
        ("s3a://bucket/../photos", 2, "root 's3a://bucket/../photos': expected an address without"),
    ],
)
def test_an_unusable_address_is_one_line(
    root: str, code: int, message: str, tmp_path: Path
) -> None:
    result = vocabgap("report", root, "--engine", "spark", "--out", tmp_path / "out")

    assert (result.code, len(result.err.splitlines()), list(tmp_path.iterdir())) == (code, 2, [])
    assert result.err.startswith(f"vocabgap: {message}")
    with pytest.raises(InvalidInputError, match=r"expected a local path, not a URL, found '.*://"):
        scan(root)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (LookupError("no luck"), "failed: LookupError: no luck"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "left on device.*free some space"),
    ],
    ids=["any", "a full disk"],
)
def test_a_failure_on_a_worker_is_one_line_and_publishes_nothing(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(parts, "write_parquet", refuse)
    with pytest.raises(StateError, match=message) as raised, spark_engine() as engine:
        run(demo, tmp_path / "out", engine=engine)

    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_an_unfinished_report_in_a_store_has_no_manifest(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = spark._copy

    def broken(path: str | Path, address: str) -> None:
        if address.endswith("/groups.parquet"):
            raise PermissionError(f"no access to {address}")
        copy(path, address)

    monkeypatch.setattr(spark, "_copy", broken)
    store, asked = tmp_path / "a store", ("report", demo, "--engine", "spark", "--out")
    result, again, other, unknown = (
        vocabgap(*asked, out)
        for out in (f"file://{store}", f"file://{store}", "s3a://a:b@c", "flie:///x")
    )

    assert (result.code, len(result.err.splitlines())) == (4, 2)
    assert f"no access to file://{store}/groups.parquet" in result.err
    assert ((store / "report.md").exists(), (store / "run.json").exists()) == (True, False)
    assert again.err.startswith(f"vocabgap: --out: 'file://{store}' has files already\n")
    assert other.err.startswith(
        "vocabgap: --out: 'c': expected an address without `..` and a password\n"
    )
    assert unknown.err.startswith("vocabgap: --out: 'flie://x' cannot be reached: ")


def test_a_table_outlives_its_engine(demo: Path) -> None:
    with spark_engine() as engine:
        lines = scan(demo, read_logs=engine.read_logs).lines

    assert_frame_equal(lines.collect().drop(ROW), scan(demo).lines.collect().drop(ROW))
    with pytest.raises(StateError, match="the engine is closed"):
        scan(demo, read_logs=engine.read_logs)


def test_without_the_extra_an_error_says_what_to_install(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pysail.spark", None)

    result = vocabgap("report", photos, "--engine", "spark")

    assert result.code == 2
    assert "pip install 'vocabgap[spark]'" in result.err
    assert len(result.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("remote", "message"),
    [
        ("sc://[::1", "'sc://[::1' is not the address of a Spark Connect"),
        ("sc://a\nb:1", "'sc://a b:1' is not the address of a Spark"),
        ("sc://a:x/;token=S", "'sc://a:x' is not the address of a Spark"),
        ("http://a:1", "'http://a:1' is not the address of a Spark Connect"),
        ("sc://a:1/;token", "in the address of 'a:1', the part after the"),
    ],
)
def test_an_unusable_remote_is_an_error(photos: Path, remote: str, message: str) -> None:
    result = vocabgap("report", photos, "--engine", "spark", "--remote", remote)
    assert (result.code, result.out) == (2, "")
    assert f"vocabgap: {message}" in result.err


def test_a_remote_needs_its_engine(photos: Path) -> None:
    result = vocabgap("report", photos, "--remote", "sc://a:1")
    assert (result.code, result.err.partition("\n")[0]) == (2, "vocabgap: --remote needs Spark")


def test_a_report_here_loads_nothing_of_spark(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("vocabgap.engines")]:
        monkeypatch.delitem(sys.modules, name)
    run(photos, tmp_path / "out")
    assert not [name for name in sys.modules if name.startswith("vocabgap.engines")]


def test_ctrl_c_ends_the_report_and_not_the_engine_alone() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), spark_engine():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_runs_where_the_main_module_has_no_file(photos: Path) -> None:
    code = "import sys, vocabgap as vg\n"
    code += "with vg.spark_engine() as engine: vg.run(*sys.argv[1:], engine=engine)"

    subprocess.run([sys.executable, "-c", code, photos, photos / "../out"], check=True, cwd=photos)

    assert (photos / "../out/report.md").exists()


@pytest.fixture
def listener() -> Iterator[int]:
    """Listen on a port, say nothing, and yield its number."""
    with socket.socket() as open_port:
        open_port.bind(("127.0.0.1", 0))
        open_port.listen()
        yield open_port.getsockname()[1]


@pytest.mark.parametrize("listens", [False, True], ids=["nobody", "another server"])
def test_an_address_without_a_server_is_an_error_without_the_token(
    photos: Path, listener: int, monkeypatch: pytest.MonkeyPatch, *, listens: bool
) -> None:
    monkeypatch.setattr(spark, "_CONNECT_SECONDS", 0.2)
    place = f"127.0.0.1:{listener if listens else 1}"

    remote = f"sc://{place}/;token=SECRET;use_ssl=true"
    result = vocabgap("report", photos, "--engine", "spark", "--remote", remote)

    assert result.code == 4
    assert result.err.startswith(f"vocabgap: no Spark Connect server answers at '{place}', or")
    assert (len(result.err.splitlines()), "SECRET" in result.err) == (2, False)


def test_no_proxy_sees_the_logs(
    photos: Path, tmp_path: Path, listener: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{listener}")
    monkeypatch.setenv("MASTER", "local")

    assert vocabgap("report", photos, "--engine", "spark", "--out", tmp_path / "out").code == 0


def test_an_open_connection_does_not_delay_the_end() -> None:
    with spark_engine() as engine, socket.create_connection(address_of(engine)):
        assert engine.name.startswith("sail ")


def address_of(engine: SparkEngine) -> tuple[str, int]:
    target = str(cast("Any", engine._session.client)._builder.endpoint)
    host, port = target.removeprefix("dns:///").rsplit(":", 1)
    return host, int(port)


@pytest.mark.parametrize("engine", ["spark", spark_engine()])
def test_any_other_object_is_no_engine(demo: Path, tmp_path: Path, engine: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match="spark_engine"):
        run(demo, tmp_path / "out", engine=engine)
    with pytest.raises(InvalidInputError), spark_engine(123):  # type: ignore[arg-type]
        pytest.fail("an engine was started")


def test_a_bad_variable_of_sail_is_an_error(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAIL_MODE", "nonsense")

    result = vocabgap("report", photos, "--engine", "spark")

    assert result.code == 2
    assert result.err.startswith("vocabgap: Sail cannot be started: ")


def test_a_worker_with_another_polars_is_refused() -> None:
    work = pickle.dumps(("0.20.0", [], ScanSettings(), ""))
    batch = pa.RecordBatch.from_pydict({"piece": [0], "content": [work]})

    with pytest.raises(
        StateError, match=f"a worker has Polars {pl.__version__}, and the driver 0.20.0"
    ):
        list(read_packed_logs(iter([batch])))
