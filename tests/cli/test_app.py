import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap import __version__
from vocabgap.doors.cli import app
from vocabgap.doors.cli.app import run
from vocabgap.errors import ExitCode
from vocabgap.files.signals import StoppedError

ONE = {"one": [gap("sky mask")]}
HEAVY = ["polars", "numpy", "scipy", "sklearn", "rich", "numba", "jinja2"]


def python(
    code: str, *arguments: str | Path, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


def failing(failure: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise failure

    return fail


def test_version_is_told() -> None:
    assert vocabgap("--version") == (0, f"vocabgap {__version__}\n", "")


def test_without_a_command_the_help_is_shown() -> None:
    result = vocabgap()
    assert result.out == vocabgap("--help").out
    assert result.err == ""


PANIC = pl.exceptions.PanicException
ENDED = "`Err` value: PyErr { type: %s, value: %s }"


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (OSError(28, "No space left on device"), ExitCode.STATE, ""),
        (MemoryError(), ExitCode.STATE, "not enough memory\n"),
        (RuntimeError("boom"), ExitCode.BUG, "this is a bug: RuntimeError"),
        (RecursionError("deep"), ExitCode.BUG, "this is a bug: RecursionError"),
        (
            PANIC("index out of bounds"),
            ExitCode.BUG,
            "this is a bug: PanicException: index out of bounds",
        ),
        (PANIC(ENDED % ("KeyboardInterrupt", "KeyboardInterrupt()")), 130, "interrupted"),
        (PANIC(ENDED % ("StoppedError", "StoppedError(143)")), 143, "interrupted"),
    ],
    ids=repr,
)
def test_a_failure_is_told_without_a_traceback(
    failure: BaseException, code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.pipeline.rank_parts", failing(failure))

    result = vocabgap("report", write_corpus(tmp_path, ONE))

    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"vocabgap: {message}")
    assert ("No space left on device" in result.err) == isinstance(failure, OSError)
    assert "Traceback" not in result.err
    assert ("VOCABGAP_DEBUG=1" in result.err) == (code == ExitCode.BUG)


def test_a_bug_is_raised_where_somebody_looks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_corpus(tmp_path, ONE)
    monkeypatch.setenv("VOCABGAP_DEBUG", "1")
    monkeypatch.setattr("vocabgap.pipeline.rank_parts", failing(RuntimeError("boom")))
    with pytest.raises(RuntimeError, match="boom"):
        run(["report", str(root)])


def test_what_a_stop_interrupts_is_not_destroyed_before_the_process_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed = []

    class Connection:
        def __del__(self) -> None:  # of a connection that is half open, it may wait for ever
            closed.append(self)

    def interrupted(*_: object, **__: object) -> NoReturn:
        _connection = Connection()
        raise StoppedError(signal.SIGTERM)

    monkeypatch.setattr(app, "_STOPS", [])
    monkeypatch.setattr("vocabgap.pipeline.rank_parts", interrupted)

    result = vocabgap("report", write_corpus(tmp_path, ONE))

    assert (result.code, closed) == (143, [])


def test_an_interrupted_run_publishes_nothing_and_tidies_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = write_corpus(tmp_path, ONE)
    monkeypatch.setattr("polars.DataFrame.write_parquet", failing(KeyboardInterrupt()))
    result = vocabgap("report", root)
    assert (result.code, result.out) == (130, "")
    assert "interrupted" in result.err
    assert [entry.name for entry in tmp_path.iterdir()] == ["photos"]


def test_an_interrupted_command_that_publishes_nothing_speaks_of_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vocabgap.ingest.scanning.scan", failing(KeyboardInterrupt()))

    message = vocabgap("check", write_corpus(tmp_path, {}))

    assert message == (130, "", "vocabgap: interrupted\n")


@pytest.mark.slow
def test_what_needs_no_logs_loads_no_heavy_library() -> None:
    lines = [["--help"], ["report", "--help"], ["--version"], ["report", "x", "--top", "y"]]

    result = python(
        "import sys; from vocabgap.doors.cli.app import run\n"
        f"for arguments in {lines!r}:\n"
        "    run(arguments)\n"
        f"    print('loaded', arguments, sorted(set({HEAVY!r}) & set(sys.modules)))"
    )

    loaded = [line for line in result.stdout.splitlines() if line.startswith("loaded ")]
    assert loaded == [f"loaded {arguments!r} []" for arguments in lines], result.stderr


