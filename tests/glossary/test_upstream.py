"""The tests of the published implementation, which lie beside the project, run against ours."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("upstream")
FILES = [
    f"test_{part}.py"
    for part in ("conflict", "extraction", "models", "resolution", "scope", "strictness")
]


def test_published_tests_fail_only_where_a_reason_is_given(pytestconfig: pytest.Config) -> None:
    tests = pytestconfig.getini("upstream_tests")
    if not tests:
        pytest.skip("needs the published tests; -o upstream_tests=FOLDER names their folder")
    with (FOLDER / "differences.tsv").open(encoding="utf-8", newline="") as rows:
        expected = {row["test"]: row["reason"] for row in csv.DictReader(rows, delimiter="\t")}
    options = ["-p", "adapter", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tests]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-q", "-rfE", *FILES],
        cwd=tests,
        env={**os.environ, "PYTHONPATH": str(FOLDER), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert sorted(failed) == sorted(expected)
    assert all(expected.values())
    assert passed is not None
    assert int(passed[1]) > len(failed)
