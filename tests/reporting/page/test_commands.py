"""The command lines to decide with."""

import shlex

import pytest

from builders.page import listed
from vocabgap.doors.cli.app import run
from vocabgap.errors import ExitCode
from vocabgap.reporting.capability import SETTLED, Listed, commands
from vocabgap.reporting.summary import Summary


def lines(made: Listed, deciding: str = "") -> dict[str, str]:
    return {each.does: each.line(made.capability.capability_id) for each in commands([made], deciding)}


def test_the_capability_is_named_by_its_identifier(summary: Summary) -> None:
    found = lines(listed(summary, capability_id="cap-0123456789ab"))
    assert found["merge"] == "vocabgap decide merge cap-0123456789ab OTHER"
    assert found["dismiss"] == "vocabgap decide dismiss cap-0123456789ab --why 'REASON'"


def test_options_of_the_run_go_along(summary: Summary) -> None:
    found = lines(listed(summary), "--decisions team.jsonl")
    assert all(line.endswith(" --decisions team.jsonl") for line in found.values())


def test_what_a_log_says_is_in_no_command(summary: Summary) -> None:
    plain, hostile = listed(summary), listed(summary, label="$(rm -rf ~)'; reboot #")
    assert lines(plain) == lines(hostile)


@pytest.mark.parametrize("identifier", ["cap-0123456789ab; reboot", "cap-1", "", "cap-0123456789ab\n"])
def test_identifiers_that_are_not_ours_give_no_commands(summary: Summary, identifier: str) -> None:
    assert commands([listed(summary), listed(summary, capability_id=identifier)], "") == ()


def test_only_what_is_settled_is_reopened(summary: Summary) -> None:
    groups = {each.does: each.group for each in commands([listed(summary)], "")}
    assert groups.pop("reopen") == SETTLED
    assert set(groups.values()) == {None}


def test_every_command_is_one_that_the_command_line_knows(
    summary: Summary, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in lines(listed(summary)).values():
        program, *words = shlex.split(line)
        # The run is not there: that is told only after the words were understood.
        code = run([*words, "--run", "nowhere"])
        assert (program, code) == ("vocabgap", ExitCode.NOT_FOUND)
        assert "no run of vocabgap" in capsys.readouterr().err


def test_where_there_is_nothing_to_decide_there_are_no_commands(summary: Summary) -> None:
    assert commands([], "") == ()
    assert commands([listed(summary)], None) == ()
