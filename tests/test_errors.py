import pickle

from vocabgap.errors import NotFoundError


def test_error_of_another_process_is_what_it_was_there() -> None:
    error = NotFoundError("gone", hint="look elsewhere")

    found = pickle.loads(pickle.dumps(error))  # noqa: S301 - it was made a moment ago

    assert type(found) is type(error)
    assert (str(found), found.exit_code, vars(found)) == (str(error), error.exit_code, vars(error))
