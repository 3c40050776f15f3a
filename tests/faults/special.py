"""Special files in place of regular ones: no command waits for a pipe, or reads a device for ever."""

import faulthandler
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from builders.command import vocabgap
from faults.verbs import Verb, did, photos
from slices import parts

KINDS: Final[dict[str, Callable[[Path], None]]] = {
    "a pipe": os.mkfifo,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
}
_SECONDS: Final = 20
_ROOM: Final = 3 << 30  # bytes that a command may take
_BASE: Final = Path("workspace")


def workspace() -> None:
    """Write a folder with all kinds of files: logs, runs, leftovers of a killed run, decisions, settings."""
    photos()
    Path("photos", "manifest.json").write_text("{}", encoding="utf-8")
    Path("vocabgap.toml").write_text('[report]\nfail_on = ["mixed"]\n', encoding="utf-8")
    Path("words.json").write_text('[{"name": "sky_mask"}]', encoding="utf-8")
    for day in (1, 8):
        did("report", "photos", "--now", f"2026-07-0{day}", "--vocabulary", "words.json")
    did("decide", "pin", "sky mask", "--now", "2026-07-09")
    did("check", "photos", "--baseline", "known.jsonl", "--write-baseline")
    shutil.copytree("out", ".out.before-1")


CORE: Final = (
    ("report", "photos", "--vocabulary", "words.json", "--baseline", "known.jsonl"),
    ("report", ".", "--out", "elsewhere"),
    ("check", "."),
    ("show", "heron", "."),
    ("draft", "sky mask"),
    ("decide", "unpin", "sky mask"),
    ("log", "photos/heron", "--need", "lens flare"),
    ("render", "out"),
    ("diff", "out", "out"),
    ("history",),
    ("status",),
    ("review", "photos"),
    ("init", "--agent", "claude-code"),
)


def targets() -> Iterator[tuple[Callable[[], None], tuple[tuple[str, ...], ...]]]:
    """Yield what writes a folder, and the commands that read it; the core's first."""
    yield workspace, CORE
    for part in parts("faults"):
        verbs: Iterable[Verb] = part.VERBS
        for prepare in dict.fromkeys(verb.prepare for verb in verbs):
            own = tuple(verb.arguments for verb in verbs if verb.prepare == prepare)
            yield prepare, (*own, *part.READING, ("check", "."), ("report", "."))


def attacked(share: int = 1) -> Iterator[str | None]:
    """Yield what went wrong in each case; of the cases, only one in `share`."""
    cases = 0
    for prepare, commands in targets():
        shutil.rmtree(_BASE, ignore_errors=True)
        _BASE.mkdir()
        with _inside(_BASE):
            prepare()
            files = sorted(path for path in Path().rglob("*") if path.is_file())
        for command, file, kind in ((c, f, k) for c in commands for f in files for k in KINDS):
            cases += 1
            if cases % share == 0:
                yield _problem(command, file, kind)


def _problem(command: tuple[str, ...], file: Path, kind: str) -> str | None:
    shutil.rmtree("case", ignore_errors=True)
    shutil.copytree(_BASE, "case", symlinks=True)
    with _inside(Path("case")), _limited():
        file.unlink()
        KINDS[kind](file)
        try:
            result = vocabgap(*command)
        except (TimeoutError, MemoryError) as error:
            return f"`{' '.join(command)}`, {file} is {kind}: {error!r}"
    if "this is a bug" in result.err or "Traceback" in result.err:
        return f"`{' '.join(command)}`, {file} is {kind}: {result.err}"
    return None


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _limited() -> Iterator[None]:
    """Raise TimeoutError after some seconds, and MemoryError beyond some memory, in the block."""

    def late(*_: object) -> NoReturn:
        raise TimeoutError("it takes too long")

    before = resource.getrlimit(resource.RLIMIT_AS)
    used = (
        int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        * resource.getpagesize()
    )
    earlier = signal.signal(signal.SIGALRM, late)
    signal.alarm(_SECONDS)
    faulthandler.dump_traceback_later(3 * _SECONDS, exit=True)
    resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)
