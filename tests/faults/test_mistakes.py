"""What is read, with mistakes in it, and with a bit flipped: a share of what `make soak` does."""

import random
from pathlib import Path

import pytest

from faults import mutants, special
from faults.flips import flipped
from faults.targets import digested, readers

MUTANTS = 100  # of each kind of file
LINES = 5_000
BITS = 60


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_ACTOR", "ana")


def test_every_line_of_a_log_is_accounted_for_whatever_is_wrong_with_it() -> None:
    problems, _ = mutants.attack_lines(LINES, seed=0)
    assert not problems


def test_a_mistake_in_a_file_is_an_error_of_ours() -> None:
    for reader in readers():
        problems, _ = mutants.attack(reader, MUTANTS, seed=0)
        assert not problems


def test_readers_take_files_without_mistakes() -> None:
    for reader in readers():
        reader.file.parent.mkdir(exist_ok=True)
        for content in reader.valid:
            reader.file.write_bytes(content)
            assert reader.read()


def test_mutants_are_the_same_each_time_and_no_valid_text() -> None:
    valid = (b'{"description": "sky mask"}', b"terms: []")

    def drawn(seed: int) -> list[bytes]:
        chance = random.Random(seed)  # noqa: S311 - the same each time
        return [mutants.mutant(chance, valid) for _ in range(200)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert sum(each in valid for each in drawn(1)) < 20


def test_a_flipped_bit_is_an_error_or_changes_nothing() -> None:
    cases, problems = flipped(digested(), BITS)
    assert cases == BITS
    assert not problems


def test_no_command_waits_for_a_pipe_or_reads_a_device() -> None:
    message = [*special.attacked(share=23)]
    assert len(message) >= 20
    assert [problem for problem in message if problem] == []
