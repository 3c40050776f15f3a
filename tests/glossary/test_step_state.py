from pathlib import Path

import pytest

from glossary.steps import step
from vocabgap.errors import StateError
from vocabgap.glossary.step_state import save_state, state_path

STOPPED = "5d2c3f3e-1111-4222-8333-444455556666"


def test_step_that_cannot_be_kept_leaves_nothing_behind(tmp_path: Path) -> None:
    path = state_path(tmp_path, STOPPED)
    path.mkdir(parents=True)
    with pytest.raises(StateError, match="cannot be written"):
        save_state(tmp_path, STOPPED, step())
    assert list(path.parent.iterdir()) == [path]