@pytest.mark.slow
def test_logging_loads_the_command_that_logs_and_no_other(tmp_path: Path) -> None:
    result = python(
        "import sys; from vocabgap.doors.cli.app import run; run(['log', sys.argv[1], '-d', 'x']); "
        f"print('loaded', *sorted(name for name in sys.modules if name in {[*HEAVY, 'pydantic']!r} or "
        "name.startswith('vocabgap.doors.')))",
        tmp_path,
    )
    own = [f"vocabgap.doors.{name}" for name in ("cli", "cli.app", "cli.calls", "cli.output")]
    expected = ["loaded", *own, "vocabgap.doors.recording", "vocabgap.doors.verbs"]
    assert (result.stdout.splitlines()[-1].split(), result.stderr) == (expected, "")


NOT_UTF_8 = os.fsdecode(b"\xff")


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", NOT_UTF_8), ("report", ".", "--config", NOT_UTF_8), ("report", ".", "--since", NOT_UTF_8),
        ("schema", NOT_UTF_8), ("check", NOT_UTF_8), (NOT_UTF_8,), ("report", ".", "--out", NOT_UTF_8),
        ("report", ".", "--by", NOT_UTF_8), ("report", ".", "--previous", NOT_UTF_8), ("render", NOT_UTF_8),
        ("corpus", "restore", NOT_UTF_8, "--corpus", "c"), ("corpus", "list", "--corpus", NOT_UTF_8),
    ],
)  # fmt: skip
def test_an_argument_that_is_not_utf_8_ends_in_an_error_event(arguments: tuple[str, ...]) -> None:
    result = vocabgap("--json", *arguments)

    last = json.loads(result.out.splitlines()[-1])
    assert last["event"] == "error"
    assert last["code"] == result.code
    assert "this is a bug" not in last["message"]


def test_a_settings_file_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text('[report]\nout = "\\u001b[31mred\\u0007\\u009b"\n')

    result = vocabgap("status")

    assert result.code == ExitCode.DONE
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", result.out)


@pytest.mark.parametrize(("verb", "threads"), [("list", "1"), ("report", "None")])
def test_only_commands_that_look_are_kept_from_starting_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, threads: str
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    code = (
        "import os; from vocabgap.doors.cli.app import run; run(['VERB']);"
        "print(os.getenv('OPENBLAS_NUM_THREADS'))"
    )

    result = python(code.replace("VERB", verb), cwd=tmp_path)

    assert result.stdout.splitlines()[-1] == threads


@pytest.mark.parametrize("own", ["", "narenas:1"])
def test_the_allocator_of_polars_keeps_little_unless_a_person_chose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    monkeypatch.delenv("_RJEM_MALLOC_CONF", raising=False)
    if own:
        monkeypatch.setenv("_RJEM_MALLOC_CONF", own)
    code = "import os; from vocabgap.doors.cli.app import run; run(['report', '--help']);"

    result = python(f"{code}print(os.getenv('_RJEM_MALLOC_CONF'))", cwd=tmp_path)

    assert result.stdout.splitlines()[-1].startswith(own or "narenas:2,")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "."), ("list", "."), ("--json", "list", "."),
        ("show", "::warning::x", "."),
        ("report", "::error::none"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_line_of_output_is_a_command_for_ci(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spoken = gap("::warning::x", workaround="##[group]a ###vso[b]", notes="c\n::error::d")
    write_corpus(
        tmp_path, {"::error file=x::hello": [spoken, "::error::no record"]}, name="::add-mask::e"
    )

    result = vocabgap(*words)

    assert result.out + result.err
    assert re.findall(r"^\s*::.*|.*##[\w.-]*\[.*", result.out + result.err, re.MULTILINE) == []


@pytest.mark.parametrize("words", [("check",), ("report", "--quiet", "--out", "OUT")], ids=" ".join)
def test_absolute_paths_work_in_a_deleted_folder(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photos = write_corpus(tmp_path, {"heron": [gap("sky mask")]})
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    result = vocabgap(*(each.replace("OUT", str(tmp_path / "out")) for each in words), photos)
    os.chdir(tmp_path)

    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(("words", "code"), [(("check", "."), 4), (("log", ".", "-d", "x"), 0)])
def test_a_memory_limit_that_is_too_low_is_an_error_of_ours(
    words: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (300 << 20,) * 2); "
    limited += "sys.argv[0] = 'x'; "
    command = [sys.executable, "-c", limited + "from vocabgap.__main__ import main; main()", *words]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert result.returncode == code, result.stderr
    assert result.stderr.startswith(
        "vocabgap: the memory limit (`ulimit -v`) is 300 MiB, expected"
    ) == bool(code)


@pytest.mark.parametrize("words", [("report", ""), ("check", ".", ""), ("report", "--config", "")])
def test_a_path_is_never_empty_as_of_an_unset_variable(words: tuple[str, ...]) -> None:
    result = vocabgap(*words)

    assert (result.code, "expected a path, found ''" in result.err) == (2, True)
