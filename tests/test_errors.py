import pickle
from pathlib import Path

import pytest

from vocabgap.errors import ExitCode, InvalidInputError, NotFoundError, expanded


def test_error_of_another_process_is_what_it_was_there() -> None:
    error = NotFoundError("gone", hint="look elsewhere")

    found = pickle.loads(pickle.dumps(error))  # noqa: S301 - it was made a moment ago

    assert type(found) is type(error)
    assert (str(found), found.exit_code, vars(found)) == (str(error), error.exit_code, vars(error))


def test_scripts_can_rely_on_the_exit_codes() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0, "BUG": 1, "INVALID_INPUT": 2, "NOT_FOUND": 3, "STATE": 4, "GATE": 5,
        "PERMISSION": 9, "HUNG_UP": 129, "INTERRUPTED": 130, "TERMINATED": 143,
    }  # fmt: skip


def test_only_a_path_that_begins_with_a_tilde_is_below_a_home_folder() -> None:
    assert expanded("./~ out") == Path("~ out")
    assert expanded("~/out").is_absolute()
    with pytest.raises(InvalidInputError, match="home folder that does not exist"):
        expanded("~nobody-here/out")
