"""Which files are read, and which two cannot be read together."""

import hashlib
import os
from pathlib import Path

import pytest

from builders.ranking import write
from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError
from vocabgap.ranking.vocabulary import VocabularyFile, load_vocabulary


def names(*entries: str) -> dict[str, list[dict[str, str]]]:
    return {"entries": [{"name": name} for name in entries]}


def test_a_folder_stands_for_the_manifests_in_it_at_any_depth(tmp_path: Path) -> None:
    write(tmp_path, "packs/starter/manifest.json", names("fog"))
    write(tmp_path, "packs/more/deep/manifest.yaml", "- name: glow\n")
    write(tmp_path, "packs/more/notes.json", '{"nothing": "of the kind"}')
    write(tmp_path, "packs/.cache/manifest.json", "no json")

    found = load_vocabulary(tmp_path / "packs")

    assert [(entry.name, entry.pack) for entry in found.entries] == [
        ("fog", "starter"),
        ("glow", "deep"),
    ]


def test_files_are_told_with_pack_count_and_digest(tmp_path: Path) -> None:
    path = write(tmp_path, "starter/manifest.json", names("fog", "glow"))

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_vocabulary(path).files == (VocabularyFile("starter", "manifest.json", 2, digest),)


def test_a_file_that_is_reached_twice_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "starter/manifest.json", names("fog"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linked").symlink_to(tmp_path / "starter")

    assert len(load_vocabulary([path, "starter", "linked", "linked/manifest.json"]).entries) == 1


def test_two_entries_of_one_name_are_an_error_that_names_both_files(tmp_path: Path) -> None:
    other = {"entries": [{"name": "haze"}, {"name": "glow", "description": "Another glow."}]}
    paths = [
        write(tmp_path, "starter/manifest.json", names("fog", "glow")),
        write(tmp_path, "more/manifest.json", other),
    ]

    with pytest.raises(InvalidInputError, match="'glow'") as caught:
        load_vocabulary(paths)

    assert f"'{paths[0]}' (entry 2)" in caught.value.message
    assert f"'{paths[1]}' (entry 2)" in caught.value.message


def test_an_entry_that_two_packs_ship_counts_once(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, f"{pack}/manifest.json", names("glow")) for pack in ("more", "starter")
    ]

    assert [(entry.name, entry.pack) for entry in load_vocabulary(paths).entries] == [
        ("glow", "more")
    ]


def test_a_path_that_leads_nowhere_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"absent\.json' does not exist"):
        load_vocabulary(tmp_path / "absent.json")


def test_a_folder_without_a_manifest_is_not_found(tmp_path: Path) -> None:
    write(tmp_path, "packs/words.json", names("fog"))

    with pytest.raises(NotFoundError, match=r"packs' has no manifest") as caught:
        load_vocabulary(tmp_path / "packs")

    assert "manifest.json" in caught.value.hint
    assert ".claude/skills" in caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads files whatever their permissions")
@pytest.mark.parametrize("closed", ["packs/starter", "packs/starter/manifest.json"])
def test_what_may_not_be_read_is_named(tmp_path: Path, closed: str) -> None:
    write(tmp_path, "packs/starter/manifest.json", names("fog"))
    (tmp_path / closed).chmod(0)

    with pytest.raises(AccessDeniedError, match=closed):
        load_vocabulary(tmp_path / "packs")
    (tmp_path / closed).chmod(0o700)
