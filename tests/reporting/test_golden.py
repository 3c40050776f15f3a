"""The report of the demo, and of a few hostile texts, are the files that somebody has looked at.

`make approve` writes them anew: what has changed is then in the diff, for whoever reviews it.
"""

import json
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.page import read
from builders.reporting import evidence_of, publish, text_of
from vocabgap.pipeline import Run

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
OWN = Path(__file__).parents[1] / "data" / "hostile.json"


@pytest.fixture
def hostile_run(tmp_path: Path) -> Run:
    """A need in the words of each first text of our own list, which is several kinds of attack."""
    texts = [each[0] for each in json.loads(OWN.read_text(encoding="utf-8")).values()]
    logs = {
        f"image-{number}": [gap(f"{text} sky {number}", notes=text, workaround=text)]
        for number, text in enumerate(texts)
    }
    return publish(tmp_path, write_corpus(tmp_path, logs))


@pytest.mark.parametrize("kind", ["demo", "hostile"])
def test_report_is_the_approved_one(
    kind: str, demo_run: Run, hostile_run: Run, pytestconfig: pytest.Config
) -> None:
    run = demo_run if kind == "demo" else hostile_run
    page = (run.published.folder / "report.html").read_text(encoding="utf-8")
    written = {
        f"{kind}.md": text_of(run),
        f"{kind}.evidence.md": evidence_of(run),
        f"{kind}.txt": read(page).text.replace(". ", ".\n") + "\n",
    }
    if pytestconfig.getoption("approve"):
        GOLDEN.mkdir(exist_ok=True)
        for name, text in written.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")

    approved = {name: (GOLDEN / name).read_text(encoding="utf-8") for name in written}

    assert written == approved, "if this is meant, `make approve` writes it to tests/data/golden"
