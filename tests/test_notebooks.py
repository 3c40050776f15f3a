"""The notebooks run as they are, and what they show loads nothing."""

from itertools import pairwise
from pathlib import Path

import pytest
from nbmake.nb_run import NotebookRun
from selectolax.lexbor import LexborHTMLParser

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
SECONDS = 120  # for one cell
LOADS = "script, link, iframe, object, embed, [src], [href]"  # elements that fetch something, or may


def test_there_are_five_and_each_names_the_next() -> None:
    for notebook, following in pairwise(NOTEBOOKS):
        assert f"Go on with `{following.stem}`" in notebook.read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 5


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_itself_without_a_network(notebook: Path) -> None:
    done = NotebookRun(notebook, SECONDS).execute()

    assert done.error is None, done.error.trace
    for cell in done.nb.cells:
        shown = [output.get("data", {}) for output in cell.get("outputs", ())]
        # Whatever is not among these may be drawn by a script from somewhere.
        assert {kind for each in shown for kind in each} <= {"text/plain", "text/html", "image/png"}
        assert ("alt.Chart(" in cell.source) == any("image/png" in each for each in shown)
        for html in (each["text/html"] for each in shown if "text/html" in each):
            assert not LexborHTMLParser(html).css(LOADS)
            assert "url(" not in html
            assert "@import" not in html
