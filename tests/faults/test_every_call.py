"""Each verb that writes, killed, refused and kept waiting at each of its calls.

Here of many like calls the last; `make soak` has them all, and those of compiled code.
"""

from pathlib import Path

import pytest

from builders.command import vocabgap
from faults.checks import Undisturbed, cases, require_given_up
from faults.targets import VERBS
from faults.verbs import Verb
from vocabgap.reporting.published_run import read_run


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_ACTOR", "ana")


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS, ids=[verb.name for verb in VERBS])
def test_a_verb_reports_every_failure_and_leaves_nothing_half_done(verb: Verb) -> None:
    found = Undisturbed.of(verb)
    met = 0

    for _, check in cases(found, every=False):
        check()
        met += 1
    require_given_up(found)

    assert met >= 5


def test_identifiers_would_change_if_the_run_before_were_lost() -> None:
    report = VERBS[0]
    report.prepare()

    result = vocabgap(*report.arguments, "--previous", "none", "--out", "alone")
    vocabgap(*report.arguments)

    assert result.code == 0
    assert set(ids("alone").values()).isdisjoint(ids("out").values())


def ids(folder: str) -> dict[str, str]:
    """Label to identifier of the capabilities of a run."""
    return dict(read_run(folder, option="--out")[1].select("label", "capability_id").iter_rows())
