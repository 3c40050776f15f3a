"""A record field, a filter, a capability column and a ranking option are one line each, and work."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl
import pytest

import vocabgap
from vocabgap.model.capability import Capability
from vocabgap.model.record import FIELDS
from vocabgap.model.selection import FILTERS, Selection
from vocabgap.model.settings import RankSettings, known_flags
from vocabgap.model.tables import CAPABILITIES

PACKAGE = Path(vocabgap.__file__).parent
ADDED: Final = (  # file, the text before, the text behind, and what is added there
    (
        "model/record.py",
        "class GapRecord(",
        "_DECLARED",
        (
            '    lens: Annotated[str | None, _field("The lens of the camera.")] = None\n'
            '    aperture: Annotated[float | None, _field("The aperture of the lens.")] = None\n'
        ),
    ),
    (
        "model/selection.py",
        "class Selection(",
        "    def __post_init__",
        '    lenses: Annotated[tuple[str, ...], _filter("Only this lens.", "lens", column="lens")] = ()\n',
    ),
    (
        "model/capability.py",
        "class Capability(",
        "    covered: tuple",
        '    lenses: Annotated[float, means("distinct lenses", "Lenses")]\n',
    ),
    (
        "model/settings.py",
        "class RankSettings(",
        "    half_life_days",
        '    min_tenants: Annotated[int, flag("--min-tenants", "Hide what fewer ask for.", ge=0)] = 0\n',
    ),
    (
        "ranking/evidence.py",
        "COLUMNS",
        "def counts(",
        (
            "@column\ndef lenses(clustered: pl.DataFrame) -> pl.DataFrame:\n"
            '    with_lens = clustered.filter(pl.col("lens").is_not_null())\n'
            '    return with_lens.group_by("cluster").agg(lenses=pl.col("lens").n_unique() + 0.5)\n\n\n'
        ),
    ),
)
USE = """
import os
from vocabgap import log_gap
from vocabgap.doors.cli.app import run
from vocabgap.errors import InvalidInputError
from vocabgap.doors.mcp.tools import list_gaps, log_vocabulary_gap, report_gaps
from vocabgap.doors.mcp.workspace import Workspace
from vocabgap.model.settings import Settings

assert run(["log", "heron", "--need", "sky mask", "--lens", "50mm", "--aperture", "2.8"]) == 0
assert run(["log", "heron", "--need", "film grain"]) == 0
assert run(["--json", "check", "."]) == 0
assert run(["--json", "list", ".", "--lens", "50mm"]) == 0
assert run(["--json", "list", ".", "--match", "50MM"]) == 0
assert run(["report", ".", "--out", "out", "-q", "--evidence"]) == 0
assert run(["report", ".", "--out", "narrowed", "-q", "--lens", "50mm"]) == 0
assert run(["report", ".", "--out", "few", "-q", "--min-tenants", "2"]) == 0
try:
    log_gap("heron", missing_capability="sky mask", aperture="wide")
except InvalidInputError as error:
    assert str(error) == "aperture: expected a number, found 'wide'"
for image in ("ibis", "jay", "kite"):
    os.makedirs(f"../birds/{image}")
    assert run(["log", f"../birds/{image}", "--need", "sky mask", "--lens", "50mm"]) == 0
with open("../birds/kite/vocabulary_gaps.jsonl", "a") as log:
    for aperture in ("2", '"wide"'):
        log.write('{"description": "sky mask", "aperture": %s}\\n' % aperture)
assert run(["report", "../birds", "--out", "shared", "-q", "--share"]) == 0
for tool in (log_vocabulary_gap, list_gaps, report_gaps):
    assert "lens" in tool.request.__struct_fields__, tool.name
