import pickle
from pathlib import Path

import pytest

from vocabgap.errors import InvalidInputError, NotFoundError, expanded


def test_error_of_another_process_is_what_it_was_there() -> None:
    error = NotFoundError("gone", hint="look elsewhere")

    found = pickle.loads(pickle.dumps(error))  # noqa: S301 - it was made a moment ago

    assert type(found) is type(error)
    assert (str(found), found.exit_code, vars(found)) == (str(error), error.exit_code, vars(error))


def test_only_a_path_that_begins_with_a_tilde_is_below_a_home_folder() -> None:
    assert expanded("./~ out") == Path("~ out")
    assert expanded("~/out").is_absolute()
    with pytest.raises(InvalidInputError, match="home folder that does not exist"):
        expanded("~nobody-here/out")
