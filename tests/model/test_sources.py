import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import vocabgap
from builders import write_config
from vocabgap.errors import InvalidInputError
from vocabgap.model.loading import load_settings
from vocabgap.model.sources import Source, pointer_of, shipped_sources, sources_in_force, value_at

GLOB = 'glob = "gaps.jsonl"'
# What is wrong in [source.mine]; the table that the error names; the key.
FAULTS = [
    ("", "source.mine", "glob"),
    ('glob = ""', "source.mine", "glob"),
    ('glob = ["gaps.jsonl", 3]', "source.mine", "glob"),
    (f"{GLOB}\nglobs = 3", "source.mine", "globs"),
    (f'{GLOB}\nenabled = "no"', "source.mine", "enabled"),
    (f'{GLOB}\nfields = "intent"', "source.mine", "fields"),
    (f'{GLOB}\nfields = {{ mood = "goal" }}', "source.mine.fields", "mood"),
    (f"{GLOB}\nconstants = {{ mood = 3 }}", "source.mine.constants", "mood"),
    (f"{GLOB}\nconstants = {{ timestamp = 2026-04-01 }}", "source.mine.constants", "timestamp"),
    (f"{GLOB}\nwhere = {{ event.name = 3 }}", "source.mine.where", "event"),
    (f"{GLOB}\nwhere = {{ event = [] }}", "source.mine.where", "event"),
    (f'{GLOB}\nlike = "gh-awe"', "source.mine", "like"),
    (f'{GLOB}\nlike = "mine"', "source.mine", "like"),
    (f'{GLOB}\npath = "("', "source.mine", "path"),
    (f'{GLOB}\nenabled = false\nfields = {{ mood = "goal" }}', "source.mine.fields", "mood"),
    (f'{GLOB}\npath = "(?P<mood>.)"', "source.mine", "mood"),
]
# Patterns that no file's name can ever fit.
FUTILE = ["exports/", "/exports/gaps.jsonl", "../gaps.jsonl", "/", "**/gaps.jsonl", "gaps-**.jsonl"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VOCABGAP_CONFIG", raising=False)


def refused(path: Path) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(path)
    return caught.value


def test_a_source_that_is_like_itself_is_not_proposed(tmp_path: Path) -> None:
    error = refused(write_config(tmp_path, f'[source.mine]\n{GLOB}\nlike = "mine"\n'))

    assert "mine" not in error.message.partition("expected")[2] + str(error.hint)


@pytest.mark.parametrize(("text", "table", "key"), FAULTS)
def test_a_fault_in_a_source_is_told_with_its_file_its_table_and_its_key(
    text: str, table: str, key: str, tmp_path: Path
) -> None:
    path = write_config(tmp_path, f"[source.mine]\n{text}\n")

    error = refused(path)

    assert error.message.startswith(f"{path}: ")
    assert table in error.message
    assert key in error.message
    assert error.hint


@pytest.mark.parametrize("text", ["source = 3", "[source]\nmine = 3", "[[source]]\nglob = 'a'"])
def test_a_source_that_is_no_table_is_an_error_that_says_where(text: str, tmp_path: Path) -> None:
    error = refused(write_config(tmp_path, f"{text}\n"))

    assert "source" in error.message
    assert "..." not in error.message
    assert "[source[" not in error.message


@pytest.mark.parametrize("glob", FUTILE)
def test_a_pattern_that_no_name_can_fit_is_an_error(glob: str) -> None:
    with pytest.raises(
        InvalidInputError, match=r"\[source.mine\] glob: .* matches no file"
    ) as caught:
        sources_in_force({"mine": Source(glob=glob)})

    assert "any depth" in caught.value.hint


def test_a_filter_keeps_the_type_that_its_value_has_in_the_file(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        f'[source.mine]\n{GLOB}\nwhere = {{ a = "1", b = 1, c = true, d = ["true", 2.5] }}\n',
    )

    where = load_settings(path).sources["mine"].where

    assert repr(where) == "{'a': '1', 'b': 1, 'c': True, 'd': ('true', 2.5)}"


def test_ones_own_come_first_in_their_order() -> None:
    own = {"zoo": Source(glob="a"), "alps": Source(glob="b"), "posthog": Source(enabled=True)}

    others = [name for name in shipped_sources() if name not in own]
    assert list(sources_in_force(own)) == ["zoo", "alps", "posthog", *others]


def test_ones_own_are_laid_over_the_shipped_one_key_by_key() -> None:
    shipped = shipped_sources()["hermes"]
    own = Source(fields={"notes": "remark"}, constants={"intent_category": "tools"})

    laid = sources_in_force({"hermes": own})["hermes"]

    assert laid.glob == shipped.glob
    assert laid.fields == {**shipped.fields, "notes": "remark"}
    assert laid.constants == {"intent_category": "tools"}


def test_a_source_that_is_off_is_not_in_force() -> None:
    own = {"posthog": Source(enabled=False), "mine": Source(glob="gaps.jsonl", enabled=False)}

    assert set(sources_in_force(own)) == shipped_sources().keys() - own.keys()


VALUE: dict[str, Any] = {
    "a": {"b": [{"c": "deep"}]}, "x.y": {"/": "odd"}, "": "empty", "none": None, "a~b": 3, "~1": 4, " ": 5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b.0.c", "deep"), ("/a/b/0/c", "deep"), ("/x.y/~1", "odd"), ("/", "empty"), ("x.y", None),
        ("/a~0b", 3),
        ("/~01", 4), ("/ ", 5), ("a.b.1", None), ("a.b.00", None), ("a.b.c", None), ("none.more", None),
    ],
)  # fmt: skip
def test_a_path_leads_to_a_value_or_nowhere(path: str, found: object) -> None:
    assert value_at(VALUE, pointer_of(path)) == found


def test_shipped_sources_are_read_from_an_archive_as_workers_have_it(tmp_path: Path) -> None:
    package = Path(vocabgap.__file__).parent
    archive = shutil.make_archive(str(tmp_path / "code"), "zip", package.parent, package.name)
    code = "from vocabgap.model import sources; print(*sources.shipped_sources(), sources.__file__)"
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": archive},
        capture_output=True,
        text=True,
        check=True,
    )

    *names, file = printed.stdout.split()
    assert names == [*shipped_sources()]
    assert file.startswith(archive)
