"""The notebooks run as they are, show what is saved in them, and load nothing.

`make approve` saves what they show.
"""

import ast
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbmake.nb_run import NotebookRun
from selectolax.lexbor import LexborHTMLParser

import vocabgap as vg
from builders import gap, write_corpus

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
DEMO = '"../data/demo"  # or a folder of your own logs'
HOSTILE = (
    "<script>alert(1)</script>",
    "\x1b[31mred\x1b[0m and \0",
    "\U0001f600" * 200,
    "x" * 5_000,
)
SECONDS = 60  # for one cell
LOADS = (
    "script, link, iframe, object, embed, [src], [href]"  # elements that fetch something, or may
)


def test_there_are_five_and_each_names_the_next() -> None:
    for notebook, following in pairwise(NOTEBOOKS):
        assert f"Go on with `{following.stem}`" in notebook.read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 5


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_saved_and_needs_no_network(
    notebook: Path, pytestconfig: pytest.Config
) -> None:
    saved = nbformat.read(notebook, nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
    done = NotebookRun(notebook, SECONDS).execute()

    assert done.error is None, done.error.trace
    if pytestconfig.getoption("approve"):
        for cell, ran in zip(saved.cells, done.nb.cells, strict=True):
            cell.update({key: ran[key] for key in ("outputs", "execution_count") if key in ran})
        nbformat.write(saved, notebook)  # type: ignore[no-untyped-call]
    assert list(map(texts, done.nb.cells)) == list(map(texts, saved.cells)), "see `make approve`"
    for cell in done.nb.cells:
        shown = [output.get("data", {}) for output in cell.get("outputs", ())]
        # Whatever is not among these may be drawn by a script from somewhere.
        assert {kind for each in shown for kind in each} <= {"text/plain", "text/html", "image/png"}
        assert ("alt.Chart(" in cell.source) == any("image/png" in each for each in shown)
        for html in (each["text/html"] for each in shown if "text/html" in each):
            assert not LexborHTMLParser(html).css(LOADS)
            assert "url(" not in html
            assert "@import" not in html


def texts(cell: Any) -> list[str]:  # noqa: ANN401 - nbformat has no types
    """What a cell shows in words; the images depend on the fonts of the machine."""
    return [output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", ())]


def code_of(notebook: Path, workspace: Path) -> list[str]:
    """The code cells of a notebook, which read a folder of somebody's own."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum(source.count(DEMO) for source in sources) == 1
    return [source.replace(DEMO, repr(str(workspace))) for source in sources]


def show(value: object) -> None:
    """Makes what a notebook would show; an image that cannot be drawn raises."""
    for method in ("_repr_mimebundle_", "_repr_html_"):
        if hasattr(value, method):
            getattr(value, method)()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_on_logs_of_ones_own(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(NOTEBOOKS[0].parent)
    records = (
        gap(need, intent_category=need, operations_involved=[need, "grain"]) for need in HOSTILE * 3
    )
    names: dict[str, Any] = {"display": show}
    for source in code_of(notebook, write_corpus(tmp_path, {"pier": records})):
        *rest, last = ast.parse(source).body
        exec(compile(ast.Module(rest, []), notebook.name, "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            show(eval(compile(ast.Expression(last.value), notebook.name, "eval"), names))  # noqa: S307
        else:
            exec(compile(ast.Module([last], []), notebook.name, "exec"), names)  # noqa: S102


@pytest.mark.parametrize("notebook", NOTEBOOKS[1:], ids=lambda path: path.stem)
def test_a_notebook_without_a_record_says_so(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(NOTEBOOKS[0].parent)
    first, *_ = code_of(notebook, write_corpus(tmp_path, {"pier": ["no record"]}))
    names: dict[str, Any] = {}
    with pytest.raises((LookupError, vg.VocabgapError), match="no record"):
        exec(first, names)  # noqa: S102
    if "folder" in names:  # a temporary one, which the last cell takes away
        names["folder"].cleanup()
