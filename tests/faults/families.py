"""Attacks on what others are shown, and on what a command costs; each yields a problem, or None, per case."""

import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from builders import gap, write_corpus
from builders.command import CommandResult, vocabgap
from faults.processes import COMMANDS, VOCABGAP
from faults.targets import VERBS
from faults.verbs import did, photos
from vocabgap.model.record import LOG_NAME

_NEEDS: Final = ("sky mask", "film grain", "lens flare", "export to tiff", "undo a crop")
_PRIVATE: Final = "Zprivate"  # in every field that is not to be shared
_SHARED: Final = 60  # workspaces
_CI: Final = ("::error::", "##[error]", "##vso[task.x]", "##teamcity[x ", "  ::set-output x=y::")
_COSTLY: Final = 30.0  # CPU seconds of a command, also where cores are shared
_HELD: Final = 1_024  # MiB
_INTERRUPTS: Final = 16
_ENDS_WITHIN: Final = 15.0  # seconds after a signal; a connection has 2 s to close


def shared_pages() -> Iterator[str | None]:
    """Share random workspaces with private texts, copied folders and pins."""
    for seed in range(_SHARED):
        drawn = random.Random(seed)  # noqa: S311
        for left in ("photos", "out", "decisions.jsonl"):
            shutil.rmtree(left, ignore_errors=True)
            Path(left).unlink(missing_ok=True)
        fields = ("intent", "workaround", "notes", "session_id", "snapshot_hash")
        private = dict.fromkeys(fields, _PRIVATE)
        days = iter(range(1, 500))
        images = {}
        for image in range(drawn.randint(1, 5)):
            moments = [
                f"2026-05-01T00:{next(days) // 60:02}:{image:02}Z"
                for _ in range(drawn.randint(1, 6))
            ]
            images[f"{_PRIVATE}-{image}"] = [
                gap(drawn.choice(_NEEDS), timestamp=moment) | private for moment in moments
            ]
        write_corpus(Path(), images)
        before = _mentions()
        for copy in range(drawn.randint(1, 3)):
            shutil.copytree(
                Path("photos", f"{_PRIVATE}-0"), Path("photos", f"{_PRIVATE}-0 copy {copy}")
            )
        if drawn.random() < 0.5:
            vocabgap("decide", "pin", drawn.choice(_NEEDS), "--now", "2026-07-02")
        after = _mentions("--share")
        page = Path("out", "share.html").read_text(encoding="utf-8")
        shown = list(map(int, re.findall(r'<td class="[^"]*mentions[^"]*"[^>]*>(\d+)', page)))
        yield (
            f"workspace {seed}: {before} mentions, with copies {after}" if before != after
            else f"workspace {seed}: private text in share.html" if _PRIVATE in page
            else f"workspace {seed}: shared in the order {shown}" if shown != sorted(shown, reverse=True)
            else None
        )  # fmt: skip


def _mentions(*options: str) -> dict[str, int]:
    did("report", "photos", "--now", "2026-07-01", *options)
    ranked = pl.read_parquet(Path("out", "capabilities.parquet"))
    return dict(ranked.select("label", "mentions").sort("label").iter_rows())


def jobs() -> Iterator[str | None]:
    """Log texts that a job of CI reads as commands, in all fields, and run what shows them."""
    for number, text in enumerate(_CI):
        fields = ("workaround", "notes", "intent", "session_id", "snapshot_hash", "intent_category")
        spoken = gap(f"{text}need", **dict.fromkeys(fields, f"a\n{text}b"))
        write_corpus(
            Path(),
            {f"{text}image".strip(): [spoken, f"{text}no record"]},
            name=f"{text}{number}".strip(),
        )
        did("report", ".", "--now", "2026-07-01", "--out", str(Path.cwd() / "out"))
        shown = (("show", f"{text}image"), ("draft", f"{text}need"), ("diff", "out", "out"))
        for words in (*COMMANDS, *shown, ("history",)):
            for options in ((), ("--json",)):
                result = vocabgap(*options, *words)
                printed = result.out + result.err
                acts = re.findall(r"^\s*::.*|.*##[\w.-]*\[.*", printed, re.MULTILINE)
                yield f"{words}: {acts[0]}" if acts else None


