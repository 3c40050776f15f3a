"""Commands that the program prints, given to a shell in folders with hostile names."""

import html
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from builders import gap, write_corpus
from builders.command import CommandResult, vocabgap

_ACT: Final = "touch pwned"
NAMES: Final = (
    f"$({_ACT})", f"`{_ACT}`", f"'; {_ACT}; '", f'"; {_ACT}; "', "-rf", "--out=pwned",
    f"a\n{_ACT}\n",
    f"\u202e; {_ACT}", f"x & {_ACT}", f"*; {_ACT}", "!!", f"a | {_ACT}", "~",
    f"${{IFS}}; {_ACT}", f"a\\'; {_ACT}",
)  # fmt: skip
_PRINTED: Final = re.compile(
    r"`((?:vocabgap|cd) [^`]+)`|^\s*(?:\$ )?((?:vocabgap|cd) .+)$", re.MULTILINE
)
_SHOWN: Final = re.compile(r"<code[^>]*>((?:vocabgap|cd) [^<]+)</code>")
_STUB: Final = "#!/bin/sh\nexit 0\n"


def printed() -> Iterator[str | None]:
    """Print commands about things with hostile names, and run them; yield each problem, or None."""
    tools = Path("tools").absolute()
    tools.mkdir()
    stub = tools / "vocabgap"
    stub.write_text(_STUB, encoding="ascii")
    stub.chmod(0o755)
    home = Path.cwd()
    for number, name in enumerate(NAMES):
        folder = Path(f"{number}", name.strip("/") or "x")
        folder.mkdir(parents=True)
        os.chdir(folder)
        seen: set[str] = set()
        for result in _told(name):
            for command in _commands(result.out + result.err):
                if command not in seen:
                    seen.add(command)
                    yield _problem(name, command, tools)
        os.chdir(home)


def _told(name: str) -> Iterator[CommandResult]:
    """Run commands with a name in every place that takes one, also in vain; yield what they print."""
    image = name.strip("/").strip() or "x"
    needs = [gap(f"{name} need", session_id=name), gap(f"other {name}", session_id=name)]
    write_corpus(Path(), {image: needs, "fjord": [gap("film grain")]}, name=f"{image} logs")
    logs, out = (str(Path.cwd() / f"{image} {kind}") for kind in ("logs", "out"))
    yield vocabgap("report", logs, "--out", out, "--now", "2026-07-01")
    for path in Path(out).glob("*.md"):
        yield CommandResult(0, path.read_text(encoding="utf-8"), "")
    page = (Path(out) / "report.html").read_text(encoding="utf-8")
    yield CommandResult(0, "".join(f"`{html.unescape(each)}`" for each in _SHOWN.findall(page)), "")
    option = ("--json",) * (NAMES.index(name) % 2)
    for words in _words(name, logs, out):
        yield vocabgap(*option, *words)


def _words(name: str, logs: str, out: str) -> Iterator[tuple[str, ...]]:
    run, place, unknown = ("--run", out), f"./{name}", f"x{name}"
    for words in (
        ("report", logs, "--out", logs), ("report", place), ("report", place, "--out", out),
        ("report", logs, "--config", place), ("report", logs, "--vocabulary", place),
        ("report", logs, "--engine", name), ("check", logs), ("check", place), ("list", place),
        ("list", logs, "--match", name), ("status",), ("log", place, "-d", name),
        ("log", logs, "-d", name), ("diff", out, place), ("render", place), ("issues", place),
        ("mcp", place), ("manual", unknown), ("schema", unknown), (unknown,),
        ("decide", "undo", unknown), ("glossary", "promote", unknown, "--define", name),
        ("glossary", "list", "--glossary", place), ("glossary", "resolve", unknown, "--select", "1"),
        ("glossary", "check", "--text", name, "--critical"), ("corpus", "list"),
        ("corpus", "push", logs, "--tenant", "north", "--repo", unknown),
        ("corpus", "push", logs, "--tenant", "north", "--repo", "photos", "--snapshot"),
        ("corpus", "forget", "--tenant", "north", "--path", name), ("corpus", "restore", place),
        ("corpus", "status", "--corpus", out),
    ):  # fmt: skip
        yield words
    for words in (
        ("show", unknown), ("show", "film grain"), ("draft", unknown), ("history",),
        ("decide", "pin", unknown), ("decide", "pin", "film grain", "--actor", name),
        ("decide", "merge", "film grain", unknown), ("decisions", "list"),
        ("decide", "dismiss", "film grain", "--why", name),
    ):  # fmt: skip
        yield (*words, *run)


def _commands(text: str) -> list[str]:
    return [one or other for one, other in _PRINTED.findall(text)]


def _problem(name: str, command: str, tools: Path) -> str | None:
    """Run a command in a shell, with a program that does nothing, and then its words with vocabgap."""
    before = {*Path().rglob("*")}
    subprocess.run(
        ("/bin/sh", "-c", command),
        env={"PATH": f"{tools}:/usr/bin:/bin"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=10,
        check=False,
    )
    after = {*Path().rglob("*")} - before
    return f"{name!r}: a shell does more than `{command}`: {after}" if after else None
