"""Loading: what seed files and logs make together, from memory where nothing has changed."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from glossary.builders import update
from glossary.steps import (
    LIFT,
    NOW,
    STAIN,
    TWO_LIFTS,
    answering,
    runtime_in,
    step,
    write_scope,
)
from vocabgap.glossary import loading
from vocabgap.glossary.conflicts import check
from vocabgap.glossary.events import Actor, GlossarySenseUpdated
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.glossary import added, selected
from vocabgap.glossary.loading import BY_HAND, GlossaryFiles, append_events, log_name, read_events
from vocabgap.glossary.questions import Define, Select
from vocabgap.glossary.senses import ScopeStack, Strictness


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of seeds, with a term of two meanings and a bad one, and a folder of logs."""
    seeds = tmp_path / "glossaries"
    seeds.mkdir()
    (seeds / "team_domain.yaml").write_text(
        "terms:\n  - surface: mask\n    definition: where an edit shows\n"
        "  - surface: mask\n    definition: what hides a pixel\n"
        "  - surface: WP\n    definition: work package\n",
        encoding="utf-8",
    )
    (seeds / "audience_domain.yaml").write_text(
        "terms:\n  - surface: lift\n    definition: a machine\n", "utf-8"
    )
    (seeds / "elsewhere.yaml").write_text("{{{", "utf-8")
    return seeds, tmp_path / "events"


def test_an_answer_outlives_the_run(folders: tuple[Path, Path]) -> None:
    glossary = GlossaryFiles(*folders).load().glossary
    ref = glossary.resolve("mask")[0].ref
    when = update("x", "y").timestamp
    event = selected(glossary, ref, conflict_id="c", actor=Actor("user:ann"), now=when)
    append_events(folders[1], "one", [event])
    after = GlossaryFiles(*folders).load().glossary
    assert [each.definition for each in after.resolve("mask")] == [ref.definition]
    terms = extract([Field("x", "mask")], {}, after.known).terms
    assert check(terms, after) == []


def test_what_is_one_missions_own_is_no_others(folders: tuple[Path, Path]) -> None:
    append_events(folders[1], "one", [update("zone", "ours", "mission_local")])
    answer = update("lift", "ours", "mission_local", source="user_clarification")
    append_events(folders[1], "one", [answer, update("range", "everybody's", "audience_domain")])
    for mission, local, team in (("one", 1, 1), ("two", 0, 1), (None, 1, 1)):
        files = GlossaryFiles(*folders)
        glossary = files.load(mission).glossary
        assert (len(glossary.resolve("zone")), len(glossary.resolve("range"))) == (local, team)
        for ref in glossary.scope_refs:
            own = tuple(each for each in glossary if each.scope == ref.scope)
            assert files.load_version(ref.version_id) == own


def test_missions_whose_logs_have_one_name_keep_what_is_their_own(tmp_path: Path) -> None:
    scopes = ScopeStack(("mission_local",))
    runtime = replace(runtime_in(tmp_path), scopes=scopes)
    asked = replace(step('Please "lift" it.'), mission_id="a/b")

    runtime.run(asked, strictness=Strictness.MAX, ask=answering(Define("Brighten the eyes"))[0])

    assert log_name("a/b") == log_name("a-b")
    assert runtime.load("a/b").glossary.meaning("lift") is not None
    assert runtime.load("a-b").glossary.meaning("lift") is None


def test_what_is_done_by_hand_counts_in_all_missions(folders: tuple[Path, Path]) -> None:
    append_events(folders[1], BY_HAND, [update("zone", "ours", "mission_local")])
    assert GlossaryFiles(*folders).load("one").glossary.meaning("zone") is not None


def test_what_has_not_changed_is_not_loaded_again(folders: tuple[Path, Path]) -> None:
    files = GlossaryFiles(*folders)
    first = files.load()
    assert files.load().glossary is first.glossary
    path = folders[0] / "team_domain.yaml"
    text = path.read_text(encoding="utf-8").replace(
        "shows", "seen!"
    )  # of the same length, at the same moment
    state = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert "where an edit seen!" in [
        each.definition for each in files.load().glossary.history("mask")
    ]


def test_a_seed_file_of_the_same_content_is_not_parsed_again(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = GlossaryFiles(*folders)
    first = files.load()
    path = folders[0] / "team_domain.yaml"
    path.write_bytes(path.read_bytes())
    monkeypatch.setattr(loading, "parse_seed", None)

    assert files.load().glossary is first.glossary


def test_threads_that_share_the_files_see_whole_glossaries(folders: tuple[Path, Path]) -> None:
    files = GlossaryFiles(*folders)
    numbers = range(20)

    def add(number: int) -> int:
        append_events(folders[1], f"m{number}", [update(f"term {number}", "ours")])
        return len(list(files.load().glossary))

    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(add, numbers))

    assert all(4 <= each <= 23 for each in counts)
    assert len(list(files.load().glossary)) == 23


def test_what_does_not_count_is_told(folders: tuple[Path, Path]) -> None:
    (folders[0] / "team_domain.yml").write_text("terms: []\n", "utf-8")
    folders[1].mkdir()
    (folders[1] / "one.events.jsonl").write_text('{"a"\n', "utf-8")

    bad, other, ending, line = GlossaryFiles(*folders).load().problems

    assert "team_domain.yaml: line 6: term[2]" in bad
    assert "team_domain.yml: rename it to team_domain.yaml" in ending
    assert (
        "elsewhere.yaml: 'elsewhere' is not a scope; the scopes are mission_local, team_domain,"
        in other
    )
    assert line == "skipped in the event logs: 1 unreadable line"


def test_missions_without_senses_of_their_own_share_a_glossary(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(), ask=answering(Select(0))[0])

    glossaries = [runtime.load(mission).glossary for mission in ["retouch", "print", None]]

    assert all(each is glossaries[0] for each in glossaries)


def test_clock_that_is_behind_is_read_after_what_was_logged(tmp_path: Path) -> None:
    write_scope(tmp_path, [("mask", "A region")])
    runtime = runtime_in(tmp_path)
    ask, _ = answering(Define(LIFT))
    runtime.run(step('Please "lift" it.'), strictness=Strictness.MAX, ask=ask)
    glossary = runtime.load().glossary
    behind = added(glossary, "burn", STAIN, actor=runtime.actor, now=NOW - timedelta(hours=1))

    append_events(runtime.logs, "retouch", [behind])

    *_, before, last = read_events(runtime.logs).events
    assert isinstance(last.event, GlossarySenseUpdated)
    assert last.event.timestamp < before.moment == last.moment
