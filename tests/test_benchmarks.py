"""What is made of the figures of benchmarks; nothing is timed here."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import compare, quality
from benchmarks.labelled import OWN

RUNS = {"min": 0.95, "median": 1.0, "max": 1.05}


def results(
    times: float, figure: str = "CPU s", peer: str = "", **changed: object
) -> dict[str, Any]:
    """What a run wrote that measured one thing, which takes so many times as long."""
    figures = {figure: {name: value * times for name, value in RUNS.items()}}
    return {
        "size": "small",
        "repeat": 3,
        "machine": {"cores": 2, "packages": {"numpy": "2.0"}},
        "rows": [{"what": "scan", "size": "10 logs", "peer": peer, "figures": figures}],
        **changed,
    }


def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *runs: dict[str, Any]) -> int:
    """The exit code of the comparison of two runs."""
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, run in zip(paths, runs, strict=True):
        path.write_text(json.dumps(run), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["compare.py", *map(str, paths)])
    with pytest.raises(SystemExit) as ended:
        compare.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("times", "code", "message"),
    [
        (1.3, 1, "1 slower, 0 faster"),
        (1.08, 0, "0 slower, 0 faster"),
        (0.7, 0, "0 slower, 1 faster"),
    ],
)
def test_what_grows_by_more_than_the_noise_is_slower(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    times: float,
    code: int,
    message: str,
) -> None:
    assert compared(tmp_path, monkeypatch, results(1.0), results(times)) == code
    assert message in capsys.readouterr().out


def test_beside_a_peer_the_ratio_is_compared_and_not_the_seconds() -> None:
    old, new = results(2.0, "CPU ratio", "reading"), results(2.0, "CPU ratio", "reading")
    for run, seconds in ((old, 1.0), (new, 3.0)):
        run["rows"][0]["figures"]["CPU s"] = dict.fromkeys(RUNS, seconds)

    (change,) = compare.changes(old, new)

    assert (change.figure, change.is_slower) == ("CPU ratio", False)


def test_different_sizes_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, monkeypatch, results(1.0), results(1.0, size="large")) == 2
    assert "cannot compare the size small with large" in capsys.readouterr().err


def test_bcubed_counts_what_stands_together_and_what_belongs_together() -> None:
    truth, labels = (np.array(each) for each in ([0, 0, 0, 1], [0, 0, 1, 1]))

    found = quality.scores(truth, labels)

    # Of the four lines 2/2, 2/2, 1/2 and 1/2 of the group, and 2/3, 2/3, 1/3 and 1/1 of the need.
    assert found.precision == 0.75
    assert found.recall == pytest.approx(2 / 3)
    assert found.bcubed == pytest.approx(2 * 0.75 * (2 / 3) / (0.75 + 2 / 3))


def test_where_data_come_from_is_said_of_every_file() -> None:
    described = (OWN / "SOURCES.md").read_text(encoding="utf-8")
    names = {path.name for path in OWN.iterdir()} - {"SOURCES.md"}

    assert {name for name in names if f"`{name}`" not in described} == set()
