"""What `vocabgap draft` prints, and what it refuses."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap

PASSED = (
    "The entry covers 1 of 1 mention that it was made from."
    " It passes: it covers at least 80 % and takes no other need."
)


@pytest.fixture
def published(reported: Path) -> Path:
    """A run of `photos` in the default folder."""
    return reported.parent / "out"


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """A vocabulary that has a mask for the sky."""
    path = tmp_path / "packs" / "manifest.json"
    path.parent.mkdir()
    entry = {
        "name": "sky_mask",
        "description": "Masks the sky.",
        "tags": ["mask"],
        "touches": ["blend"],
    }
    path.write_text(json.dumps({"entries": [entry]}))
    return path.parent


@pytest.mark.usefixtures("published")
def test_a_draft_is_json() -> None:
    result = vocabgap("draft", "film grain")

    document = json.loads(result.out)
    assert result.code == 0
    assert document["entry"] == {
        "name": "film_grain", "description": "Film grain.", "tags": ["film", "grain"], "touches": ["grain"],
        "check": PASSED,
    }  # fmt: skip
    assert document["draft"].startswith("made from 1 gap record")
    assert result.err.strip() == PASSED


@pytest.mark.usefixtures("published")
def test_a_draft_has_the_form_that_is_asked_for() -> None:
    skill, tool = (vocabgap("draft", "film grain", "--as", form).out for form in ("skill", "tool"))

    front = '---\nname: "film-grain"\ndescription: "Film grain."\n---\n\n# film-grain\n'
    assert skill.startswith(f"{front}\n## ")
    assert "\n- [ ] `photos/" in skill
    assert json.loads(tool) == {
        "name": "film_grain",
        "description": "Film grain.",
        "inputSchema": {"type": "object", "properties": {}},
    }


@pytest.mark.usefixtures("published")
def test_beside_skills_a_draft_is_a_skill(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "fog" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: fog\ndescription: Thins fog.\n---\n")

    result = vocabgap("draft", "film grain", "--vocabulary", skill.parents[1])

    assert result.out.startswith('---\nname: "film-grain"\n')


@pytest.mark.usefixtures("published")
def test_an_entry_of_a_person_is_checked_instead(tmp_path: Path) -> None:
    entry = tmp_path / "entry.json"
    entry.write_text(json.dumps({"entries": [{"name": "fog", "description": "Thins fog."}]}))

    result = vocabgap("draft", "film grain", "--entry", entry, "--check")

    assert result.code == 5
    assert result.out == (
        "fog covers 0 of 1 mention of 'film grain'.\nNot covered: film grain.\n"
        "It fails: it must cover 80 % and take no other need.\n"
    )
    assert vocabgap("draft", "film grain", "--entry", entry).code == 0


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("form", ["manifest", "tool", "skill"])
def test_a_draft_is_read_as_an_entry_and_as_a_vocabulary(tmp_path: Path, form: str) -> None:
    saved = tmp_path / ("SKILL.md" if form == "skill" else "draft.json")
    saved.write_text(vocabgap("draft", "film grain", "--as", form).out)

    again = ("draft", "film grain", "--entry", saved, "--check")

    assert vocabgap(*again).code == 0
    assert vocabgap(*again, "--vocabulary", saved).code == 0


@pytest.mark.usefixtures("published")
def test_an_entry_that_is_not_there_or_has_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")

    absent, empty = (
        vocabgap("draft", "film grain", "--check", "--entry", tmp_path / name)
        for name in ("absent.json", "none.json")
    )

    assert (absent.code, empty.code) == (3, 2)
    assert "absent.json" in absent.err
    assert "--vocabulary" not in absent.err
    assert "none.json" in empty.err


def test_an_entry_of_the_vocabulary_is_told_and_its_name_not_taken(
    published: Path, packs: Path
) -> None:
    document = json.loads(
        vocabgap("draft", "mask the sky", "--run", published, "--vocabulary", packs).out
    )

    assert document["entry"]["name"] != "sky_mask"
    assert document["nearest"][0]["entry"] == "sky_mask"
    assert any("'sky_mask'" in note for note in document["notes"])


def test_a_vocabulary_of_the_settings_is_used(published: Path, packs: Path, tmp_path: Path) -> None:
    (tmp_path / "vocabgap.toml").write_text(f'[vocabulary]\npaths = ["{packs.name}"]\n')

    assert json.loads(vocabgap("draft", "sky mask").out)["nearest"]
    assert published.is_dir()


def test_what_the_run_was_compared_with_is_told_without_a_vocabulary(
    photos: Path, packs: Path
) -> None:
    vocabgap("report", photos, "--vocabulary", packs)

    assert json.loads(vocabgap("draft", "sky mask").out)["nearest"][0]["entry"] == "sky_mask"


def test_without_a_run_nothing_is_found_and_the_option_is_named() -> None:
    result = vocabgap("draft", "sky mask")

    assert (result.code, result.out) == (3, "")
    assert "--run" in result.err


@pytest.mark.usefixtures("published")
def test_a_capability_that_is_not_there_is_not_found() -> None:
    result = vocabgap("draft", "film grains and dust")

    assert result.code == 3
    assert "film grain" in result.err


@pytest.mark.parametrize("name", ["capabilities.parquet", "gaps.parquet"])
def test_a_damaged_run_is_a_state_error_and_the_file_is_named(published: Path, name: str) -> None:
    (published / name).write_bytes(b"PAR1 no more")

    result = vocabgap("draft", "film grain")

    assert (result.code, result.out) == (4, "")
    assert name in result.err


@pytest.mark.slow
def test_a_draft_is_json_whatever_stdout_can_carry(tmp_path: Path, installed: Path) -> None:
    assert vocabgap("report", write_corpus(tmp_path, {"one": [gap("café crème tones")]})).code == 0

    result = subprocess.run(
        [installed, "draft", "café crème tones"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )

    assert json.loads(result.stdout)["entry"]["description"] == "Café crème tones."