def interrupted() -> Iterator[str | None]:
    """Interrupt a report on an engine, at any moment and twice."""
    photos()
    for number in range(_INTERRUPTS):
        command = (*VOCABGAP, "report", "photos", "--engine", "spark", "--embedder", "none")
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            time.sleep(0.5 + number * 0.4)
            began = time.monotonic()
            for _ in range(1 + number % 2):
                process.send_signal(signal.SIGTERM if number % 4 > 1 else signal.SIGINT)
                time.sleep(0.2)
            try:
                out, _ = process.communicate(timeout=_ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                yield f"interrupt {number}: it still runs after {_ENDS_WITHIN:g} s"
                continue
        late = time.monotonic() - began
        yield (
            f"interrupt {number}: {out[-300:]}"
            if "Traceback" in out or late > _ENDS_WITHIN
            else None
        )


def links() -> Iterator[str | None]:
    """Put a link to a file outside in place of each file of a command, and of a spool."""
    for verb in VERBS:
        home = Path("linked", verb.name)
        home.mkdir(parents=True)
        with contextlib.chdir(home):
            verb.prepare()
            before = {path for path in Path().rglob("*") if path.is_file()}
            verb.run()
            found = before | {path for path in Path().rglob("*") if path.is_file()}
            found |= {
                path.with_name(f".{LOG_NAME}.{1:032x}.spool")
                for path in before
                if path.name == LOG_NAME
            }
        for file in sorted(found - _OUTPUTS):
            shutil.rmtree(home)
            home.mkdir()
            with contextlib.chdir(home):
                verb.prepare()
                outside = Path("..", "precious.json").absolute()
                outside.write_text('{"precious": 1}\n', encoding="utf-8")
                shutil.rmtree(file, ignore_errors=True)
                file.unlink(missing_ok=True)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.symlink_to(outside)
                message = verb.run()
                inside = [
                    path for path in Path().rglob("*") if path.is_file() and not path.is_symlink()
                ]
                copied = [path for path in inside if b"precious" in path.read_bytes()]
                is_kept = outside.read_text(encoding="utf-8") == '{"precious": 1}\n'
            yield (
                f"{verb.name}, {file} is a link: {copied}, {message}"
                if copied or not is_kept or _is_bug(message)
                else None
            )


# A person may have linked these: what they name is written.
_OUTPUTS: Final = {Path(name) for name in ("known.jsonl", "decisions.jsonl", "vocabgap.toml")}


def odd_places() -> Iterator[str | None]:
    """Run commands with absolute paths in a folder that was deleted."""
    photos()
    home = Path.cwd()
    reading = [(*words[:1], str(home / "photos")) for words in COMMANDS if "photos" in words]
    others = [("status",), ("schema", "records"), ("manual", "safety"), ("--version",)]
    for words in (*reading, *others, ("demo", str(home / "demo"))):
        gone = home / "gone"
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()
        result = vocabgap(*words, *(["--out", str(home / "out")] if words[0] == "report" else []))
        os.chdir(home)
        yield f"{words}: {result.code}, {result.err}" if _is_bug(result) or result.code else None


def costs() -> Iterator[str | None]:
    """Log few wordings that are costly for their size, and report them."""
    rng = random.Random(len(_NEEDS))  # noqa: S311

    def word() -> str:
        return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 8)))

    camel = "".join(word().title() for _ in range(40_000))
    texts = {
        "words": [" ".join(word() for _ in range(150_000))],
        "one long word": ["x" * 900_000],
        "camel case": [camel, "_".join(word() for _ in range(90_000))],
        "numbers": [" ".join(map(str, range(120_000)))],
        "signs": ["+1 -2 <=3 " * 90_000, "-" * 900_000, "(" * 900_000, "c++ " * 200_000],
        "accents": ["e" + "\u0301" * 400_000, "\u200d" * 300_000, "\ufdfa" * 50_000],
        "no common word": [f"{word()}{n} {word()}{n}" for n in range(20_000)],
        "one common trigram": [f"deploy{n}" for n in range(20_000)],
        "one word apart": [f"mask the sky of layer {n}" for n in range(20_000)],
        "messages": [
            f"Tool '{word()}' does not exist. {'Available tools: ' + word() * 30_000}"
            for _ in range(3)
        ],
    }
    for name, needs in texts.items():
        shutil.rmtree("costly", ignore_errors=True)
        write_corpus(Path(), {"heron": map(gap, needs)}, name="costly")
        problem = expensive("report", "costly", "--embedder", "none", "--now", "last", "--quiet")
        yield problem and f"{name}: {problem}"


def expensive(*words: str, most: float = _COSTLY) -> str | None:
    """Run a command in a process of its own, within some seconds and some memory."""
    with Path("message").open("w+", encoding="utf-8") as message:
        limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (int(most) + 2, int(most) + 2))
        process = subprocess.Popen(
            (*VOCABGAP, *words),
            stdout=message,
            stderr=message,
            preexec_fn=limit,  # noqa: PLW1509
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        message.seek(0)
        said = message.read()
    if process.returncode == -signal.SIGXCPU:
        return f"{words}: more than {most:.0f} CPU s"
    if "Traceback" in said or process.returncode not in {0, 2, 3, 4}:
        return f"{words}: {process.returncode}, {said[-300:]}"
    seconds, held = used.ru_utime + used.ru_stime, used.ru_maxrss >> 10
    return f"{words}: {seconds:.1f} CPU s, {held} MiB" if seconds > most or held > _HELD else None


def _is_bug(result: CommandResult) -> bool:
    return "Traceback" in result.err or "this is a bug" in result.err
