import pickle

import pytest

from vocabgap.errors import NotFoundError, VocabgapError
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.seeds import SeedFileValidationError, SeedProblem
from vocabgap.glossary.senses import Strictness
from vocabgap.glossary.session import AbortResumeError


@pytest.mark.parametrize(
    "error",
    [
        NotFoundError("gone", hint="look elsewhere"),
        BlockedByConflictError([], Strictness.MAX, retry_token="t", hint="answer"),  # noqa: S106 - no password
        AbortResumeError("changed", hint="say so"),
        SeedFileValidationError(
            "words.yaml", [SeedProblem("definition", "is blank", 0, "mask", 3)]
        ),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_of_another_process_is_what_it_was_there(error: VocabgapError) -> None:
    found = pickle.loads(pickle.dumps(error))  # noqa: S301 - it was made a moment ago

    assert type(found) is type(error)
    assert (str(found), found.exit_code, vars(found)) == (str(error), error.exit_code, vars(error))
