"""`vocabgap glossary check`: what is printed of files with odd names, and what is no file."""

import os
from pathlib import Path

import pytest

from builders.command import vocabgap

SEED = """
terms:
  - {surface: work package, definition: A part of a plan, synonyms_to_avoid: [ticket]}
"""


@pytest.fixture(autouse=True)
def _glossary(tmp_path: Path) -> None:
    folder = tmp_path / ".vocabgap" / "glossary"
    folder.mkdir(parents=True)
    (folder / "team_domain.yaml").write_text(SEED, encoding="utf-8")
    (tmp_path / "docs").mkdir()


def test_name_is_shown_as_it_is_and_obeyed_nowhere(tmp_path: Path) -> None:
    (tmp_path / "docs" / "a\nb\x1b[31m.md").write_text("a ticket", encoding="utf-8")
    (tmp_path / "docs" / "a\nb.txt").write_bytes(b"\xff")

    text = vocabgap("glossary", "check", "docs")
    github = vocabgap("glossary", "check", "docs", "--format", "github")

    assert text.out.startswith(r"docs/a\u000ab\u001b[31m.md:1:3: use")
    assert r"not checked: file 'docs/a\u000ab.txt': byte 0" in text.err
    assert github.out.startswith(r"::error file=docs/a%0Ab\u001b[31m.md,line=1,")


def test_long_sentence_is_cut_around_the_word(tmp_path: Path) -> None:
    (tmp_path / "docs" / "a.md").write_text(f"{'x' * 9_000} ticket {'y' * 9_000}", encoding="utf-8")
    (tmp_path / "docs" / "b.md").write_text("Not this. A ticket is short.", encoding="utf-8")

    out = vocabgap("glossary", "check", "docs").out.splitlines()

    assert out[1] == f"  …{'x' * 99} ticket {'y' * 99}…"
    assert out[3] == "  A ticket is short."


def test_what_is_no_file_in_a_folder_is_noted_once_and_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "docs" / "gone.md").symlink_to("nowhere")
    os.mkfifo(tmp_path / "docs" / "pipe.md")
    (tmp_path / "docs" / "loop.md").symlink_to("loop.md")
    (tmp_path / "docs" / "up").symlink_to(tmp_path)
    (tmp_path / "docs" / "pipe").symlink_to("pipe.md")
    (tmp_path / "docs" / "a.md").write_text("fine", encoding="utf-8")

    folder, file = (
        vocabgap("glossary", "check", "docs"),
        vocabgap("glossary", "check", "docs/pipe.md"),
    )

    assert (folder.code, file.code) == (0, 2)
    assert folder.err.splitlines() == [
        "not checked: file 'docs/gone.md' is a link that leads nowhere",
        "not checked: file 'docs/loop.md' is a link that leads back to itself, expected a file",
        "not checked: file 'docs/pipe.md' is a pipe, expected a file",
    ]
    assert "file 'docs/pipe.md' is a pipe" in file.err


def test_file_that_cannot_be_read_hides_no_finding_of_others(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "a.md").write_text("a ticket", encoding="utf-8")
    (docs / "fine.md").write_text("fine", encoding="utf-8")
    (docs / "latin.txt").write_bytes("Täglich ein ticket".encode("latin-1"))
    (docs / "wide.md").write_bytes("a ticket".encode("utf-16"))
    unread = ("docs/latin.txt", "docs/wide.md", "gone")

    beside = vocabgap("glossary", "check", *unread, "docs/a.md")
    fine = vocabgap("glossary", "check", *unread, "docs/fine.md")
    alone = vocabgap("glossary", "check", *unread)
    folder = vocabgap("glossary", "check", "docs")

    assert (beside.code, fine.code, alone.code, folder.code) == (5, 2, 2, 5)
    assert beside.out.startswith("docs/a.md:1:3: use 'work package'")
    for done in (beside, fine):
        assert [line.partition("'")[2].partition("'")[0] for line in done.err.splitlines()] == [
            *unread
        ]
    assert "docs/latin.txt" in alone.err
    assert alone.out == ""
    assert folder.err.count("not checked") == 2