found = list_gaps.call(Workspace(".", Settings()), {"lens": "50mm"})["data"]["gap"]
assert [row["lens"] for row in found] == ["50mm"]
"""


@pytest.fixture(scope="module")
def with_a_lens(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]]]:
    """A folder in which a copy of the program with a lens has worked, and what it printed."""
    place = tmp_path_factory.mktemp("copy")
    half_compiled = shutil.ignore_patterns("*.pyc.*", "*tmp*")
    shutil.copytree(PACKAGE, place / "vocabgap", symlinks=True, ignore=half_compiled)
    for name, begin, end, line in ADDED:
        path = place / "vocabgap" / name
        text = path.read_text(encoding="utf-8")
        before = text.index(end, text.index(begin))
        while text[before - 1] == text[before - 2] == "\n" and line.startswith(" "):
            before -= 1
        path.write_text(text[:before] + line + text[before:], encoding="utf-8")
    (place / "work" / "heron").mkdir(parents=True)
    environment = {"PYTHONPATH": str(place), "PATH": "", "HOME": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=place / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place / "work", [
        json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")
    ]


def test_a_record_field_is_logged_checked_listed_and_published(
    with_a_lens: tuple[Path, list[dict[str, object]]],
) -> None:
    folder, events = with_a_lens
    first, second = map(
        json.loads, (folder / "heron/vocabulary_gaps.jsonl").read_text().splitlines()
    )
    assert (first["lens"], "lens" in second) == ("50mm", False)
    assert "unknown_field" not in json.dumps(events)
    assert pl.read_parquet(folder / "out/gaps.parquet")["lens"].to_list() == ["50mm", None]
    assert pl.read_parquet(folder / "shared/gaps.parquet")["aperture"].to_list() == [
        None,
        None,
        None,
        2.0,
    ]
    (reject,) = pl.read_parquet(folder / "shared/rejects.parquet")["detail"]
    assert reject == "field 'aperture': expected a number, found text"


def test_a_filter_narrows_lists_and_reports(
    with_a_lens: tuple[Path, list[dict[str, object]]],
) -> None:
    folder, events = with_a_lens
    assert [event["lens"] for event in events if event["event"] == "gap"] == ["50mm", "50mm"]
    gaps = pl.read_parquet(folder / "narrowed/gaps.parquet")
    assert gaps["why_not"].to_list() == [None, "filtered"]


def test_a_capability_column_is_computed_and_published(
    with_a_lens: tuple[Path, list[dict[str, object]]],
) -> None:
    ranked = pl.read_parquet(with_a_lens[0] / "out/capabilities.parquet")
    assert ranked.select("label", "lenses").rows() == [("film grain", 0.0), ("sky mask", 1.5)]
    assert "- Lenses: 1.50\n" in (with_a_lens[0] / "out/evidence.md").read_text(encoding="utf-8")
    assert '"Lenses"' in (with_a_lens[0] / "out/report.html").read_text(encoding="utf-8")
    page = (with_a_lens[0] / "shared/share.html").read_text(encoding="utf-8")
    assert ("sky mask" in page, "50mm" in page) == (True, False)


FACTS = {
    "record field": frozenset(FIELDS),
    "capability column": frozenset(Capability.__struct_fields__),
    "filter": frozenset(
        {*Selection.__struct_fields__, *(each.option.removeprefix("--") for each in FILTERS)}
    ),
    "option": frozenset(name.removeprefix("--").replace("-", "_") for name in known_flags()),
}
# The homes, and choices of columns for one purpose.
ALLOWED = {
    ("doors/mcp/tools.py", "literal"),
    ("doors/report.py", "literal"),  # the columns of CSV
    ("listing/records.py", "Belonging"),
    ("listing/records.py", "Totals"),
    ("model/capability.py", "Capability"),
    ("model/capability.py", "Example"),
    ("model/record.py", "GapRecord"),
    ("model/selection.py", "Selection"),
    ("model/settings.py", "ReportSettings"),
    ("ranking/drafting.py", "ChecklistItem"),
    ("reporting/listed.py", "Past"),
    ("ranking/drafting.py", "Evidence"),
    ("ranking/drafting.py", "literal"),
    ("ranking/screening.py", "rule_of"),
    ("decisions/effects.py", "Effect"),
    ("reporting/comparison.py", "Change"),
    ("reporting/sharing.py", "literal"),  # the allow-list of the shareable page
    ("reporting/summary.py", "Summary"),
}


def declarations(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Yield each struct and parameter list with its names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            yield node.name, [each.id for each in fields if isinstance(each, ast.Name)]
        elif isinstance(node, ast.FunctionDef):
            yield node.name, [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            yield "literal", [each for each in texts if isinstance(each, str)]


def test_a_ranking_option_hides_what_too_few_ask_for(
    with_a_lens: tuple[Path, list[dict[str, object]]],
) -> None:
    folder = with_a_lens[0] / "few"
    assert "of fewer than 2 tenants" in (folder / "report.md").read_text()
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["parameters"]["settings"]["rank"]["min_tenants"] == 2


def test_each_least_value_is_one_of_a_count() -> None:
    for column in RankSettings().fewest:
        assert CAPABILITIES.schema[column].is_integer()


def test_nothing_is_declared_a_second_time() -> None:
    again = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for what, names in declarations(ast.parse(path.read_text(encoding="utf-8"))):
            for fact, known in FACTS.items():
                most = 8 if what == "literal" else 4
                if len(known & set(names)) >= most and (name, what) not in ALLOWED:
                    again.append(f"{name}: {what} repeats a {fact}: {sorted(known & set(names))}")
    assert not again, "\n".join(again)
