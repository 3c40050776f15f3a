"""Workspaces in which every text that a person or an agent can write is a hostile one.

They all have one shape: what is made of them differs in the texts alone.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import pytest

from builders.hostile import unseen
from vocabgap.cli.app import run as run_command
from vocabgap.decisions.record import Action, Decision, decide, subject
from vocabgap.errors import ExitCode
from vocabgap.pipeline import Run, run
from vocabgap.records.record import LOG_NAME
from vocabgap.reporting.wording import WORD_JOINER
from vocabgap.settings.loading import load_settings

NOW: Final = datetime(2026, 7, 1, tzinfo=UTC)
OWN: Final = Path(__file__).parents[1] / "data" / "hostile.json"
PUBLISHED: Final = Path(__file__).parents[3] / "shared" / "data" / "hostile" / "blns.json"
NAME_BYTES: Final = 100
NOT_UTF_8: Final = "\udcff"  # stands for a byte of a name that is none

Dressed = tuple[list[Path], Path]  # the roots, and the settings file that a report about them needs


@pytest.fixture(scope="session", params=["own", "published"])
def texts(request: pytest.FixtureRequest) -> list[str]:
    """Our own list of what is used against Markdown, browsers and terminals; and a well-known one."""
    if request.param == "own":
        texts = json.loads(OWN.read_text(encoding="utf-8"))
        return [text for each in texts.values() for text in each]
    if not PUBLISHED.exists():
        pytest.skip("the published list of naughty strings is not beside the project")
    strings: list[str] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return strings


@pytest.fixture(scope="session")
def dress(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], Dressed]:
    """Writes a workspace: of each text a root, a log of good and bad lines, an entry, and decisions."""

    def make(texts: Sequence[str]) -> Dressed:
        return write_dressed(list(texts), tmp_path_factory.mktemp("dressed"))

    return make


@pytest.fixture(scope="session")
def publish(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Dressed], Run]:
    """Runs the pipeline over a workspace of these."""

    def make(made: Dressed) -> Run:
        roots, config = made
        out = tmp_path_factory.mktemp("run") / "out"
        return run(roots, out, settings=load_settings(config), config=config, now=NOW)

    return make


@pytest.fixture(scope="session")
def hostile(texts: list[str], dress: Callable[[Sequence[str]], Dressed]) -> Dressed:
    """A workspace of hostile texts, a few to a field: whole where a field is cut off when it is shown."""
    return dress(piled(texts, 8))


@pytest.fixture(scope="session")
def opened_pair(
    texts: list[str], dress: Callable[[Sequence[str]], Dressed], publish: Callable[[Dressed], Run]
) -> tuple[Run, Run]:
    """Two runs as `pair`, a few texts to a field, for a browser that opens each capability in turn."""
    piles = piled(texts, 8)
    return publish(dress([f"kind{number} " for number in range(len(piles))])), publish(dress(piles))


@pytest.fixture(scope="session")
def heaped(
    texts: list[str], dress: Callable[[Sequence[str]], Dressed], publish: Callable[[Dressed], Run]
) -> Run:
    """A run over the same, many to a field, for what tells of one capability and cuts nothing off."""
    return publish(dress(piled(texts, 200)))


@pytest.fixture(scope="session")
def pair(
    texts: list[str], dress: Callable[[Sequence[str]], Dressed], publish: Callable[[Dressed], Run]
) -> tuple[Run, Run]:
    """Two runs: over texts that nothing could mistake for anything else, and over the hostile ones."""
    return publish(dress([f"kind{number} " for number in range(len(texts))])), publish(dress(texts))


@pytest.fixture
def told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Runs a command line, and gives what it says once it is done as expected and nothing unseen is in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "4000")

    def call(*arguments: str | Path, code: int = ExitCode.DONE) -> str:
        given = run_command([str(argument) for argument in arguments])
        printed, noted = capsys.readouterr()
        assert given == code, noted
        assert not unseen(printed.replace(f"@{WORD_JOINER}", "@") + noted)
        return printed + noted

    return call


def put(text: str, number: int, word: str) -> str:
    """A field that begins and ends with the text, and is told from every other one by its words."""
    return f"{text}q{number}q need{number} {word}{number} q{number}q{text}"


def piled(texts: list[str], size: int) -> list[str]:
    return [" \n".join(texts[start : start + size]) for start in range(0, len(texts), size)]


def write_dressed(texts: list[str], folder: Path) -> Dressed:
    decisions, roots = [], []
    for number, text in enumerate(texts):
        root = folder / "roots" / _name(text, number)
        log = root / _name(text, number) / LOG_NAME
        log.parent.mkdir(parents=True)
        log.write_bytes(b"\n".join([*_lines(text, number), b""]))
        roots.append(root)
        decisions += _decisions(text, number)
    held = folder / "decisions.jsonl"
    held.write_bytes(b"\n".join(map(msgspec.json.encode, decisions)))
    listed = folder / "vocabulary.json"
    listed.write_text(json.dumps({"name": texts[0], "entries": _entries(texts)}), encoding="utf-8")
    config = folder / "mine.toml"
    config.write_text(_settings(texts, listed, held), encoding="utf-8")
    return roots, config


def _lines(text: str, number: int) -> list[bytes]:
    def record(need: str, image: int, **fields: object) -> bytes:
        said = {
            "timestamp": f"2026-04-0{image}T10:00:00Z",
            "image_id": put(text, number, f"image {image} "),
            "session_id": put(text, number, f"session {image} "),
            "snapshot_hash": put(text, number, "state"),
            "missing_capability": put(text, number, need),
            "description": put(text, number, "described"),
            "workaround": put(text, number, "by hand"),
            "intent_category": put(text, number, "category"),
            "operations_involved": [put(text, number, word) for word in ("blur", "crop", "grain", "tone")],
            "vocabulary_used": [put(text, number, word) for word in ("warm", "cold")],
            "satisfaction": -1,
            "notes": put(text, number, "noted"),
            text: text,
        }
        return json.dumps(said | fields).encode()

    return [
        record("open", 1, intent=put(text, number, "wanted")),
        record("open", 2),
        record("covered", 3),
        record("dismissed", 4),
        record("authored", 5, timestamp=text),
        record("bad", 6, satisfaction=1, operations_involved=[{text: text}]),
        b"{" + text.encode("utf-8", "surrogatepass"),
    ]


def _decisions(text: str, number: int) -> list[Decision]:
    actor, reason = put(text, number, "ana").strip(), put(text, number, "because").strip()

    def decided(action: Action, need: str, **said: str) -> Decision:
        wording = put(text, number, need).strip()
        about = subject(f"cap-{number:012x}", wording, [wording])
        return decide(action, about, actor=actor, time=NOW, reason=reason, **said)  # type: ignore[arg-type]

    return [
        decided(Action.RENAME, "open", label=put(text, number, "renamed").strip()),
        decided(Action.PIN, "open"),
        decided(Action.DISMISS, "dismissed"),
        decided(Action.AUTHOR, "authored", entry=put(text, number, "entry").strip()),
    ]


def _entries(texts: Sequence[str]) -> list[dict[str, object]]:
    """An entry that covers a need of each text."""
    return [
        {
            "name": put(text, number, "covered"),
            "description": put(text, number, "does"),
            "tags": [put(text, number, "tag")],
            "touches": [put(text, number, "crop")],
        }
        for number, text in enumerate(texts)
    ]


def _settings(texts: Sequence[str], listed: Path, held: Path) -> str:
    """Settings under which no two needs meet, every one is shown, and those that are near are covered."""
    aliases = (
        f"{_toml(put(text, number, 'spelt'))} = {_toml(text + 'x')}" for number, text in enumerate(texts)
    )
    ignored = ", ".join(_toml(put(text, number, "ignored")) for number, text in enumerate(texts))
    return "\n".join(
        [
            "[ingest]",
            "hidden = true",
            "[cluster]",
            "threshold = 0.0",
            f"stop_words = [{ignored}]",
            "[report]",
            "top = 0",
            "[vocabulary]",
            f"paths = [{_toml(str(listed))}]",
            "threshold = 0.0",
            "[decisions]",
            f"file = {_toml(str(held))}",
            "[aliases.operations]",
            *aliases,
        ]
    )


def _toml(text: str) -> str:
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _name(text: str, number: int) -> str:
    """A folder's name; no system allows a slash or a NUL in one, or a name of any length."""
    allowed = text.replace("/", "\u2215").replace("\0", "\u2400").encode("utf-8", "replace")
    short = allowed[:NAME_BYTES].decode(errors="ignore")
    return f"{short}{number}{NOT_UTF_8}{short}"
