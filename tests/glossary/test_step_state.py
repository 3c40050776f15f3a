import os
from pathlib import Path

import pytest

from glossary.steps import step
from vocabgap.errors import StateError
from vocabgap.glossary.checkpoints import (
    clear_abandoned,
    save_state,
    state_path,
)

STOPPED = "5d2c3f3e-1111-4222-8333-444455556666"


def test_step_that_cannot_be_kept_leaves_nothing_behind(tmp_path: Path) -> None:
    path = state_path(tmp_path, STOPPED)
    path.mkdir(parents=True)
    with pytest.raises(StateError, match="cannot be written"):
        save_state(tmp_path, STOPPED, step())
    assert list(path.parent.iterdir()) == [path]


def test_what_killed_runs_have_left_is_removed_an_hour_later(tmp_path: Path) -> None:
    save_state(tmp_path, STOPPED, step())
    state = state_path(tmp_path, STOPPED)
    staging = state.with_name(f".{STOPPED}.staging-1")
    staging.mkdir()
    half = state.with_name(f".{STOPPED}.json.1")
    half.write_bytes(b"{")

    clear_abandoned(tmp_path, "retouch")
    young = sorted(state.parent.iterdir())
    for path in young:
        os.utime(path, (0, 0))
    clear_abandoned(tmp_path, "another mission")
    others = list(state.parent.iterdir())
    clear_abandoned(tmp_path, "retouch")

    assert young == sorted([state, staging, half])
    assert others == [state]
    assert list(state.parent.iterdir()) == []


def test_run_that_waits_is_never_removed(tmp_path: Path) -> None:
    save_state(tmp_path, STOPPED, step())
    state = state_path(tmp_path, STOPPED)
    state.with_suffix("").mkdir()
    os.utime(state, (0, 0))

    clear_abandoned(tmp_path, "retouch")

    assert state.is_file()
